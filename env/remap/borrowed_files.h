// SPDX-License-Identifier: Apache-2.0
//
// BorrowedFiles is a read-only file system in which one directory also contains files that are
// stored elsewhere. Paths are compared as text, so that users must spell the directory as in the
// constructor. Any thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/remap/read_only_file_system.h"

namespace ashlar {

// Opens files for reading only. The borrowed names hide files of the same names in the directory.
// Both maps are constant, so that no lock is needed.
class BorrowedFiles final : public ReadOnlyFileSystem {
 public:
  // `files` maps names in `dir` to paths of the base file system. `dir` has no trailing slash.
  BorrowedFiles(const std::shared_ptr<FileSystem>& base, std::string dir,
                std::map<std::string, std::string> files)
      : ReadOnlyFileSystem(base), dir_(std::move(dir)), files_(std::move(files)) {}

  static const char* kClassName() { return "BorrowedFiles"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override;
  IOStatus FileExists(const std::string& f, const IOOptions& io, IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions& io, std::vector<std::string>* r,
                       IODebugContext* dbg) override;
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& io,
                                     std::vector<FileAttributes>* r, IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& f, const IOOptions& io, uint64_t* size,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions& io, uint64_t* time,
                                   IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& f, const IOOptions& io, uint64_t* count,
                        IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions& io, bool* r,
                        IODebugContext* dbg) override;
  IOStatus IsDirectory(const std::string& path, const IOOptions& io, bool* is_dir,
                       IODebugContext* dbg) override;

 private:
  // The path in the base file system. Returns `path` itself, or a string of this object.
  const std::string& RealPathOf(const std::string& path) const;
  // Trailing slashes are ignored.
  bool IsTheDirectory(const std::string& dir) const;

  // Without trailing slash.
  const std::string dir_;
  // Name in the directory -> path in the base file system.
  const std::map<std::string, std::string> files_;
};

}  // namespace ashlar
