// SPDX-License-Identifier: Apache-2.0
//
// ReadOnlyFileSystem refuses every call that would change the base file system with IOError.
// CreateDirIfMissing() of an existing directory is allowed. Any thread.
#pragma once

#include <memory>
#include <string>

#include "ashlar/file_system.h"

namespace ashlar {

// Calls that only read are forwarded unchanged. Out parameters of refused calls are set to null.
class ReadOnlyFileSystem : public FileSystemWrapper {
 public:
  explicit ReadOnlyFileSystem(const std::shared_ptr<FileSystem>& base) : FileSystemWrapper(base) {}

  static const char* kClassName() { return "ReadOnlyFileSystem"; }
  const char* Name() const override { return kClassName(); }

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
  IOStatus NewDirectory(const std::string& name, const IOOptions& io,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& f, const IOOptions& io, IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions& io,
                    IODebugContext* dbg) override;
  IOStatus CreateDir(const std::string& d, const IOOptions& io, IODebugContext* dbg) override;
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& io,
                              IODebugContext* dbg) override;
  IOStatus DeleteDir(const std::string& d, const IOOptions& io, IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& io,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& io,
                    IODebugContext* dbg) override;
  IOStatus SyncFile(const std::string& f, const FileOptions& options, const IOOptions& io,
                    bool use_fsync, IODebugContext* dbg) override;
  // Refused because it would create a file.
  IOStatus LockFile(const std::string& f, const IOOptions& io, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus NewLogger(const std::string& f, const IOOptions& io, std::shared_ptr<Logger>* r,
                     IODebugContext* dbg) override;
};

}  // namespace ashlar
