// SPDX-License-Identifier: Apache-2.0
//
// MemoryFileSystem keeps files and directories in memory: for tests, for NewMemEnv(), and as the
// ground SimFS stands on. It behaves like POSIX: files stay usable after they were unlinked or
// renamed, a rename replaces its target in one step, and a full "disk" (a byte quota) gives NoSpace
// after a partial write. One difference: creating a directory creates missing parents too, because
// an empty file system has none. Paths may be relative; they start at the root. Any thread.
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
  explicit MemoryFileSystem(std::shared_ptr<SystemClock> clock = SystemClock::Default());
  ~MemoryFileSystem() override;

  const char* Name() const override { return "MemoryFileSystem"; }

  // The sum of all file sizes may not pass this; UINT64_MAX = no limit.
  void SetByteQuota(uint64_t bytes);
  uint64_t UsedBytes() const;

  // For tests: puts a file with its parents in place, and lists all files with their content.
  void PutFile(const std::string& path, std::string contents);
  std::map<std::string, std::string> AllFiles() const;

  // The same path for all spellings of it: "/a/b".
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

  // `what` is the call that asks, for the message of a NotFound.
  IOStatus FindFile(const char* what, const std::string& path, FilePtr* file) const;
  IOStatus FindOrCreateFile(const std::string& path, FilePtr* file);
  // With everything below it, in one step.
  IOStatus RenameDirectoryLocked(const std::string& s, const std::string& t) REQUIRES(mutex_);
  bool HasChildrenLocked(const std::string& dir) const REQUIRES(mutex_);
  // `dir` and its missing parents.
  void AddDirectoriesLocked(const std::string& dir) REQUIRES(mutex_);
  // PathNotFound where the directory of `path` is missing.
  IOStatus CheckParentLocked(const char* what, const std::string& path) const REQUIRES(mutex_);

  const std::shared_ptr<SystemClock> clock_;  // of modification times
  const std::shared_ptr<MemoryUsage> usage_;  // shared with the files, which may outlive this
  mutable Mutex mutex_{LockRank::kFile};
  // By clean path. Children of a directory are a range: those that begin with its path and "/".
  std::map<std::string, FilePtr> files_ GUARDED_BY(mutex_);
  std::set<std::string> directories_ GUARDED_BY(mutex_);
  std::set<std::string> locked_ GUARDED_BY(mutex_);  // paths of LockFile()
};

}  // namespace ashlar
