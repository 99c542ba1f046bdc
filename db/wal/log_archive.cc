// SPDX-License-Identifier: Apache-2.0
//
// The directory is listed anew each time, because logs become obsolete seldom, and other programs
// may delete files in it.
#include "db/wal/log_archive.h"

#include <algorithm>
#include <cassert>

#include "env/file_util.h"
#include "env/filename.h"
#include "util/rare_sort.h"

namespace ashlar {
namespace {

// The longest time between two checks for logs that have become too old.
constexpr uint64_t kLongestPauseSeconds = 600;

}  // namespace

Result<std::vector<FileNumber>> ListLogsIn(FileSystem* fs, const std::string& dir) {
  return LogsAmong(ListDirectory(fs, dir, NameOrder::kAny));
}

// A directory that does not exist has no logs.
Result<std::vector<FileNumber>> LogsAmong(const Result<std::vector<std::string>>& names) {
  std::vector<FileNumber> numbers;
  if (!names.ok()) {
    if (IsMissing(names.status())) return numbers;
    return names.status();
  }
  for (const std::string& name : names.value()) {
    FileNumber number;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == kWalFile) numbers.push_back(number);
  }
  SortRarely(&numbers);
  return numbers;
}

Result<std::vector<FileNumber>> ListArchivedLogs(FileSystem* fs, const std::string& wal_dir) {
  return ListLogsIn(fs, ArchivalDirectory(wal_dir));
}

struct LogArchive::Log {
  std::string path;
  uint64_t bytes = 0;
  uint64_t written_seconds = 0;
};

Status LogArchive::Prepare() {
  assert(is_on());
  return CreateDirectories(options_.fs, ArchivalDirectory(options_.wal_dir));
}

// A rename, so a crash leaves the log in one of the two directories.
Status LogArchive::Add(FileNumber number) {
  assert(is_on());
  const Status status =
      options_.fs->RenameFile(LogFileName(options_.wal_dir, number),
                              ArchivedLogFileName(options_.wal_dir, number), IOOptions(), nullptr);
  if (status.ok()) has_grown_.store(true, std::memory_order_relaxed);
  return status;
}

// The archived logs, oldest first. Logs that disappear meanwhile are left out.
Result<std::vector<LogArchive::Log>> LogArchive::Look() const {
  ASSIGN_OR_RETURN(const std::vector<FileNumber> numbers,
                   ListArchivedLogs(options_.fs, options_.wal_dir));
  std::vector<Log> logs;
  for (FileNumber number : numbers) {
    Log log{.path = ArchivedLogFileName(options_.wal_dir, number)};
    Result<uint64_t> bytes = FileSizeOf(options_.fs, log.path);
    if (IsMissing(bytes.status())) continue;
    if (!bytes.ok()) return bytes.status();
    log.bytes = *bytes;
    const Status status =
        options_.fs->GetFileModificationTime(log.path, IOOptions(), &log.written_seconds, nullptr);
    if (IsMissing(status)) continue;
    RETURN_IF_ERROR(status);
    logs.push_back(std::move(log));
  }
  return logs;
}

uint64_t LogArchive::NowSeconds() const {
  int64_t seconds = 0;
  IgnoreError(options_.clock->GetCurrentTime(&seconds), "without a time no log is too old");
  return static_cast<uint64_t>(std::max<int64_t>(seconds, 0));
}

// Whether it is time to look for archived logs that are too old. Called often, so it mostly reads
// two atomics.
bool LogArchive::IsDue() {
  if (has_grown_.exchange(false, std::memory_order_relaxed)) return true;
  if (options_.ttl_seconds == 0) return false;
  const uint64_t now = NowSeconds();
  if (now < next_look_seconds_.load(std::memory_order_relaxed)) return false;
  const uint64_t pause = std::clamp<uint64_t>(options_.ttl_seconds / 2, 1, kLongestPauseSeconds);
  next_look_seconds_.store(now + pause, std::memory_order_relaxed);
  return true;
}

// A log is deleted if it is too old, or if the remaining ones are too large together; oldest first.
Status LogArchive::Prune() {
  if (!is_on() || !IsDue()) return Status::OK();
  ASSIGN_OR_RETURN(const std::vector<Log> logs, Look());
  uint64_t left_bytes = 0;
  for (const Log& log : logs) left_bytes += log.bytes;
  const uint64_t now = NowSeconds();
  for (const Log& log : logs) {
    const bool is_old = options_.ttl_seconds != 0 && now > log.written_seconds &&
                        now - log.written_seconds > options_.ttl_seconds;
    const bool is_too_much = options_.limit_bytes != 0 && left_bytes > options_.limit_bytes;
    if (!is_old && !is_too_much) continue;
    RETURN_IF_ERROR(DeleteFileIfExists(options_.fs, log.path));
    left_bytes -= log.bytes;
  }
  return Status::OK();
}

}  // namespace ashlar
