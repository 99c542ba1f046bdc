// SPDX-License-Identifier: Apache-2.0
//
// From the ground up:
//
//   MergingIterator
//    |- memtable iterator (each memtable)
//    |- LevelIterator (each table of level 0) -> table iterator
//    `- LevelIterator (each deeper level) -> table iterator of the file that is reached
//
// Tables are opened when the merge first goes there, not when the tower is built.
#include "db/read/iterator_tower.h"

#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "db/read/super_version.h"
#include "db/version/level_iterator.h"
#include "db/version/table_cache.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "util/arena.h"

namespace ashlar {

IteratorTower::~IteratorTower() {
  for (InternalIterator* points : points_) DestroyIterator(points, HomeOf(arena_));
}

void IteratorTower::Add(InternalIterator* points) {
  assert(points != nullptr);
  points_.push_back(points);
}

void IteratorTower::AddMemTable(MemTable* memtable) {
  points_.reserve(points_.size() + 1);  // so that nothing is lost if memory runs out
  Add(memtable->NewIterator(arena_));
}

void IteratorTower::AddMemTables(const SuperVersion& super_version) {
  AddMemTable(super_version.mem());
  for (MemTable* sealed : super_version.immutables()) AddMemTable(sealed);
}

void IteratorTower::AddTables(const Version& version, const LevelFiles& files,
                              const TableReads& reads) {
  AddLevel(version, files.level, files.files, reads);
}

void IteratorTower::AddTables(const Version& version, const TableReads& reads) {
  for (int level = 0; level <= version.deepest_level(); level++) {
    AddLevel(version, level, version.files(level), reads);
  }
}

void IteratorTower::AddLevel(const Version& version, int level,
                             const std::vector<TableFile*>& files, const TableReads& reads) {
  if (files.empty()) return;
  const std::span<TableFile* const> all(files);
  points_.reserve(points_.size() + (level == 0 ? files.size() : 1));
  if (level > 0) return AddRun(version, all, reads);
  for (size_t i = 0; i < all.size(); ++i) AddRun(version, all.subspan(i, 1), reads);
}

void IteratorTower::AddRun(const Version& version, std::span<TableFile* const> files,
                           const TableReads& reads) {
  assert(!files.empty());
  const LevelIteratorOptions options{.read = reads.options,
                                     .comparator = &version.comparator(),
                                     .tables = version.tables(),
                                     .for_compaction = reads.for_compaction};
  if (arena_ == nullptr) return Add(new LevelIterator(options, files));
  void* const memory = arena_->AllocateAligned(sizeof(LevelIterator));
  Add(new (memory) LevelIterator(options, files));
}

void IteratorTower::AddAll(const SuperVersion& super_version, const ReadOptions& options) {
  AddMemTables(super_version);
  if (options.read_tier == kMemtableTier) return;
  AddTables(*super_version.version(), {.options = &options});
}

std::unique_ptr<MergingIterator> IteratorTower::Build() {
  return std::make_unique<MergingIterator>(comparator_, TakeRuns());
}

SortedRuns IteratorTower::TakeRuns() {
  return {.iterators = std::exchange(points_, {}), .home = HomeOf(arena_)};
}

}  // namespace ashlar
