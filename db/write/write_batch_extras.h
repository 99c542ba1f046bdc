// SPDX-License-Identifier: Apache-2.0
//
// The parts of a WriteBatch that few batches need, kept behind one pointer. Private to db/write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/write_batch.h"
#include "db/write/write_batch_reader.h"

namespace ashlar {

struct WriteBatch::Extras {
  std::vector<SavePoint> save_points;  // newest last
  bool is_protected = false;
  std::vector<uint64_t> protection;  // if protected, one checksum per counted record, in order
  bool tracks_ts_bytes = false;
  std::unordered_map<uint32_t, size_t> ts_bytes_of_family;

  // Memory that the batch outgrew while it was to be kept. A copy of the batch has none.
  struct OldBytes {
    OldBytes() = default;
    OldBytes(const OldBytes&) {}
    OldBytes& operator=(const OldBytes&) = delete;

    bool are_kept = false;
    std::vector<std::string> buffers;
  } old_bytes;
};

// Checksum over kind, family, key and value, to detect a change of any of them.
uint64_t ChecksumOfRecord(const WriteBatchRecord& record);

}  // namespace ashlar
