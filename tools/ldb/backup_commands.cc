// SPDX-License-Identifier: Apache-2.0
//
// The commands backup and restore. They print the same lines as RocksDB's ldb.
#include <cstdarg>
#include <cstdio>
#include <memory>

#include "ashlar/convenience.h"
#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/options_util.h"
#include "db/utilities/copy/flat_directory.h"
#include "db/wal/log_archive.h"
#include "env/file_util.h"
#include "env/filename.h"
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

// The wal_dir in the OPTIONS file of the backup; empty if it has no such file that can be read.
std::string WalDirOf(const BackupInfo& backup) {
  ConfigOptions config;
  config.env = backup.env_for_open.get();
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status loaded = LoadLatestOptions(config, backup.name_for_open, &options, &families);
  return loaded.ok() ? options.wal_dir : "";
}

// Where the logs of the backup go: to --wal_dir, or to the wal_dir of its OPTIONS file if that is
// another directory, without logs. InvalidArgument if it has logs: left there they would be
// replayed over the restored tables, but they may as well belong to the original of the backup.
Result<std::string> LogDirForRestore(const Invocation& call, const BackupEngineReadOnly& engine) {
  if (const auto given = call.line->Value("wal_dir"); given && !given->empty()) return *given;
  BackupInfo backup;
  RETURN_IF_ERROR(engine.GetLatestBackupInfo(&backup, /*include_file_details=*/true));
  std::string wal_dir = WalDirOf(backup);
  FileSystem* const fs = ToolFiles();
  if (wal_dir.empty()) return call.db;
  const IOStatus found = fs->FileExists(wal_dir, IOOptions(), nullptr);
  if (IsMissing(found)) return call.db;
  RETURN_IF_ERROR(found);
  // Old versions of RocksDB write the database's own directory into the file.
  const IOStatus current = fs->FileExists(CurrentFileName(wal_dir), IOOptions(), nullptr);
  if (current.ok()) return call.db;
  if (!IsMissing(current)) return current;
  if (IsSameDirectory(fs, wal_dir, fs, call.db)) return call.db;
  ASSIGN_OR_RETURN(const std::vector<FileNumber> logs, ListLogsIn(fs, wal_dir));
  if (logs.empty()) return wal_dir;
  return Status::InvalidArgument(
      StrCat("there are logs in ", wal_dir, ", the wal_dir of the database in the backup: give ",
             "--wal_dir=", wal_dir, " to replace them, or --wal_dir=", call.db,
             " to restore a copy that does not use that directory"));
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
  ASSIGN_OR_RETURN(const std::string wal_dir, LogDirForRestore(call, *engine));
  {
    const Heartbeat heartbeat("restoring");
    RETURN_IF_ERROR(engine->RestoreDBFromLatestBackup(call.db, wal_dir));
  }
  PrintLine("restore from backup OK");
  return Status::OK();
}

}  // namespace ashlar
