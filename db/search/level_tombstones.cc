// SPDX-License-Identifier: Apache-2.0
//
// Only a few files are held at a time, so they are searched linearly.
#include "db/search/level_tombstones.h"

#include <algorithm>
#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

// Adds a file that is not in the list yet. Files may be visited in any order.
void LevelTombstones::Note(size_t index,
                           const std::shared_ptr<const FragmentedTombstones>& tombstones) {
  assert(tombstones != nullptr);
  const auto place = std::find_if(files_.begin(), files_.end(),
                                  [&](const File& file) { return file.index >= index; });
  if (place != files_.end() && place->index == index) return;
  files_.insert(place, {.index = index,
                        .walk = FragmentWalk(tombstones, upper_seqno_, callback_, upper_stamp_)});
  if (watcher_ != nullptr) watcher_->OnTombstonesMet();
}

void LevelTombstones::Restart() {
  for (File& file : files_) file.walk.Restart();
}

// If the walk of a file has no end of a stretch, the file has no tombstone from that position on.
RunTombstones::Stretch LevelTombstones::StretchFrom(const KeyPosition& from) {
  while (!files_.empty()) {
    const Stretch stretch = files_.front().walk.StretchFrom(from);
    if (stretch.has_end) return stretch;
    // The current file is kept, because the iterator may seek backwards within it without visiting
    // it anew.
    if (files_.front().index == current_) break;
    files_.erase(files_.begin());
  }
  for (size_t i = 1; i < files_.size(); ++i) {
    const Stretch stretch = files_[i].walk.StretchFrom(from);
    if (stretch.has_end) return stretch;
  }
  return {};
}

// Files whose tombstones lie behind the position are dropped from the list: the walk is descending
// and will not need them again. The file of the level's iterator stays, because tombstones of it
// may still be met.
RunTombstones::Stretch LevelTombstones::StretchBefore(const KeyPosition& before) {
  while (!files_.empty()) {
    const Stretch stretch = files_.back().walk.StretchBefore(before);
    if (stretch.has_end) return stretch;
    if (files_.back().index == current_) break;
    files_.pop_back();
  }
  for (size_t i = files_.size(); i-- > 0;) {
    const Stretch stretch = files_[i].walk.StretchBefore(before);
    if (stretch.has_end) return stretch;
  }
  return {};
}

std::string LevelTombstones::DebugString() const {
  std::string text = StrCat("at file ", current_, " of the run\n");
  for (const File& file : files_) {
    StrAppend(&text, "file ", file.index, ": ", file.walk.DebugString(), "\n");
  }
  return text;
}

}  // namespace ashlar
