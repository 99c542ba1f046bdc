// SPDX-License-Identifier: Apache-2.0
//
// The text log. A LineFile writes each line with one append and one flush, so logged lines survive
// the death of the process. FileLog writes to one LineFile; RollingLog replaces its LineFile when
// necessary.
#include "env/info_log.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "env/file_util.h"
#include "env/filename.h"
#include "env/io_rule.h"
#include "util/statistics/perf_level_impl.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {

namespace {

// The number that tools of the system show for the thread. Asked once per thread, because it is a
// system call.
long ThreadNumber() {
  thread_local const long number = syscall(SYS_gettid);
  return number;
}

// Formats into the stack first; only long messages are formatted twice.
std::string FormatMessage(const char* format, va_list ap) {
  assert(format != nullptr);
  char small[512];
  // The list can be walked over once, so a second formatting needs a copy of it.
  va_list again;
  va_copy(again, ap);
  const int size = vsnprintf(small, sizeof(small), format, ap);
  std::string message;
  if (size >= static_cast<int>(sizeof(small))) {
    message.resize(static_cast<size_t>(size) + 1);
    vsnprintf(message.data(), message.size(), format, again);
    message.resize(static_cast<size_t>(size));
    // A negative size means that the format is wrong; the message is then empty.
  } else if (size > 0) {
    message.assign(small, static_cast<size_t>(size));
  }
  va_end(again);
  return message;
}

// "2024/02/29-12:34:56.123456 4711 message\n": local time, then the kernel's number of the thread.
std::string FormatLine(uint64_t now_micros, const std::string& message) {
  const auto seconds = static_cast<time_t>(now_micros / 1000000);
  struct tm parts = {};
  localtime_r(&seconds, &parts);
  char stamp[96];
  snprintf(stamp, sizeof(stamp), "%04d/%02d/%02d-%02d:%02d:%02d.%06d %ld ", parts.tm_year + 1900,
           parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
           static_cast<int>(now_micros % 1000000), ThreadNumber());
  std::string line = StrCat(stamp, message);
  assert(!line.empty());
  if (line.back() != '\n') line.push_back('\n');
  return line;
}

// LineFile appends lines to a new file. A line that cannot be written is lost: logging must never
// stop the engine, and the next line is tried again. FileWriter cannot be used, because it ends
// with the first error. Threads: one at a time.
class LineFile {
 public:
  // Empties an existing file; callers have renamed one that they want to keep.
  static Result<std::unique_ptr<LineFile>> Create(FileSystem* fs, const std::string& path) {
    assert(fs != nullptr);
    AssertIoAllowed();
    FileOptions file_options;
    file_options.io_options.type = IOType::kLog;
    std::unique_ptr<FSWritableFile> file;
    RETURN_IF_ERROR(fs->NewWritableFile(path, file_options, &file, nullptr));
    return std::make_unique<LineFile>(std::move(file));
  }
  explicit LineFile(std::unique_ptr<FSWritableFile> file) : file_(std::move(file)) {}
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile() { IgnoreError(Close(), "a destructor cannot return errors"); }

  void Append(const std::string& line) {
    AssertIoAllowed();
    assert(!is_closed());
    // A failed append may have left the beginning of its line. Then this line begins with an end of
    // line, so that the fragment does not become a part of it.
    const std::string text = has_failed_ ? StrCat("\n", line) : line;
    // A program's file may buffer what it gets; for files of the operating system a flush does
    // nothing.
    has_failed_ =
        !file_->Append(text, IOOptions(), nullptr).ok() || !file_->Flush(IOOptions(), nullptr).ok();
    if (has_failed_) return;
    bytes_ += text.size();
    AddIoBytes(&IOStatsContext::bytes_written, text.size());
  }
  Status Close() {
    if (is_closed()) return Status::OK();
    // The file counts as closed even if this failed, because nothing more can be done with it.
    const Status status = file_->Close(IOOptions(), nullptr);
    file_.reset();
    return status;
  }
  bool is_closed() const { return file_ == nullptr; }
  // Bytes of the lines that were written.
  uint64_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<FSWritableFile> file_;  // null after Close()
  uint64_t bytes_ = 0;
  bool has_failed_ = false;  // the last append failed
};

// One log file, created by Env::NewLogger(). Writes are synchronous, under a mutex, which the
// engine never holds together with a DB mutex.
class FileLog : public Logger {
 public:
  FileLog(std::shared_ptr<FileSystem> fs, std::shared_ptr<SystemClock> clock, std::string path,
          InfoLogLevel level)
      : Logger(level), fs_(std::move(fs)), clock_(std::move(clock)), path_(std::move(path)) {}
  ~FileLog() override {
    // A log that was closed by the program is not closed again.
    if (!closed_) IgnoreError(Close(), "a destructor cannot return errors");
  }

