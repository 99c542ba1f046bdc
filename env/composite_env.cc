// SPDX-License-Identifier: Apache-2.0
//
// CompositeEnv: the Env interface over a FileSystem and a SystemClock. Each file object of the
// older interface owns one of the newer interface and passes calls on, with default hints.
#include <cassert>
#include <utility>

#include "env/env_adaptors.h"

namespace ashlar {

namespace {

class SequentialFileOverFS : public SequentialFile {
 public:
  explicit SequentialFileOverFS(std::unique_ptr<FSSequentialFile> file) : file_(std::move(file)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    return file_->Read(n, IOOptions(), result, scratch, nullptr);
  }
  Status Skip(uint64_t n) override { return file_->Skip(n); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return file_->PositionedRead(offset, n, IOOptions(), result, scratch, nullptr);
  }

 private:
  const std::unique_ptr<FSSequentialFile> file_;
};

class RandomAccessFileOverFS : public RandomAccessFile {
 public:
  explicit RandomAccessFileOverFS(std::unique_ptr<FSRandomAccessFile> file)
      : file_(std::move(file)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, IOOptions(), result, scratch, nullptr);
  }
  Status Prefetch(uint64_t offset, size_t n) override {
    return file_->Prefetch(offset, n, IOOptions(), nullptr);
  }
  // The returned status is that of the call as a whole; each request has a status of its own.
  Status MultiRead(ReadRequest* reqs, size_t num_reqs) override {
    // The requests of the two interfaces have different fields, so they are copied.
    std::vector<FSReadRequest> inner(num_reqs);
    for (size_t i = 0; i < num_reqs; ++i) {
      inner[i].offset = reqs[i].offset;
      inner[i].len = reqs[i].len;
      inner[i].scratch = reqs[i].scratch;
    }
    const IOStatus status = file_->MultiRead(inner.data(), num_reqs, IOOptions(), nullptr);
    for (size_t i = 0; i < num_reqs; ++i) {
      reqs[i].result = inner[i].result;
      reqs[i].status = std::move(inner[i].status);
    }
    return status;
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override {
    // Both enumerations have the same values.
    file_->Hint(static_cast<FSRandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status GetFileSize(uint64_t* size) override { return file_->GetFileSize(size); }

 private:
  const std::unique_ptr<FSRandomAccessFile> file_;
};

class WritableFileOverFS : public WritableFile {
 public:
  explicit WritableFileOverFS(std::unique_ptr<FSWritableFile> file) : file_(std::move(file)) {}

  Status Append(const Slice& data) override { return file_->Append(data, IOOptions(), nullptr); }
  Status Append(const Slice& data, const DataVerificationInfo& info) override {
    return file_->Append(data, IOOptions(), info, nullptr);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return file_->PositionedAppend(data, offset, IOOptions(), nullptr);
  }
  Status PositionedAppend(const Slice& data, uint64_t offset,
                          const DataVerificationInfo& info) override {
    return file_->PositionedAppend(data, offset, IOOptions(), info, nullptr);
  }
  Status Truncate(uint64_t size) override { return file_->Truncate(size, IOOptions(), nullptr); }
  Status Close() override { return file_->Close(IOOptions(), nullptr); }
  Status Flush() override { return file_->Flush(IOOptions(), nullptr); }
  Status Sync() override { return file_->Sync(IOOptions(), nullptr); }
  Status Fsync() override { return file_->Fsync(IOOptions(), nullptr); }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetIOPriority(Env::IOPriority pri) override { file_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize() override { return file_->GetFileSize(IOOptions(), nullptr); }
  void SetPreallocationBlockSize(size_t size) override { file_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    file_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t nbytes) override {
    return file_->RangeSync(offset, nbytes, IOOptions(), nullptr);
  }
  void PrepareWrite(size_t offset, size_t len) override {
    file_->PrepareWrite(offset, len, IOOptions(), nullptr);
  }
  Status Allocate(uint64_t offset, uint64_t len) override {
    return file_->Allocate(offset, len, IOOptions(), nullptr);
  }

 private:
  const std::unique_ptr<FSWritableFile> file_;
};

class RandomRWFileOverFS : public RandomRWFile {
 public:
  explicit RandomRWFileOverFS(std::unique_ptr<FSRandomRWFile> file) : file_(std::move(file)) {}

  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Status Write(uint64_t offset, const Slice& data) override {
    return file_->Write(offset, data, IOOptions(), nullptr);
  }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return file_->Read(offset, n, IOOptions(), result, scratch, nullptr);
  }
  Status Flush() override { return file_->Flush(IOOptions(), nullptr); }
  Status Sync() override { return file_->Sync(IOOptions(), nullptr); }
  Status Fsync() override { return file_->Fsync(IOOptions(), nullptr); }
  Status Close() override { return file_->Close(IOOptions(), nullptr); }

 private:
  const std::unique_ptr<FSRandomRWFile> file_;
};

class DirectoryOverFS : public Directory {
 public:
  explicit DirectoryOverFS(std::unique_ptr<FSDirectory> directory)
      : directory_(std::move(directory)) {}

  Status Fsync() override { return directory_->Fsync(IOOptions(), nullptr); }
  Status Close() override { return directory_->Close(IOOptions(), nullptr); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return directory_->GetUniqueId(id, max_size);
  }

 private:
  const std::unique_ptr<FSDirectory> directory_;
};

// Wraps the file of a successful open call, or passes the error on. A file system that returns OK
// must have set the file.
template <typename Adaptor, typename FSFile, typename File>
Status Adapt(const IOStatus& status, std::unique_ptr<FSFile> file, std::unique_ptr<File>* result) {
  assert(result != nullptr);
  result->reset();
  assert(!status.ok() || file != nullptr);
  if (status.ok()) *result = std::make_unique<Adaptor>(std::move(file));
  return status;
}

}  // namespace

CompositeEnv::~CompositeEnv() = default;

// From here on: each function passes its call on to the file system, with default options.
Status CompositeEnv::RegisterDbPaths(const std::vector<std::string>& paths) {
  return file_system_->RegisterDbPaths(paths);
}
Status CompositeEnv::UnregisterDbPaths(const std::vector<std::string>& paths) {
  return file_system_->UnregisterDbPaths(paths);
}

Status CompositeEnv::NewSequentialFile(const std::string& f, std::unique_ptr<SequentialFile>* r,
                                       const EnvOptions& options) {
  std::unique_ptr<FSSequentialFile> file;
  const IOStatus status = file_system_->NewSequentialFile(f, FileOptions(options), &file, nullptr);
  return Adapt<SequentialFileOverFS>(status, std::move(file), r);
}

Status CompositeEnv::NewRandomAccessFile(const std::string& f, std::unique_ptr<RandomAccessFile>* r,
                                         const EnvOptions& options) {
  std::unique_ptr<FSRandomAccessFile> file;
  const IOStatus status =
      file_system_->NewRandomAccessFile(f, FileOptions(options), &file, nullptr);
  return Adapt<RandomAccessFileOverFS>(status, std::move(file), r);
}

Status CompositeEnv::NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                                     const EnvOptions& options) {
  std::unique_ptr<FSWritableFile> file;
  const IOStatus status = file_system_->NewWritableFile(f, FileOptions(options), &file, nullptr);
  return Adapt<WritableFileOverFS>(status, std::move(file), r);
}

Status CompositeEnv::ReopenWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                                        const EnvOptions& options) {
  std::unique_ptr<FSWritableFile> file;
  const IOStatus status = file_system_->ReopenWritableFile(f, FileOptions(options), &file, nullptr);
  return Adapt<WritableFileOverFS>(status, std::move(file), r);
}

Status CompositeEnv::ReuseWritableFile(const std::string& f, const std::string& old,
                                       std::unique_ptr<WritableFile>* r,
                                       const EnvOptions& options) {
  std::unique_ptr<FSWritableFile> file;
  const IOStatus status =
      file_system_->ReuseWritableFile(f, old, FileOptions(options), &file, nullptr);
  return Adapt<WritableFileOverFS>(status, std::move(file), r);
}

Status CompositeEnv::NewRandomRWFile(const std::string& f, std::unique_ptr<RandomRWFile>* r,
                                     const EnvOptions& options) {
  std::unique_ptr<FSRandomRWFile> file;
  const IOStatus status = file_system_->NewRandomRWFile(f, FileOptions(options), &file, nullptr);
  return Adapt<RandomRWFileOverFS>(status, std::move(file), r);
}

Status CompositeEnv::NewMemoryMappedFileBuffer(const std::string& f,
                                               std::unique_ptr<MemoryMappedFileBuffer>* r) {
  return file_system_->NewMemoryMappedFileBuffer(f, r);
}

Status CompositeEnv::NewDirectory(const std::string& name, std::unique_ptr<Directory>* r) {
  std::unique_ptr<FSDirectory> directory;
  const IOStatus status = file_system_->NewDirectory(name, IOOptions(), &directory, nullptr);
  return Adapt<DirectoryOverFS>(status, std::move(directory), r);
}

Status CompositeEnv::FileExists(const std::string& f) {
  return file_system_->FileExists(f, IOOptions(), nullptr);
}
Status CompositeEnv::GetChildren(const std::string& dir, std::vector<std::string>* r) {
  return file_system_->GetChildren(dir, IOOptions(), r, nullptr);
}
Status CompositeEnv::GetChildrenFileAttributes(const std::string& dir,
                                               std::vector<FileAttributes>* r) {
  return file_system_->GetChildrenFileAttributes(dir, IOOptions(), r, nullptr);
}
Status CompositeEnv::DeleteFile(const std::string& f) {
  return file_system_->DeleteFile(f, IOOptions(), nullptr);
}
Status CompositeEnv::Truncate(const std::string& f, size_t size) {
  return file_system_->Truncate(f, size, IOOptions(), nullptr);
}
Status CompositeEnv::CreateDir(const std::string& d) {
  return file_system_->CreateDir(d, IOOptions(), nullptr);
}
Status CompositeEnv::CreateDirIfMissing(const std::string& d) {
  return file_system_->CreateDirIfMissing(d, IOOptions(), nullptr);
}
Status CompositeEnv::DeleteDir(const std::string& d) {
  return file_system_->DeleteDir(d, IOOptions(), nullptr);
}
Status CompositeEnv::GetFileSize(const std::string& f, uint64_t* size) {
  return file_system_->GetFileSize(f, IOOptions(), size, nullptr);
}
Status CompositeEnv::GetFileModificationTime(const std::string& f, uint64_t* time) {
  return file_system_->GetFileModificationTime(f, IOOptions(), time, nullptr);
}
Status CompositeEnv::RenameFile(const std::string& s, const std::string& t) {
  return file_system_->RenameFile(s, t, IOOptions(), nullptr);
}
Status CompositeEnv::LinkFile(const std::string& s, const std::string& t) {
  return file_system_->LinkFile(s, t, IOOptions(), nullptr);
}
Status CompositeEnv::SyncFile(const std::string& f, const EnvOptions& options, bool use_fsync) {
  return file_system_->SyncFile(f, FileOptions(options), IOOptions(), use_fsync, nullptr);
}
Status CompositeEnv::NumFileLinks(const std::string& f, uint64_t* count) {
  return file_system_->NumFileLinks(f, IOOptions(), count, nullptr);
}
Status CompositeEnv::AreFilesSame(const std::string& a, const std::string& b, bool* r) {
  return file_system_->AreFilesSame(a, b, IOOptions(), r, nullptr);
}
Status CompositeEnv::LockFile(const std::string& f, FileLock** lock) {
  return file_system_->LockFile(f, IOOptions(), lock, nullptr);
}
Status CompositeEnv::UnlockFile(FileLock* lock) {
  return file_system_->UnlockFile(lock, IOOptions(), nullptr);
}
Status CompositeEnv::GetTestDirectory(std::string* path) {
  return file_system_->GetTestDirectory(IOOptions(), path, nullptr);
}
Status CompositeEnv::NewLogger(const std::string& f, std::shared_ptr<Logger>* r) {
  return file_system_->NewLogger(f, IOOptions(), r, nullptr);
}
Status CompositeEnv::GetAbsolutePath(const std::string& path, std::string* result) {
  return file_system_->GetAbsolutePath(path, IOOptions(), result, nullptr);
}
Status CompositeEnv::GetFreeSpace(const std::string& path, uint64_t* free_bytes) {
  return file_system_->GetFreeSpace(path, IOOptions(), free_bytes, nullptr);
}
Status CompositeEnv::IsDirectory(const std::string& path, bool* is_dir) {
  return file_system_->IsDirectory(path, IOOptions(), is_dir, nullptr);
}

EnvOptions CompositeEnv::OptimizeForLogRead(const EnvOptions& options) const {
  return file_system_->OptimizeForLogRead(FileOptions(options));
}
EnvOptions CompositeEnv::OptimizeForManifestRead(const EnvOptions& options) const {
  return file_system_->OptimizeForManifestRead(FileOptions(options));
}
EnvOptions CompositeEnv::OptimizeForLogWrite(const EnvOptions& options,
                                             const DBOptions& db_options) const {
  return file_system_->OptimizeForLogWrite(FileOptions(options), db_options);
}
EnvOptions CompositeEnv::OptimizeForManifestWrite(const EnvOptions& options) const {
  return file_system_->OptimizeForManifestWrite(FileOptions(options));
}
EnvOptions CompositeEnv::OptimizeForCompactionTableWrite(
    const EnvOptions& options, const ImmutableDBOptions& db_options) const {
  return file_system_->OptimizeForCompactionTableWrite(FileOptions(options), db_options);
}
EnvOptions CompositeEnv::OptimizeForCompactionTableRead(
    const EnvOptions& options, const ImmutableDBOptions& db_options) const {
  return file_system_->OptimizeForCompactionTableRead(FileOptions(options), db_options);
}
EnvOptions CompositeEnv::OptimizeForBlobFileRead(const EnvOptions& options,
                                                 const ImmutableDBOptions& db_options) const {
  return file_system_->OptimizeForBlobFileRead(FileOptions(options), db_options);
}
// Environment options are a part of file options, so the file system adjusts a copy of them.
void CompositeEnv::SanitizeEnvOptions(EnvOptions* options) const {
  assert(options != nullptr);
  FileOptions file_options(*options);
  file_system_->SanitizeFileOptions(&file_options);
  *options = file_options;
}

namespace {

// A CompositeEnv that uses the threads of another Env, which outlives it.
class CompositeEnvOver : public CompositeEnv {
 public:
  CompositeEnvOver(Env* base, const std::shared_ptr<FileSystem>& fs,
                   const std::shared_ptr<SystemClock>& clock)
      : CompositeEnv(fs, clock), base_(base) {}

