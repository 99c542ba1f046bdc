// SPDX-License-Identifier: Apache-2.0
//
// A file system whose files are encrypted. A new file gets its prefix at once, so every file that
// was created here has one. A file that another program created empty, such as LOCK, has none.
//
// Crash contract: a crash while a file is created can leave an empty file, or one with a part of
// its prefix, which is Corruption when it is opened for reading. Databases rename such files into
// place only when they are synced, or recover from them as from a torn log.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/env_encryption.h"
#include "env/encryption/encrypted_files.h"
#include "env/env_adaptors.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// All calls go through the functions of the wrapper, so that sizes and offsets are converted in one
// place. Any thread may call.
class EncryptedFiles final : public EncryptedFileSystem {
 public:
  EncryptedFiles(const std::shared_ptr<FileSystem>& base,
                 std::shared_ptr<EncryptionProvider> provider)
      : EncryptedFileSystem(base), provider_(std::move(provider)) {
    assert(provider_ != nullptr);
  }

  const char* Name() const override { return kClassName(); }
  Status AddCipher(const std::string& descriptor, const char* cipher, size_t len,
                   bool for_write) override {
    return provider_->AddCipher(descriptor, cipher, len, for_write);
  }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override;
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override;
  IOStatus NewRandomRWFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) override;
  IOStatus NewMemoryMappedFileBuffer(const std::string& f,
                                     std::unique_ptr<MemoryMappedFileBuffer>* r) override;
  IOStatus GetFileSize(const std::string& f, const IOOptions& io, uint64_t* size,
                       IODebugContext* dbg) override;
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& io,
                                     std::vector<FileAttributes>* r, IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions& io,
                    IODebugContext* dbg) override;
  // The info log is written through this object, so it is encrypted like all other files. A logger
  // of the file system below would write plain text.
  IOStatus NewLogger(const std::string& f, const IOOptions& io, std::shared_ptr<Logger>* r,
                     IODebugContext* dbg) override {
    return FileSystem::NewLogger(f, io, r, dbg);
  }
  // Reads return no buffers of the file system below, and they are never asynchronous.
  void SupportedOps(int64_t& supported_ops) override {
    FileSystemWrapper::SupportedOps(supported_ops);
    supported_ops &= ~((int64_t{1} << kFSBuffer) | (int64_t{1} << kAsyncIO));
  }

 private:
  size_t prefix_bytes() const { return provider_->GetPrefixLength(); }
  // The size as the program sees it, without the prefix. A file without a whole prefix counts as
  // empty.
  uint64_t Visible(uint64_t size) const { return size - std::min<uint64_t>(size, prefix_bytes()); }
  // The cipher of a file with this prefix. A file without a whole prefix gets a cipher that cannot
  // decrypt.
  Result<FileCipher> CipherOf(const std::string& f, const FileOptions& options, Slice prefix) const;
  // Reads the prefix of a file that exists.
  Result<FileCipher> ReadCipher(const std::string& f, const FileOptions& options,
                                IODebugContext* dbg);
  // Writes a new prefix into an empty file.
  Result<FileCipher> WritePrefix(const std::string& f, const FileOptions& options,
                                 FSWritableFile* file, IODebugContext* dbg) const;
  // Random bytes for a new file, made by the provider.
  Result<std::string> NewPrefix(const std::string& f) const;

  const std::shared_ptr<EncryptionProvider> provider_;
};

// A memory mapping would show encrypted bytes to the program, or let it store unencrypted ones.
IOStatus RefuseMaps(const FileOptions& options) {
  if (!options.use_mmap_reads && !options.use_mmap_writes) return IOStatus::OK();
  return IOStatus::InvalidArgument("encrypted files cannot be mapped into memory");
}

// A file that is shorter than a prefix was left by a crash or an error. It gets a cipher without a
// stream, with which only an empty file can be read.
Result<FileCipher> EncryptedFiles::CipherOf(const std::string& f, const FileOptions& options,
                                            Slice prefix) const {
  if (prefix.size() < prefix_bytes()) return FileCipher(nullptr, prefix_bytes());
  std::unique_ptr<BlockAccessCipherStream> stream;
  RETURN_IF_ERROR(provider_->CreateCipherStream(f, options, prefix, &stream));
  return FileCipher(std::move(stream), prefix_bytes());
}