  // Creates the file; otherwise the first line does that.
  Status Start() {
    MutexLock lock(&mutex_);
    return StartLocked();
  }

  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    WriteLine(FormatLine(clock_->NowMicros(), FormatMessage(format, ap)));
  }
  size_t GetLogFileSize() const override {
    MutexLock lock(&mutex_);
    return file_ != nullptr ? static_cast<size_t>(file_->bytes()) : 0;
  }

 protected:
  // Lines that come after this are dropped.
  Status CloseImpl() override {
    MutexLock lock(&mutex_);
    // Another thread may be about to write; it finds the flag and drops its line.
    is_over_ = true;
    return file_ != nullptr ? file_->Close() : Status::OK();
  }

 private:
  // Creates the file.
  Status StartLocked() REQUIRES(mutex_) {
    ASSIGN_OR_RETURN(file_, LineFile::Create(fs_.get(), path_));
    return Status::OK();
  }
  void WriteLine(const std::string& line) {
    const IoTimer timer(&IOStatsContext::logger_nanos);
    MutexLock lock(&mutex_);
    // If the file could not be created when the log was opened, each line tries it again.
    if (is_over_ || (file_ == nullptr && !StartLocked().ok())) return;
    assert(file_ != nullptr && !file_->is_closed());
    file_->Append(line);
  }

  const std::shared_ptr<FileSystem> fs_;  // kept alive, because the file may call it
  const std::shared_ptr<SystemClock> clock_;
  const std::string path_;
  mutable Mutex mutex_{LockRank::kLogger};
  std::unique_ptr<LineFile> file_ GUARDED_BY(mutex_);  // null until it is created
  bool is_over_ GUARDED_BY(mutex_) = false;            // the log was closed
};

// Renames an existing log file. Two logs of the same microsecond get different names.
Status SetAside(FileSystem* fs, const std::string& path, uint64_t now_micros) {
  assert(fs != nullptr);
  if (!fs->FileExists(path, IOOptions(), nullptr).ok()) return Status::OK();
  std::string old_path = OldInfoLogFileName(path, now_micros);
  while (fs->FileExists(old_path, IOOptions(), nullptr).ok()) {
    old_path = OldInfoLogFileName(path, ++now_micros);
  }
  return fs->RenameFile(path, old_path, IOOptions(), nullptr);
}

// Deletes old logs until `keep_count` are left, including the current one. Errors are ignored: an
// old log that stays does no harm.
void DeleteOldest(FileSystem* fs, const std::string& path, size_t keep_count) {
  assert(fs != nullptr);
  const std::string dir = DirectoryOf(path);
  const std::string prefix = BaseNameOf(path);
  std::vector<std::string> names;
  if (!fs->GetChildren(dir, IOOptions(), &names, nullptr).ok()) return;
  std::vector<std::pair<uint64_t, std::string>> old_logs;
  for (const std::string& name : names) {
    uint64_t micros = 0;
    FileType type;
    // Only names of this log count: other databases may keep their logs in the same directory.
    if (name != prefix && name.starts_with(prefix) && ParseFileName(name, &micros, prefix, &type) &&
        type == kInfoLogFile) {
      old_logs.emplace_back(micros, name);
    }
  }
  const size_t keep = std::max<size_t>(keep_count, 1) - 1;  // without the current one
  if (old_logs.size() <= keep) return;
  std::sort(old_logs.begin(), old_logs.end());
  // The oldest ones are at the front after the sort, and these remain in the list.
  old_logs.resize(old_logs.size() - keep);
  for (const auto& [micros, name] : old_logs) {
    IgnoreError(fs->DeleteFile(StrCat(dir, "/", name), IOOptions(), nullptr),
                "an extra old log does no harm");
  }
}

