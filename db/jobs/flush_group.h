// SPDX-License-Identifier: Apache-2.0
//
// FlushGroup is several flushes, one a family, that take effect together: one change of the
// MANIFEST names all of their tables. What is flushed of each family was sealed in one moment
// without commits, so that writes which skip the log are in all of their families or in none.
//
// Threads: one at a time. Crash: before the change the tables are nobody's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "db/column_family/family_ref.h"
#include "db/jobs/background_flush.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

class FlushGroup {
 public:
  // Whether families wait to be flushed together, and none of them is being flushed now.
  static bool IsWanted(const DbCore& core) REQUIRES(db_mutex);

  // Takes what there is of these families; those without sealed memtables are left out.
  FlushGroup(DbCore* core, const std::vector<FamilyRef>& families, FlushScope scope)
      REQUIRES(db_mutex);

  void Announce();
  Status WriteTables();
  // What the MANIFEST is to record of the family: nothing if it is not in the group.
  Status Describe(const ColumnFamilyData* family, VersionEdit* edit) REQUIRES(db_mutex);
  // An edit for each family, and one that says which logs are needed then.
  Status DescribeAll(std::vector<VersionEdit>* edits) REQUIRES(db_mutex);
  // Gives back what was taken, or says that it is done.
  void Finish(const Status& status) REQUIRES(db_mutex);
  // Deletes what a group that failed has written.
  void Report();

  // Those it was made of. The references live as long as the group.
  const std::vector<FamilyRef>& families() const { return families_; }
  bool is_empty() const { return flushes_.empty(); }
  // As what an error of the group goes to the listeners and becomes the background error.
  std::optional<BackgroundErrorReason> ErrorReason(const Status& error) const;

 private:
  FileNumber OldestLogNeededAfter() const REQUIRES(db_mutex);

  DbCore* const core_;
  std::vector<FamilyRef> families_;  // outlive the flushes
  std::vector<std::unique_ptr<BackgroundFlush>> flushes_;
  std::vector<Status> outcomes_;  // of each flush, once it is finished
};

}  // namespace ashlar
