// SPDX-License-Identifier: Apache-2.0
//
// The destructor destroys the components in the reverse order of their dependencies.
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

// There are no readers any more. Objects that they retired refer to families and to the version
// set, so they are freed first.
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
