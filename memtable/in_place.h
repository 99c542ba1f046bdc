// SPDX-License-Identifier: Apache-2.0
//
// Values that may be overwritten in place (inplace_update_support).
//
// One thread at a time writes, in the order of sequence numbers. Readers copy a value under a lock
// that several keys share. Keys and trailers never change and need no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/advanced_options.h"
#include "ashlar/slice.h"
#include "memtable/entry.h"
#include "util/threads/mutex.h"

namespace ashlar {

using InPlaceCallback = UpdateStatus (*)(char* existing_value, uint32_t* existing_value_size,
                                         Slice delta_value, std::string* merged_value);

// Calls the callback to combine the present value of a key, which the callback may overwrite, with
// `delta`; null: the key has no value. False: the key keeps its present value. Otherwise *made is
// the new value.
bool MakeInPlaceValue(InPlaceCallback callback, std::string* existing, const Slice& delta,
                      std::string* made);

// The locks for the values of one memtable.
class InPlaceValues {
 public:
  // `checksum_bytes`: size of the checksum behind each value.
  InPlaceValues(size_t lock_count, size_t checksum_bytes);

  // Copies the present value and the checksum behind it to *copy. Any thread.
  Slice Read(const MemTableEntry& entry, std::string* copy) const;
  // False, and nothing happens, if the new value is longer than the present one. Only for the
  // writing thread.
  bool Overwrite(MemTableEntry* entry, const Slice& value);

 private:
  SpinLock* LockOf(const Slice& user_key) const;

  const size_t lock_count_;
  const size_t checksum_bytes_;
  const std::unique_ptr<SpinLock[]> locks_;
};

}  // namespace ashlar
