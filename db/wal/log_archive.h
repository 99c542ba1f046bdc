// SPDX-License-Identifier: Apache-2.0
//
// LogArchive keeps logs that recovery needs no more in the folder "archive" beside the others, for
// whoever reads them (DB::GetUpdatesSince, backups): those younger than a time, and the newest up
// to a size. Without either limit nothing comes here.
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

// The numbers of the logs in the folder, ascending; none if there is no folder.
Result<std::vector<FileNumber>> ListArchivedLogs(FileSystem* fs, const std::string& wal_dir);
// Of a directory, be it that of logs or their archive; ascending. None if it does not exist.
Result<std::vector<FileNumber>> ListLogsIn(FileSystem* fs, const std::string& dir);
// The same of a directory that is listed already.
Result<std::vector<FileNumber>> LogsAmong(const Result<std::vector<std::string>>& names);

struct LogArchiveOptions {
  FileSystem* fs = nullptr;  // outlives the archive, as does the clock
  SystemClock* clock = nullptr;
  std::string wal_dir;
  uint64_t ttl_seconds = 0;  // since a log was last written; 0: no such limit
  uint64_t limit_bytes = 0;  // of all of them; 0: no such limit
};

class LogArchive {
 public:
  explicit LogArchive(const LogArchiveOptions& options) : options_(options) {}
  LogArchive(const LogArchive&) = delete;
  LogArchive& operator=(const LogArchive&) = delete;

  bool is_on() const { return options_.ttl_seconds != 0 || options_.limit_bytes != 0; }
  // Makes the folder. Only if is_on().
  Status Prepare();
  // Moves the log, which nobody writes any more, to the folder. Only if is_on().
  Status Add(FileNumber number);
  // Deletes what is too old, and the oldest while all together are too large. It looks at the
  // folder after something was added, and every while for logs that have become too old.
  Status Prune();

 private:
  struct Log;
  Result<std::vector<Log>> Look() const;
  bool IsDue();
  uint64_t NowSeconds() const;

  const LogArchiveOptions options_;
  // These two only save work: whoever misses a change prunes once more, or at the next chance.
  std::atomic<bool> has_grown_{true};  // an earlier process may have left more than is allowed
  std::atomic<uint64_t> next_look_seconds_{0};
};

}  // namespace ashlar
