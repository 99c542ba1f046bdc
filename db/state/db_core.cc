// SPDX-License-Identifier: Apache-2.0
//
// The destructor takes the parts apart in the order in which they use each other.
#include "db/state/db_core.h"

#include "util/threads/epoch.h"

namespace ashlar {

DbCore::DbCore(const DBOptions& db_options, const std::string& db_dir)
    : DbPlace(db_options, db_dir),
      options(std::make_shared<const DBOptions>(db_options)) {}

// Readers are gone; what they retired refers to families and the version set and must go before
// them.
DbCore::~DbCore() {
  EpochDrain();
  {
    MutexLock lock(&mutex);
    families.Clear();
  }
  EpochDrain();
  pipeline.reset();
  wals.reset();
  versions.reset();
}

}  // namespace ashlar
