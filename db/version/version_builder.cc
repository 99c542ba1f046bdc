// SPDX-License-Identifier: Apache-2.0
//
// How a version is built: a table from file number to level is edited, then sorted level by level.
#include "db/version/version_builder.h"

#include <algorithm>
#include <utility>

#include "env/filename.h"
#include "util/str_cat.h"

namespace ashlar {

bool IsNewer(const FileMetadata& a, const FileMetadata& b) {
  if (a.epoch_number != b.epoch_number) return a.epoch_number > b.epoch_number;
  if (a.largest_seqno != b.largest_seqno) return a.largest_seqno > b.largest_seqno;
  if (a.smallest_seqno != b.smallest_seqno) return a.smallest_seqno > b.smallest_seqno;
  return a.number > b.number;
}

VersionBuilder::VersionBuilder(const InternalKeyComparator& comparator, TableCache* tables,
                               const Version* base, int num_levels)
    : comparator_(comparator), tables_(tables), num_levels_(num_levels) {
  if (base == nullptr) return;
  for (int level = 0; level < base->num_levels(); level++) {
    for (TableFile* file : base->files(level)) {
      Placed& placed = files_[file->meta.number];
      placed.level = level;
      placed.existing = file;
    }
  }
}

Status VersionBuilder::Apply(const VersionEdit& edit) {
  for (const auto& [level, number] : edit.deleted_files) {
    const auto it = files_.find(number);
    if (it == files_.end() || it->second.level != level) {
      return Status::Corruption(
          StrCat("MANIFEST deletes table ", number, " from level ", level,
                 it == files_.end() ? ", where no such table is" : ", but it is on another level"));
    }
    if (it->second.existing != nullptr) taken_off_[number] = it->second.existing;
    files_.erase(it);
  }
  for (const auto& [level, meta] : edit.new_files) {
    if (meta.number > kMaxFileNumber) {
      return Status::Corruption(
          StrCat("MANIFEST adds table ", meta.number, ", an impossible number"));
    }
    if (comparator_.Compare(meta.smallest, meta.largest) > 0) {
      return Status::Corruption(
          StrCat("MANIFEST adds table ", meta.number, " whose smallest key is after its largest"));
    }
    const auto [it, is_new] = files_.try_emplace(meta.number);
    if (!is_new) {
      return Status::Corruption(StrCat("MANIFEST adds table ", meta.number, " to level ", level,
                                       ", but it is on level ", it->second.level, " already"));
    }
    it->second.level = level;
    const auto moved = taken_off_.find(meta.number);
    if (moved != taken_off_.end()) {
      it->second.existing = moved->second;
      taken_off_.erase(moved);
    } else {
      it->second.added = std::make_unique<FileMetadata>(meta);
    }
  }
  return Status::OK();
}

std::vector<VersionBuilder::PlacedFiles> VersionBuilder::SortedLevels() {
  std::vector<PlacedFiles> levels(static_cast<size_t>(num_levels_));
  for (auto& [number, placed] : files_) {
    const auto level = static_cast<size_t>(placed.level);
    if (level >= levels.size()) levels.resize(level + 1);
    levels[level].push_back(&placed);
  }
  for (size_t level = 1; level < levels.size(); level++) {
    std::sort(levels[level].begin(), levels[level].end(), [this](Placed* a, Placed* b) {
      return comparator_.Compare(a->meta().smallest, b->meta().smallest) < 0;
    });
  }
  std::sort(levels[0].begin(), levels[0].end(),
            [](Placed* a, Placed* b) { return IsNewer(a->meta(), b->meta()); });
  return levels;
}

// Databases written before epochs existed: one number for each nonempty level from the bottom up,
// then one for each file of level 0 from the oldest to the newest.
void VersionBuilder::AssignEpochs(std::vector<PlacedFiles>* levels) const {
  bool has_unknown = false, has_existing = false;
  for (const PlacedFiles& level : *levels) {
    for (const Placed* placed : level) {
      has_unknown |= placed->meta().epoch_number == 0;
      has_existing |= placed->existing != nullptr;
    }
  }
  if (!has_unknown || has_existing) return;
  for (const PlacedFiles& level : *levels) {
    for (Placed* placed : level) placed->added->epoch_number = 0;
  }
  PlacedFiles& level0 = (*levels)[0];
  std::sort(level0.begin(), level0.end(),
            [](Placed* a, Placed* b) { return IsNewer(a->meta(), b->meta()); });
  uint64_t epoch = 0;
  for (size_t level = levels->size() - 1; level > 0; level--) {
    if ((*levels)[level].empty()) continue;
    epoch++;
    for (Placed* placed : (*levels)[level]) placed->added->epoch_number = epoch;
  }
  for (auto it = level0.rbegin(); it != level0.rend(); ++it) (*it)->added->epoch_number = ++epoch;
}

Status VersionBuilder::Build(std::unique_ptr<Version>* version) {
  std::vector<PlacedFiles> levels = SortedLevels();
  if (levels.size() > static_cast<size_t>(num_levels_)) {
    return Status::InvalidArgument(StrCat("the database has tables on level ", levels.size() - 1,
                                          ", but num_levels is ", num_levels_,
                                          "; open it with more levels"));
  }
  AssignEpochs(&levels);
  std::vector<std::vector<TableFile*>> files(levels.size());
  for (size_t level = 0; level < levels.size(); level++) {
    for (Placed* placed : levels[level]) {
      if (placed->existing == nullptr) {
        placed->existing = new TableFile(std::move(*placed->added));
        placed->added.reset();
      }
      files[level].push_back(placed->existing);
    }
  }
  *version = std::make_unique<Version>(comparator_, tables_, std::move(files));
  return (*version)->CheckInvariants();
}

}  // namespace ashlar
