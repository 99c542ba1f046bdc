// SPDX-License-Identifier: Apache-2.0
//
// Values that are overwritten where they lie (inplace_update_support).
//
// One thread at a time writes, in the order of sequence numbers. Readers copy a value under a lock
// that its key shares with others; keys and trailers stay what they are, and need none.
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

// What the callback makes of a key's value, which it may overwrite; null: the key has none. False:
// the key keeps what it has.
bool MakeInPlaceValue(InPlaceCallback callback, std::string* existing, const Slice& delta,
                      std::string* made);

// The locks of one memtable's values.
class InPlaceValues {
 public:
  // The values have checksums of so many bytes behind them.
  InPlaceValues(size_t lock_count, size_t checksum_bytes);

  // The value as it is now, in *copy, with its checksum behind it. Any thread.
  Slice Read(const MemTableEntry& entry, std::string* copy) const;
  // False, and nothing happens, if the value is longer than what is there. For the one that writes.
  bool Overwrite(MemTableEntry* entry, const Slice& value);

 private:
  SpinLock* LockOf(const Slice& user_key) const;

  const size_t lock_count_;
  const size_t checksum_bytes_;
  const std::unique_ptr<SpinLock[]> locks_;
};

}  // namespace ashlar
