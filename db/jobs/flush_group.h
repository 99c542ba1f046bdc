// SPDX-License-Identifier: Apache-2.0
//
// FlushGroup is the job of a flush: of one family alone, or of several families, one
// BackgroundFlush each, that take effect together. In the second case one change of the MANIFEST
// names the tables of all families. The memtables of these families became immutable in one moment
// without commits, so a write that skipped the log and touches several families is in the tables of
// all of them or of none.
//
// Threads: the thread that runs the job. Crash: before the change of the MANIFEST is durable, the
// next opening deletes the tables.
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
  // Whether there are families that wait to be flushed together, and none of them is being flushed.
  static bool IsWanted(const DbCore& core) REQUIRES(db_mutex);

  // Takes the immutable memtables of these families. Families without any are left out.
  FlushGroup(DbCore* core, const std::vector<FamilyRef>& families, FlushScope scope)
      REQUIRES(db_mutex);

  bool is_empty() const { return flushes_.empty(); }
  // The families for which the group has written a table.
  std::vector<ColumnFamilyData*> FamiliesWithTables() const;

  void Announce() override;
  Status WriteTables() override;
  // Raises the error if the new tables reach the limit of space. It is raised before the job takes
  // effect, so that threads that wait for the flush find it.
  void TablesWritten() override;
  // One edit for each family; the last one also says which logs are still needed.
  Status Describe(VersionSet::Change* change) override REQUIRES(db_mutex);
  // Describe() for the recovery from an error: edits for all families, none of which needs a log
  // before `log_number` any more.
  Status DescribeWithoutLogs(FileNumber log_number, VersionSet::Change* change) REQUIRES(db_mutex);
  void Finish(const Status& status) override REQUIRES(db_mutex);
  void DeleteUnnamed() override;
  void Report(const Status& status) override;
  std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const override;

 private:
  DbCore* const core_;
  std::vector<FamilyRef> families_;  // references for the flushes below, destroyed after them
  std::vector<std::unique_ptr<BackgroundFlush>> flushes_;  // one for each family with memtables
};

}  // namespace ashlar
