// SPDX-License-Identifier: Apache-2.0
//
// A FileSystem and a SystemClock that pass their calls to an Env of the program. The engine uses
// them when a program derives from Env or EnvWrapper and overrides file functions there. I/O
// options and debug contexts are dropped, because the older interface cannot pass them.
#include <cassert>
#include <utility>

#include "env/env_adaptors.h"

namespace ashlar {

namespace {

IOStatus ToIO(Status status) { return status_to_io_status(std::move(status)); }

class FSSequentialFileOverEnv : public FSSequentialFile {
 public:
  explicit FSSequentialFileOverEnv(std::unique_ptr<SequentialFile> file) : file_(std::move(file)) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    return ToIO(file_->Read(n, result, scratch));
  }
  IOStatus Skip(uint64_t n) override { return ToIO(file_->Skip(n)); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIO(file_->InvalidateCache(offset, length));
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                          IODebugContext*) override {
    return ToIO(file_->PositionedRead(offset, n, result, scratch));
  }

 private:
  const std::unique_ptr<SequentialFile> file_;
};

class FSRandomAccessFileOverEnv : public FSRandomAccessFile {
 public:
  explicit FSRandomAccessFileOverEnv(std::unique_ptr<RandomAccessFile> file)
      : file_(std::move(file)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIO(file_->Read(offset, n, result, scratch));
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions&, IODebugContext*) override {
    return ToIO(file_->Prefetch(offset, n));
  }
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions&,
                     IODebugContext*) override {
    std::vector<ReadRequest> inner(num_reqs);
    for (size_t i = 0; i < num_reqs; ++i) {
      inner[i].offset = reqs[i].offset;
      inner[i].len = reqs[i].len;
      inner[i].scratch = reqs[i].scratch;
    }
    Status status = file_->MultiRead(inner.data(), num_reqs);
    for (size_t i = 0; i < num_reqs; ++i) {
      reqs[i].result = inner[i].result;
      reqs[i].status = ToIO(std::move(inner[i].status));
    }
    return ToIO(std::move(status));
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override {
    file_->Hint(static_cast<RandomAccessFile::AccessPattern>(pattern));
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIO(file_->InvalidateCache(offset, length));
  }
  IOStatus GetFileSize(uint64_t* result) override { return ToIO(file_->GetFileSize(result)); }

 private:
  const std::unique_ptr<RandomAccessFile> file_;
};

class FSWritableFileOverEnv : public FSWritableFile {
 public:
  explicit FSWritableFileOverEnv(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIO(file_->Append(data));
  }
  IOStatus Append(const Slice& data, const IOOptions&, const DataVerificationInfo& info,
                  IODebugContext*) override {
    return ToIO(file_->Append(data, info));
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    return ToIO(file_->PositionedAppend(data, offset));
  }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override {
    return ToIO(file_->Truncate(size));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIO(file_->Close()); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIO(file_->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIO(file_->Sync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIO(file_->Fsync()); }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  void SetIOPriority(Env::IOPriority pri) override { file_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return file_->GetFileSize(); }
  void SetPreallocationBlockSize(size_t size) override { file_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    file_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return ToIO(file_->InvalidateCache(offset, length));
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions&, IODebugContext*) override {
    return ToIO(file_->RangeSync(offset, nbytes));
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions&, IODebugContext*) override {
    file_->PrepareWrite(offset, len);
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions&, IODebugContext*) override {
    return ToIO(file_->Allocate(offset, len));
  }

 private:
  const std::unique_ptr<WritableFile> file_;
};

class FSRandomRWFileOverEnv : public FSRandomRWFile {
 public:
  explicit FSRandomRWFileOverEnv(std::unique_ptr<RandomRWFile> file) : file_(std::move(file)) {}

  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override {
    return ToIO(file_->Write(offset, data));
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    return ToIO(file_->Read(offset, n, result, scratch));
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return ToIO(file_->Flush()); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return ToIO(file_->Sync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIO(file_->Fsync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIO(file_->Close()); }

 private:
  const std::unique_ptr<RandomRWFile> file_;
};

class FSDirectoryOverEnv : public FSDirectory {
 public:
  explicit FSDirectoryOverEnv(std::unique_ptr<Directory> directory)
      : directory_(std::move(directory)) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return ToIO(directory_->Fsync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return ToIO(directory_->Close()); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return directory_->GetUniqueId(id, max_size);
  }

 private:
  const std::unique_ptr<Directory> directory_;
};

// Wraps the file of a successful open call, or passes the error on.
template <typename Adaptor, typename File, typename FSFile>
IOStatus Adapt(Status status, std::unique_ptr<File> file, std::unique_ptr<FSFile>* result) {
  assert(result != nullptr);
  result->reset();
  if (status.ok()) *result = std::make_unique<Adaptor>(std::move(file));
  return ToIO(std::move(status));
}

class FileSystemOverEnv : public FileSystem {
 public:
  explicit FileSystemOverEnv(Env* env) : env_(env) { assert(env != nullptr); }

  const char* Name() const override { return "FileSystemOverEnv"; }

  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return env_->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return env_->UnregisterDbPaths(paths);
  }
  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext*) override {
    std::unique_ptr<SequentialFile> file;
    Status status = env_->NewSequentialFile(f, &file, options);
    return Adapt<FSSequentialFileOverEnv>(std::move(status), std::move(file), r);
  }
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r, IODebugContext*) override {
    std::unique_ptr<RandomAccessFile> file;
    Status status = env_->NewRandomAccessFile(f, &file, options);
    return Adapt<FSRandomAccessFileOverEnv>(std::move(status), std::move(file), r);
  }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext*) override {
    std::unique_ptr<WritableFile> file;
    Status status = env_->NewWritableFile(f, &file, options);
    return Adapt<FSWritableFileOverEnv>(std::move(status), std::move(file), r);
  }
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext*) override {
    std::unique_ptr<WritableFile> file;
    Status status = env_->ReopenWritableFile(f, &file, options);
    return Adapt<FSWritableFileOverEnv>(std::move(status), std::move(file), r);
  }
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext*) override {
    std::unique_ptr<WritableFile> file;
    Status status = env_->ReuseWritableFile(f, old, &file, options);
    return Adapt<FSWritableFileOverEnv>(std::move(status), std::move(file), r);
  }
  IOStatus NewRandomRWFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext*) override {
    std::unique_ptr<RandomRWFile> file;
    Status status = env_->NewRandomRWFile(f, &file, options);
    return Adapt<FSRandomRWFileOverEnv>(std::move(status), std::move(file), r);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& f,
                                     std::unique_ptr<MemoryMappedFileBuffer>* r) override {
    return ToIO(env_->NewMemoryMappedFileBuffer(f, r));
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions&, std::unique_ptr<FSDirectory>* r,
                        IODebugContext*) override {
    std::unique_ptr<Directory> directory;
    Status status = env_->NewDirectory(name, &directory);
    return Adapt<FSDirectoryOverEnv>(std::move(status), std::move(directory), r);
  }

  IOStatus FileExists(const std::string& f, const IOOptions&, IODebugContext*) override {
    return ToIO(env_->FileExists(f));
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions&, std::vector<std::string>* r,
                       IODebugContext*) override {
    return ToIO(env_->GetChildren(dir, r));
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions&,
                                     std::vector<FileAttributes>* r, IODebugContext*) override {
    return ToIO(env_->GetChildrenFileAttributes(dir, r));
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions&, IODebugContext*) override {
    return ToIO(env_->DeleteFile(f));
  }
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions&, IODebugContext*) override {
    return ToIO(env_->Truncate(f, size));
  }
  IOStatus CreateDir(const std::string& d, const IOOptions&, IODebugContext*) override {
    return ToIO(env_->CreateDir(d));
  }
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions&, IODebugContext*) override {
    return ToIO(env_->CreateDirIfMissing(d));
  }
  IOStatus DeleteDir(const std::string& d, const IOOptions&, IODebugContext*) override {
    return ToIO(env_->DeleteDir(d));
  }
  IOStatus GetFileSize(const std::string& f, const IOOptions&, uint64_t* size,
                       IODebugContext*) override {
    return ToIO(env_->GetFileSize(f, size));
  }
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions&, uint64_t* time,
                                   IODebugContext*) override {
    return ToIO(env_->GetFileModificationTime(f, time));
  }
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions&,
                      IODebugContext*) override {
    return ToIO(env_->RenameFile(s, t));
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions&,
                    IODebugContext*) override {
    return ToIO(env_->LinkFile(s, t));
  }
  IOStatus SyncFile(const std::string& f, const FileOptions& options, const IOOptions&,
                    bool use_fsync, IODebugContext*) override {
    return ToIO(env_->SyncFile(f, options, use_fsync));
  }
  IOStatus NumFileLinks(const std::string& f, const IOOptions&, uint64_t* count,
                        IODebugContext*) override {
    return ToIO(env_->NumFileLinks(f, count));
  }
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions&, bool* r,
                        IODebugContext*) override {
    return ToIO(env_->AreFilesSame(a, b, r));
  }
  IOStatus LockFile(const std::string& f, const IOOptions&, FileLock** lock,
                    IODebugContext*) override {
    return ToIO(env_->LockFile(f, lock));
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override {
    return ToIO(env_->UnlockFile(lock));
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    return ToIO(env_->GetTestDirectory(path));
  }
  IOStatus NewLogger(const std::string& f, const IOOptions&, std::shared_ptr<Logger>* r,
                     IODebugContext*) override {
    return ToIO(env_->NewLogger(f, r));
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* result,
                           IODebugContext*) override {
    return ToIO(env_->GetAbsolutePath(path, result));
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* free_bytes,
                        IODebugContext*) override {
    return ToIO(env_->GetFreeSpace(path, free_bytes));
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override {
    return ToIO(env_->IsDirectory(path, is_dir));
  }

  FileOptions OptimizeForLogRead(const FileOptions& options) const override {
    return Merge(options, env_->OptimizeForLogRead(options));
  }
  FileOptions OptimizeForManifestRead(const FileOptions& options) const override {
    return Merge(options, env_->OptimizeForManifestRead(options));
  }
  FileOptions OptimizeForLogWrite(const FileOptions& options,
                                  const DBOptions& db_options) const override {
    return Merge(options, env_->OptimizeForLogWrite(options, db_options));
  }
  FileOptions OptimizeForManifestWrite(const FileOptions& options) const override {
    return Merge(options, env_->OptimizeForManifestWrite(options));
  }
  FileOptions OptimizeForCompactionTableWrite(const FileOptions& options,
                                              const ImmutableDBOptions& db_options) const override {
    return Merge(options, env_->OptimizeForCompactionTableWrite(options, db_options));
  }
  FileOptions OptimizeForCompactionTableRead(const FileOptions& options,
                                             const ImmutableDBOptions& db_options) const override {
    return Merge(options, env_->OptimizeForCompactionTableRead(options, db_options));
  }
  FileOptions OptimizeForBlobFileRead(const FileOptions& options,
                                      const ImmutableDBOptions& db_options) const override {
    return Merge(options, env_->OptimizeForBlobFileRead(options, db_options));
  }
  void SanitizeFileOptions(FileOptions* options) const override {
    env_->SanitizeEnvOptions(options);
  }

 private:
  // The Env sees and changes only the part of the options that its interface knows.
  static FileOptions Merge(const FileOptions& options, const EnvOptions& changed) {
    FileOptions result = options;
    static_cast<EnvOptions&>(result) = changed;
    return result;
  }

  Env* const env_;
};

class SystemClockOverEnv : public SystemClock {
 public:
  explicit SystemClockOverEnv(Env* env) : env_(env) { assert(env != nullptr); }

  const char* Name() const override { return "SystemClockOverEnv"; }
  uint64_t NowMicros() override { return env_->NowMicros(); }
  uint64_t NowNanos() override { return env_->NowNanos(); }
  uint64_t CPUMicros() override { return CPUNanos() / 1000; }
  uint64_t CPUNanos() override { return env_->NowCPUNanos(); }
  void SleepForMicroseconds(int micros) override { env_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override { return env_->GetCurrentTime(unix_time); }
  std::string TimeToString(uint64_t time) override { return env_->TimeToString(time); }

 private:
  Env* const env_;
};

}  // namespace

std::shared_ptr<FileSystem> NewFileSystemOverEnv(Env* env) {
  return std::make_shared<FileSystemOverEnv>(env);
}
std::shared_ptr<SystemClock> NewSystemClockOverEnv(Env* env) {
  return std::make_shared<SystemClockOverEnv>(env);
}

}  // namespace ashlar