  const char* Name() const override { return "CompositeEnv"; }
  const Customizable* Inner() const override { return base_; }

  void Schedule(void (*function)(void*), void* arg, Priority pri, void* tag,
                void (*unschedule)(void*)) override {
    base_->Schedule(function, arg, pri, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority pri) override { return base_->UnSchedule(tag, pri); }
  void StartThread(void (*function)(void*), void* arg) override {
    base_->StartThread(function, arg);
  }
  void WaitForJoin() override { base_->WaitForJoin(); }
  int ReserveThreads(int threads, Priority pri) override {
    return base_->ReserveThreads(threads, pri);
  }
  int ReleaseThreads(int threads, Priority pri) override {
    return base_->ReleaseThreads(threads, pri);
  }
  unsigned int GetThreadPoolQueueLen(Priority pri) const override {
    return base_->GetThreadPoolQueueLen(pri);
  }
  void SetBackgroundThreads(int number, Priority pri) override {
    base_->SetBackgroundThreads(number, pri);
  }
  int GetBackgroundThreads(Priority pri) override { return base_->GetBackgroundThreads(pri); }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    base_->IncBackgroundThreadsIfNeeded(number, pri);
  }
  void LowerThreadPoolIOPriority(Priority pool) override { base_->LowerThreadPoolIOPriority(pool); }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    return base_->LowerThreadPoolCPUPriority(pool, pri);
  }
  void LowerThreadPoolCPUPriority(Priority pool) override {
    base_->LowerThreadPoolCPUPriority(pool);
  }
  Status GetThreadList(std::vector<ThreadStatus>* list) override {
    return base_->GetThreadList(list);
  }
  ThreadStatusUpdater* GetThreadStatusUpdater() const override {
    return base_->GetThreadStatusUpdater();
  }
  uint64_t GetThreadID() const override { return base_->GetThreadID(); }
  Status GetHostName(char* name, uint64_t len) override { return base_->GetHostName(name, len); }
  std::string GenerateUniqueId() override { return base_->GenerateUniqueId(); }

 private:
  Env* const base_;
};

}  // namespace

std::unique_ptr<Env> NewCompositeEnvOver(Env* base, const std::shared_ptr<FileSystem>& fs,
                                         const std::shared_ptr<SystemClock>& clock) {
  return std::make_unique<CompositeEnvOver>(base, fs, clock);
}

std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& fs) {
  return NewCompositeEnvOver(Env::Default(), fs, SystemClock::Default());
}

}  // namespace ashlar