// Opens the file once more to read its prefix. This costs one read for each opening.
Result<FileCipher> EncryptedFiles::ReadCipher(const std::string& f, const FileOptions& options,
                                              IODebugContext* dbg) {
  // The prefix is read through the page cache, because direct I/O would need aligned memory.
  FileOptions buffered = options;
  buffered.use_direct_reads = false;
  std::unique_ptr<FSSequentialFile> file;
  RETURN_IF_ERROR(FileSystemWrapper::NewSequentialFile(f, buffered, &file, dbg));
  std::string prefix(prefix_bytes(), '\0');
  size_t got = 0;
  // Reads may be short before the end of the file.
  while (got < prefix.size()) {
    Slice part;
    RETURN_IF_ERROR(
        file->Read(prefix.size() - got, options.io_options, &part, prefix.data() + got, dbg));
    if (part.empty()) break;
    if (part.data() != prefix.data() + got) {
      std::memmove(prefix.data() + got, part.data(), part.size());
    }
    got += part.size();
  }
  return CipherOf(f, options, Slice(prefix.data(), got));
}

Result<std::string> EncryptedFiles::NewPrefix(const std::string& f) const {
  std::string prefix(prefix_bytes(), '\0');
  RETURN_IF_ERROR(provider_->CreateNewPrefix(f, prefix.data(), prefix.size()));
  return prefix;
}

// Direct I/O needs aligned memory, so the prefix is copied to such memory first.
Result<FileCipher> EncryptedFiles::WritePrefix(const std::string& f, const FileOptions& options,
                                               FSWritableFile* file, IODebugContext* dbg) const {
  ASSIGN_OR_RETURN(std::string prefix, NewPrefix(f));
  if (!prefix.empty()) {
    const AlignedBuffer buffer(prefix.size(), file->GetRequiredBufferAlignment());
    std::memcpy(buffer.data(), prefix.data(), prefix.size());
    const Slice bytes(buffer.data(), prefix.size());
    // Direct writes have explicit offsets.
    RETURN_IF_ERROR(file->use_direct_io()
                        ? file->PositionedAppend(bytes, 0, options.io_options, dbg)
                        : file->Append(bytes, options.io_options, dbg));
  }
  return CipherOf(f, options, prefix);
}

IOStatus EncryptedFiles::NewSequentialFile(const std::string& f, const FileOptions& options,
                                           std::unique_ptr<FSSequentialFile>* r,
                                           IODebugContext* dbg) {
  assert(r != nullptr);
  r->reset();
  RETURN_IF_ERROR(RefuseMaps(options));
  Result<FileCipher> cipher = ReadCipher(f, options, dbg);
  if (!cipher.ok()) return status_to_io_status(Status(cipher.status()));
  std::unique_ptr<FSSequentialFile> base;
  RETURN_IF_ERROR(FileSystemWrapper::NewSequentialFile(f, options, &base, dbg));
  // Decryption begins behind the prefix.
  RETURN_IF_ERROR(base->Skip(prefix_bytes()));
  *r = std::make_unique<EncryptedSequentialFile>(std::move(base), cipher.Take());
  return IOStatus::OK();
}

IOStatus EncryptedFiles::NewRandomAccessFile(const std::string& f, const FileOptions& options,
                                             std::unique_ptr<FSRandomAccessFile>* r,
                                             IODebugContext* dbg) {
  assert(r != nullptr);
  r->reset();
  RETURN_IF_ERROR(RefuseMaps(options));
  Result<FileCipher> cipher = ReadCipher(f, options, dbg);
  if (!cipher.ok()) return status_to_io_status(Status(cipher.status()));
  std::unique_ptr<FSRandomAccessFile> base;
  RETURN_IF_ERROR(FileSystemWrapper::NewRandomAccessFile(f, options, &base, dbg));
  *r = std::make_unique<EncryptedRandomAccessFile>(std::move(base), cipher.Take());
  return IOStatus::OK();
}

// The prefix is the first append. It becomes durable with the first sync of the data.
IOStatus EncryptedFiles::NewWritableFile(const std::string& f, const FileOptions& options,
                                         std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) {
  assert(r != nullptr);
  r->reset();
  RETURN_IF_ERROR(RefuseMaps(options));
  std::unique_ptr<FSWritableFile> base;
  // An error after this leaves a file without a whole prefix, which has no readable bytes.
  RETURN_IF_ERROR(FileSystemWrapper::NewWritableFile(f, options, &base, dbg));
  Result<FileCipher> cipher = WritePrefix(f, options, base.get(), dbg);
  if (!cipher.ok()) return status_to_io_status(Status(cipher.status()));
  *r = std::make_unique<EncryptedWritableFile>(std::move(base), cipher.Take());
  return IOStatus::OK();
}

