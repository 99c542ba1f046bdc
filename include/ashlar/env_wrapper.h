// SPDX-License-Identifier: Apache-2.0
//
// Wrappers for the Env interfaces: each forwards every call to a target, so that a program can
// derive from it and override only some functions. Part of ashlar/env.h; include that header.
// EnvWrapper can own its target; the file wrappers never do.
#pragma once

#include "ashlar/export.h"

#include "ashlar/env.h"  // IWYU pragma: keep

namespace ashlar {

// Forwards all calls to another Env. Either owns the target (shared_ptr) or not (raw pointer).
class ASHLAR_EXPORT EnvWrapper : public Env {
 public:
  struct Target {
    Env* env;
    std::shared_ptr<Env> guard;  // nullptr if the target is not owned

    explicit Target(Env* t) : env(t) {}
    explicit Target(std::unique_ptr<Env>&& t) : env(t.get()), guard(std::move(t)) {}
    explicit Target(const std::shared_ptr<Env>& t) : env(t.get()), guard(t) {}
    // Uses the default environment if there is no target.
    void Prepare() {
      if (guard != nullptr) env = guard.get();
      if (env == nullptr) env = Env::Default();
    }
  };

  explicit EnvWrapper(Env* t);
  explicit EnvWrapper(std::unique_ptr<Env>&& t);
  explicit EnvWrapper(const std::shared_ptr<Env>& t);
  ~EnvWrapper() override;

  Env* target() const { return target_.env; }
  const char* Name() const override { return target()->Name(); }
  const Customizable* Inner() const override { return target(); }

  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target()->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target()->UnregisterDbPaths(paths);
  }

