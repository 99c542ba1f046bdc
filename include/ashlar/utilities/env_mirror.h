// SPDX-License-Identifier: Apache-2.0
//
// EnvMirror performs every operation on files in two environments and compares the results: for
// tests of a new environment, whose files must behave like those of one that is known to work.
//
//   Env* mirror = new EnvMirror(Env::Default(), my_env);
//   options.env = mirror;  // a database on it works in both environments
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/export.h"

namespace ashlar {

// The results are those of `a`. If `b` differs in a status code, in bytes that are read, in a size
// or in a list of names, the call returns Corruption that names the file and both answers. Threads,
// time, times of files and free space are those of `a`. Memory maps and direct I/O are not offered.
// With recycled logs both environments must keep, or both drop, the old contents of a reused file.
//
// Threads: any. Operations on files are performed one after the other.
class ASHLAR_EXPORT EnvMirror : public EnvWrapper {
 public:
  // With `free_a` or `free_b` the object deletes that environment; otherwise it must outlive the
  // object. All files must be closed before the object is deleted.
  EnvMirror(Env* a, Env* b, bool free_a = false, bool free_b = false);
  ~EnvMirror() override;

  const char* Name() const override { return "EnvMirror"; }

  Status NewSequentialFile(const std::string& f, std::unique_ptr<SequentialFile>* r,
                           const EnvOptions& options) override;
  Status NewRandomAccessFile(const std::string& f, std::unique_ptr<RandomAccessFile>* r,
                             const EnvOptions& options) override;
  Status NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                         const EnvOptions& options) override;
  Status ReopenWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                            const EnvOptions& options) override;
  Status ReuseWritableFile(const std::string& f, const std::string& old,
                           std::unique_ptr<WritableFile>* r, const EnvOptions& options) override;
  Status NewRandomRWFile(const std::string& f, std::unique_ptr<RandomRWFile>* r,
                         const EnvOptions& options) override;
  Status NewMemoryMappedFileBuffer(const std::string& f,
                                   std::unique_ptr<MemoryMappedFileBuffer>* r) override;
  Status NewDirectory(const std::string& name, std::unique_ptr<Directory>* r) override;

  Status FileExists(const std::string& f) override;
  Status GetChildren(const std::string& dir, std::vector<std::string>* r) override;
  Status GetChildrenFileAttributes(const std::string& dir, std::vector<FileAttributes>* r) override;
  Status DeleteFile(const std::string& f) override;
  Status Truncate(const std::string& f, size_t size) override;
  Status CreateDir(const std::string& d) override;
  Status CreateDirIfMissing(const std::string& d) override;
  Status DeleteDir(const std::string& d) override;
  Status GetFileSize(const std::string& f, uint64_t* size) override;
  Status GetFileModificationTime(const std::string& f, uint64_t* time) override;
  Status RenameFile(const std::string& s, const std::string& t) override;
  Status LinkFile(const std::string& s, const std::string& t) override;
  Status SyncFile(const std::string& f, const EnvOptions& options, bool use_fsync) override;
  Status NumFileLinks(const std::string& f, uint64_t* count) override;
  Status AreFilesSame(const std::string& first, const std::string& second, bool* r) override;
  Status LockFile(const std::string& f, FileLock** lock) override;
  Status UnlockFile(FileLock* lock) override;
  Status NewLogger(const std::string& f, std::shared_ptr<Logger>* r) override;
  Status IsDirectory(const std::string& path, bool* is_dir) override;

 private:
  class Pair;
  const std::unique_ptr<Pair> pair_;
  const std::unique_ptr<Env> owned_a_, owned_b_;  // null if not owned
};

}  // namespace ashlar
