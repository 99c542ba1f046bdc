// SPDX-License-Identifier: Apache-2.0
//
// Wrappers for the FileSystem interfaces: each forwards every call to target(). Derive from one and
// override some functions. Part of ashlar/file_system.h; include that header. The classes whose
// names end in OwnerWrapper own their target.
#pragma once

#include "ashlar/export.h"
#include "ashlar/file_system.h"

namespace ashlar {

// Forwards all calls to another FileSystem, whose ownership it shares.
class ASHLAR_EXPORT FileSystemWrapper : public FileSystem {
 public:
  explicit FileSystemWrapper(const std::shared_ptr<FileSystem>& t);
  ~FileSystemWrapper() override;

  FileSystem* target() const { return target_.get(); }
  const Customizable* Inner() const override { return target_.get(); }

  Status RegisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->RegisterDbPaths(paths);
  }
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override {
    return target_->UnregisterDbPaths(paths);
  }
  folly::IOExecutor* GetReadExecutor() override { return target_->GetReadExecutor(); }
  void SetReadIOExecutorThreads(int threads) override {
    target_->SetReadIOExecutorThreads(threads);
  }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& file_opts,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override {
    return target_->NewSequentialFile(f, file_opts, r, dbg);
  }
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& file_opts,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override {
    return target_->NewRandomAccessFile(f, file_opts, r, dbg);
  }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& file_opts,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return target_->NewWritableFile(f, file_opts, r, dbg);
  }
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& file_opts,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    return target_->ReopenWritableFile(f, file_opts, r, dbg);
  }
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& file_opts, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override {
    return target_->ReuseWritableFile(f, old, file_opts, r, dbg);
  }
  IOStatus NewRandomRWFile(const std::string& f, const FileOptions& file_opts,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) override {
    return target_->NewRandomRWFile(f, file_opts, r, dbg);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& f,
                                     std::unique_ptr<MemoryMappedFileBuffer>* r) override {
    return target_->NewMemoryMappedFileBuffer(f, r);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& io_opts,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override {
    return target_->NewDirectory(name, io_opts, r, dbg);
  }

  IOStatus FileExists(const std::string& f, const IOOptions& opts, IODebugContext* dbg) override {
    return target_->FileExists(f, opts, dbg);
  }
  IOStatus GetChildren(const std::string& dir, const IOOptions& opts, std::vector<std::string>* r,
                       IODebugContext* dbg) override {
    return target_->GetChildren(dir, opts, r, dbg);
  }
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& opts,
                                     std::vector<FileAttributes>* r, IODebugContext* dbg) override {
    return target_->GetChildrenFileAttributes(dir, opts, r, dbg);
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& opts, IODebugContext* dbg) override {
    return target_->DeleteFile(f, opts, dbg);
  }
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions& opts,
                    IODebugContext* dbg) override {
    return target_->Truncate(f, size, opts, dbg);
  }
  IOStatus CreateDir(const std::string& d, const IOOptions& opts, IODebugContext* dbg) override {
    return target_->CreateDir(d, opts, dbg);
  }
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& opts,
                              IODebugContext* dbg) override {
    return target_->CreateDirIfMissing(d, opts, dbg);
  }
  IOStatus DeleteDir(const std::string& d, const IOOptions& opts, IODebugContext* dbg) override {
    return target_->DeleteDir(d, opts, dbg);
  }
  IOStatus GetFileSize(const std::string& f, const IOOptions& opts, uint64_t* size,
                       IODebugContext* dbg) override {
    return target_->GetFileSize(f, opts, size, dbg);
  }
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions& opts, uint64_t* time,
                                   IODebugContext* dbg) override {
    return target_->GetFileModificationTime(f, opts, time, dbg);
  }
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& opts,
                      IODebugContext* dbg) override {
    return target_->RenameFile(s, t, opts, dbg);
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& opts,
                    IODebugContext* dbg) override {
    return target_->LinkFile(s, t, opts, dbg);
  }
  IOStatus SyncFile(const std::string& f, const FileOptions& file_opts, const IOOptions& opts,
                    bool use_fsync, IODebugContext* dbg) override {
    return target_->SyncFile(f, file_opts, opts, use_fsync, dbg);
  }
  IOStatus NumFileLinks(const std::string& f, const IOOptions& opts, uint64_t* count,
                        IODebugContext* dbg) override {
    return target_->NumFileLinks(f, opts, count, dbg);
  }
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions& opts, bool* r,
                        IODebugContext* dbg) override {
    return target_->AreFilesSame(a, b, opts, r, dbg);
  }
  IOStatus LockFile(const std::string& f, const IOOptions& opts, FileLock** lock,
                    IODebugContext* dbg) override {
    return target_->LockFile(f, opts, lock, dbg);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions& opts, IODebugContext* dbg) override {
    return target_->UnlockFile(lock, opts, dbg);
  }
  IOStatus GetTestDirectory(const IOOptions& opts, std::string* path,
                            IODebugContext* dbg) override {
    return target_->GetTestDirectory(opts, path, dbg);
  }
  IOStatus NewLogger(const std::string& f, const IOOptions& opts, std::shared_ptr<Logger>* r,
                     IODebugContext* dbg) override {
    return target_->NewLogger(f, opts, r, dbg);
  }
  IOStatus GetAbsolutePath(const std::string& db_path, const IOOptions& opts,
                           std::string* output_path, IODebugContext* dbg) override {
    return target_->GetAbsolutePath(db_path, opts, output_path, dbg);
  }

  void SanitizeFileOptions(FileOptions* opts) const override { target_->SanitizeFileOptions(opts); }
  FileOptions OptimizeForLogRead(const FileOptions& file_opts) const override {
    return target_->OptimizeForLogRead(file_opts);
  }
  FileOptions OptimizeForManifestRead(const FileOptions& file_opts) const override {
    return target_->OptimizeForManifestRead(file_opts);
  }
  FileOptions OptimizeForLogWrite(const FileOptions& file_opts,
                                  const DBOptions& db_opts) const override {
    return target_->OptimizeForLogWrite(file_opts, db_opts);
  }
  FileOptions OptimizeForManifestWrite(const FileOptions& file_opts) const override {
    return target_->OptimizeForManifestWrite(file_opts);
  }
  FileOptions OptimizeForCompactionTableWrite(const FileOptions& file_opts,
                                              const ImmutableDBOptions& db_opts) const override {
    return target_->OptimizeForCompactionTableWrite(file_opts, db_opts);
  }
  FileOptions OptimizeForCompactionTableRead(const FileOptions& file_opts,
                                             const ImmutableDBOptions& db_opts) const override {
    return target_->OptimizeForCompactionTableRead(file_opts, db_opts);
  }
  FileOptions OptimizeForBlobFileRead(const FileOptions& file_opts,
                                      const ImmutableDBOptions& db_opts) const override {
    return target_->OptimizeForBlobFileRead(file_opts, db_opts);
  }

  IOStatus GetFreeSpace(const std::string& path, const IOOptions& opts, uint64_t* free_bytes,
                        IODebugContext* dbg) override {
    return target_->GetFreeSpace(path, opts, free_bytes, dbg);
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions& opts, bool* is_dir,
                       IODebugContext* dbg) override {
    return target_->IsDirectory(path, opts, is_dir, dbg);
  }
  IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions) override {
    return target_->Poll(io_handles, min_completions);
  }
  IOStatus AbortIO(std::vector<void*>& io_handles) override { return target_->AbortIO(io_handles); }
  void DiscardCacheForDirectory(const std::string& path) override {
    target_->DiscardCacheForDirectory(path);
  }
  void SupportedOps(int64_t& supported_ops) override { target_->SupportedOps(supported_ops); }

 protected:
  std::shared_ptr<FileSystem> target_;
};

