// SPDX-License-Identifier: Apache-2.0
//
// OutputCutter says where a compaction ends one output file and begins the next.
//
// Never between two versions of one user key. Else: at the target size; where a file of the level
// after the output level begins, once half the target is reached, so that files of the two levels
// line up and later compactions have less to read; and before an output would overlap too much of
// that level.
#pragma once

#include <cstdint>
#include <string>

#include "db/compaction/compaction_picker.h"
#include "util/internal_key.h"

namespace ashlar {

class OutputCutter {
 public:
  // Both outlive the cutter.
  OutputCutter(const InternalKeyComparator& comparator, const CompactionPlan& plan)
      : comparator_(comparator), plan_(plan) {}

  // Asked once for every entry that is kept, in order. `output_bytes`: size of the current output.
  bool ShouldCutBefore(const Slice& internal_key, uint64_t output_bytes) {
    const Slice user_key = ExtractUserKey(internal_key);
    if (has_last_key_ && comparator_.EqualUserKeys(user_key, last_key_)) return false;
    last_key_.assign(user_key.data(), user_key.size());
    has_last_key_ = true;
    const bool crossed = PassGrandparents(user_key);
    if (output_bytes >= plan_.target_file_bytes) return true;
    return crossed && (output_bytes >= plan_.target_file_bytes / 2 ||
                       overlapped_bytes_ > plan_.max_grandparent_bytes);
  }
  // The entry asked about last begins a new output.
  void NoteNewOutput() { overlapped_bytes_ = 0; }

 private:
  // True if the key lies beyond the end of a grandparent that earlier keys had not passed.
  bool PassGrandparents(const Slice& user_key) {
    bool crossed = false;
    while (position_ < plan_.grandparents.size() &&
           comparator_.CompareUserKeys(plan_.grandparents[position_]->meta.largest_user_key(),
                                       user_key) < 0) {
      overlapped_bytes_ += plan_.grandparents[position_]->meta.file_size;
      position_++;
      crossed = true;
    }
    return crossed;
  }

  const InternalKeyComparator& comparator_;
  const CompactionPlan& plan_;
  std::string last_key_;
  bool has_last_key_ = false;
  size_t position_ = 0;            // of the first grandparent not passed yet
  uint64_t overlapped_bytes_ = 0;  // of grandparents under the current output
};

}  // namespace ashlar
