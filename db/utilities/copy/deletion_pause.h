// SPDX-License-Identifier: Apache-2.0
//
// DeletionPause disables the deletion of obsolete files of a database during its lifetime, so that
// the listed live files exist until they are copied. Threads: one at a time.
#pragma once

#include "ashlar/db.h"
#include "ashlar/status.h"
#include "util/result.h"

namespace ashlar {

class DeletionPause {
 public:
  // The database must outlive the object.
  explicit DeletionPause(DB* db) : db_(db), status_(db->DisableFileDeletions()) {}
  ~DeletionPause() {
    if (status_.ok()) IgnoreError(db_->EnableFileDeletions(), "the copy is done either way");
  }
  DeletionPause(const DeletionPause&) = delete;
  DeletionPause& operator=(const DeletionPause&) = delete;

  // If it is not OK, files may be deleted at any time.
  const Status& status() const { return status_; }

 private:
  DB* const db_;
  // Of DisableFileDeletions(). Pauses are counted by the database, so several may overlap.
  const Status status_;
};

}  // namespace ashlar
