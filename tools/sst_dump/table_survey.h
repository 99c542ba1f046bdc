// SPDX-License-Identifier: Apache-2.0
//
// TableSurvey is what one pass over a table finds out for a picture of it: facts of each data
// block, how keys and sizes are distributed, range tombstones by the blocks they lie over.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/compression_type.h"
#include "tools/lib/table_inspector.h"
#include "util/result.h"

namespace ashlar {

enum EntryKind : uint8_t { kPutEntries, kMergeEntries, kDeletionEntries, kOtherEntries };
inline constexpr size_t kEntryKinds = 4;

struct SurveyedBlock {
  BlockHandle handle;
  CompressionType compression = kNoCompression;
  uint64_t raw_bytes = 0;
  std::array<uint64_t, kEntryKinds> entries{};
  std::string separator;  // a user key at or after all of it

  uint64_t EntryCount() const;
};

// Counts by powers of two: 0, 1, 2 to 3, 4 to 7, ...
struct SizeCounts {
  std::array<uint64_t, 65> counts{};
  uint64_t total_bytes = 0;
  uint64_t max_bytes = 0;

  void Add(size_t bytes) {
    ++counts[static_cast<size_t>(std::bit_width(bytes))];
    total_bytes += bytes;
    max_bytes = std::max<uint64_t>(max_bytes, bytes);
  }
};

struct SurveyedTombstone {
  std::string begin, end;  // user keys; `end` is not covered
  SequenceNumber seqno = 0;
  size_t first_block = 0, blocks_end = 0;  // it may cover keys of these
};

// A part of the file; together they are all of it.
struct FilePart {
  std::string name;
  uint64_t bytes = 0;  // trailers included
};

struct TableSurvey {
  std::vector<SurveyedBlock> blocks;  // in order
  std::vector<FilePart> parts;
  SizeCounts key_bytes, value_bytes;  // of user keys, of values
  uint64_t entry_count = 0;
  uint64_t key_count = 0;  // different user keys
  SequenceNumber smallest_seqno = kMaxSequenceNumber, largest_seqno = 0;

  // Keys by the byte behind what all of them begin with.
  std::string smallest_key, largest_key, common_prefix;
  std::array<uint64_t, 256> next_byte{};
  uint64_t ends_at_prefix = 0;  // keys that are the prefix

  static constexpr size_t kListedTombstones = 50;
  uint64_t tombstone_count = 0;
  std::vector<SurveyedTombstone> tombstones;  // the first of them
  std::vector<uint64_t> cover;                // by block: range tombstones over it
};

// Reads and verifies every block of the table but those of the filter.
Result<TableSurvey> SurveyTable(TableInspector* table);

}  // namespace ashlar
