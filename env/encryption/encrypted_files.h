// SPDX-License-Identifier: Apache-2.0
//
// Files whose bytes are encrypted in the file below, behind a prefix that their offsets and sizes
// do not count.
//
// Threads: as the files of FileSystem. Writable and random read-write files are used by one thread
// at a time, except for Sync().
#pragma once

#include <cassert>
#include <memory>
#include <utility>

#include "ashlar/env_encryption.h"
#include "ashlar/file_system.h"
#include "env/aligned_buffer.h"

namespace ashlar {

// The stream of a file and the length of its prefix, which all kinds of files share.
class FileCipher {
 public:
  // `stream` is null for a file without a whole prefix: nothing can be read from it.
  FileCipher(std::unique_ptr<BlockAccessCipherStream> stream, size_t prefix_bytes)
      : stream_(std::move(stream)), prefix_bytes_(prefix_bytes) {}

  uint64_t prefix_bytes() const { return prefix_bytes_; }
  // Decrypts what was read into `scratch` from an offset that does not count the prefix. The file
  // below may show memory of its own, which is copied first.
  IOStatus Decrypt(uint64_t offset, Slice* result, char* scratch) const;
  // Copies and encrypts; *encrypted points into *buffer, which is enlarged as necessary and has
  // this alignment.
  IOStatus Encrypt(uint64_t offset, const Slice& data, size_t alignment, AlignedBuffer* buffer,
                   Slice* encrypted) const;

 private:
  std::unique_ptr<BlockAccessCipherStream> stream_;
  size_t prefix_bytes_;
};

// A file that is read from its beginning. Keeps the position, on which the key stream depends.
class EncryptedSequentialFile final : public FSSequentialFile {
 public:
  // `file` is positioned behind its prefix.
  EncryptedSequentialFile(std::unique_ptr<FSSequentialFile> file, FileCipher cipher)
      : file_(std::move(file)), cipher_(std::move(cipher)) {
    assert(file_ != nullptr);
  }

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override;
  IOStatus Skip(uint64_t n) override;
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override;
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset + cipher_.prefix_bytes(), length);
  }
  Temperature GetTemperature() const override { return file_->GetTemperature(); }

 private:
  const std::unique_ptr<FSSequentialFile> file_;
  const FileCipher cipher_;
  uint64_t offset_ = 0;  // of the next byte, without the prefix
};

// A file that is read at any offset, by any number of threads.
class EncryptedRandomAccessFile final : public FSRandomAccessFile {
 public:
  EncryptedRandomAccessFile(std::unique_ptr<FSRandomAccessFile> file, FileCipher cipher)
      : file_(std::move(file)), cipher_(std::move(cipher)) {
    assert(file_ != nullptr);
  }

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override {
    return file_->Prefetch(offset + cipher_.prefix_bytes(), n, options, dbg);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override { file_->Hint(pattern); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset + cipher_.prefix_bytes(), length);
  }
  Temperature GetTemperature() const override { return file_->GetTemperature(); }
  IOStatus GetFileSize(uint64_t* result) override;

 private:
  const std::unique_ptr<FSRandomAccessFile> file_;
  const FileCipher cipher_;
};

// A file that is appended to. Encrypts into a buffer of its own, because the caller's bytes must
// not change.
class EncryptedWritableFile final : public FSWritableFile {
 public:
  // `file` has its prefix already, so that its size is at least the length of the prefix.
  EncryptedWritableFile(std::unique_ptr<FSWritableFile> file, FileCipher cipher)
      : file_(std::move(file)), cipher_(std::move(cipher)) {
    assert(file_ != nullptr);
  }

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override;
  using FSWritableFile::PositionedAppend;
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override;
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return file_->Truncate(size + cipher_.prefix_bytes(), options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Close(options, dbg);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Fsync(options, dbg);
  }
  bool IsSyncThreadSafe() const override { return file_->IsSyncThreadSafe(); }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    file_->SetWriteLifeTimeHint(hint);
  }
  void SetIOPriority(Env::IOPriority pri) override { file_->SetIOPriority(pri); }
  Env::IOPriority GetIOPriority() override { return file_->GetIOPriority(); }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override { return file_->GetWriteLifeTimeHint(); }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override;
  void SetPreallocationBlockSize(size_t size) override { file_->SetPreallocationBlockSize(size); }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    file_->GetPreallocationStatus(block_size, last_allocated_block);
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return file_->GetUniqueId(id, max_size);
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return file_->InvalidateCache(offset + cipher_.prefix_bytes(), length);
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return file_->RangeSync(offset + cipher_.prefix_bytes(), nbytes, options, dbg);
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    file_->PrepareWrite(offset + cipher_.prefix_bytes(), len, options, dbg);
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    return file_->Allocate(offset + cipher_.prefix_bytes(), len, options, dbg);
  }

 private:
  const std::unique_ptr<FSWritableFile> file_;
  const FileCipher cipher_;
  AlignedBuffer buffer_;  // what was appended last, encrypted
};

// A file that is read and written at any offset. Each write has a buffer of its own.
class EncryptedRandomRWFile final : public FSRandomRWFile {
 public:
  EncryptedRandomRWFile(std::unique_ptr<FSRandomRWFile> file, FileCipher cipher)
      : file_(std::move(file)), cipher_(std::move(cipher)) {
    assert(file_ != nullptr);
  }

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override;
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Flush(options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Fsync(options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return file_->Close(options, dbg);
  }
  bool use_direct_io() const override { return file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override { return file_->GetRequiredBufferAlignment(); }
  Temperature GetTemperature() const override { return file_->GetTemperature(); }

 private:
  const std::unique_ptr<FSRandomRWFile> file_;
  const FileCipher cipher_;
};

}  // namespace ashlar
