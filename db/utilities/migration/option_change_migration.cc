// SPDX-License-Identifier: Apache-2.0
//
// Each family is compacted with options of its own: no automatic compactions, no stalls, and as
// many levels as the old or the new options have, whichever are more.
//
// Steps: open with the old options, but with enough levels for both; flush; try the new options by
// a read-only opening; check limits and space; compact each family into the level at which the new
// options can begin; open with the new options. After an error or a crash the call can be repeated.
// The old options can open the database too, unless they have fewer levels than the new ones.
#include "ashlar/utilities/option_change_migration.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/metadata.h"
#include "db/options/options_check.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Descriptors = std::vector<ColumnFamilyDescriptor>;

constexpr uint64_t kOneTable = 1'000'000'000'000'000;  // bytes that no family exceeds

// An open database and its handles. The handles are destroyed before the database is closed.
class OpenFamilies {
 public:
  ~OpenFamilies() { IgnoreError(Close(), "Close() was called before if its result matters"); }

  Status Open(const DBOptions& options, const std::string& name, const Descriptors& families) {
    assert(db_ == nullptr && handles_.empty());
    return DB::Open(options, name, families, &handles_, &db_);
  }
  Status OpenForReadOnly(const DBOptions& options, const std::string& name,
                         const Descriptors& families) {
    assert(db_ == nullptr && handles_.empty());
    return DB::OpenForReadOnly(options, name, families, &handles_, &db_);
  }
  // Closes all that was opened, even after an error, and returns the first error.
  Status Close() {
    if (db_ == nullptr) return Status::OK();
    Status status;
    for (ColumnFamilyHandle* handle : std::exchange(handles_, {})) {
      const Status destroyed = db_->DestroyColumnFamilyHandle(handle);
      if (status.ok()) status = destroyed;
    }
    const Status closed = db_->Close();
    db_.reset();
    return status.ok() ? closed : status;
  }

  DB* db() const { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }

