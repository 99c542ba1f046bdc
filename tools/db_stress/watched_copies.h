// SPDX-License-Identifier: Apache-2.0
//
// What the operations on copies of the database keep from one call to the next. Each kind has one
// path beside the database, so one thread at a time works on it; others skip the operation.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "ashlar/db.h"

namespace ashlar::stress {

struct WatchedCopies {
  std::mutex checkpoint_mutex;
  std::mutex export_mutex;

  // The backups of this run are in one directory, so that each is made on top of others.
  std::mutex backup_mutex;

  // Null: none is open. It has all families but the last, which is dropped and created again.
  std::mutex secondary_mutex;
  std::vector<ColumnFamilyHandle*> secondary_handles;
  std::unique_ptr<DB> secondary;

  std::mutex trace_mutex;
  bool is_tracing = false;
};

}  // namespace ashlar::stress
