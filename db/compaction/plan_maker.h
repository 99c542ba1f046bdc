// SPDX-License-Identifier: Apache-2.0
//
// PlanMaker completes a plan around files that a picker has chosen: what else has to come along,
// what lies in the way, what it may skip. For all styles of compaction.
//
// A "clean" set of files of a level holds all versions of each of its user keys: where neighbours
// share a user key both belong to it, for the older versions must never end above the newer ones.
#pragma once

#include <optional>
#include <vector>

#include "db/compaction/compaction_picker.h"

namespace ashlar {

class PlanMaker {
 public:
  // All outlive it.
  PlanMaker(const Version& version, const ColumnFamilyOptions& options,
            const CompactionClaims& claims, const std::vector<const CompactionPlan*>& running)
      REQUIRES(db_mutex);

  const Version& version() const { return version_; }
  const ColumnFamilyOptions& options() const { return options_; }
  const std::vector<const CompactionPlan*>& running() const { return running_; }
  const CompactionNeeds& needs() const { return needs_; }

  // A plan around these files of a level. None if a file or the output range is taken.
  std::optional<CompactionPlan> PlanFor(LevelFiles start, Level output_level,
                                        bool allow_trivial_move) REQUIRES(db_mutex);
  // A merge of just these, ascending levels, into a level that is not above theirs. None if the
  // output range is taken. Onto level 0 comes one table, which is as old as the oldest of them.
  std::optional<CompactionPlan> PlanForRuns(std::vector<LevelFiles> inputs, Level output_level,
                                            bool allow_trivial_move) REQUIRES(db_mutex);

  // A merge of these, ascending levels, and what has to go along on the way to a level that is not
  // above theirs. None if something of it is taken.
  std::optional<CompactionPlan> PlanForFiles(std::vector<LevelFiles> chosen, Level output_level)
      REQUIRES(db_mutex);
  bool CanMove(const CompactionPlan& plan) const;

  // The seed and all files of level 0 that it overlaps, directly or through others.
  LevelFiles Level0Component(const TableFile* seed) const;
  bool IsTaken(const std::vector<TableFile*>& files) const REQUIRES(db_mutex);
  bool AreDisjoint(std::vector<TableFile*> files) const;
  // Whether they share no user key, and those of `a` come first.
  bool EndsBefore(const TableFile* a, const TableFile* b) const;
  // Of the files on a level that overlap this one.
  uint64_t OverlapBytes(const TableFile& file, Level level) const;
  static uint64_t BytesOf(const std::vector<TableFile*>& files);

 private:
  struct KeyRange {
    Slice smallest;  // user keys, inclusive
    Slice largest;
    bool largest_is_exclusive = false;  // the end of a range tombstone; inclusive otherwise
  };

  void MakeClean(LevelFiles* files) const;
  KeyRange RangeOf(const std::vector<LevelFiles>& inputs) const;
  bool EndsBefore(const KeyRange& a, const Slice& smallest) const;
  LevelFiles OverlappingRange(Level level, const KeyRange& range) const;
  bool OverlapsRunning(const KeyRange& range, Level output_level) const;
  void CompleteLevel0(LevelFiles* files, bool stays) const;
  void GrowStartLevel(CompactionPlan* plan) const REQUIRES(db_mutex);
  void Finish(CompactionPlan* plan) const;
  void FinishOnLevel0(CompactionPlan* plan) const;

  const Version& version_;
  const ColumnFamilyOptions& options_;
  const std::vector<const CompactionPlan*>& running_;
  const CompactionNeeds needs_;
};

}  // namespace ashlar
