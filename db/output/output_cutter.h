// SPDX-License-Identifier: Apache-2.0
//
// OutputCutter decides where a job ends one output table and begins the next.
//
// It never cuts between two versions of one user key, because it is asked once per key. It cuts at
// the target size, or a little earlier so that all outputs have the same size and no small one
// remains. It cuts where a table of the next level begins, once half the target is reached, so that
// tables of the two levels line up and later compactions read less. It cuts before an output would
// overlap too much of the next level.
//
// If the next level holds much more than the output, an eighth of the target is enough: the smaller
// the tables of a small level, the better the choice of which to merge next. If a level consists of
// a few large tables, each table is merged when it is little more than half as full of updates as
// it could be. Of many small tables the fullest is merged, which writes less, and a merge needs
// little space beside its inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "db/manifest/file_metadata.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// Limits without a value end no output.
struct OutputLimits {
  uint64_t target_bytes = UINT64_MAX;   // an output ends when it has this size
  uint64_t expected_bytes = 0;          // rough size of all outputs together; 0: unknown
  uint64_t overlap_bytes = UINT64_MAX;  // an output ends before it overlaps more of `next_level`
  // Tables of the level after the outputs', ascending and disjoint; they outlive the cutter.
  std::span<TableFile* const> next_level;
};

class OutputCutter {
 public:
  // The comparator outlives the cutter.
  OutputCutter(const InternalKeyComparator& comparator, const OutputLimits& limits)
      : comparator_(comparator), limits_(limits), target_bytes_(EvenTarget(limits)) {}

  // Called once for each user key, in ascending order, before its first entry is written.
  // `output_bytes`: the size of the current output.
  bool ShouldCutBefore(const Slice& user_key, uint64_t output_bytes) {
    const bool has_passed_table = PassTables(user_key);
    if (output_bytes >= target_bytes_) return true;
    if (!has_passed_table) return false;
    if (overlapped_bytes_ > limits_.overlap_bytes) return true;
    const bool is_sparse = overlapped_bytes_ / kSparse >= output_bytes;
    return output_bytes >= target_bytes_ / (is_sparse ? 8 : 2);
  }
  // The key of the last call begins a new output.
  void NoteNewOutput() { overlapped_bytes_ = 0; }

 private:
  // An output is sparse if the next level holds at least this many bytes for each of its bytes.
  static constexpr uint64_t kSparse = 2;

  // The target size, reduced so that all outputs of the expected bytes have the same size.
  static uint64_t EvenTarget(const OutputLimits& limits) {
    if (limits.target_bytes >= limits.expected_bytes) return limits.target_bytes;
    const uint64_t target = std::max<uint64_t>(limits.target_bytes, 1);
    const uint64_t outputs = (limits.expected_bytes + target - 1) / target;
    return (limits.expected_bytes + outputs - 1) / outputs;
  }

  // Returns true if the key is behind the end of a table that earlier keys had not passed.
  bool PassTables(const Slice& user_key) {
    bool has_passed = false;
    while (position_ < limits_.next_level.size() &&
           comparator_.OrderWithoutTimestamp(limits_.next_level[position_]->meta.largest_user_key(),
                                             user_key) < 0) {
      overlapped_bytes_ += limits_.next_level[position_]->meta.file_size;
      position_++;
      has_passed = true;
    }
    return has_passed;
  }

  const InternalKeyComparator& comparator_;
  const OutputLimits limits_;
  const uint64_t target_bytes_;
  size_t position_ = 0;            // the first table that was not passed yet
  uint64_t overlapped_bytes_ = 0;  // size of the tables that the current output has passed
};

}  // namespace ashlar
