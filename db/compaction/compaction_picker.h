// SPDX-License-Identifier: Apache-2.0
//
// Picking compactions: pure functions from a version and options to a plan. No file or clock; the
// same arguments give the same plan. The DB mutex is needed as files say whether a job has them.
//
// Level 0 holds flushed files that may overlap; every deeper level is one sorted run. The styles
// (level_picker.cc, universal_picker.cc, fifo_picker.cc) differ in what they merge, and when:
// levelled trees have a target size for each level. With dynamic level bytes the targets are
// derived from the deepest level upwards, and level 0 compacts into the "base level", the first in
// use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "db/version/compaction_claims.h"
#include "db/version/version.h"
#include "util/keys/file_number.h"
#include "util/keys/level.h"
#include "util/result.h"

namespace ashlar {

// Levels from 0 on that compactions bring data to: all, or all but the last one, which is kept free
// for what is ingested behind everything (cf_allow_ingest_behind).
inline int LevelsInUse(const Version& version, const ColumnFamilyOptions& options) {
  return version.num_levels() - (options.cf_allow_ingest_behind && version.num_levels() > 2);
}

struct CompactionPlan {
  Level start_level = 0;
  Level output_level = 1;
  Level base_level = 1;                  // level 0 is compacted into it
  std::vector<LevelFiles> inputs;        // start level first, ascending levels, none empty
  std::vector<TableFile*> grandparents;  // of output_level + 1 that overlap the inputs
  uint64_t target_file_bytes = 0;        // an output is cut when it reaches this
  uint64_t max_grandparent_bytes = 0;    // and before it overlaps more than this
  uint32_t output_path_id = 0;           // of the outputs' directory; see output_paths.h
  bool is_bottommost = false;            // nothing deeper overlaps the inputs
  bool is_open_below = false;            // older data may come to lie below the outputs later
  bool is_trivial_move = false;          // the inputs can be relinked on the output level
  bool is_deletion = false;              // the inputs are dropped, with all that they hold
  // Of the outputs, instead of what the options say. kDisableCompressionOption: as they say.
  CompressionType compression = kDisableCompressionOption;
  std::vector<TableFile*> older_in_level0;  // than outputs on level 0: they lie below
  bool is_manual = false;
  CompactionReason reason = CompactionReason::kUnknown;
  double score = 0;
  // Round robin: the internal key with which the next turn of the start level begins. Empty: none.
  std::string next_cursor;
  // Manual ranges that do not fit in one plan: where the next one begins. None: all is covered.
  std::optional<std::string> next_begin;  // user key

  // Whether its outputs are new tables.
  bool IsMerge() const { return !is_trivial_move && !is_deletion; }
  // Somebody else's choice. What lies elsewhere cannot just be relinked.
  void SetOutputPath(uint32_t path_id);
  bool IsAllOnPath(uint32_t path_id) const;
  uint64_t InputBytes() const;
  // Smallest and largest user key of the inputs, inclusive.
  std::pair<Slice, Slice> UserKeyRange(const InternalKeyComparator& order) const;
  size_t InputFileCount() const;
  std::string DebugString() const;
};

// How far each level is from where it should be.
struct CompactionNeeds {
  std::vector<double> scores;          // by level; at or above 1 the level wants compaction
  std::vector<bool> is_due_by_mark;    // by level; its marked tables are all that it wants it for
  std::vector<uint64_t> target_bytes;  // by level; 0 for levels not in use
  Level base_level = 1;                // level 0 compacts into it
  uint64_t pending_bytes = 0;          // estimate of what compaction must still rewrite
  bool IsNeeded() const {
    for (double score : scores) {
      if (score >= 1) return true;
    }
    return false;
  }
};

// The scores leave out what compactions have taken; the rest does not depend on the claims.
CompactionNeeds AssessCompaction(const Version& version, const ColumnFamilyOptions& options,
                                 const CompactionClaims& claims) REQUIRES(db_mutex);

struct PickOptions {
  const ColumnFamilyOptions* options = nullptr;
  const CompactionClaims* claims = nullptr;  // of the family
  // Round-robin positions by level; may be null.
  const std::map<Level, std::string>* cursors = nullptr;
  // Where no level is in need, a table that wasted many reads may be taken.
  bool may_serve_reads = false;
  uint64_t now_seconds = 0;  // since 1970: some things are due by their age
  // RocksDB 7.8 opens no database with tables of level 0 whose sequence numbers cross. Tables that
  // were ingested beside older entries in memtables are not merged there for its sake: the flush of
  // those would end within the result. This is the oldest such entry.
  SequenceNumber oldest_unflushed = kMaxSequenceNumber;

