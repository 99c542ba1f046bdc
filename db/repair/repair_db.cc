// SPDX-License-Identifier: Apache-2.0
//
// RepairDB(): the steps of Repair, and between them an opening that replays the WALs.
#include "db/repair/repair_db.h"

#include <cassert>

#include "db/opening/compatibility.h"
#include "db/opening/open.h"
#include "db/options/options_check.h"
#include "db/repair/log_replay.h"
#include "db/repair/repair.h"
#include "env/info_log.h"
#include "util/result.h"

namespace ashlar {
namespace {

// A repair accepts the files that exist, even if the options demand others of a later opening.
DBOptions OptionsToRepair(const DBOptions& given) {
  DBOptions options = given;
  options.create_if_missing = false;
  options.create_missing_column_families = false;
  options.error_if_exists = false;
  options.best_efforts_recovery = false;
  options.persist_stats_to_disk = false;
  options.avoid_flush_during_recovery = false;
  options.track_and_verify_wals = false;
  options.wal_filter = nullptr;
  options.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  return options;
}

// The options are checked before any file is touched.
Status CheckArguments(const DBOptions& db_options,
                      const std::vector<ColumnFamilyDescriptor>& families) {
  RETURN_IF_ERROR(CheckDbOptionsSupported(db_options));
  bool has_default = false;
  for (const ColumnFamilyDescriptor& family : families) {
    RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(family.options));
    RETURN_IF_ERROR(CheckFamilyFits(db_options, family.options));
    has_default |= family.name == kDefaultColumnFamilyName;
  }
  if (has_default) return Status::OK();
  return Status::InvalidArgument("the families to repair must include the default one");
}

}  // namespace

Status RepairWithReport(const std::string& dir, const DBOptions& db_options,
                        const std::vector<ColumnFamilyDescriptor>& families,
                        const std::optional<ColumnFamilyOptions>& unknown_options,
                        std::vector<std::string>* report) {
  assert(report != nullptr);
  DBOptions options = OptionsToRepair(db_options);
  RETURN_IF_ERROR(CheckArguments(options, families));
  if (unknown_options) RETURN_IF_ERROR(CheckColumnFamilyOptionsSupported(*unknown_options));
  const OpenRequest open{.db_options = options, .dir = dir, .families = families};
  ASSIGN_OR_RETURN(options.write_compatible_with, CompatibilityOf(open));
  // The format of written files stays what the database had.
  Repair repair({.db_options = SanitizeDbOptions(options),
                 .dir = dir,
                 .families = families,
                 .unknown_options = unknown_options});
  const Status written = repair.WriteManifest();
  // The report is given even if the repair fails, because copies may exist.
  *report = repair.report();
  RETURN_IF_ERROR(written);
  // Transactions that are prepared and not decided stay so: a section goes to the new WAL.
  options.allow_2pc = true;
  if (options.info_log == nullptr) {
    IgnoreError(CreateLoggerFromOptions(dir, options, &options.info_log),
                "the caller has the report");
  }
  Status status = ReplayLogsIntoTables(
      {.db_options = options, .dir = dir, .families = repair.Families()}, report);
  if (status.ok()) {
    // Only the new lines are added: the caller has the others already.
    const auto told = static_cast<ptrdiff_t>(repair.report().size());
    status = repair.MoveUnusedFiles();
    report->insert(report->end(), repair.report().begin() + told, repair.report().end());
  }
  for (const std::string& line : *report) {
    Warn(options.info_log.get(), "repair: %s", line.c_str());
  }
  return status;
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families) {
  std::vector<std::string> report;
  return RepairWithReport(dbname, db_options, column_families, std::nullopt, &report);
}

Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>& column_families,
                const ColumnFamilyOptions& unknown_cf_opts) {
  std::vector<std::string> report;
  return RepairWithReport(dbname, db_options, column_families, unknown_cf_opts, &report);
}

Status RepairDB(const std::string& dbname, const Options& options) {
  std::vector<std::string> report;
  return RepairWithReport(dbname, options, {{kDefaultColumnFamilyName, options}}, options, &report);
}

}  // namespace ashlar
