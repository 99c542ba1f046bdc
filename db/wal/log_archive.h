// SPDX-License-Identifier: Apache-2.0
//
// LogArchive keeps logs that recovery does not need any more in the directory "archive" below the
// WAL directory, for readers such as DB::GetUpdatesSince and backups. It keeps logs up to an age
// and up to a total size. If neither limit is set, no log is archived.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "ashlar/system_clock.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// The numbers of the logs in the archive, ascending; empty if the directory does not exist.
Result<std::vector<FileNumber>> ListArchivedLogs(FileSystem* fs, const std::string& wal_dir);
// The numbers of the logs in a directory (the WAL directory or the archive), ascending; empty if it
// does not exist.
Result<std::vector<FileNumber>> ListLogsIn(FileSystem* fs, const std::string& dir);
// Like the function above, for a caller that has listed the directory already.
Result<std::vector<FileNumber>> LogsAmong(const Result<std::vector<std::string>>& names);

struct LogArchiveOptions {
  FileSystem* fs = nullptr;  // outlives the archive, as does the clock
  SystemClock* clock = nullptr;
  std::string wal_dir;
  uint64_t ttl_seconds = 0;  // since a log was last written; 0: no such limit
  uint64_t limit_bytes = 0;  // total size of all archived logs; 0: no such limit
};

class LogArchive {
 public:
  explicit LogArchive(const LogArchiveOptions& options) : options_(options) {}
  LogArchive(const LogArchive&) = delete;
  LogArchive& operator=(const LogArchive&) = delete;

  bool is_on() const { return options_.ttl_seconds != 0 || options_.limit_bytes != 0; }
  // Creates the directory. Precondition: is_on().
  Status Prepare();
  // Moves the log to the archive. Preconditions: is_on(), and the log is not written any more.
  Status Add(FileNumber number);
  // Deletes logs that are too old, and the oldest ones while the total size is above the limit. It
  // lists the directory only after an addition, and periodically for logs that have become too old.
  Status Prune();

 private:
  struct Log;
  Result<std::vector<Log>> Look() const;
  // Whether Prune() has to list the directory.
  bool IsDue();
  uint64_t NowSeconds() const;

  const LogArchiveOptions options_;
  // These two only save work: a thread that misses a change prunes once too often, or one call
  // later.
  std::atomic<bool> has_grown_{true};  // an earlier process may have left more than is allowed
  std::atomic<uint64_t> next_look_seconds_{0};
};

}  // namespace ashlar
