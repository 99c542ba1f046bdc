// SPDX-License-Identifier: Apache-2.0
//
// Adaptors between the two file interfaces. A program may implement either one, and the engine uses
// only the newer one: a FileSystem and a SystemClock that call an Env, and an Env over a FileSystem
// and a SystemClock (CompositeEnv).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"

namespace ashlar {

// Without hints and debug contexts, which an Env does not know. `env` outlives the results.
std::shared_ptr<FileSystem> NewFileSystemOverEnv(Env* env);
std::shared_ptr<SystemClock> NewSystemClockOverEnv(Env* env);

// An Env whose files and time come from a FileSystem and a SystemClock, which it shares. Subclasses
// implement the threads. File objects are wrapped; each owns the newer one.
class CompositeEnv : public Env {
 public:
  CompositeEnv(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
      : Env(fs, clock) {}
  ~CompositeEnv() override;

  Status RegisterDbPaths(const std::vector<std::string>& paths) override;
  Status UnregisterDbPaths(const std::vector<std::string>& paths) override;
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
  Status AreFilesSame(const std::string& a, const std::string& b, bool* r) override;
  Status LockFile(const std::string& f, FileLock** lock) override;
  Status UnlockFile(FileLock* lock) override;
  Status GetTestDirectory(std::string* path) override;
  Status NewLogger(const std::string& f, std::shared_ptr<Logger>* r) override;
  Status GetAbsolutePath(const std::string& path, std::string* result) override;
  Status GetFreeSpace(const std::string& path, uint64_t* free_bytes) override;
  Status IsDirectory(const std::string& path, bool* is_dir) override;
  EnvOptions OptimizeForLogRead(const EnvOptions& options) const override;
  EnvOptions OptimizeForManifestRead(const EnvOptions& options) const override;
  EnvOptions OptimizeForLogWrite(const EnvOptions& options,
                                 const DBOptions& db_options) const override;
  EnvOptions OptimizeForManifestWrite(const EnvOptions& options) const override;
  EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& options,
                                             const ImmutableDBOptions& db_options) const override;
  EnvOptions OptimizeForCompactionTableRead(const EnvOptions& options,
                                            const ImmutableDBOptions& db_options) const override;
  EnvOptions OptimizeForBlobFileRead(const EnvOptions& options,
                                     const ImmutableDBOptions& db_options) const override;
  void SanitizeEnvOptions(EnvOptions* options) const override;

  uint64_t NowMicros() override { return system_clock_->NowMicros(); }
  uint64_t NowNanos() override { return system_clock_->NowNanos(); }
  uint64_t NowCPUNanos() override { return system_clock_->CPUNanos(); }
  void SleepForMicroseconds(int micros) override { system_clock_->SleepForMicroseconds(micros); }
  Status GetCurrentTime(int64_t* unix_time) override {
    return system_clock_->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t time) override { return system_clock_->TimeToString(time); }
};

// `fs`, with the time of its calls added to the thread's perf context at the perf levels that
// measure time.
std::shared_ptr<FileSystem> NewTimedFileSystem(const std::shared_ptr<FileSystem>& fs,
                                               const std::shared_ptr<SystemClock>& clock);

// An Env with the files and the time of the parts; threads and everything else come from `base`,
// which outlives it.
std::unique_ptr<Env> NewCompositeEnvOver(Env* base, const std::shared_ptr<FileSystem>& fs,
                                         const std::shared_ptr<SystemClock>& clock);

}  // namespace ashlar
