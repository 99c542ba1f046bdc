// SPDX-License-Identifier: Apache-2.0
//
// Functions that need DBOptions but no database: the constructors of DBOptions and ConfigOptions,
// the conversion to EnvOptions, the file options for writing logs, and the opening of the info log.
// The defaults of DBOptions name nothing from rooms above env/, so that env/ is the lowest room
// that can hold them.
#include <algorithm>
#include <cassert>

#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/utilities/object_registry.h"
#include "env/info_log.h"

namespace ashlar {

// DBOptions::db_host_id has this value until the name of the machine replaces it.
const char* kHostnameForDbHostId = "__hostname__";

DBOptions::DBOptions() = default;
DBOptions::DBOptions(const Options& options) : DBOptions(static_cast<const DBOptions&>(options)) {}

ConfigOptions::ConfigOptions() : env(Env::Default()), registry(ObjectRegistry::NewInstance()) {}
ConfigOptions::ConfigOptions(const DBOptions& options)
    : env(options.env), registry(ObjectRegistry::NewInstance()) {}

EnvOptions::EnvOptions(const DBOptions& options)
    : use_mmap_reads(options.allow_mmap_reads),
      use_mmap_writes(options.allow_mmap_writes),
      use_direct_reads(options.use_direct_reads),
      allow_fallocate(options.allow_fallocate),
      set_fd_cloexec(options.is_fd_close_on_exec),
      bytes_per_sync(options.bytes_per_sync),
      strict_bytes_per_sync(options.strict_bytes_per_sync),
      compaction_readahead_size(options.compaction_readahead_size),
      writable_file_max_buffer_size(options.writable_file_max_buffer_size),
      rate_limiter(options.rate_limiter.get()) {}

FileOptions::FileOptions(const DBOptions& opts) : FileOptions(EnvOptions(opts)) {}

// Logs are written through the page cache, not through a mapping of the file system's own, and have
// their own setting for how often written bytes are pushed to the device.
EnvOptions Env::OptimizeForLogWrite(const EnvOptions& env_options,
                                    const DBOptions& db_options) const {
  EnvOptions result = env_options;
  result.use_direct_writes = result.use_mmap_writes = false;
  result.bytes_per_sync = db_options.wal_bytes_per_sync;
  return result;
}
FileOptions FileSystem::OptimizeForLogWrite(const FileOptions& file_options,
                                            const DBOptions& db_options) const {
  FileOptions result = file_options;
  result.use_direct_writes = result.use_mmap_writes = false;
  result.bytes_per_sync = db_options.wal_bytes_per_sync;
  return result;
}

Status CreateLoggerFromOptions(const std::string& dbname, const DBOptions& options,
                               std::shared_ptr<Logger>* logger) {
  assert(logger != nullptr);
  // A logger of the program is used as it is, without rotation.
  logger->reset();
  if (options.info_log != nullptr) {
    *logger = options.info_log;
    return Status::OK();
  }
  InfoLogOptions log_options;
  log_options.db_path = dbname;
  log_options.log_dir = options.db_log_dir;
  log_options.level = options.info_log_level;
  log_options.max_file_bytes = options.max_log_file_size;
  log_options.roll_after_seconds = options.log_file_time_to_roll;
  log_options.keep_file_count = std::max<size_t>(options.keep_log_file_num, 1);
  Env* env = options.env != nullptr ? options.env : Env::Default();
  ASSIGN_OR_RETURN(*logger, OpenInfoLog(env->GetFileSystem(), env->GetSystemClock(), log_options));
  return Status::OK();
}

}  // namespace ashlar
