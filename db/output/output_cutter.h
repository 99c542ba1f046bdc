// SPDX-License-Identifier: Apache-2.0
//
// OutputCutter says where a job ends one output table and begins the next.
//
// Never between two versions of one user key: it is asked once for each. Else: at the target size,
// or a little before it so that all outputs are of one size and no small one is left over;
// where a table of the next level begins, once half the target is reached, so that tables of the
// two levels line up and later compactions have less to read; and before an output would overlap
// too much of that level.
//
// Where the next level holds much more than the output, an eighth of the target is enough: the
// smaller the tables of a small level, the better the choice of what to merge next. Of a few large
// ones, each is merged when it is little more than half as full of updates as it gets; of many, the
// fullest is, which writes less, and a merge takes little space beside its inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "db/manifest/file_metadata.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// What is not set ends no output.
struct OutputLimits {
  uint64_t target_bytes = UINT64_MAX;   // an output ends when it has them
  uint64_t expected_bytes = 0;          // of all outputs together, roughly; 0: unknown
  uint64_t overlap_bytes = UINT64_MAX;  // and before it overlaps more of `next_level` than this
  // Tables of the level after the outputs', ascending and disjoint; they outlive the cutter.
  std::span<TableFile* const> next_level;
};

class OutputCutter {
 public:
  // The comparator outlives the cutter.
  OutputCutter(const InternalKeyComparator& comparator, const OutputLimits& limits)
      : comparator_(comparator), limits_(limits), target_bytes_(EvenTarget(limits)) {}

  // Asked once for every user key, in ascending order, before its first entry is written.
  // `output_bytes`: size of the current output.
  bool ShouldCutBefore(const Slice& user_key, uint64_t output_bytes) {
    const bool has_passed_table = PassTables(user_key);
    if (output_bytes >= target_bytes_) return true;
    if (!has_passed_table) return false;
    if (overlapped_bytes_ > limits_.overlap_bytes) return true;
    const bool is_sparse = overlapped_bytes_ / kSparse >= output_bytes;
    return output_bytes >= target_bytes_ / (is_sparse ? 8 : 2);
  }
  // The key asked about last begins a new output.
  void NoteNewOutput() { overlapped_bytes_ = 0; }

 private:
  static constexpr uint64_t kSparse = 2;  // bytes of the next level under each byte

  static uint64_t EvenTarget(const OutputLimits& limits) {
    if (limits.target_bytes >= limits.expected_bytes) return limits.target_bytes;
    const uint64_t target = std::max<uint64_t>(limits.target_bytes, 1);
    const uint64_t outputs = (limits.expected_bytes + target - 1) / target;
    return (limits.expected_bytes + outputs - 1) / outputs;
  }

  // True if the key lies beyond the end of a table that earlier keys had not passed.
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
  size_t position_ = 0;            // of the first table not passed yet
  uint64_t overlapped_bytes_ = 0;  // of tables under the current output
};

}  // namespace ashlar
