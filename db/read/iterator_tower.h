// SPDX-License-Identifier: Apache-2.0
//
// IteratorTower builds the iterator over all the sorted runs of a reader: memtables, tables of
// level 0, levels. Iterators of users, flushes, compactions and listings of keys differ only in
// which runs they take and in where the iterators live.
//
//   IteratorTower tower(&comparator, &arena);
//   tower.AddAll(super_version, read_options);
//   std::unique_ptr<MergingIterator> merged = tower.Build();
//
// Runs are added newest first: of equal keys the merge shows the one of the earlier run first.
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

class IteratorTower {
 public:
  // How tables are read. The options, with the bounds and the snapshot they name, outlive the tower
  // and what it builds.
  struct TableReads {
    const ReadOptions* options = nullptr;
    bool for_compaction = false;            // reads ahead far and leaves the block cache alone
    const WantedPrefix* wanted = nullptr;   // null: every entry; outlives them too
    ScannedBlocks* scanned = nullptr;       // null: none; outlives them too
    const BlockPassing* passing = nullptr;  // takes blocks; null: nobody does; outlives them too
  };

  // Iterators are built in `arena`, or on the heap if it is null. Both pointers outlive them.
  IteratorTower(const InternalKeyComparator* comparator, Arena* arena)
      : comparator_(comparator), arena_(arena) {
    runs_.home = HomeOf(arena);
  }
  ~IteratorTower();
  IteratorTower(const IteratorTower&) = delete;
  IteratorTower& operator=(const IteratorTower&) = delete;

  // From here on runs come with their range tombstones, those at or below the number that the
  // callback, if it is not null, sees: the merge does not show what they hide. Without this call
  // all entries are shown.
  void HideDeleted(SequenceNumber upper_seqno, const ReadCallback* callback = nullptr) {
    upper_seqno_ = upper_seqno;
    callback_ = callback;
  }

  // From here on runs tell the trace, which outlives them, where they go. Null: nobody is told.
  void SetTrace(ReadTrace* trace) { trace_ = trace; }

  // From here on memtables are told of the extractor of prefixes if behind a seek only the prefix
  // of its key is wanted. It outlives what is built; may be null.
  void StayInPrefix(const SliceTransform* prefixes) { prefixes_ = prefixes; }

  // From here on an active memtable without entries is no run, unless a trace wants to hear of it:
  // for readers that do not see what is inserted later.
  void SpareEmptyMemTable() { spares_empty_ = true; }

  // From here on memtables fetch values ahead: for who copies every one.
  void FetchValuesAhead() { fetches_values_ = true; }

  // What is added outlives the iterators, lists of files included.
  void AddMemTable(MemTable* memtable);
  // The active memtable, then the sealed ones.
  void AddMemTables(const SuperVersion& super_version);
  // The tables of `files`: a run for each one of level 0, one run for all of a deeper level.
  void AddTables(const Version& version, const LevelFiles& files, const TableReads& reads);
  // All tables of the version.
  void AddTables(const Version& version, const TableReads& reads);
  // All that a super version has, as far as the read tier of the options goes. The merge may end at
  // the bounds of the options.
  void AddAll(const SuperVersion& super_version, const TableReads& reads);

  // Either of them once, at the end: the runs merged, or the runs.
  std::unique_ptr<MergingIterator> Build();
  SortedRuns TakeRuns();

 private:
  struct LevelPart {
    Level level = 0;
    std::span<TableFile* const> files;  // a sorted run
  };

  void AddLevel(const Version& version, Level level, const std::vector<TableFile*>& files,
                const TableReads& reads);
  void AddRun(const Version& version, const LevelPart& part, const TableReads& reads);
  // Puts the trace between the merge and the run that was added last.
  void ObserveLastRun();
  template <typename T, typename... Arguments>
  T* New(Arguments&&... arguments);

  const InternalKeyComparator* const comparator_;
  Arena* const arena_;
  ReadTrace* trace_ = nullptr;
  bool spares_empty_ = false;
  bool fetches_values_ = false;
  const SliceTransform* prefixes_ = nullptr;   // see StayInPrefix()
  std::optional<SequenceNumber> upper_seqno_;  // of tombstones; none: nothing is hidden
  const ReadCallback* callback_ = nullptr;     // that sees tombstones; null: none
  SortedRuns runs_;
};

}  // namespace ashlar
