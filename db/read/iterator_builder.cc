// SPDX-License-Identifier: Apache-2.0
//
// The tree of iterators that is built here, from the top:
//
//   MergingIterator
//    |- memtable iterator (each memtable)
//    |- LevelIterator (each table of level 0) -> table iterator
//    `- LevelIterator (each deeper level) -> table iterator of the file that is reached
//
// A table is opened when the merge first moves into it, not when the iterators are built.
#include "db/read/iterator_builder.h"

#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "db/read/super_version.h"
#include "db/search/level_iterator.h"
#include "db/search/level_tombstones.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "table/iterator/read_trace.h"
#include "table/iterator/traced_run.h"
#include "util/memory/arena.h"

namespace ashlar {

IteratorBuilder::~IteratorBuilder() {
  for (const SortedRun& run : runs_.runs) DestroyRun(run, runs_.home);
}

template <typename T, typename... Arguments>
// Iterators of a read live in its arena and are destroyed in place; without an arena they are owned
// one by one.
T* IteratorBuilder::New(Arguments&&... arguments) {
  if (arena_ == nullptr) return new T(std::forward<Arguments>(arguments)...);
  return new (arena_->AllocateAligned(sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

// Adds a run for a memtable. The list gets its element before the iterator is created, so no
// iterator is lost if the list runs out of memory.
void IteratorBuilder::AddMemTable(MemTable* memtable) {
  assert(memtable != nullptr);
  SortedRun& run = runs_.runs.emplace_back(nullptr);
  run.points = memtable->NewIterator(
      arena_, prefixes_,
      fetches_values_ ? MemTable::ValueUse::kCopiesAll : MemTable::ValueUse::kAny);
  if (upper_seqno_.has_value()) {
    if (auto tombstones = memtable->Tombstones(); tombstones != nullptr) {
      run.tombstones =
          New<ListTombstones>(std::move(tombstones), *upper_seqno_, callback_, upper_stamp_);
    }
  }
  if (trace_ == nullptr) return;
  const size_t index = runs_.runs.size() - 1;
  const ReadTrace::MemTablePlace place{.id = memtable->id(), .is_immutable = index != 0};
  trace_->AddRun(index, &place);
  ObserveLastRun();
}

void IteratorBuilder::ObserveLastRun() {
  assert(!runs_.runs.empty());
  assert(trace_ != nullptr);
  SortedRun& run = runs_.runs.back();
  run = Traced(run, runs_.runs.size() - 1, trace_, arena_);
}

void IteratorBuilder::AddMemTables(const SuperVersion& super_version) {
  assert(runs_.runs.empty());  // the active memtable is the first run
  // A trace must see every memtable, even an empty one.
  const bool is_left_out = spares_empty_ && trace_ == nullptr && super_version.mem()->IsEmpty();
  if (!is_left_out) AddMemTable(super_version.mem());
  for (MemTable* immutable : super_version.immutables()) AddMemTable(immutable);
}

void IteratorBuilder::AddTables(const Version& version, const LevelFiles& files,
                                const TableReads& reads) {
  AddLevel(version, files.level, files.files, reads);
}

void IteratorBuilder::AddTables(const Version& version, const TableReads& reads) {
  for (Level level = 0; level <= version.deepest_level(); ++level) {
    AddLevel(version, level, version.files(level), reads);
  }
}

void IteratorBuilder::AddLevel(const Version& version, Level level,
                               const std::vector<TableFile*>& files, const TableReads& reads) {
  if (files.empty()) return;
  const std::span<TableFile* const> all(files);
  if (level > 0) return AddRun(version, {.level = level, .files = all}, reads);
  // The tables of level 0 overlap, so each one is a run of its own.
  for (size_t i = 0; i < all.size(); ++i) {
    AddRun(version, {.level = level, .files = all.subspan(i, 1)}, reads);
  }
}

void IteratorBuilder::AddRun(const Version& version, const LevelPart& part,
                             const TableReads& reads) {
  assert(!part.files.empty());
  SortedRun& run = runs_.runs.emplace_back(nullptr);
  LevelTombstones* tombstones = nullptr;
  if (upper_seqno_.has_value()) {
    run.tombstones = tombstones = New<LevelTombstones>(*upper_seqno_, callback_, upper_stamp_);
  }
  run.points = New<LevelIterator>(LevelIteratorOptions{.read = reads.options,
                                                       .comparator = &version.comparator(),
                                                       .tables = version.tables(),
                                                       .for_compaction = reads.for_compaction,
                                                       .tombstones = tombstones,
                                                       .level = part.level,
                                                       .trace = trace_,
                                                       .wanted = reads.wanted,
                                                       .wanted_key = reads.wanted_key,
                                                       .scanned = reads.scanned,
                                                       .passing = reads.passing},
                                  part.files);
  if (trace_ == nullptr) return;
  trace_->AddRun(runs_.runs.size() - 1, nullptr);
  ObserveLastRun();
}

// Adds the memtables and, unless the read tier excludes them, the tables.
void IteratorBuilder::AddAll(const SuperVersion& super_version, const TableReads& reads) {
  assert(reads.options != nullptr);
  const ReadOptions& options = *reads.options;
  runs_.lower_bound = options.iterate_lower_bound;
  runs_.upper_bound = options.iterate_upper_bound;
  AddMemTables(super_version);
  if (options.read_tier == kMemtableTier) return;
  AddTables(*super_version.version(), reads);
}

std::unique_ptr<MergingIterator> IteratorBuilder::Build() {
  return std::make_unique<MergingIterator>(comparator_, TakeRuns());
}

// The builder keeps only the place where its runs live, and is empty afterwards.
SortedRuns IteratorBuilder::TakeRuns() {
  SortedRuns runs = std::exchange(runs_, {});
  runs_.home = runs.home;
  return runs;
}

}  // namespace ashlar
