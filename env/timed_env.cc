// SPDX-License-Identifier: Apache-2.0
//
// NewTimedEnv(): adds the duration of file system calls to the perf context of the thread, at the
// perf levels that measure time.
#include <cassert>
#include <memory>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/perf_context.h"
#include "env/env_adaptors.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

namespace {

// Each function adds the time of its call to one counter. Calls that have no counter are forwarded
// unchanged.
class TimedFileSystem : public FileSystemWrapper {
 public:
  TimedFileSystem(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
      : FileSystemWrapper(fs), clock_(clock) {}

  const char* Name() const override { return "TimedFS"; }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_new_sequential_file_nanos);
    return target_->NewSequentialFile(f, options, r, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_new_random_access_file_nanos);
    return target_->NewRandomAccessFile(f, options, r, dbg);
  }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_new_writable_file_nanos);
    return target_->NewWritableFile(f, options, r, dbg);
  }
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_reuse_writable_file_nanos);
    return target_->ReuseWritableFile(f, old, options, r, dbg);
  }
  IOStatus NewRandomRWFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_new_random_rw_file_nanos);
    return target_->NewRandomRWFile(f, options, r, dbg);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_new_directory_nanos);
    return target_->NewDirectory(name, options, r, dbg);
  }
  IOStatus FileExists(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_file_exists_nanos);
    return target_->FileExists(f, options, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* r, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_get_children_nanos);
    return target_->GetChildren(dir, options, r, dbg);
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                     std::vector<FileAttributes>* r, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_get_children_file_attributes_nanos);
    return target_->GetChildrenFileAttributes(dir, options, r, dbg);
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_delete_file_nanos);
    return target_->DeleteFile(f, options, dbg);
  }
  IOStatus CreateDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_create_dir_nanos);
    return target_->CreateDir(d, options, dbg);
  }
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& options,
                              IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_create_dir_if_missing_nanos);
    return target_->CreateDirIfMissing(d, options, dbg);
  }
  IOStatus DeleteDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_delete_dir_nanos);
    return target_->DeleteDir(d, options, dbg);
  }
  IOStatus GetFileSize(const std::string& f, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_get_file_size_nanos);
    return target_->GetFileSize(f, options, size, dbg);
  }
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions& options, uint64_t* time,
                                   IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_get_file_modification_time_nanos);
    return target_->GetFileModificationTime(f, options, time, dbg);
  }
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& options,
                      IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_rename_file_nanos);
    return target_->RenameFile(s, t, options, dbg);
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& options,
                    IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_link_file_nanos);
    return target_->LinkFile(s, t, options, dbg);
  }
  IOStatus LockFile(const std::string& f, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_lock_file_nanos);
    return target_->LockFile(f, options, lock, dbg);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_unlock_file_nanos);
    return target_->UnlockFile(lock, options, dbg);
  }
  IOStatus NewLogger(const std::string& f, const IOOptions& options, std::shared_ptr<Logger>* r,
                     IODebugContext* dbg) override {
    PerfTimer timer(clock_.get(), &PerfContextBase::env_new_logger_nanos);
    return target_->NewLogger(f, options, r, dbg);
  }

 private:
  const std::shared_ptr<SystemClock> clock_;
};

}  // namespace

std::shared_ptr<FileSystem> NewTimedFileSystem(const std::shared_ptr<FileSystem>& fs,
                                               const std::shared_ptr<SystemClock>& clock) {
  return std::make_shared<TimedFileSystem>(fs, clock);
}

Env* NewTimedEnv(Env* base_env) {
  assert(base_env != nullptr);
  const auto& clock = base_env->GetSystemClock();
  const auto fs = NewTimedFileSystem(base_env->GetFileSystem(), clock);
  return NewCompositeEnvOver(base_env, fs, clock).release();
}

}  // namespace ashlar