 private:
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

// The families must have the same names in the same order.
Status CheckFamilies(const Descriptors& old_families, const Descriptors& new_families) {
  const bool are_same =
      std::equal(old_families.begin(), old_families.end(), new_families.begin(), new_families.end(),
                 [](const auto& a, const auto& b) { return a.name == b.name; });
  if (are_same && !old_families.empty()) return Status::OK();
  return Status::InvalidArgument(
      "OptionChangeMigration: the old and the new options name different column families");
}

// The level into which everything must be compacted; none if the tables may stay where they are.
std::optional<int> TargetLevel(const ColumnFamilyOptions& from, const ColumnFamilyOptions& to) {
  // FIFO has level 0 only, with which every style can begin.
  if (from.compaction_style == kCompactionStyleFIFO) return std::nullopt;
  if (to.compaction_style == kCompactionStyleFIFO) return 0;
  if (to.compaction_style == kCompactionStyleUniversal) {
    // Universal compaction accepts tables on any level that it has.
    if (from.num_levels <= to.num_levels) return std::nullopt;
    return to.num_levels - 1;
  }
  // With dynamic sizes the last level is filled first.
  if (to.level_compaction_dynamic_level_bytes) return to.num_levels - 1;
  if (from.num_levels == 1) return std::nullopt;
  return std::min(1, to.num_levels - 1);
}

// The options under which a family is compacted.
ColumnFamilyOptions CompactingOptions(const ColumnFamilyOptions& from,
                                      const ColumnFamilyOptions& to) {
  ColumnFamilyOptions options = from;
  // Nothing but the manual compaction may move tables, and nothing may stop the flush.
  options.disable_auto_compactions = true;
  options.preclude_last_level_data_seconds = 0;  // all tables go to one level
  options.level0_slowdown_writes_trigger = 999'999;
  options.level0_stop_writes_trigger = 999'999;
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
  options.num_levels = std::max(from.num_levels, to.num_levels);
  if (to.compaction_style == kCompactionStyleFIFO) {
    options.target_file_size_base = kOneTable;
    options.max_compaction_bytes = kOneTable;
  } else {
    options.target_file_size_base = to.target_file_size_base;
    options.target_file_size_multiplier = to.target_file_size_multiplier;
  }
  return options;
}

// The bytes that a full compaction reads, and about as many as it writes.
uint64_t TableBytes(const ColumnFamilyMetaData& family) {
  return family.size + family.blob_file_size;
}

// A FIFO family that is larger than its limit loses its tables at the next compaction.
Status CheckFifoLimit(const ColumnFamilyMetaData& family, const ColumnFamilyOptions& to) {
  if (to.compaction_style != kCompactionStyleFIFO) return Status::OK();
  // A limit of tables and blob files together takes the place of the limit of tables.
  const CompactionOptionsFIFO& fifo = to.compaction_options_fifo;
  const bool counts_blobs = fifo.max_data_files_size != 0;
  const uint64_t limit = counts_blobs ? fifo.max_data_files_size : fifo.max_table_files_size;
  const uint64_t bytes = counts_blobs ? TableBytes(family) : family.size;
  if (bytes <= limit) return Status::OK();
  return Status::InvalidArgument(
      StrCat("OptionChangeMigration: column family \"", family.name, "\" has ", bytes,
             counts_blobs ? " bytes, but its max_data_files_size would be "
                          : " bytes of tables, but its max_table_files_size would be ",
             limit, ": FIFO compaction would delete them"));
}

// The tables are rewritten while the old ones are still there. A file system that does not know its
// free space is trusted.
Status CheckFreeSpace(FileSystem* fs, const std::string& path, uint64_t bytes) {
  assert(fs != nullptr);
  uint64_t available = 0;
  if (!fs->GetFreeSpace(path, IOOptions(), &available, nullptr).ok()) return Status::OK();
  if (available >= bytes) return Status::OK();
  return Status::NoSpace(StrCat("OptionChangeMigration: ", path, " has ", available,
                                " free bytes, and rewriting a column family may need ", bytes));
}

// Whether all tables are on this level; on level 0 also whether there is at most one.
bool IsMoved(const ColumnFamilyMetaData& family, int target) {
  for (const LevelMetaData& level : family.levels) {
    if (level.level != target && !level.files.empty()) return false;
    if (level.level == target && target == 0 && level.files.size() > 1) return false;
  }
  return true;
}

// Compacts the whole family into the level. Aborted if some tables are still elsewhere.
Status MoveTo(DB* db, ColumnFamilyHandle* family, int level) {
  assert(db != nullptr);
  assert(family != nullptr);
  ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(family, &metadata);
  if (IsMoved(metadata, level)) return Status::OK();
  const Options used = db->GetOptions(family);
  if (used.cf_allow_ingest_behind && level + 1 >= used.num_levels) {
    return Status::NotSupported(
        StrCat("OptionChangeMigration: column family \"", family->GetName(),
               "\" must be compacted into level ", level,
               ", which allow_ingest_behind or cf_allow_ingest_behind of the old options keeps "
               "free: migrate from options without it"));
  }
  CompactRangeOptions options;
  options.change_level = true;
  options.target_level = level;
  options.exclusive_manual_compaction = true;
  // Otherwise a bottommost level of several tables would be left as it is.
  if (level == 0) options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  RETURN_IF_ERROR(db->CompactRange(options, family, nullptr, nullptr));
  db->GetColumnFamilyMetaData(family, &metadata);
  if (IsMoved(metadata, level)) return Status::OK();
  return Status::Aborted(StrCat("OptionChangeMigration: column family \"", family->GetName(),
                                "\" still has tables on other levels than ", level));
}

// What has to be done, and with which options.
struct Plan {
  Descriptors families;                   // as they are opened
  std::vector<std::optional<int>> level;  // by family
  bool has_fewer_levels = false;
};

// Both lists are of the same families in the same order, which CheckFamilies() has verified.
Plan MakePlan(const Descriptors& old_families, const Descriptors& new_families) {
  assert(old_families.size() == new_families.size());
  Plan plan;
  for (size_t i = 0; i < old_families.size(); ++i) {
    const ColumnFamilyOptions& from = old_families[i].options;
    const ColumnFamilyOptions& to = new_families[i].options;
    plan.families.emplace_back(old_families[i].name, CompactingOptions(from, to));
    plan.level.push_back(TargetLevel(from, to));
    plan.has_fewer_levels = plan.has_fewer_levels || to.num_levels < from.num_levels;
  }
  return plan;
}

// The new options as the last step opens the database with them.
Descriptors FinalFamilies(const Descriptors& new_families) {
  Descriptors families = new_families;
  for (ColumnFamilyDescriptor& family : families) family.options.disable_auto_compactions = true;
  return families;
}

// Compactions take long, and the old options may have too few levels for their result, so options
// that the last step would refuse are refused before. `old_options` has the database open, and
// `plan` its families.
Status TryNewOptions(const std::string& name, const DBOptions& old_options, const Plan& plan,
                     const DBOptions& new_options, const Descriptors& new_families) {
  assert(new_families.size() == plan.families.size());
  Descriptors families = FinalFamilies(new_families);
  for (size_t i = 0; i < families.size(); ++i) {
    // The tables are still on all levels that they may have now.
    families[i].options.num_levels =
        SanitizeColumnFamilyOptions(old_options, plan.families[i].options).num_levels;
  }
  DBOptions options = new_options;
  options.error_if_exists = false;
  options.wal_filter = nullptr;  // the logs are empty
  OpenFamilies trial;
  RETURN_IF_ERROR(trial.OpenForReadOnly(options, name, families));
  return trial.Close();
}

// Checks everything before it changes anything.
Status CheckSizes(const OpenFamilies& open, const DBOptions& options, const std::string& name,
                  const Plan& plan, const Descriptors& new_families) {
  assert(open.handles().size() == plan.families.size());
  assert(plan.level.size() == plan.families.size());
  assert(new_families.size() == plan.families.size());
  uint64_t largest = 0;
  for (size_t i = 0; i < plan.families.size(); ++i) {
    ColumnFamilyMetaData metadata;
    open.db()->GetColumnFamilyMetaData(open.handles()[i], &metadata);
    RETURN_IF_ERROR(CheckFifoLimit(metadata, new_families[i].options));
    if (plan.level[i].has_value() && !IsMoved(metadata, *plan.level[i])) {
      largest = std::max(largest, TableBytes(metadata));
    }
  }
  return CheckFreeSpace(options.env->GetFileSystem().get(), name, largest);
}

}  // namespace