// The log of a database. It never blocks the engine for long: a line is one append. A roll-over
// creates a file and deletes old ones under the mutex.
class RollingLog : public Logger {
 public:
  RollingLog(std::shared_ptr<FileSystem> fs, std::shared_ptr<SystemClock> clock,
             const InfoLogOptions& options, std::string path)
      : Logger(options.level),
        fs_(std::move(fs)),
        clock_(std::move(clock)),
        options_(options),
        path_(std::move(path)) {}
  ~RollingLog() override {
    if (!closed_) IgnoreError(Close(), "a destructor cannot return errors");
  }

  // Starts with a new file. An existing one was renamed before.
  Status Start(uint64_t now_micros) {
    MutexLock lock(&mutex_);
    return BeginLocked(now_micros);
  }

  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    Write(FormatMessage(format, ap), /*is_header=*/false);
  }
  void LogHeader(const char* format, va_list ap) override {
    Write(FormatMessage(format, ap), /*is_header=*/true);
  }
  size_t GetLogFileSize() const override {
    MutexLock lock(&mutex_);
    return file_ != nullptr ? static_cast<size_t>(file_->bytes()) : 0;
  }

 protected:
  Status CloseImpl() override {
    MutexLock lock(&mutex_);
    return file_ != nullptr ? file_->Close() : Status::OK();
  }

 private:
  void Write(const std::string& message, bool is_header) {
    const uint64_t now = clock_->NowMicros();
    // Formatted before the mutex is taken, so that other threads wait less.
    const std::string line = FormatLine(now, message);
    MutexLock lock(&mutex_);
    if (file_ == nullptr || file_->is_closed()) return;
    if (IsDueLocked(now)) {
      IgnoreError(RollLocked(), "the next line tries again");
    }
    // Kept for the starts of later files.
    if (is_header) headers_.push_back(message);
    file_->Append(line);
  }

  bool IsDueLocked(uint64_t now) const REQUIRES(mutex_) {
    assert(file_->bytes() >= header_bytes_);
    const uint64_t bytes = file_->bytes() - header_bytes_;
    if (options_.max_file_bytes > 0 && bytes >= options_.max_file_bytes) return true;
    // A clock that was set back does not start a new file.
    return options_.roll_after_seconds > 0 && now > started_micros_ &&
           now - started_micros_ >= options_.roll_after_seconds * 1000000;
  }

  // After a failure the old file is used further, if there is one.
  Status RollLocked() REQUIRES(mutex_) {
    const uint64_t now = clock_->NowMicros();
    RETURN_IF_ERROR(SetAside(fs_.get(), path_, now));
    return BeginLocked(now);
  }

  // The new file is opened before the old one is closed, so that an error leaves the old one in
  // use.
  Status BeginLocked(uint64_t now) REQUIRES(mutex_) {
    ASSIGN_OR_RETURN(auto file, LineFile::Create(fs_.get(), path_));
    assert(file != nullptr);
    if (file_ != nullptr) IgnoreError(file_->Close(), "its lines may be lost");
    file_ = std::move(file);
    started_micros_ = now;
    // Each file begins with the headers, so each of them can be read alone.
    for (const std::string& header : headers_) {
      file_->Append(FormatLine(now, header));
    }
    // The limit counts lines that come after this.
    header_bytes_ = file_->bytes();
    // Last, so that no old log is deleted if the new file could not be created.
    DeleteOldest(fs_.get(), path_, options_.keep_file_count);
    return Status::OK();
  }

  const std::shared_ptr<FileSystem> fs_;
  const std::shared_ptr<SystemClock> clock_;
  const InfoLogOptions options_;
  const std::string path_;
  mutable Mutex mutex_{LockRank::kLogger};
  std::unique_ptr<LineFile> file_ GUARDED_BY(mutex_);  // null only before Start()
  uint64_t started_micros_ GUARDED_BY(mutex_) = 0;
  // Bytes of the headers at the begin of the file, which do not count for the limit.
  uint64_t header_bytes_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> headers_ GUARDED_BY(mutex_);
};