class ASHLAR_EXPORT FSSequentialFileWrapper : public FSSequentialFile {
 public:
  explicit FSSequentialFileWrapper(FSSequentialFile* t) : target_(t) {}
  FSSequentialFile* target() const { return target_; }

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    return target_->Read(n, options, result, scratch, dbg);
  }
  IOStatus Skip(uint64_t n) override { return target_->Skip(n); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    return target_->PositionedRead(offset, n, options, result, scratch, dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }

 private:
  FSSequentialFile* target_;
};

class ASHLAR_EXPORT FSSequentialFileOwnerWrapper : public FSSequentialFileWrapper {
 public:
  explicit FSSequentialFileOwnerWrapper(std::unique_ptr<FSSequentialFile>&& t)
      : FSSequentialFileWrapper(t.get()), guard_(std::move(t)) {}

 private:
  std::unique_ptr<FSSequentialFile> guard_;
};

class ASHLAR_EXPORT FSRandomAccessFileWrapper : public FSRandomAccessFile {
 public:
  explicit FSRandomAccessFileWrapper(FSRandomAccessFile* t) : target_(t) {}
  FSRandomAccessFile* target() const { return target_; }

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return target_->Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Prefetch(offset, n, options, dbg);
  }
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->MultiRead(reqs, num_reqs, options, dbg);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override { target_->Hint(pattern); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    return target_->ReadAsync(req, opts, std::move(cb), cb_arg, io_handle, del_fn, dbg);
  }
  bool SubmitReadAsync(FSReadRequest& req, const IOOptions& opts,
                       std::function<void(FSReadRequest&)> cb, IODebugContext* dbg) override {
    return target_->SubmitReadAsync(req, opts, std::move(cb), dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }
  IOStatus GetFileSize(uint64_t* result) override { return target_->GetFileSize(result); }
  IOStatus GetFileOpenMetadata(std::string* metadata) override {
    return target_->GetFileOpenMetadata(metadata);
  }

 private:
  FSRandomAccessFile* target_;
};

