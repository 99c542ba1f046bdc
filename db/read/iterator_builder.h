// SPDX-License-Identifier: Apache-2.0
//
// IteratorBuilder builds the iterator over all sorted runs of a reader: memtables, tables of level
// 0, and deeper levels. Iterators of users, flushes, compactions and listings of keys differ only
// in the runs that they take and in the memory in which their iterators are built.
//
//   IteratorBuilder builder(&comparator, &arena);
//   builder.AddAll(super_version, read_options);
//   std::unique_ptr<MergingIterator> merged = builder.Build();
//
// Runs are added newest first: of equal keys the merge shows the one from the earlier run first.
// Threads: one at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "table/iterator/merging_iterator.h"
#include "table/iterator/sorted_run.h"
#include "util/keys/internal_key.h"
#include "util/keys/level.h"

namespace ashlar {

class Arena;
class MemTable;
class ReadCallback;
class ReadTrace;
class ScannedBlocks;
class SliceTransform;
class SuperVersion;
class TableFile;
class Version;
class WantedPrefix;
struct BlockPassing;
struct LevelFiles;
struct ReadOptions;

class IteratorBuilder {
 public:
  // How tables are read. The options, with the bounds and the snapshot that they name, outlive the
  // builder and the iterators that it builds.
  struct TableReads {
    const ReadOptions* options = nullptr;
    bool for_compaction = false;  // reads far ahead and leaves the block cache alone
    // These outlive the iterators too.
    const WantedPrefix* wanted = nullptr;   // entries of one prefix suffice; null: every entry
    const Slice* wanted_key = nullptr;      // see LevelIteratorOptions; null: every entry
    ScannedBlocks* scanned = nullptr;       // blocks of announced scans; null: none
    const BlockPassing* passing = nullptr;  // takes whole blocks; null: entries only
  };

  // Iterators are built in `arena`, or on the heap if it is null. Comparator and arena outlive the
  // iterators.
  IteratorBuilder(const InternalKeyComparator* comparator, Arena* arena)
      : comparator_(comparator), arena_(arena) {
    runs_.home = HomeOf(arena);
  }
  ~IteratorBuilder();
  IteratorBuilder(const IteratorBuilder&) = delete;
  IteratorBuilder& operator=(const IteratorBuilder&) = delete;

  // Runs that are added after this call come with those range tombstones that have a number of at
  // most `upper_seqno` and are visible to the callback (null: all of them). The merge does not show
  // the entries that these tombstones hide. Without this call all entries are shown.
  // In a stamped family, only tombstones up to the timestamp, which outlives the iterators, count.
  void HideDeleted(SequenceNumber upper_seqno, const ReadCallback* callback = nullptr,
                   const Slice* upper_stamp = nullptr) {
    upper_seqno_ = upper_seqno;
    callback_ = callback;
    upper_stamp_ = upper_stamp;
  }

  // Runs that are added after this call notify the trace, which outlives them, of their moves.
  // Null: no trace.
  void SetTrace(ReadTrace* trace) { trace_ = trace; }

  // For readers that want only keys with the prefix of the seek's target: memtables that are added
  // after this call use the extractor to stay inside the prefix. It outlives the iterators; null:
  // none.
  void StayInPrefix(const SliceTransform* prefixes) { prefixes_ = prefixes; }

  // An active memtable without entries that is added after this call becomes no run, unless there
  // is a trace. Only for readers that do not see entries inserted later.
  void SpareEmptyMemTable() { spares_empty_ = true; }

  // Memtables that are added after this call prefetch values, because the caller copies each value.
  void FetchValuesAhead() { fetches_values_ = true; }

  // Everything that is added outlives the iterators, including the lists of files.
  void AddMemTable(MemTable* memtable);
  // The active memtable, then the immutable ones.
  void AddMemTables(const SuperVersion& super_version);
  // The tables of `files`: one run for each table of level 0, one run for all tables of a deeper
  // level.
  void AddTables(const Version& version, const LevelFiles& files, const TableReads& reads);
  // All tables of the version.
  void AddTables(const Version& version, const TableReads& reads);
  // Everything that a super version contains, as far as the read tier of the options allows. The
  // merge may end at the bounds of the options.
  void AddAll(const SuperVersion& super_version, const TableReads& reads);

  // One of the two is called, once, at the end. Build() merges the runs; TakeRuns() hands them out.
  std::unique_ptr<MergingIterator> Build();
  SortedRuns TakeRuns();

 private:
  // One sorted run of tables of a level.
  struct LevelPart {
    Level level = 0;
    std::span<TableFile* const> files;  // disjoint and ascending
  };

  void AddLevel(const Version& version, Level level, const std::vector<TableFile*>& files,
                const TableReads& reads);
  void AddRun(const Version& version, const LevelPart& part, const TableReads& reads);
  // Inserts the trace between the merge and the run that was added last.
  void ObserveLastRun();
  // Creates an object in the arena, or on the heap without one.
  template <typename T, typename... Arguments>
  T* New(Arguments&&... arguments);

  const InternalKeyComparator* const comparator_;
  Arena* const arena_;
  ReadTrace* trace_ = nullptr;
  bool spares_empty_ = false;
  bool fetches_values_ = false;
  const SliceTransform* prefixes_ = nullptr;   // see StayInPrefix()
  std::optional<SequenceNumber> upper_seqno_;  // of tombstones; nullopt: nothing is hidden
  const ReadCallback* callback_ = nullptr;     // decides which tombstones count; null: all
  const Slice* upper_stamp_ = nullptr;         // of tombstones; null: all timestamps
  SortedRuns runs_;
};

}  // namespace ashlar
