// SPDX-License-Identifier: Apache-2.0
//
// MemoryFileSystem keeps files and directories in memory. It is used by tests, by NewMemEnv() and
// as the base of SimFS. It behaves as POSIX does: an open file stays usable after it was unlinked
// or renamed, a rename replaces its target atomically, and when the "disk" is full (a byte quota) a
// write writes a part and returns NoSpace. There is one difference: creating a directory also
// creates missing parents, because an empty file system has none. Relative paths start at the root.
// Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "env/memory/memory_files.h"
#include "util/threads/mutex.h"

namespace ashlar {

class MemoryFileSystem : public FileSystem {
 public:
  // `clock` gives the modification times of files.
  explicit MemoryFileSystem(std::shared_ptr<SystemClock> clock = SystemClock::Default());
  ~MemoryFileSystem() override;

  const char* Name() const override { return "MemoryFileSystem"; }

  // The limit on the sum of all file sizes in bytes; UINT64_MAX = no limit. A limit below the used
  // bytes lets nothing grow.
  void SetByteQuota(uint64_t bytes);
  // The sum of the sizes of all files, including unlinked files that are still open.
  uint64_t UsedBytes() const;

  // For tests: PutFile() stores a file and creates its parents; AllFiles() returns all files with
  // their contents.
  void PutFile(const std::string& path, std::string contents);
  std::map<std::string, std::string> AllFiles() const;

  // The normal form "/a/b" of a path, equal for all ways to write it.
  static std::string CleanPath(const std::string& path);

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
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override;
  IOStatus FileExists(const std::string& f, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* r, IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& f, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus CreateDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& options,
                              IODebugContext* dbg) override;
  IOStatus DeleteDir(const std::string& d, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& f, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions& options, uint64_t* time,
                                   IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& f, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions& options,
                        bool* r, IODebugContext* dbg) override;
  IOStatus LockFile(const std::string& f, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override;
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions& options, std::string* result,
                           IODebugContext* dbg) override;
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* free_bytes,
                        IODebugContext* dbg) override;
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                       IODebugContext* dbg) override;

 private:
  using FilePtr = MemoryFilePtr;

  // On success `*file` shares the content with the table, so that it stays readable after an
  // unlink. `what` names the calling operation, for the error message.
  IOStatus FindFile(const char* what, const std::string& path, FilePtr* file) const;
  // Creates an empty file if there is none. Fails if the path is a directory or its parent is
  // missing.
  IOStatus FindOrCreateFile(const std::string& path, FilePtr* file);
  // Renames a directory with everything below it, atomically. Both paths are clean. As in POSIX,
  // the target may be an empty directory but not below the source.
  IOStatus RenameDirectoryLocked(const std::string& s, const std::string& t) REQUIRES(mutex_);
  // `dir` is clean.
  bool HasChildrenLocked(const std::string& dir) const REQUIRES(mutex_);
  // Adds `dir` and its missing parents.
  void AddDirectoriesLocked(const std::string& dir) REQUIRES(mutex_);
  // Returns PathNotFound if the parent directory of `path` is missing.
  IOStatus CheckParentLocked(const char* what, const std::string& path) const REQUIRES(mutex_);

  const std::shared_ptr<SystemClock> clock_;  // for modification times
  // Shared with the files, which may outlive this object. Atomics: no mutex is needed.
  const std::shared_ptr<MemoryUsage> usage_;
  // Guards the names only; each content has its own mutex, which is taken after this one.
  mutable Mutex mutex_{LockRank::kFile};
  // By clean path. The children of a directory are a range of the table: the paths that begin with
  // the path of the directory and "/".
  std::map<std::string, FilePtr> files_ GUARDED_BY(mutex_);
  std::set<std::string> directories_ GUARDED_BY(mutex_);
  std::set<std::string> locked_ GUARDED_BY(mutex_);  // paths that LockFile() has locked
};

}  // namespace ashlar