// The database is opened with options under which nothing but the wanted compaction runs.
Status OptionChangeMigration(const std::string& dbname, const DBOptions& old_db_opts,
                             const std::vector<ColumnFamilyDescriptor>& old_cf_descs,
                             const DBOptions& new_db_opts,
                             const std::vector<ColumnFamilyDescriptor>& new_cf_descs) {
  RETURN_IF_ERROR(CheckFamilies(old_cf_descs, new_cf_descs));
  const Plan plan = MakePlan(old_cf_descs, new_cf_descs);
  OpenFamilies open;
  RETURN_IF_ERROR(open.Open(old_db_opts, dbname, plan.families));
  // Memtables become tables first, so that they count.
  RETURN_IF_ERROR(open.db()->Flush(FlushOptions(), open.handles()));
  RETURN_IF_ERROR(TryNewOptions(dbname, old_db_opts, plan, new_db_opts, new_cf_descs));
  RETURN_IF_ERROR(CheckSizes(open, old_db_opts, dbname, plan, new_cf_descs));
  for (size_t i = 0; i < plan.families.size(); ++i) {
    if (plan.level[i].has_value()) {
      RETURN_IF_ERROR(MoveTo(open.db(), open.handles()[i], *plan.level[i]));
    }
  }
  RETURN_IF_ERROR(open.Close());
  if (plan.has_fewer_levels) {
    // The present MANIFEST names tables on levels that there will not be; opening writes another.
    RETURN_IF_ERROR(open.Open(old_db_opts, dbname, plan.families));
    RETURN_IF_ERROR(open.Close());
  }
  DBOptions options = new_db_opts;
  options.create_if_missing = false;
  options.error_if_exists = false;
  RETURN_IF_ERROR(open.Open(options, dbname, FinalFamilies(new_cf_descs)));
  return open.Close();
}

Status OptionChangeMigration(const std::string& dbname, const Options& old_opts,
                             const Options& new_opts) {
  return OptionChangeMigration(dbname, old_opts, {{kDefaultColumnFamilyName, old_opts}}, new_opts,
                               {{kDefaultColumnFamilyName, new_opts}});
}

}  // namespace ashlar