class NullLogger : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}

 protected:
  Status CloseImpl() override { return Status::OK(); }
};

// While an object of this class exists, OpenLogFile() records the log that it makes for this
// thread, and does not create the file before the first line. This shows whether a file system
// returns a log of its own.
class AskedForLog {
 public:
  // They nest: an object inside restores the one around it.
  AskedForLog() : before_(std::exchange(current, this)) {}
  ~AskedForLog() { current = before_; }
  AskedForLog(const AskedForLog&) = delete;
  AskedForLog& operator=(const AskedForLog&) = delete;

  static AskedForLog* Current() { return current; }
  void Note(std::shared_ptr<const Logger> log, const std::string& path) {
    log_ = std::move(log);
    path_ = path;
  }
  bool HasMade(const std::shared_ptr<Logger>& log, const std::string& path) const {
    return log == log_ && path == path_;
  }

 private:
  // One for each thread, because several threads may open databases at the same time.
  static inline thread_local constinit AskedForLog* current = nullptr;
  AskedForLog* const before_;
  std::shared_ptr<const Logger> log_;  // the last log
  std::string path_;
};

// The log of a file system, or an Env, that makes logs in its own way. Null: it does not.
Result<std::shared_ptr<Logger>> OwnLogOf(FileSystem* fs, const std::string& path) {
  assert(fs != nullptr);
  std::shared_ptr<Logger> log;
  AskedForLog asked;
  const IOStatus status = fs->NewLogger(path, IOOptions(), &log, nullptr);
  // Other errors are real: the file system makes logs and has failed.
  if (!status.ok() && !status.IsNotSupported()) return Status(status);
  // The log is ours if OpenLogFile() has made exactly this object, for exactly this path.
  if (!status.ok() || asked.HasMade(log, path)) log.reset();
  return log;
}

}  // namespace

// A log with limits is always ours, because others do not start new files.
Result<std::shared_ptr<Logger>> OpenInfoLog(const std::shared_ptr<FileSystem>& fs,
                                            const std::shared_ptr<SystemClock>& clock,
                                            const InfoLogOptions& options) {
  assert(fs != nullptr && clock != nullptr);
  std::string absolute_path;
  RETURN_IF_ERROR(fs->GetAbsolutePath(options.db_path, IOOptions(), &absolute_path, nullptr));
  const std::string& dir = options.log_dir.empty() ? options.db_path : options.log_dir;
  RETURN_IF_ERROR(CreateDirectories(fs.get(), dir));
  const std::string path = InfoLogFileName(options.db_path, options.log_dir, absolute_path);
  const uint64_t now = clock->NowMicros();
  // The log of the last process is kept under another name, not continued.
  RETURN_IF_ERROR(SetAside(fs.get(), path, now));
  if (options.max_file_bytes == 0 && options.roll_after_seconds == 0) {
    ASSIGN_OR_RETURN(std::shared_ptr<Logger> own, OwnLogOf(fs.get(), path));
    // A file system with logs of its own does not roll them over, so the limits must be 0 for it.
    if (own != nullptr) {
      own->SetInfoLogLevel(options.level);
      DeleteOldest(fs.get(), path, options.keep_file_count);
      return own;
    }
  }
  auto log = std::make_shared<RollingLog>(fs, clock, options, path);
  RETURN_IF_ERROR(log->Start(now));
  return std::shared_ptr<Logger>(std::move(log));
}

Result<std::shared_ptr<Logger>> OpenLogFile(const std::shared_ptr<FileSystem>& fs,
                                            const std::shared_ptr<SystemClock>& clock,
                                            const std::string& path, InfoLogLevel level) {
  assert(fs != nullptr && clock != nullptr);
  auto log = std::make_shared<FileLog>(fs, clock, path, level);
  if (AskedForLog* const asked = AskedForLog::Current(); asked != nullptr) {
    asked->Note(log, path);
  } else {
    RETURN_IF_ERROR(log->Start());
  }
  return std::shared_ptr<Logger>(std::move(log));
}

std::shared_ptr<Logger> NewNullLogger() { return std::make_shared<NullLogger>(); }

}  // namespace ashlar