class ASHLAR_EXPORT FSRandomAccessFileOwnerWrapper : public FSRandomAccessFileWrapper {
 public:
  explicit FSRandomAccessFileOwnerWrapper(std::unique_ptr<FSRandomAccessFile>&& t)
      : FSRandomAccessFileWrapper(t.get()), guard_(std::move(t)) {}

 private:
  std::unique_ptr<FSRandomAccessFile> guard_;
};

class ASHLAR_EXPORT FSWritableFileWrapper : public FSWritableFile {
 public:
  explicit FSWritableFileWrapper(FSWritableFile* t) : target_(t) {}
  FSWritableFile* target() const { return target_; }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return target_->Append(data, options, dbg);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    return target_->Append(data, options, info, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return target_->PositionedAppend(data, offset, options, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& info, IODebugContext* dbg) override {
    return target_->PositionedAppend(data, offset, options, info, dbg);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return target_->Truncate(size, options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  bool IsSyncThreadSafe() const override { return target_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    target_->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return target_->GetWriteLifeTimeHint(); }
  void SetIOPriority(Env::IOPriority pri) override { target_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return target_->GetIOPriority(); }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override {
    return target_->GetFileSize(options, dbg);
  }
  void SetPreallocationBlockSize(size_t size) override { target_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    target_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return target_->InvalidateCache(offset, length);
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return target_->RangeSync(offset, nbytes, options, dbg);
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    target_->PrepareWrite(offset, len, options, dbg);
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    return target_->Allocate(offset, len, options, dbg);
  }

 private:
  FSWritableFile* target_;
};

class ASHLAR_EXPORT FSWritableFileOwnerWrapper : public FSWritableFileWrapper {
 public:
  explicit FSWritableFileOwnerWrapper(std::unique_ptr<FSWritableFile>&& t)
      : FSWritableFileWrapper(t.get()), guard_(std::move(t)) {}

 private:
  std::unique_ptr<FSWritableFile> guard_;
};

class ASHLAR_EXPORT FSRandomRWFileWrapper : public FSRandomRWFile {
 public:
  explicit FSRandomRWFileWrapper(FSRandomRWFile* t) : target_(t) {}
  FSRandomRWFile* target() const { return target_; }

  bool use_direct_io() const override { return target_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return target_->GetRequiredBufferAlignment();
  }
  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    return target_->Write(offset, data, options, dbg);
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return target_->Read(offset, n, options, result, scratch, dbg);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  Temperature GetTemperature() const override { return target_->GetTemperature(); }

 private:
  FSRandomRWFile* target_;
};

class ASHLAR_EXPORT FSRandomRWFileOwnerWrapper : public FSRandomRWFileWrapper {
 public:
  explicit FSRandomRWFileOwnerWrapper(std::unique_ptr<FSRandomRWFile>&& t)
      : FSRandomRWFileWrapper(t.get()), guard_(std::move(t)) {}

 private:
  std::unique_ptr<FSRandomRWFile> guard_;
};

class ASHLAR_EXPORT FSDirectoryWrapper : public FSDirectory {
 public:
  explicit FSDirectoryWrapper(FSDirectory* t) : target_(t) {}
  explicit FSDirectoryWrapper(std::unique_ptr<FSDirectory>&& t)
      : guard_(std::move(t)), target_(guard_.get()) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Fsync(options, dbg);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& dir_fsync_options) override {
    return target_->FsyncWithDirOptions(options, dbg, dir_fsync_options);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return target_->Close(options, dbg);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return target_->GetUniqueId(id, max_size);
  }

 private:
  std::unique_ptr<FSDirectory> guard_;  // nullptr if the target is not owned
  FSDirectory* target_;
};

}  // namespace ashlar
