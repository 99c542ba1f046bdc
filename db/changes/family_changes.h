// SPDX-License-Identifier: Apache-2.0
//
// FamilyChanges creates and drops column families of an open database and changes their options.
// Every change ends with a new OPTIONS file.
//
// Crash: a family exists from the moment when the MANIFEST record that creates it is synced, until
// the one that drops it. A call that cannot write its record leaves everything as it was, also at
// the next opening (UndoChange). A missing or outdated OPTIONS file loses no data, because only
// tools read it.
// Threads: any. VersionSet::LogAndApply() puts concurrent changes of one family in order.
#pragma once

#include <cassert>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "db/column_family/family_ref.h"
#include "db/jobs/scheduler.h"
#include "db/opening/new_family.h"
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

  // All arguments outlive the object. `host` is the host of new families.
  FamilyChanges(DbCore* core, WriteControl* writes, Scheduler* scheduler, FamilyHost* host)
      : core_(core), writes_(writes), scheduler_(scheduler), host_(host) {
    assert(core != nullptr);
    assert(writes != nullptr);
    assert(scheduler != nullptr);
  }

  // The caller deletes `*handle`, which is also set if only the OPTIONS file has failed; otherwise
  // null.
  Status Create(const ColumnFamilyOptions& options, const std::string& name,
                ColumnFamilyHandle** handle) EXCLUDES(db_mutex);
  // Begins the creation of a family that will have contents. NewFamily::Add() ends it; then
  // WriteOptions() follows.
  Status Begin(const ColumnFamilyOptions& options, const std::string& name,
               std::unique_ptr<NewFamily>* family) EXCLUDES(db_mutex);
  Status WriteOptions() EXCLUDES(db_mutex);
  // Creates families one by one until one fails. Those that were created have handles.
  Status CreateAll(const std::vector<ColumnFamilyDescriptor>& descriptors,
                   std::vector<ColumnFamilyHandle*>* handles) EXCLUDES(db_mutex);
  // The data of the family stays readable through existing handles and iterators.
  Status Drop(ColumnFamilyData* family) EXCLUDES(db_mutex);
  // All changes take effect together, or none does. A family may occur twice.
  Status SetOptions(std::span<const NewValues> changes) EXCLUDES(db_mutex);

 private:
  // New options of a family that are about to take effect.
  struct ChangedOptions {
    ColumnFamilyData* family;
    std::shared_ptr<const ColumnFamilyOptions> settled, sanitized;
  };
  Result<ColumnFamilyOptions> SettleOptions(const ColumnFamilyOptions& options) const
      EXCLUDES(db_mutex);
  Result<std::vector<ChangedOptions>> ChangeOptions(std::span<const NewValues> changes) const
      REQUIRES(db_mutex);
  Status RecordDrop(const ColumnFamilyData& family) REQUIRES(db_mutex);

  DbCore* const core_;
  WriteControl* const writes_;
  Scheduler* const scheduler_;
  FamilyHost* const host_;
};

// Changes the options of the database as a whole.
Status SetDbOptions(DbCore* core, WriteControl* writes, Scheduler* scheduler,
                    const std::unordered_map<std::string, std::string>& values) EXCLUDES(db_mutex);

}  // namespace ashlar
