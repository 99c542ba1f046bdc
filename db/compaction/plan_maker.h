// SPDX-License-Identifier: Apache-2.0
//
// PlanMaker completes a plan around files that a picker has chosen: which other files must be
// included, which running compactions conflict, and what the compaction may skip. Used by all
// styles of compaction.
//
// A "clean" set of files of a level holds all versions of each of its user keys: neighbours that
// share a user key are in the set together, because an older version must never get above a newer
// one.
#pragma once

#include <optional>
#include <vector>

#include "db/compaction/compaction_picker.h"

namespace ashlar {

class PlanMaker {
 public:
  // The arguments outlive this object.
  PlanMaker(const Version& version, const ColumnFamilyOptions& options,
            const CompactionClaims& claims, const std::vector<const CompactionPlan*>& running)
      REQUIRES(db_mutex);

  const Version& version() const { return version_; }
  const ColumnFamilyOptions& options() const { return options_; }
  const std::vector<const CompactionPlan*>& running() const { return running_; }
  const CompactionNeeds& needs() const { return needs_; }

  // A plan for these files of a level. nullopt if a file or the output range is in a running
  // compaction.
  std::optional<CompactionPlan> PlanFor(LevelFiles start, Level output_level,
                                        bool allow_trivial_move) REQUIRES(db_mutex);
  // A merge of exactly these files, ascending by level, into a level that is not above theirs.
  // nullopt if a file or the output range is in a running compaction. Level 0 gets one table, which
  // is as old as the oldest input.
  std::optional<CompactionPlan> PlanForRuns(std::vector<LevelFiles> inputs, Level output_level,
                                            bool allow_trivial_move) REQUIRES(db_mutex);

  // A merge of these files, ascending by level, and of the files that must be included on the way
  // to the output level, which is not above theirs. nullopt if one of them is in a running
  // compaction.
  std::optional<CompactionPlan> PlanForFiles(std::vector<LevelFiles> chosen, Level output_level)
      REQUIRES(db_mutex);
  // Whether the table stays off this level because it is young.
  bool IsHeldBack(const TableFile& file, Level output_level) const;
  // Whether the inputs of the plan can be relinked on the output level instead of being merged.
  bool CanMove(const CompactionPlan& plan) const;

  // The file and all files of level 0 that it overlaps, directly or through others.
  LevelFiles Level0Component(const TableFile* seed) const;
  // Whether one of the files is being compacted.
  bool IsTaken(const std::vector<TableFile*>& files) const REQUIRES(db_mutex);
  // Whether no two of the files share a user key.
  bool AreDisjoint(std::vector<TableFile*> files) const;
  // Whether all user keys of `a` are before those of `b`.
  bool EndsBefore(const TableFile* a, const TableFile* b) const;
  // The bytes of the files on a level that overlap this file.
  uint64_t OverlapBytes(const TableFile& file, Level level) const;
  static uint64_t BytesOf(const std::vector<TableFile*>& files);

 private:
  using KeyRange = CompactionPlan::KeyRange;

  // Adds neighbours that share a user key with the set.
  void MakeClean(LevelFiles* files) const;
  KeyRange RangeOf(const std::vector<LevelFiles>& inputs) const;
  bool EndsBefore(const KeyRange& a, const Slice& smallest) const;
  LevelFiles OverlappingRange(Level level, const KeyRange& range) const;
  bool OverlapsRunning(const KeyRange& range, Level output_level) const;
  // Gives a plan that writes to the last level a range above it, if it needs one. False if a
  // running compaction prevents that.
  bool AddYoungRange(CompactionPlan* plan) const;
  void CompleteLevel0(LevelFiles* files, bool stays) const;
  bool HasTemperature(const CompactionPlan& plan) const;
  void GrowStartLevel(CompactionPlan* plan) const REQUIRES(db_mutex);
  void Finish(CompactionPlan* plan) const;
  void FinishOnLevel0(CompactionPlan* plan) const;

  const Version& version_;
  const ColumnFamilyOptions& options_;
  const std::vector<const CompactionPlan*>& running_;
  const CompactionNeeds needs_;
  const std::optional<Level> young_level_;
  const SequenceNumber first_young_;
};

}  // namespace ashlar
