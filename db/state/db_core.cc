// SPDX-License-Identifier: Apache-2.0
//
// The destructor takes the parts apart in the order in which they use each other.
#include "db/state/db_core.h"

#include "util/threads/epoch.h"

namespace ashlar {

DbCore::DbCore(const DBOptions& db_options, const std::string& db_dir)
    : paths(db_options, db_dir),
      environment(db_options, services),
      resources(db_options),
      identity{.db_id = "", .session_id = NewSessionId(db_options.env)},
      mode{.atomic_flush = db_options.atomic_flush},
      services(db_options),
      directory_lock(environment.fs.get()),
      options(std::make_shared<const DBOptions>(db_options)),
      kept_files{.archive = LogArchive({.fs = environment.fs.get(),
                                        .clock = environment.clock.get(),
                                        .wal_dir = paths.wal_dir,
                                        .ttl_seconds = db_options.WAL_ttl_seconds,
                                        .limit_bytes = db_options.WAL_size_limit_MB << 20})} {
  environment.outputs.db_session_id = identity.session_id;
  environment.outputs.space = resources.space;
}

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
