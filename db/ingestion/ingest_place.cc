// SPDX-License-Identifier: Apache-2.0
//
// Seeks in memtables and tables find the overlap; a walk down the levels finds the place.
#include "db/ingestion/ingest_place.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "ashlar/options.h"
#include "db/table_cache/table_cache.h"
#include "memtable/memtable.h"
#include "table/iterator/internal_iterator.h"
#include "table/sst/read/table_reader.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Whether a range tombstone overlaps the bounds.
bool TombstonesReach(const FragmentedTombstones* tombstones, const TableBounds& bounds) {
  if (tombstones == nullptr || tombstones->empty()) return false;
  const size_t index = tombstones->Find(bounds.begin());
  return index < tombstones->size() && tombstones->BeginsAtOrBefore(index, bounds.end());
}

// The caller checks the status of the iterator.
bool PointsReach(const InternalKeyComparator& comparator, InternalIterator* it,
                 const TableBounds& bounds) {
  assert(it != nullptr);
  it->Seek(comparator.FirstInternalKey(bounds.begin()));
  return it->Valid() &&
         comparator.OrderWithoutTimestamp(ExtractUserKey(it->key()), bounds.end()) <= 0;
}

// Tombstones are searched first, because that needs no iterator.
bool OverlapsMemTable(const MemTable& memtable, const TableBounds& bounds) {
  if (TombstonesReach(memtable.Tombstones().get(), bounds)) return true;
  const std::unique_ptr<InternalIterator> it(memtable.NewIterator(nullptr));
  return PointsReach(memtable.comparator(), it.get(), bounds);
}

// Opens the tables of the level that overlap the bounds.
Result<bool> LevelHasKeys(const Version& version, Level level, const TableBounds& bounds) {
  const Slice begin = bounds.begin(), end = bounds.end();
  ReadOptions read;
  for (TableFile* file : version.Overlapping(level, &begin, &end).files) {
    Result<TableHandle> table = version.tables()->Pin(file);
    if (!table.ok()) return table.status();
    if (TombstonesReach((*table)->tombstones().get(), bounds)) return true;
    const std::unique_ptr<InternalIterator> it((*table)->NewIterator(read, nullptr));
    if (PointsReach(version.comparator(), it.get(), bounds)) return true;
    RETURN_IF_ERROR(it->status());
  }
  return false;
}

// The outputs of a compaction are between the first and the last key of its inputs.
bool MayWriteTo(const CompactionPlan& plan, Level level, const TableBounds& bounds,
                const InternalKeyComparator& comparator) {
  if (!plan.WritesTo(level)) return false;
  Slice smallest, largest;
  bool is_first = true;
  for (const LevelFiles& inputs : plan.inputs) {
    assert(!inputs.files.empty());
    for (const TableFile* file : inputs.files) {
      const Slice begin = file->meta.smallest_user_key(), end = file->meta.largest_user_key();
      if (is_first || comparator.OrderWithoutTimestamp(begin, smallest) < 0) smallest = begin;
      if (is_first || comparator.OrderWithoutTimestamp(end, largest) > 0) largest = end;
      is_first = false;
    }
  }
  return comparator.OrderWithoutTimestamp(smallest, bounds.end()) <= 0 &&
         comparator.OrderWithoutTimestamp(bounds.begin(), largest) <= 0;
}

}  // namespace

bool OverlapsMemTables(const SuperVersion& super_version, const TableBounds& bounds) {
  assert(!bounds.empty());
  if (OverlapsMemTable(*super_version.mem(), bounds)) return true;
  const std::vector<MemTable*>& immutable = super_version.immutables();
  return std::any_of(immutable.begin(), immutable.end(), [&bounds](const MemTable* memtable) {
    return OverlapsMemTable(*memtable, bounds);
  });
}

// Reads tables, so the caller holds no epoch and no lock.
Result<std::optional<Level>> FirstLevelWithKeys(const Version& version, const TableBounds& bounds) {
  assert(!InEpoch() && !bounds.empty());
  for (Level level = 0; level < version.num_levels(); ++level) {
    ASSIGN_OR_RETURN(const bool has_keys, LevelHasKeys(version, level, bounds));
    if (has_keys) return std::optional<Level>(level);
  }
  return std::optional<Level>();
}

namespace {

// Whether a running compaction may write tables that overlap the file on this level.
bool IsTaken(const IngestPlaceOptions& options, Level level) {
  const auto reaches = [&](const CompactionPlan* plan) {
    return MayWriteTo(*plan, level, *options.bounds, options.version->comparator());
  };
  return std::any_of(options.running->begin(), options.running->end(), reaches);
}

}  // namespace

// Walks down from the base level and remembers the deepest level that is possible. A level that is
// not possible may still be passed, because nothing on it shares a key with the file.
Level PickIngestLevel(const IngestPlaceOptions& options) {
  assert(options.version != nullptr && options.bounds != nullptr);
  const Version& version = *options.version;
  const TableBounds& bounds = *options.bounds;
  assert(options.levels_in_use > 0 && options.levels_in_use <= version.num_levels());
  // The file must stay above the first level with a common key, and within the levels that are in
  // use.
  const Level behind = std::min(options.first_with_keys.value_or(Level{version.num_levels()}),
                                Level{options.levels_in_use});
  const Slice begin = bounds.begin(), end = bounds.end();
  Level picked = 0;
  for (Level level = std::max(Level{1}, options.base_level); level < behind; ++level) {
    if (!version.Overlapping(level, &begin, &end).files.empty()) continue;
    if (!IsTaken(options, level)) picked = level;
  }
  return picked;
}

// All tables above must have sequence numbers: otherwise their entries could not be distinguished
// from those of the file.
Status CheckFitsBehind(const IngestPlaceOptions& options) {
  assert(options.version != nullptr && options.bounds != nullptr);
  const Version& version = *options.version;
  const Level last{version.num_levels() - 1};
  const Slice begin = options.bounds->begin(), end = options.bounds->end();
  if (!version.Overlapping(last, &begin, &end).files.empty() || IsTaken(options, last)) {
    return Status::InvalidArgument(
        "Can't ingest_behind file as it doesn't fit at the bottommost level!");
  }
  for (Level level = 0; level < last; ++level) {
    for (const TableFile* file : version.files(level)) {
      if (file->meta.smallest_seqno != 0) continue;
      return Status::InvalidArgument(
          StrCat("Can't ingest_behind file: table ", file->meta.number, " of level ", level,
                 " has entries without a sequence number: it was written without "
                 "allow_ingest_behind"));
    }
  }
  return Status::OK();
}

// A range tombstone that ends at the first key of the other file does not reach it.
bool EndsBefore(const InternalKeyComparator& comparator, const TableBounds& a,
                const TableBounds& b) {
  const int order = comparator.OrderWithoutTimestamp(a.end(), b.begin());
  return order < 0 || (order == 0 && ExtractTrailer(a.largest) == kRangeTombstoneSentinel);
}

}  // namespace ashlar
