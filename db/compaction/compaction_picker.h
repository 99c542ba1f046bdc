// SPDX-License-Identifier: Apache-2.0
//
// Picking of compactions: pure functions from a version and options to a plan, without files or a
// clock. The same arguments give the same plan. The DB mutex is held because it guards
// TableFile::being_compacted.
//
// Level 0 holds flushed files that may overlap; every deeper level is one sorted run. The styles
// (level_picker.cc, universal_picker.cc, fifo_picker.cc) differ in what they merge, and when. A
// levelled tree has a target size for each level. With dynamic level bytes the targets are derived
// from the deepest level upwards, and level 0 is compacted into the "base level", the first one in
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

// The number of levels, from 0 on, into which compactions write: all levels, or all except the last
// one, which is reserved for data ingested behind everything else (cf_allow_ingest_behind).
inline int LevelsInUse(const Version& version, const ColumnFamilyOptions& options) {
  return version.num_levels() - (options.cf_allow_ingest_behind && version.num_levels() > 2);
}

// The size at which a table on `level` ends. `base_level` is the level into which level 0 is
// compacted; deeper levels may have larger tables.
uint64_t TargetFileBytes(const ColumnFamilyOptions& options, Level base_level, Level level);

// A compaction to run.
struct CompactionPlan {
  Level start_level = 0;
  Level output_level = 1;
  Level base_level = 1;                  // the level into which level 0 is compacted
  std::vector<LevelFiles> inputs;        // start level first, ascending levels, none empty
  std::vector<TableFile*> grandparents;  // files of output_level + 1 that overlap the inputs
  uint64_t target_file_bytes = 0;        // an output ends when it has this size
  uint64_t max_grandparent_bytes = 0;    // and before it overlaps more grandparents than this
  // If set: the user keys for which the level above the output level belongs to the job too. It
  // gets their entries that are too young for the output level, the last one; see young_data.h.
  struct KeyRange {
    Slice smallest, largest;            // point into the metadata of inputs
    bool largest_is_exclusive = false;  // the end of a range tombstone; inclusive otherwise
  };
  std::optional<KeyRange> young_range;
  uint32_t output_path_id = 0;   // of the outputs' directory; see output_paths.h
  bool is_bottommost = false;    // no deeper level overlaps the inputs
  bool is_open_below = false;    // older data may be added below the outputs later
  bool is_trivial_move = false;  // the inputs can be relinked on the output level
  bool is_deletion = false;      // the inputs are dropped with all their entries
  // The compression of the outputs. kDisableCompressionOption: as the family's options say.
  CompressionType compression = kDisableCompressionOption;
  // The storage tier of the outputs. kUnknown: as the family's options say.
  Temperature temperature = Temperature::kUnknown;
  std::vector<TableFile*> older_in_level0;  // tables of level 0 older than an output there
  bool is_manual = false;
  CompactionReason reason = CompactionReason::kUnknown;
  double score = 0;
  // Round robin: the internal key at which the next round of the start level begins. Empty: no
  // round robin.
  std::string next_cursor;
  // For manual ranges that do not fit in one plan: the begin of the next part. nullopt: the plan
  // covers the whole range.
  std::optional<std::string> next_begin;  // user key

  // Whether the job writes tables to this level.
  bool WritesTo(Level level) const {
    return level == output_level || (young_range.has_value() && level.Next() == output_level);
  }
  // Whether the outputs are new tables.
  bool IsMerge() const { return !is_trivial_move && !is_deletion; }
  // Sets the directory of the outputs. A trivial move becomes a merge if a file is in another
  // directory.
  void SetOutputPath(uint32_t path_id);
  // Whether all inputs are in the directory with this id.
  bool IsAllOnPath(uint32_t path_id) const;
  uint64_t InputBytes() const;
  // The smallest and the largest user key of the inputs, both inclusive.
  std::pair<Slice, Slice> UserKeyRange(const InternalKeyComparator& order) const;
  size_t InputFileCount() const;
  std::string DebugString() const;
};

// Whether no level into which compactions write has older data of the range, so that writing the
// outputs again would only make the same tables. Data that was ingested behind everything else,
// below the outputs, keeps them from being bottommost, but no compaction takes them there.
bool IsLowest(const CompactionPlan& plan, const Version& version);

// How far each level is from its target.
struct CompactionNeeds {
  std::vector<double> scores;          // by level; at or above 1 the level wants compaction
  std::vector<bool> is_due_by_mark;    // by level; the level is due only because of marked tables
  std::vector<uint64_t> target_bytes;  // by level; 0 for levels not in use
  Level base_level = 1;                // the level into which level 0 is compacted
  uint64_t pending_bytes = 0;          // estimate of the bytes that compactions must rewrite
  bool IsNeeded() const {
    for (double score : scores) {
      if (score >= 1) return true;
    }
    return false;
  }
};

