// SPDX-License-Identifier: Apache-2.0
//
// The data for the report of one table, collected in one pass: sizes and entries of each data
// block, the distributions of keys and sizes, the blocks that range tombstones cover, and the
// filter.
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

// A data block: its place and size in the file, and the entries in it by kind.
struct SurveyedBlock {
  BlockHandle handle;
  CompressionType compression = kNoCompression;
  uint64_t raw_bytes = 0;
  std::array<uint64_t, kEntryKinds> entries{};
  std::string separator;  // a user key at or after all keys of the block

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
  size_t first_block = 0, blocks_end = 0;  // the blocks with keys that it may cover
};

// All blocks of one kind. Together the parts are the whole file.
struct FilePart {
  std::string name;
  uint64_t bytes = 0;  // trailers included
};

// Everything about a table that the report shows, except its filter.
struct TableSurvey {
  std::vector<SurveyedBlock> blocks;  // in order
  std::vector<FilePart> parts;
  SizeCounts key_bytes, value_bytes;  // of user keys, of values
  uint64_t entry_count = 0;
  uint64_t key_count = 0;  // different user keys
  SequenceNumber smallest_seqno = kMaxSequenceNumber, largest_seqno = 0;

  // The number of keys by the byte after the common prefix.
  std::string smallest_key, largest_key, common_prefix;
  std::array<uint64_t, 256> next_byte{};
  uint64_t ends_at_prefix = 0;  // keys that are equal to the prefix

  static constexpr size_t kListedTombstones = 50;
  uint64_t tombstone_count = 0;
  std::vector<SurveyedTombstone> tombstones;  // the first kListedTombstones
  std::vector<uint64_t> cover;  // by block: the number of range tombstones that cover it
};

// Reads and verifies every block of the table except those of the filter.
Result<TableSurvey> SurveyTable(TableInspector* table);

// How full the filter of a table is, and its rate of false positives.
struct FilterSurvey {
  size_t block_count = 0;  // 0: the table has no filter
  uint64_t bytes = 0;
  std::string kind;  // "Bloom, 7 probes"; "" without a filter
  uint64_t set_bits = 0;
  bool is_of_lines = false;  // a Bloom filter that keeps each key in one line of 64 bytes
  // The number of lines by the share of their bits that are set, in steps of 1/kSteps; a full line
  // counts in the last step.
  static constexpr size_t kSteps = 50;
  std::array<uint64_t, kSteps> lines{};

  // Queries with random hashes, which stand for absent keys, and how many the filter let through.
  uint64_t query_count = 0, positive_count = 0;
};

// Reads and verifies all blocks of the filter.
Result<FilterSurvey> SurveyFilter(TableInspector* table);

}  // namespace ashlar