  Status NewSequentialFile(const std::string& f, std::unique_ptr<SequentialFile>* r,
                           const EnvOptions& options) override {
    return target()->NewSequentialFile(f, r, options);
  }
  Status NewRandomAccessFile(const std::string& f, std::unique_ptr<RandomAccessFile>* r,
                             const EnvOptions& options) override {
    return target()->NewRandomAccessFile(f, r, options);
  }
  Status NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                         const EnvOptions& options) override {
    return target()->NewWritableFile(f, r, options);
  }
  Status ReopenWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                            const EnvOptions& options) override {
    return target()->ReopenWritableFile(f, r, options);
  }
  Status ReuseWritableFile(const std::string& f, const std::string& old,
                           std::unique_ptr<WritableFile>* r, const EnvOptions& options) override {
    return target()->ReuseWritableFile(f, old, r, options);
  }
  Status NewRandomRWFile(const std::string& f, std::unique_ptr<RandomRWFile>* r,
                         const EnvOptions& options) override {
    return target()->NewRandomRWFile(f, r, options);
  }
  Status NewMemoryMappedFileBuffer(const std::string& f,
                                   std::unique_ptr<MemoryMappedFileBuffer>* r) override {
    return target()->NewMemoryMappedFileBuffer(f, r);
  }
  Status NewDirectory(const std::string& name, std::unique_ptr<Directory>* r) override {
    return target()->NewDirectory(name, r);
  }

  Status FileExists(const std::string& f) override { return target()->FileExists(f); }
  Status GetChildren(const std::string& dir, std::vector<std::string>* r) override {
    return target()->GetChildren(dir, r);
  }
  Status GetChildrenFileAttributes(const std::string& dir,
                                   std::vector<FileAttributes>* r) override {
    return target()->GetChildrenFileAttributes(dir, r);
  }
  Status DeleteFile(const std::string& f) override { return target()->DeleteFile(f); }
  Status Truncate(const std::string& f, size_t size) override {
    return target()->Truncate(f, size);
  }
  Status CreateDir(const std::string& d) override { return target()->CreateDir(d); }
  Status CreateDirIfMissing(const std::string& d) override {
    return target()->CreateDirIfMissing(d);
  }
  Status DeleteDir(const std::string& d) override { return target()->DeleteDir(d); }
  Status GetFileSize(const std::string& f, uint64_t* s) override {
    return target()->GetFileSize(f, s);
  }
  Status GetFileModificationTime(const std::string& f, uint64_t* t) override {
    return target()->GetFileModificationTime(f, t);
  }
  Status RenameFile(const std::string& s, const std::string& t) override {
    return target()->RenameFile(s, t);
  }
  Status LinkFile(const std::string& s, const std::string& t) override {
    return target()->LinkFile(s, t);
  }
  Status SyncFile(const std::string& f, const EnvOptions& options, bool use_fsync) override {
    return target()->SyncFile(f, options, use_fsync);
  }
  Status NumFileLinks(const std::string& f, uint64_t* count) override {
    return target()->NumFileLinks(f, count);
  }
  Status AreFilesSame(const std::string& a, const std::string& b, bool* r) override {
    return target()->AreFilesSame(a, b, r);
  }
  Status LockFile(const std::string& f, FileLock** lock) override {
    return target()->LockFile(f, lock);
  }
  Status UnlockFile(FileLock* lock) override { return target()->UnlockFile(lock); }
  Status LoadLibrary(const std::string& name, const std::string& path,
                     std::shared_ptr<DynamicLibrary>* r) override {
    return target()->LoadLibrary(name, path, r);
  }

  void Schedule(void (*function)(void* arg), void* arg, Priority pri = LOW, void* tag = nullptr,
                void (*unschedFunction)(void* arg) = nullptr) override {
    target()->Schedule(function, arg, pri, tag, unschedFunction);
  }
  int UnSchedule(void* tag, Priority pri) override { return target()->UnSchedule(tag, pri); }
  void StartThread(void (*function)(void* arg), void* arg) override {
    target()->StartThread(function, arg);
  }
  void WaitForJoin() override { target()->WaitForJoin(); }
  int ReserveThreads(int threads, Priority pri) override {
    return target()->ReserveThreads(threads, pri);
  }
  int ReleaseThreads(int threads, Priority pri) override {
    return target()->ReleaseThreads(threads, pri);
  }
  unsigned int GetThreadPoolQueueLen(Priority pri = LOW) const override {
    return target()->GetThreadPoolQueueLen(pri);
  }
  void SetBackgroundThreads(int number, Priority pri = LOW) override {
    target()->SetBackgroundThreads(number, pri);
  }
  int GetBackgroundThreads(Priority pri = LOW) override {
    return target()->GetBackgroundThreads(pri);
  }
  Status SetAllowNonOwnerAccess(bool allow) override {
    return target()->SetAllowNonOwnerAccess(allow);
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    target()->IncBackgroundThreadsIfNeeded(number, pri);
  }
  void LowerThreadPoolIOPriority(Priority pool = LOW) override {
    target()->LowerThreadPoolIOPriority(pool);
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    return target()->LowerThreadPoolCPUPriority(pool, pri);
  }
  void LowerThreadPoolCPUPriority(Priority pool = LOW) override {
    target()->LowerThreadPoolCPUPriority(pool);
  }
  Status GetThreadList(std::vector<ThreadStatus>* list) override {
    return target()->GetThreadList(list);
  }
  ThreadStatusUpdater* GetThreadStatusUpdater() const override {
    return target()->GetThreadStatusUpdater();
  }
  uint64_t GetThreadID() const override { return target()->GetThreadID(); }

  Status GetTestDirectory(std::string* path) override { return target()->GetTestDirectory(path); }
  Status NewLogger(const std::string& f, std::shared_ptr<Logger>* r) override {
    return target()->NewLogger(f, r);
  }
  uint64_t NowMicros() override { return target()->NowMicros(); }
  uint64_t NowNanos() override { return target()->NowNanos(); }
  uint64_t NowCPUNanos() override { return target()->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { target()->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override { return target()->GetCurrentTime(unix_time); }
  std::string TimeToString(uint64_t time) override { return target()->TimeToString(time); }
  Status GetHostName(char* name, uint64_t len) override { return target()->GetHostName(name, len); }
  Status GetHostNameString(std::string* result) override {
    return target()->GetHostNameString(result);
  }
  Status GetAbsolutePath(const std::string& db_path, std::string* output_path) override {
    return target()->GetAbsolutePath(db_path, output_path);
  }
  std::string GenerateUniqueId() override { return target()->GenerateUniqueId(); }

  EnvOptions OptimizeForLogRead(const EnvOptions& options) const override {
    return target()->OptimizeForLogRead(options);
  }
  EnvOptions OptimizeForManifestRead(const EnvOptions& options) const override {
    return target()->OptimizeForManifestRead(options);
  }
  EnvOptions OptimizeForLogWrite(const EnvOptions& options,
                                 const DBOptions& db_options) const override {
    return target()->OptimizeForLogWrite(options, db_options);
  }
  EnvOptions OptimizeForManifestWrite(const EnvOptions& options) const override {
    return target()->OptimizeForManifestWrite(options);
  }
  EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& options,
                                             const ImmutableDBOptions& db_options) const override {
    return target()->OptimizeForCompactionTableWrite(options, db_options);
  }
  EnvOptions OptimizeForCompactionTableRead(const EnvOptions& options,
                                            const ImmutableDBOptions& db_options) const override {
    return target()->OptimizeForCompactionTableRead(options, db_options);
  }
  EnvOptions OptimizeForBlobFileRead(const EnvOptions& options,
                                     const ImmutableDBOptions& db_options) const override {
    return target()->OptimizeForBlobFileRead(options, db_options);
  }
  void SanitizeEnvOptions(EnvOptions* options) const override {
    target()->SanitizeEnvOptions(options);
  }
  Status GetFreeSpace(const std::string& path, uint64_t* free_bytes) override {
    return target()->GetFreeSpace(path, free_bytes);
  }
  Status IsDirectory(const std::string& path, bool* is_dir) override {
    return target()->IsDirectory(path, is_dir);
  }

 private:
  Target target_;
};

