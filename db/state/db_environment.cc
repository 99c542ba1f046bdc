// SPDX-License-Identifier: Apache-2.0
//
// Derives the fixed values from the options. The opener adds those that depend on files.
#include "db/state/db_environment.h"

#include <cassert>
#include <utility>

#include "db/options/options_check.h"
#include "db/state/db_services.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/listened_file_system.h"
#include "table/format/unique_id.h"
#include "util/hash/hash.h"
#include "util/threads/simulated.h"

namespace ashlar {

// An Env of the program may repeat itself, and equal session ids would give the blocks of different
// files one key in a shared cache. So random bytes are added, except in a simulation, whose runs
// must be repeatable. The hash spreads all of it over all characters.
std::string NewSessionId(Env* env) {
  assert(env != nullptr);
  std::string unique = env->GenerateUniqueId();
  if (!IsSimulated()) unique += NewUniqueId();
  const Hash128 hash = XxHash3_128(unique.data(), unique.size());
  return EncodeSessionId(hash.high, hash.low);
}

// An empty name if the host name is unknown.
std::string HostIdFor(const DBOptions& options) {
  if (options.db_host_id != kHostnameForDbHostId) return options.db_host_id;
  char host[256] = "";
  IgnoreError(options.env->GetHostName(host, sizeof(host) - 1), "the name is informational");
  return host;
}

// Without db_paths, tables are in the database directory.
DbPaths::DbPaths(const DBOptions& options, const std::string& db_dir)
    : dir(db_dir), wal_dir(options.wal_dir.empty() ? db_dir : options.wal_dir) {
  for (const DbPath& path : options.db_paths) table_paths.push_back(path.path);
  if (table_paths.empty()) table_paths.push_back(dir);
  table_dirs.insert(table_paths.begin(), table_paths.end());
}

std::vector<std::string> DbPaths::TableDirsFor(const ColumnFamilyOptions& options) const {
  assert(!table_paths.empty());
  if (options.cf_paths.empty()) return table_paths;
  std::vector<std::string> dirs;
  for (const DbPath& path : options.cf_paths) dirs.push_back(path.path);
  return dirs;
}

namespace {

// The file system may correct options that it does not support.
FileOptions FileOptionsFrom(const DBOptions& options, const FileSystem& fs) {
  FileOptions result(options);
  fs.SanitizeFileOptions(&result);
  return result;
}

// Null for a manager that neither limits memory nor charges a cache.
std::shared_ptr<WriteBufferManager> ManagerThatLimits(const DBOptions& options) {
  const auto& manager = options.write_buffer_manager;
  return manager != nullptr && (manager->enabled() || manager->cost_to_cache()) ? manager : nullptr;
}

}  // namespace

// `outputs` are the settings of all new files; the opener adds the identities later.
DbEnvironment::DbEnvironment(const DBOptions& options, const DbServices& services)
    : env(options.env),
      io_trace(std::make_shared<IoTrace>(options.env->GetSystemClock().get())),
      fs(WithFileListeners(WithIoTrace(options.env->GetFileSystem(), io_trace), options.listeners,
                           &services.info_log)),
      clock(options.env->GetSystemClock()),
      thread_list(options.enable_thread_tracking ? env->GetThreadStatusUpdater() : nullptr),
      file_options(FileOptionsFrom(options, *fs)) {
  assert(fs != nullptr);
  assert(clock != nullptr);
  outputs.fs = fs.get();
  outputs.file_options = file_options;
  outputs.file_options.use_direct_writes = options.use_direct_io_for_flush_and_compaction;
  outputs.writer_options.buffer_bytes = options.writable_file_max_buffer_size;
  outputs.writer_options.bytes_per_sync = options.bytes_per_sync;
  outputs.writer_options.use_fsync = options.use_fsync;
  outputs.writer_options.statistics = options.statistics.get();
  outputs.writer_options.rate_limiter = options.rate_limiter.get();
  outputs.write_for_7_8 = WritesForRocksDb78(options);
  outputs.checksum_factory = options.file_checksum_gen_factory;
}

// A clock before 1970 counts as unknown.
uint64_t DbEnvironment::NowSeconds() const {
  int64_t seconds = 0;
  IgnoreError(clock->GetCurrentTime(&seconds), "a clock that fails reports 0: unknown");
  return seconds < 0 ? 0 : static_cast<uint64_t>(seconds);
}

DbResources::DbResources(const DBOptions& options)
    : memory_manager(ManagerThatLimits(options)),
      spare_memory(memory_manager == nullptr ? std::make_shared<SpareBlocks>() : nullptr),
      open_tables(options.max_open_files),
      space_owner(options.sst_file_manager),
      space(SstFileManagerImpl::From(space_owner.get())) {
  if (space != nullptr && options.statistics != nullptr) {
    space->SetStatisticsPtr(options.statistics);
  }
}

DirectoryLock::~DirectoryLock() { IgnoreError(Release(), "the lock ends with the process anyway"); }

Status DirectoryLock::Take(const std::string& dir) {
  assert(!is_held());
  return fs_->LockFile(LockFileName(dir), IOOptions(), &lock_, nullptr);
}

Status DirectoryLock::Release() {
  FileLock* const lock = std::exchange(lock_, nullptr);
  return lock == nullptr ? Status::OK() : fs_->UnlockFile(lock, IOOptions(), nullptr);
}

}  // namespace ashlar
