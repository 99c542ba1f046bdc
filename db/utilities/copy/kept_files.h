// SPDX-License-Identifier: Apache-2.0
//
// KeptFiles: while it lives a database deletes no file, so that a list of its live files stays true
// while they are copied. Threads: one.
#pragma once

#include "ashlar/db.h"
#include "ashlar/status.h"
#include "util/result.h"

namespace ashlar {

class KeptFiles {
 public:
  // The database outlives this.
  explicit KeptFiles(DB* db) : db_(db), status_(db->DisableFileDeletions()) {}
  ~KeptFiles() {
    if (status_.ok()) IgnoreError(db_->EnableFileDeletions(), "the copy is done either way");
  }
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  const Status& status() const { return status_; }

 private:
  DB* const db_;
  const Status status_;
};

}  // namespace ashlar