// Appends to an existing file, whose key stream continues, or creates the file.
IOStatus EncryptedFiles::ReopenWritableFile(const std::string& f, const FileOptions& options,
                                            std::unique_ptr<FSWritableFile>* r,
                                            IODebugContext* dbg) {
  assert(r != nullptr);
  r->reset();
  RETURN_IF_ERROR(RefuseMaps(options));
  std::unique_ptr<FSWritableFile> base;
  RETURN_IF_ERROR(FileSystemWrapper::ReopenWritableFile(f, options, &base, dbg));
  // A file with a part of a prefix holds no data, so it is created again.
  if (base->GetFileSize(options.io_options, dbg) < prefix_bytes()) {
    RETURN_IF_ERROR(base->Close(options.io_options, dbg));
    return NewWritableFile(f, options, r, dbg);
  }
  Result<FileCipher> cipher = ReadCipher(f, options, dbg);
  if (!cipher.ok()) return status_to_io_status(Status(cipher.status()));
  *r = std::make_unique<EncryptedWritableFile>(std::move(base), cipher.Take());
  return IOStatus::OK();
}

// Starts a log in the place of an old one. The old contents are dropped together with their prefix:
// the same key stream must not encrypt both logs.
IOStatus EncryptedFiles::ReuseWritableFile(const std::string& f, const std::string& old,
                                           const FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* r,
                                           IODebugContext* dbg) {
  assert(r != nullptr);
  r->reset();
  RETURN_IF_ERROR(RefuseMaps(options));
  // A crash between the two steps leaves the old log under the new name. It has its own prefix, so
  // that it is still readable.
  RETURN_IF_ERROR(RenameFile(old, f, options.io_options, dbg));
  return NewWritableFile(f, options, r, dbg);
}

IOStatus EncryptedFiles::NewRandomRWFile(const std::string& f, const FileOptions& options,
                                         std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) {
  assert(r != nullptr);
  r->reset();
  RETURN_IF_ERROR(RefuseMaps(options));
  std::unique_ptr<FSRandomRWFile> base;
  RETURN_IF_ERROR(FileSystemWrapper::NewRandomRWFile(f, options, &base, dbg));
  uint64_t size = 0;
  RETURN_IF_ERROR(FileSystemWrapper::GetFileSize(f, options.io_options, &size, dbg));
  std::string prefix;
  // A file that is empty, or that has only a part of a prefix, gets a new prefix.
  if (size < prefix_bytes()) {
    Result<std::string> made = NewPrefix(f);
    if (!made.ok()) return status_to_io_status(Status(made.status()));
    prefix = made.Take();
    RETURN_IF_ERROR(base->Write(0, prefix, options.io_options, dbg));
  }
  Result<FileCipher> cipher =
      size < prefix_bytes() ? CipherOf(f, options, prefix) : ReadCipher(f, options, dbg);
  if (!cipher.ok()) return status_to_io_status(Status(cipher.status()));
  *r = std::make_unique<EncryptedRandomRWFile>(std::move(base), cipher.Take());
  return IOStatus::OK();
}

// A mapping would show the encrypted bytes.
IOStatus EncryptedFiles::NewMemoryMappedFileBuffer(const std::string& f,
                                                   std::unique_ptr<MemoryMappedFileBuffer>* r) {
  assert(r != nullptr);
  r->reset();
  return IOStatus::InvalidArgument("encrypted files cannot be mapped into memory", f);
}

// All sizes that callers see are without the prefix.
IOStatus EncryptedFiles::GetFileSize(const std::string& f, const IOOptions& io, uint64_t* size,
                                     IODebugContext* dbg) {
  assert(size != nullptr);
  RETURN_IF_ERROR(FileSystemWrapper::GetFileSize(f, io, size, dbg));
  *size = Visible(*size);
  return IOStatus::OK();
}

IOStatus EncryptedFiles::GetChildrenFileAttributes(const std::string& dir, const IOOptions& io,
                                                   std::vector<FileAttributes>* r,
                                                   IODebugContext* dbg) {
  assert(r != nullptr);
  RETURN_IF_ERROR(FileSystemWrapper::GetChildrenFileAttributes(dir, io, r, dbg));
  for (FileAttributes& file : *r) file.size_bytes = Visible(file.size_bytes);
  return IOStatus::OK();
}

IOStatus EncryptedFiles::Truncate(const std::string& f, size_t size, const IOOptions& io,
                                  IODebugContext* dbg) {
  // A file that is cut to size 0 keeps its prefix.
  return FileSystemWrapper::Truncate(f, size + prefix_bytes(), io, dbg);
}

}  // namespace

std::shared_ptr<FileSystem> NewEncryptedFS(const std::shared_ptr<FileSystem>& base_fs,
                                           const std::shared_ptr<EncryptionProvider>& provider) {
  return std::make_shared<EncryptedFiles>(base_fs, provider);
}

Env* NewEncryptedEnv(Env* base_env, const std::shared_ptr<EncryptionProvider>& provider) {
  assert(base_env != nullptr);
  return NewCompositeEnvOver(base_env, NewEncryptedFS(base_env->GetFileSystem(), provider),
                             base_env->GetSystemClock())
      .release();
}

}  // namespace ashlar
