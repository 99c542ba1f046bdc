// SPDX-License-Identifier: Apache-2.0
//
// LevelTombstones are the range tombstones of the files of one sorted run, as far as its
// LevelIterator has come across them.
//
// No file is opened for the sake of its tombstones. The iterator notes those of each file that it
// goes to, also of one without an entry to show. That is enough: where the merge asks for
// tombstones, the iterator has already stood, and it passed through every file since. They stay
// when the iterator goes on to the next file, because a tombstone may reach far behind the last
// entry of its file; they go once the merge has left them behind. Threads: one at a time.
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
  // Shows those at or below `upper_seqno` that the callback, if there is one, does not refuse.
  explicit LevelTombstones(SequenceNumber upper_seqno, const ReadCallback* callback = nullptr)
      : upper_seqno_(upper_seqno), callback_(callback) {}

  // The iterator goes to a place that need not be near the one before.
  void ForgetFiles() { files_.clear(); }
  // The iterator has gone to file number `index` of the run, which has these tombstones; null for
  // none.
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
  const ReadCallback* const callback_;   // null: none
  std::vector<File> files_;              // ascending; their tombstones do not overlap
  size_t current_ = 0;                   // where the iterator is
  TombstoneWatcher* watcher_ = nullptr;  // told of each file that is new here
};

}  // namespace ashlar
