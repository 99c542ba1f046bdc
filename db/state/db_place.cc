// SPDX-License-Identifier: Apache-2.0
//
// What the options alone say about a place; the opener adds the rest.
#include "db/state/db_place.h"

#include <algorithm>

#include "db/options/options_check.h"
#include "env/listened_file_system.h"
#include "table/format/unique_id.h"
#include "util/hash/hash.h"

namespace ashlar {

std::string NewSessionId(Env* env) {
  const std::string unique = env->GenerateUniqueId();
  const Hash128 hash = XxHash3_128(unique.data(), unique.size());
  return EncodeSessionId(hash.high, hash.low);
}

std::string HostIdFor(const DBOptions& options) {
  if (options.db_host_id != kHostnameForDbHostId) return options.db_host_id;
  char host[256] = "";
  IgnoreError(options.env->GetHostName(host, sizeof(host) - 1), "the name is informational");
  return host;
}

namespace {

FileOptions FileOptionsFrom(const DBOptions& options, const FileSystem& fs) {
  FileOptions result(options);
  fs.SanitizeFileOptions(&result);
  return result;
}

TableOutputContext OutputsFor(const DBOptions& options, const FileOptions& file_options,
                              FileSystem* fs, const std::string& session_id) {
  TableOutputContext outputs;
  outputs.fs = fs;
  outputs.file_options = file_options;
  outputs.file_options.use_direct_writes = options.use_direct_io_for_flush_and_compaction;
  outputs.writer_options.buffer_bytes = options.writable_file_max_buffer_size;
  outputs.writer_options.bytes_per_sync = options.bytes_per_sync;
  outputs.writer_options.use_fsync = options.use_fsync;
  outputs.writer_options.statistics = options.statistics.get();
  outputs.writer_options.rate_limiter = options.rate_limiter.get();
  outputs.db_session_id = session_id;
  outputs.write_for_7_8 = WritesForRocksDb78(options);
  outputs.checksum_factory = options.file_checksum_gen_factory;
  return outputs;
}

// A manager that only counts is not worth telling.
std::shared_ptr<WriteBufferManager> ManagerThatMatters(const DBOptions& options) {
  const auto& manager = options.write_buffer_manager;
  return manager != nullptr && (manager->enabled() || manager->cost_to_cache()) ? manager : nullptr;
}

}  // namespace

DbPlace::DbPlace(const DBOptions& db_options, const std::string& db_dir)
    : dir(db_dir),
      wal_dir(db_options.wal_dir.empty() ? db_dir : db_options.wal_dir),
      env(db_options.env),
      fs(WithFileListeners(db_options.env->GetFileSystem(), db_options.listeners, &info_log)),
      clock(db_options.env->GetSystemClock()),
      thread_list(db_options.enable_thread_tracking ? env->GetThreadStatusUpdater() : nullptr),
      file_options(FileOptionsFrom(db_options, *fs)),
      memory_manager(ManagerThatMatters(db_options)),
      spare_memory(memory_manager == nullptr ? std::make_shared<SpareBlocks>() : nullptr),
      open_tables(db_options.max_open_files),
      atomic_flush(db_options.atomic_flush),
      space_owner(db_options.sst_file_manager),
      space(SstFileManagerImpl::From(space_owner.get())),
      archive({.fs = fs.get(),
               .clock = clock.get(),
               .wal_dir = wal_dir,
               .ttl_seconds = db_options.WAL_ttl_seconds,
               .limit_bytes = db_options.WAL_size_limit_MB << 20}),
      session_id(NewSessionId(env)),
      statistics(db_options.statistics),
      listeners(db_options.listeners) {
  for (const DbPath& path : db_options.db_paths) table_paths.push_back(path.path);
  if (table_paths.empty()) table_paths.push_back(dir);
  table_dirs.insert(table_paths.begin(), table_paths.end());
  outputs = OutputsFor(db_options, file_options, fs.get(), session_id);
  outputs.space = space;
  if (space != nullptr && statistics != nullptr) space->SetStatisticsPtr(statistics);
}

std::vector<std::string> TableDirsFor(const DbPlace& place, const ColumnFamilyOptions& options) {
  if (options.cf_paths.empty()) return place.table_paths;
  std::vector<std::string> dirs;
  for (const DbPath& path : options.cf_paths) dirs.push_back(path.path);
  return dirs;
}

DbPlace::~DbPlace() {
  if (lock == nullptr) return;
  IgnoreError(fs->UnlockFile(lock, IOOptions(), nullptr), "the process lets go of it anyway");
}

uint64_t DbPlace::NowSeconds() const {
  int64_t seconds = 0;
  IgnoreError(clock->GetCurrentTime(&seconds), "a clock that fails says 0: unknown");
  return seconds < 0 ? 0 : static_cast<uint64_t>(seconds);
}

}  // namespace ashlar
