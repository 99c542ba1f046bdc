// SPDX-License-Identifier: Apache-2.0
//
// LevelTombstones holds the range tombstones of those files of one sorted run that its
// LevelIterator has visited.
//
// No file is opened only for its tombstones. The iterator notes the tombstones of each file that it
// visits, even if the file has no visible entry. This is sufficient: the merge asks only about
// positions that the iterator has already reached, and the iterator visited every file up to there.
// The tombstones are kept when the iterator moves to the next file, because a tombstone may extend
// far past the last entry of its file. They are removed once the merge has passed them. Threads:
// one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/types.h"
#include "table/iterator/run_tombstones.h"

namespace ashlar {

class LevelTombstones final : public RunTombstones {
 public:
  // Only tombstones with a sequence number at or below `upper_seqno` that the callback, if any,
  // accepts are visible.
  // Of a stamped family those up to the timestamp, which outlives this object; null: all.
  explicit LevelTombstones(SequenceNumber upper_seqno, const ReadCallback* callback = nullptr,
                           const Slice* upper_stamp = nullptr)
      : upper_seqno_(upper_seqno), callback_(callback), upper_stamp_(upper_stamp) {}

  // Removes all files. Called when the iterator jumps to a position that may be far from the
  // previous one.
  void ForgetFiles() { files_.clear(); }
  // Called when the iterator has moved to the file at `index` of the run; `tombstones` are those of
  // the file, null if it has none.
  void NoteFile(size_t index, const std::shared_ptr<const FragmentedTombstones>& tombstones) {
    current_ = index;
    if (tombstones != nullptr) [[unlikely]]
      Note(index, tombstones);
  }

  void Restart() override;
  Stretch StretchFrom(const KeyPosition& from) override;
  Stretch StretchBefore(const KeyPosition& before) override;
  bool HasAny() const override { return !files_.empty(); }
  void Watch(TombstoneWatcher* watcher) override { watcher_ = watcher; }
  std::string DebugString() const override;

 private:
  struct File {
    size_t index;  // in the run
    FragmentWalk walk;
  };

  void Note(size_t index, const std::shared_ptr<const FragmentedTombstones>& tombstones);

  const SequenceNumber upper_seqno_;
  const ReadCallback* const callback_;  // null: none
  const Slice* const upper_stamp_;      // null: all timestamps
  std::vector<File> files_;  // ascending by index; tombstones of different files do not overlap
  size_t current_ = 0;       // index of the file at which the iterator is
  TombstoneWatcher* watcher_ = nullptr;  // notified of each file that is added
};

}  // namespace ashlar
