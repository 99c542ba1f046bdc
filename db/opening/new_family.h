// SPDX-License-Identifier: Apache-2.0
//
// NewFamily is a column family that is about to be added to an open database. First it gets an id,
// its options and its table cache, so that files can be written for it; then one change of the
// MANIFEST adds it together with these files. So after a crash it is there with all of them, or it
// is not there. An id whose family was not added is not used again.
//
// Threads: one at a time; other threads do not know the family before Add() has returned.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "db/column_family/column_family_data.h"
#include "db/state/db_core.h"
#include "db/version/family_versions.h"
#include "util/result.h"

namespace ashlar {

class NewFamily {
 public:
  // Reserves the id. InvalidArgument if there is a family with this name. `core` and `host` outlive
  // the object; `settled` has been checked.
  static Result<std::unique_ptr<NewFamily>> Begin(DbCore* core, FamilyHost* host,
                                                  const std::string& name,
                                                  const ColumnFamilyOptions& settled)
      REQUIRES(db_mutex);

  uint32_t id() const { return id_; }
  const std::string& name() const { return request_->name; }
  const InternalKeyComparator& comparator() const { return request_->comparator; }
  const std::shared_ptr<const ColumnFamilyOptions>& options() const { return options_; }
  const TableCache& tables() const { return *request_->tables; }

  // Records the family and adds it to the database; releases the mutex while writing. Once.
  // `contents` has the files that the family has from the beginning; null: none. `last_seqno` is
  // not below any of their sequence numbers. InvalidArgument if there is a family with this name by
  // now; after any other error the MANIFEST may name the family until UndoChange().
  Status Add(VersionEdit* contents, SequenceNumber last_seqno) REQUIRES(db_mutex);
  // The family that Add() has added; the database has the reference.
  ColumnFamilyData* added() const {
    assert(added_ != nullptr);
    return added_;
  }

 private:
  NewFamily(DbCore* core, FamilyHost* host, std::unique_ptr<FamilyRequest> request,
            std::shared_ptr<const ColumnFamilyOptions> options,
            std::shared_ptr<const ColumnFamilyOptions> settled) REQUIRES(db_mutex);
  Status Record(VersionEdit* contents, SequenceNumber last_seqno) REQUIRES(db_mutex);

  DbCore* const core_;
  FamilyHost* const host_;
  std::unique_ptr<FamilyRequest> request_;  // null once the change is written
  const std::shared_ptr<const ColumnFamilyOptions> options_, settled_;
  const uint32_t id_;
  ColumnFamilyData* added_ = nullptr;
};

// Adds an empty family to an open database. Releases the mutex while writing. Errors are those of
// NewFamily::Begin() and Add().
Result<ColumnFamilyData*> CreateFamilyLocked(DbCore* core, FamilyHost* host,
                                             const std::string& name,
                                             const ColumnFamilyOptions& settled) REQUIRES(db_mutex);

}  // namespace ashlar
