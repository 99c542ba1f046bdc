// SPDX-License-Identifier: Apache-2.0
//
// Apply() collects departures and arrivals of tables from the edits. Build() then splices them into
// the levels that change; other levels are shared with the base version.
#include "db/version/version_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/table_cache/table_cache.h"
#include "env/filename.h"
#include "util/rare_sort.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Without a base, all levels are empty.
Version::Levels LevelsOf(const Version* base, int num_levels) {
  if (base == nullptr) {
    return Version::Levels(static_cast<size_t>(num_levels), std::make_shared<LevelTables>());
  }
  assert(base->num_levels() == num_levels);
  return base->levels();
}

}  // namespace

VersionBuilder::VersionBuilder(const InternalKeyComparator& comparator, TableCache* tables,
                               const Version* base, int num_levels)
    : comparator_(comparator),
      tables_(tables),
      num_levels_(num_levels),
      base_(LevelsOf(base, num_levels)),
      blobs_(base == nullptr ? nullptr : base->shared_blobs(),
             tables == nullptr ? nullptr : tables->blobs()) {}

TableFile* VersionBuilder::BaseFile(const Place& place) const {
  assert(static_cast<size_t>(place.level) < base_.size());
  assert(place.index < base_[static_cast<size_t>(place.level)]->files.size());
  return base_[static_cast<size_t>(place.level)]->files[place.index];
}

std::optional<VersionBuilder::Place> VersionBuilder::FindInBase(FileNumber number) const {
  for (size_t level = 0; level < base_.size(); level++) {
    const std::optional<size_t> index = base_[level]->Find(number);
    if (index.has_value()) return Place{Level{static_cast<int>(level)}, *index};
  }
  return std::nullopt;
}

// The level of the file after all edits so far. No value: it is on no level.
std::optional<Level> VersionBuilder::LevelOf(FileNumber number) const {
  const auto arrival = arrivals_.find(number);
  if (arrival != arrivals_.end()) return arrival->second.level;
  if (departures_.contains(number)) return std::nullopt;
  const std::optional<Place> place = FindInBase(number);
  return place.has_value() ? std::optional<Level>(place->level) : std::nullopt;
}

// A deletion of a table that is not there means that the MANIFEST is damaged.
Status VersionBuilder::Delete(Level level, FileNumber number) {
  assert(level >= 0);
  const std::optional<Level> actual = LevelOf(number);
  if (actual != level) {
    return Status::Corruption(
        StrCat("MANIFEST deletes table ", number, " from level ", level,
               actual.has_value() ? ", but it is on another level" : ", where no such table is"));
  }
  const auto arrival = arrivals_.find(number);
  if (arrival != arrivals_.end()) {
    blobs_.Unlink(arrival->second.meta().oldest_blob_file_number);
    arrivals_.erase(arrival);
    return Status::OK();
  }
  const Place place = *FindInBase(number);
  blobs_.Unlink(BaseFile(place)->meta.oldest_blob_file_number);
  departures_[number] = place;
  return Status::OK();
}

Status VersionBuilder::Add(Level level, const FileMetadata& meta) {
  assert(level >= 0);
  assert(meta.smallest.size() >= kTrailerBytes);
  assert(meta.largest.size() >= kTrailerBytes);
  if (meta.number > kMaxFileNumber) {
    return Status::Corruption(
        StrCat("MANIFEST adds table ", meta.number, ", an impossible number"));
  }
  // The order may be a function of the program, which programs expect not to be called for a table
  // with one key.
  if (meta.smallest != meta.largest && comparator_.Compare(meta.smallest, meta.largest) > 0) {
    return Status::Corruption(
        StrCat("MANIFEST adds table ", meta.number, " whose smallest key is after its largest"));
  }
  if (const std::optional<Level> other = LevelOf(meta.number)) {
    return Status::Corruption(StrCat("MANIFEST adds table ", meta.number, " to level ", level,
                                     ", but it is on level ", *other, " already"));
  }
  Arrival& arrival = arrivals_[meta.number];
  arrival.level = level;
  // A table that left a level in the same change moves: it keeps its TableFile, with its reader.
  const auto moved = departures_.find(meta.number);
  if (moved != departures_.end()) {
    arrival.existing = BaseFile(moved->second);
  } else {
    arrival.fresh = std::make_unique<FileMetadata>(meta);
  }
  blobs_.Link(arrival.meta().oldest_blob_file_number);
  return Status::OK();
}

Status VersionBuilder::Apply(const VersionEdit& edit) {
  for (const auto& [level, number] : edit.deleted_files) RETURN_IF_ERROR(Delete(level, number));
  for (const auto& [level, meta] : edit.new_files) RETURN_IF_ERROR(Add(level, meta));
  RETURN_IF_ERROR(blobs_.Apply(edit.blob_additions, edit.blob_garbage, edit.column_family));
  blobs_.DropUnreachable();
  return Status::OK();
}

// Groups the arrivals by level, each in the order of its level.
std::vector<VersionBuilder::Arrivals> VersionBuilder::ArrivalsByLevel() {
  assert(num_levels_ > 0);
  std::vector<Arrivals> levels(static_cast<size_t>(num_levels_));
  for (auto& [number, arrival] : arrivals_) {
    const auto level = static_cast<size_t>(arrival.level);
    if (level >= levels.size()) levels.resize(level + 1);
    levels[level].push_back(&arrival);
  }
  for (size_t level = 1; level < levels.size(); level++) {
    SortRarely(&levels[level], [this](Arrival* a, Arrival* b) {
      return comparator_.Compare(a->meta().smallest, b->meta().smallest) < 0;
    });
  }
  SortRarely(&levels[0], &VersionBuilder::IsNewerArrival);
  return levels;
}