// Forward all calls to another file, directory or logger, which they do not own.
class ASHLAR_EXPORT SequentialFileWrapper : public SequentialFile {
 public:
  explicit SequentialFileWrapper(SequentialFile* target) : target_(target) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    return target_->Read(n, result, scratch);
  }
  Status Skip(uint64_t n) override { return target_->Skip(n); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return target_->PositionedRead(offset, n, result, scratch);
  }

 private:
  SequentialFile* target_;
};

class ASHLAR_EXPORT RandomAccessFileWrapper : public RandomAccessFile {
 public:
  explicit RandomAccessFileWrapper(RandomAccessFile* target) : target_(target) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status Prefetch(uint64_t offset, size_t n) override { return target_->Prefetch(offset, n); }
  Status MultiRead(ReadRequest* reqs, size_t num_reqs) override {
    return target_->MultiRead(reqs, num_reqs);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override { target_->Hint(pattern); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status GetFileSize(uint64_t* size) override { return target_->GetFileSize(size); }

 private:
  RandomAccessFile* target_;
};

class ASHLAR_EXPORT WritableFileWrapper : public WritableFile {
 public:
  explicit WritableFileWrapper(WritableFile* t) : target_(t) {}

  Status Append(const Slice& data) override { return target_->Append(data); }
  Status Append(const Slice& data, const DataVerificationInfo& info) override {
    return target_->Append(data, info);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return target_->PositionedAppend(data, offset);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset,
                          const DataVerificationInfo& info) override {
    return target_->PositionedAppend(data, offset, info);
  }
  Status Truncate(uint64_t size) override { return target_->Truncate(size); }
  Status Close() override { return target_->Close(); }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  bool IsSyncThreadSafe() const override { return target_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  void SetIOPriority(Env::IOPriority pri) override { target_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return target_->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    target_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return target_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize() override { return target_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t size) override { target_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    target_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t nbytes) override {
    return target_->RangeSync(offset, nbytes);
  }
  void PrepareWrite(size_t offset, size_t len) override { target_->PrepareWrite(offset, len); }
  Status Allocate(uint64_t offset, uint64_t len) override { return target_->Allocate(offset, len); }

 private:
  WritableFile* target_;
};

class ASHLAR_EXPORT RandomRWFileWrapper : public RandomRWFile {
 public:
  explicit RandomRWFileWrapper(RandomRWFile* target) : target_(target) {}

  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  Status Write(uint64_t offset, const Slice& data) override { return target_->Write(offset, data); }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return target_->Read(offset, n, result, scratch);
  }
  Status Flush() override { return target_->Flush(); }
  Status Sync() override { return target_->Sync(); }
  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }

 private:
  RandomRWFile* target_;
};

class ASHLAR_EXPORT DirectoryWrapper : public Directory {
 public:
  explicit DirectoryWrapper(Directory* target) : target_(target) {}

  Status Fsync() override { return target_->Fsync(); }
  Status Close() override { return target_->Close(); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }

 private:
  Directory* target_;
};

class ASHLAR_EXPORT LoggerWrapper : public Logger {
 public:
  explicit LoggerWrapper(Logger* target) : target_(target) {}

  Status Close() override { return target_->Close(); }
  void LogHeader(const char* format, va_list ap) override { target_->LogHeader(format, ap); }
  void Logv(const char* format, va_list ap) override { target_->Logv(format, ap); }
  void Logv(const InfoLogLevel log_level, const char* format, va_list ap) override {
    target_->Logv(log_level, format, ap);
  }
  size_t GetLogFileSize() const override { return target_->GetLogFileSize(); }
  void Flush() override { target_->Flush(); }
  InfoLogLevel GetInfoLogLevel() const override { return target_->GetInfoLogLevel(); }
  void SetInfoLogLevel(const InfoLogLevel log_level) override {
    target_->SetInfoLogLevel(log_level);
  }

 private:
  Logger* target_;
};

}  // namespace ashlar
