// SPDX-License-Identifier: Apache-2.0
//
// FlushGroup is the job of a flush: of one family alone, or of several, one flush each, that take
// effect together. Then one change of the MANIFEST names all of their tables; what is flushed of
// each family was sealed in one moment without commits, so that writes which skip the log are in
// all of their families or in none.
//
// Threads: one at a time. Crash: before the change the next opening deletes the tables.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "db/column_family/family_ref.h"
#include "db/jobs/background_flush.h"
#include "db/jobs/background_job.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

class FlushGroup final : public BackgroundJob {
 public:
  // Whether families wait to be flushed together, and none of them is being flushed now.
  static bool IsWanted(const DbCore& core) REQUIRES(db_mutex);

  // Takes what there is of these families; those without immutable memtables are left out.
  FlushGroup(DbCore* core, const std::vector<FamilyRef>& families, FlushScope scope)
      REQUIRES(db_mutex);

  bool is_empty() const { return flushes_.empty(); }
  // Those that the group has written a table of.
  std::vector<ColumnFamilyData*> FamiliesWithTables() const;

  void Announce() override;
  Status WriteTables() override;
  // An error where the flushed tables reach the limit of space: before those who wait for them go
  // on.
  void TablesWritten() override;
  // An edit for each family, and which logs are needed then.
  Status Describe(VersionSet::Change* change) override REQUIRES(db_mutex);
  // The same after a recovery from an error: edits for all families, none of which needs a log
  // before `log_number`.
  Status DescribeWithoutLogs(FileNumber log_number, VersionSet::Change* change) REQUIRES(db_mutex);
  void Finish(const Status& status) override REQUIRES(db_mutex);
  void DeleteUnnamed() override;
  void Report(const Status& status) override;
  std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const override;

 private:
  DbCore* const core_;
  std::vector<FamilyRef> families_;  // outlive the flushes
  std::vector<std::unique_ptr<BackgroundFlush>> flushes_;
};

}  // namespace ashlar