  bool MayMergeOnLevel0(const TableFile& table) const {
    return table.meta.largest_seqno <= oldest_unflushed;
  }
};

// The most urgent compaction none of whose files is being compacted and whose output range no
// running compaction writes to, or none. `running` are the plans under way in this family.
std::optional<CompactionPlan> PickCompaction(const Version& version, const PickOptions& options,
                                             const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// What is due by the clock: by ttl or periodic_compaction_seconds.
std::optional<CompactionPlan> PickByAge(const Version& version, const PickOptions& options,
                                        const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// A compaction of one table, and those that share a key with it, into its own level: of what
// snapshots kept there, if it is bottommost. None if a table or the range is taken.
std::optional<CompactionPlan> PickRewrite(const Version& version, const PickOptions& options,
                                          const LevelFiles& table,
                                          const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// A compaction of one table, and what overlaps it on its level and the next one, into that level;
// in the universal style of all runs. None if something of it is taken.
std::optional<CompactionPlan> PickDown(const Version& version, const PickOptions& options,
                                       const LevelFiles& table,
                                       const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// The universal style: all runs into the last level; none if they are one there already, unless
// `rewrites_last` asks for that one to be written anew. `has_conflict`: something is being
// compacted, try again later.
std::optional<CompactionPlan> PickAllRuns(const Version& version, const PickOptions& options,
                                          bool rewrites_last,
                                          const std::vector<const CompactionPlan*>& running,
                                          bool* has_conflict) REQUIRES(db_mutex);

inline bool HasCompactionFilter(const ColumnFamilyOptions& options) {
  return options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
}

// What writers are slowed down by: the files of level 0, in the universal style all runs.
int RunsThatSlowWrites(const Version& version, const ColumnFamilyOptions& options);

struct RangePickOptions {
  const ColumnFamilyOptions* options = nullptr;
  const CompactionClaims* claims = nullptr;  // of the family
  Level input_level = 0;
  Level output_level = 1;
  const Slice* begin = nullptr;  // user keys, inclusive; null: unbounded
  const Slice* end = nullptr;
  bool allow_trivial_move = false;
};

// What CompactFiles() asks for.
struct FilesToCompact {
  std::vector<FileNumber> numbers;
  Level output_level = 0;
  uint64_t target_file_bytes = UINT64_MAX;
  CompressionType compression = kDisableCompressionOption;
  bool allow_trivial_move = false;
  std::optional<uint32_t> output_path_id;  // none: as of other compactions
};

// These tables, and those that hold older versions of their keys on the way to the output level.
// InvalidArgument if one is not there, or below that level; Aborted if a compaction has something
// of it.
Result<CompactionPlan> PickFiles(const Version& version, const PickOptions& options,
                                 const FilesToCompact& wanted,
                                 const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// For CompactRange: files of input_level in the range, or none if there is no such file.
// `has_conflict` is set if there are some but they are being compacted: try again later.
std::optional<CompactionPlan> PickRangeCompaction(const Version& version,
                                                  const RangePickOptions& options,
                                                  const std::vector<const CompactionPlan*>& running,
                                                  bool* has_conflict) REQUIRES(db_mutex);

}  // namespace ashlar
