// SPDX-License-Identifier: Apache-2.0
//
// The commands backup and restore. They print the same lines as RocksDB's ldb.
#include <cstdarg>
#include <cstdio>
#include <memory>

#include "ashlar/convenience.h"
#include "ashlar/utilities/backup_engine.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Prints the messages of the backup engine to stderr, each cut off at a kilobyte. Any thread.
class StderrLogger final : public Logger {
 public:
  explicit StderrLogger(InfoLogLevel level) : Logger(level) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    std::fprintf(stderr, "%s\n", line);
  }
};

// The flags of both commands.
struct BackupPlace {
  std::shared_ptr<Env> owned_env;  // owns options.backup_env if a flag names it
  std::unique_ptr<StderrLogger> log;
  BackupEngineOptions options{""};
};

// The backup directory and the options for its engine, as the flags give them. The result owns the
// Env and the logger to which the options point, so it must outlive the engine.
Result<std::unique_ptr<BackupPlace>> PlaceFrom(const CommandLine& line) {
  auto place = std::make_unique<BackupPlace>();
  place->options.backup_dir = line.Value("backup_dir").value_or("");
  if (place->options.backup_dir.empty()) {
    return Status::InvalidArgument("--backup_dir=<directory> must be given");
  }
  const std::string env_uri = line.Value("backup_env_uri").value_or("");
  const std::string fs_uri = line.Value("backup_fs_uri").value_or("");
  if (!env_uri.empty() || !fs_uri.empty()) {
    // A backup in other files than those that were asked for would be no backup at all.
    ConfigOptions config;
    config.env = ToolEnv();
    config.ignore_unsupported_options = false;
    RETURN_IF_ERROR(
        Env::CreateFromUri(config, env_uri, fs_uri, &place->options.backup_env, &place->owned_env));
    if (place->options.backup_env == nullptr) {
      return Status::NotSupported(StrCat("no files of this name: ", env_uri, fs_uri));
    }
  }
  ASSIGN_OR_RETURN(const int64_t threads, line.Number("num_threads", 1));
  if (threads < 1 || threads > INT_MAX) {
    return Status::InvalidArgument(StrCat("--num_threads: expected 1 or more, found ", threads));
  }
  place->options.max_background_operations = static_cast<int>(threads);
  ASSIGN_OR_RETURN(const int64_t level, line.Number("stderr_log_level", -1));
  if (level < -1 || level >= InfoLogLevel::NUM_INFO_LOG_LEVELS) {
    return Status::InvalidArgument(StrCat("--stderr_log_level: expected 0 to ",
                                          InfoLogLevel::NUM_INFO_LOG_LEVELS - 1, ", found ",
                                          level));
  }
  if (level >= 0) {
    place->log = std::make_unique<StderrLogger>(static_cast<InfoLogLevel>(level));
    place->options.info_log = place->log.get();
  }
  return place;
}

}  // namespace

Status RunBackup(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<BackupPlace> place, PlaceFrom(*call.line));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  PrintLine("open db OK");
  BackupEngine* opened = nullptr;
  RETURN_IF_ERROR(BackupEngine::Open(place->options, ToolEnv(), &opened));
  const std::unique_ptr<BackupEngine> engine(opened);
  PrintLine("open backup engine OK");
  {
    // Tells on a terminal that the work goes on.
    const Heartbeat heartbeat("making a backup");
    RETURN_IF_ERROR(engine->CreateNewBackup(CreateBackupOptions(), db->get()));
  }
  RETURN_IF_ERROR(db->Close());
  PrintLine("create new backup OK");
  return Status::OK();
}

// The database itself is not opened: it may not exist.
Status RunRestore(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<BackupPlace> place, PlaceFrom(*call.line));
  BackupEngineReadOnly* opened = nullptr;
  RETURN_IF_ERROR(BackupEngineReadOnly::Open(place->options, ToolEnv(), &opened));
  const std::unique_ptr<BackupEngineReadOnly> engine(opened);
  PrintLine("open restore engine OK");
  {
    const Heartbeat heartbeat("restoring");
    RETURN_IF_ERROR(engine->RestoreDBFromLatestBackup(call.db, call.db));
  }
  PrintLine("restore from backup OK");
  return Status::OK();
}

}  // namespace ashlar
