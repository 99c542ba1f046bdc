// SPDX-License-Identifier: Apache-2.0
//
// What is known from the options alone is set in the constructor; the destructor takes the parts
// apart in the order in which they use each other.
#include "db/state/db_core.h"

#include <algorithm>

#include "db/options/options_check.h"
#include "table/format/unique_id.h"
#include "util/epoch.h"
#include "util/hash.h"

namespace ashlar {
namespace {

// Different at every open.
std::string NewSessionId(Env* env) {
  const std::string unique = env->GenerateUniqueId();
  const Hash128 hash = XxHash3_128(unique.data(), unique.size());
  return EncodeSessionId(hash.high, hash.low);
}

}  // namespace

DbCore::DbCore(const DBOptions& db_options, const std::string& db_dir)
    : dir(db_dir),
      wal_dir(db_options.wal_dir.empty() ? db_dir : db_options.wal_dir),
      env(db_options.env),
      fs(db_options.env->GetFileSystem()),
      clock(db_options.env->GetSystemClock()),
      session_id(NewSessionId(env)),
      open_tables(db_options.max_open_files < 0 ? -1
                                                : std::max(20, db_options.max_open_files - 10)),
      statistics(db_options.statistics),
      listeners(db_options.listeners),
      options(std::make_shared<const DBOptions>(db_options)) {
  file_options = FileOptions(db_options);
  for (const DbPath& path : db_options.db_paths) table_paths.push_back(path.path);
  if (table_paths.empty()) table_paths.push_back(dir);
  outputs.fs = fs.get();
  outputs.file_options = file_options;
  outputs.writer_options.buffer_bytes = db_options.writable_file_max_buffer_size;
  outputs.writer_options.bytes_per_sync = db_options.bytes_per_sync;
  outputs.writer_options.use_fsync = db_options.use_fsync;
  outputs.writer_options.rate_limiter = db_options.rate_limiter.get();
  outputs.writer_options.priority =
      db_options.rate_limiter != nullptr ? Env::IO_LOW : Env::IO_TOTAL;
  outputs.db_session_id = session_id;
  outputs.write_for_7_8 = WritesForRocksDb78(db_options);
}

// Readers are gone; what they retired refers to the version set and must go before it.
DbCore::~DbCore() {
  families.Clear();
  EpochDrain();
  pipeline.reset();
  wals.reset();
  versions.reset();
  if (lock != nullptr) {
    IgnoreError(fs->UnlockFile(lock, IOOptions(), nullptr), "the process lets go of it anyway");
  }
}

uint64_t DbCore::NowSeconds() const {
  int64_t seconds = 0;
  IgnoreError(clock->GetCurrentTime(&seconds), "a clock that fails says 0: unknown");
  return seconds < 0 ? 0 : static_cast<uint64_t>(seconds);
}

}  // namespace ashlar