// Assigns epoch numbers to the files of a database that was written before there were epochs. Each
// nonempty level gets one number, from the bottom up. Then each file of level 0 gets a number of
// its own, from the oldest to the newest.
void VersionBuilder::AssignEpochs(std::vector<Arrivals>* levels) const {
  assert(levels != nullptr);
  bool has_unknown = false;
  for (const auto& [number, arrival] : arrivals_) has_unknown |= arrival.meta().epoch_number == 0;
  const bool has_base = std::any_of(base_.begin(), base_.end(),
                                    [](const auto& level) { return !level->files.empty(); });
  if (!has_unknown || has_base) return;
  for (const Arrivals& level : *levels) {
    for (Arrival* arrival : level) {
      assert(arrival->fresh != nullptr);  // without a base version no file can have moved
      arrival->fresh->epoch_number = 0;
    }
  }
  Arrivals& level0 = (*levels)[0];
  SortRarely(&level0, &VersionBuilder::IsNewerArrival);
  uint64_t epoch = 0;
  for (size_t level = levels->size() - 1; level > 0; level--) {
    if ((*levels)[level].empty()) continue;
    epoch++;
    for (Arrival* arrival : (*levels)[level]) arrival->fresh->epoch_number = epoch;
  }
  for (auto it = level0.rbegin(); it != level0.rend(); ++it) (*it)->fresh->epoch_number = ++epoch;
}

// Precondition: each arrival has its TableFile in `existing`.
Splice<TableFile*> VersionBuilder::SpliceOf(Level level, const Arrivals& arrivals) const {
  Splice<TableFile*> splice;
  for (const auto& [number, place] : departures_) {
    if (place.level == level) splice.removed.push_back(place.index);
  }
  SortRarely(&splice.removed);
  assert(std::adjacent_find(splice.removed.begin(), splice.removed.end()) == splice.removed.end());
  const std::vector<TableFile*>& files = base_[static_cast<size_t>(level)]->files;
  for (const Arrival* arrival : arrivals) {
    assert(arrival->existing != nullptr);
    assert(arrival->level == level);
    const FileMetadata& meta = arrival->meta();
    const auto after = std::partition_point(files.begin(), files.end(), [&](const TableFile* file) {
      return level == 0 ? IsNewer(file->meta, meta)
                        : comparator_.Compare(file->meta.smallest, meta.smallest) < 0;
    });
    splice.inserted.push_back({static_cast<size_t>(after - files.begin()), arrival->existing});
  }
  return splice;
}

// Levels without a change share their list of tables with the base version. A table that was moved
// is in both arrivals and departures, and its object is kept, so that open readers and caches stay
// valid.
Status VersionBuilder::Build(BuiltVersion* built) {
  assert(built != nullptr);
  assert(built->version == nullptr);
  assert(built->added.empty());
  assert(built->removed.empty());
  std::vector<Arrivals> arrivals = ArrivalsByLevel();
  if (arrivals.size() > static_cast<size_t>(num_levels_)) {
    return Status::InvalidArgument(StrCat("the database has tables on level ", arrivals.size() - 1,
                                          ", but num_levels is ", num_levels_,
                                          "; open it with more levels"));
  }
  AssignEpochs(&arrivals);
  for (auto& [number, arrival] : arrivals_) {
    if (arrival.existing != nullptr) continue;
    built->added.push_back(std::make_unique<TableFile>(std::move(*arrival.fresh)));
    arrival.existing = built->added.back().get();
  }
  for (const auto& [number, arrival] : arrivals_) {
    arrival.existing->level.store(arrival.level, std::memory_order_relaxed);
  }
  for (const auto& [number, place] : departures_) {
    if (!arrivals_.contains(number)) built->removed.push_back(BaseFile(place));
  }
  Version::Levels levels = base_;
  for (Level level = 0; level < num_levels_; ++level) {
    const auto i = static_cast<size_t>(level);
    const Splice<TableFile*> splice = SpliceOf(level, arrivals[i]);
    if (!splice.empty()) {
      levels[i] = LevelTables::Spliced(comparator_, level, *base_[i], splice);
    }
  }
  built->place = LiveVersions::NewPlace();
  std::shared_ptr<const BlobFiles> blobs;
  RETURN_IF_ERROR(blobs_.Build(&blobs));
  built->version =
      std::make_unique<Version>(comparator_, tables_, std::move(levels), std::move(blobs));
  return Check(*built->version);
}

// Checks the order of the levels. Only the neighbours of arrivals can be out of order, since the
// rest keeps the order of the base. Each arrival must be searched by its number. If there are many
// arrivals, as at recovery, checking all files is cheaper.
Status VersionBuilder::Check(const Version& version) const {
  constexpr size_t kManyArrivals = 1000;
  if (arrivals_.size() > kManyArrivals || arrivals_.size() == version.file_count()) {
    return version.CheckInvariants();
  }
  for (const auto& [number, arrival] : arrivals_) {
    const LevelTables& level = *version.levels()[static_cast<size_t>(arrival.level)];
    assert(level.Find(number).has_value());  // Build() has added it to the level
    RETURN_IF_ERROR(version.CheckNeighbours(arrival.level, *level.Find(number)));
  }
#if ASHLAR_INVARIANTS
  RETURN_IF_ERROR(version.CheckInvariants());
#endif
  return Status::OK();
}

}  // namespace ashlar