// The scores leave out files of running compactions; the other results include them.
CompactionNeeds AssessCompaction(const Version& version, const ColumnFamilyOptions& options,
                                 const CompactionClaims& claims) REQUIRES(db_mutex);

// What picking depends on besides the version.
struct PickOptions {
  const ColumnFamilyOptions* options = nullptr;
  const CompactionClaims* claims = nullptr;  // of the family
  // The round-robin positions by level; may be null.
  const std::map<Level, std::string>* cursors = nullptr;
  // If no level is due, a table that wasted many reads may be picked.
  bool may_serve_reads = false;
  uint64_t now_seconds = 0;  // since 1970; for tables that are due because of their age
  // The oldest entry in memtables that is older than tables ingested beside it. RocksDB 7.8 does
  // not open a database in which tables of level 0 have crossing sequence numbers. Such ingested
  // tables are therefore not merged on level 0 before the memtables are flushed: the flushed
  // entries would lie within the numbers of the result.
  SequenceNumber oldest_unflushed = kMaxSequenceNumber;

  bool MayMergeOnLevel0(const TableFile& table) const {
    return table.meta.largest_seqno <= oldest_unflushed;
  }
};

// The most urgent compaction, or nullopt. None of its files is in another compaction, and no
// running compaction writes into its output range. `running`: the running plans of this family.
std::optional<CompactionPlan> PickCompaction(const Version& version, const PickOptions& options,
                                             const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// A compaction that is due because of the age of its tables: ttl or periodic_compaction_seconds.
std::optional<CompactionPlan> PickByAge(const Version& version, const PickOptions& options,
                                        const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// A compaction of one table, and of the tables that share a key with it, into its own level. On the
// bottommost level it drops versions that were kept for snapshots. nullopt if a table or the range
// is in another compaction.
std::optional<CompactionPlan> PickRewrite(const Version& version, const PickOptions& options,
                                          const LevelFiles& table,
                                          const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// A compaction of one table into the next level, with all tables that it overlaps on its level and
// the next one; in the universal style, of all runs. nullopt if one of these tables is in another
// compaction.
std::optional<CompactionPlan> PickDown(const Version& version, const PickOptions& options,
                                       const LevelFiles& table,
                                       const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// The universal style: all runs into the last level. nullopt if there is a single run, already on
// the last level, unless `rewrites_last` asks for rewriting it. *has_conflict is set if another
// compaction prevents the plan; the caller tries again later.
std::optional<CompactionPlan> PickAllRuns(const Version& version, const PickOptions& options,
                                          bool rewrites_last,
                                          const std::vector<const CompactionPlan*>& running,
                                          bool* has_conflict) REQUIRES(db_mutex);

inline bool HasCompactionFilter(const ColumnFamilyOptions& options) {
  return options.compaction_filter != nullptr || options.compaction_filter_factory != nullptr;
}

// The number of runs that counts for slowing down writers: the files of level 0, or in the
// universal style all runs.
int RunsThatSlowWrites(const Version& version, const ColumnFamilyOptions& options);

// The arguments of PickRangeCompaction().
struct RangePickOptions {
  const ColumnFamilyOptions* options = nullptr;
  const CompactionClaims* claims = nullptr;  // of the family
  Level input_level = 0;
  Level output_level = 1;
  const Slice* begin = nullptr;  // user keys, inclusive; null: unbounded
  const Slice* end = nullptr;    // inclusive; null: unbounded
  bool allow_trivial_move = false;
};

// The arguments of CompactFiles().
struct FilesToCompact {
  std::vector<FileNumber> numbers;
  Level output_level = 0;
  uint64_t target_file_bytes = UINT64_MAX;
  CompressionType compression = kDisableCompressionOption;
  Temperature temperature = Temperature::kUnknown;
  bool allow_trivial_move = false;
  std::optional<uint32_t> output_path_id;  // nullopt: as for other compactions
};

// A plan for these tables and for the tables that hold older versions of their keys, down to the
// output level. InvalidArgument if a table does not exist or is below that level; Aborted if
// another compaction has one of the tables.
Result<CompactionPlan> PickFiles(const Version& version, const PickOptions& options,
                                 const FilesToCompact& wanted,
                                 const std::vector<const CompactionPlan*>& running)
    REQUIRES(db_mutex);

// For CompactRange: a plan for the files of input_level in the range; nullopt if there are none.
// *has_conflict is set if another compaction has some of them; the caller tries again later.
std::optional<CompactionPlan> PickRangeCompaction(const Version& version,
                                                  const RangePickOptions& options,
                                                  const std::vector<const CompactionPlan*>& running,
                                                  bool* has_conflict) REQUIRES(db_mutex);

}  // namespace ashlar
