// SPDX-License-Identifier: Apache-2.0
//
// FamilyChanges creates and drops column families of an open database and changes their options.
// Every change ends with a new OPTIONS file.
//
// Crash: a family exists from the synced MANIFEST record on that creates it, until the one that
// drops it. An OPTIONS file that is missing or old is only read by tools.
// Threads: any. Two changes of one family are told apart by VersionSet::LogAndApply().
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "db/column_family/family_ref.h"
#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "db/state/write_control.h"
#include "util/result.h"

namespace ashlar {

class FamilyChanges {
 public:
  struct NewValues {
    ColumnFamilyData* family;
    const std::unordered_map<std::string, std::string>* values;  // by name
  };

  // All outlive it. `host` is that of new families.
  FamilyChanges(DbCore* core, WriteControl* writes, Scheduler* scheduler, FamilyHost* host)
      : core_(core), writes_(writes), scheduler_(scheduler), host_(host) {}

  // `handle` is set, for the caller to delete, also when only the OPTIONS file failed; else null.
  Status Create(const ColumnFamilyOptions& options, const std::string& name,
                ColumnFamilyHandle** handle) EXCLUDES(db_mutex);
  // One by one, until one fails; those that were created before it are handed out.
  Status CreateAll(const std::vector<ColumnFamilyDescriptor>& descriptors,
                   std::vector<ColumnFamilyHandle*>* handles) EXCLUDES(db_mutex);
  // The family's data stays readable through handles and iterators that hold it.
  Status Drop(ColumnFamilyData* family) EXCLUDES(db_mutex);
  // All take effect, at once, or none. A family may be there twice.
  Status SetOptions(std::span<const NewValues> changes) EXCLUDES(db_mutex);

 private:
  // Options that are to take effect.
  struct ChangedOptions {
    ColumnFamilyData* family;
    std::shared_ptr<const ColumnFamilyOptions> settled, sanitized;
  };
  Result<std::vector<ChangedOptions>> ChangeOptions(std::span<const NewValues> changes) const
      REQUIRES(db_mutex);
  Status RecordDrop(const ColumnFamilyData& family) REQUIRES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
  FamilyHost* const host_;
};

// The same for the options of the database as a whole.
Status SetDbOptions(DbCore* core, WriteControl* writes, Scheduler* scheduler,
                    const std::unordered_map<std::string, std::string>& values) EXCLUDES(db_mutex);

}  // namespace ashlar
