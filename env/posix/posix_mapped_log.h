// SPDX-License-Identifier: Apache-2.0
//
// The mapped log for the file systems of the operating system.
#pragma once

#include <memory>
#include <string>

#include "env/mapped_file.h"
#include "env/posix/posix_error.h"
#include "env/posix/sigbus_guard.h"

namespace ashlar {

// A log that is written by stores into a shared mapping of its file, without a system call per
// record. Threads: several may store at the same time, each in its own range below allocated(); one
// at a time may grow or close the file.
class PosixMappedLog final : public MappedLogFile {
 public:
  // See MappedLogFactory::NewMappedLog(). docs/mapped_log.md lists the file systems that support
  // it.
  static Result<std::unique_ptr<MappedLogFile>> Create(const std::string& path,
                                                       uint64_t initial_bytes, uint64_t capacity);
  // See MappedLogFactory::ReuseMappedLog().
  static Result<std::unique_ptr<MappedLogFile>> Reuse(const std::string& path,
                                                      const std::string& old_path,
                                                      uint64_t initial_bytes, uint64_t capacity);
  ~PosixMappedLog() override;

  Status EnsureAllocated(uint64_t end) override;
  Status PopulateAhead(uint64_t end) override;
  void EndGrowth() override;
  void ReleaseBehind(uint64_t end) override;
  Status Close(uint64_t final_size) override;

 private:
  PosixMappedLog(const std::string& path, int fd, char* base, uint64_t capacity);

  // Makes durable what was stored before the call. An error means that the file is shorter than the
  // stores assumed or that a page was lost.
  Status SyncNow() override;
  // Takes the descriptor and reserves addresses for `bytes`. NotSupported if the file system does
  // not write allocated space in place.
  static Result<std::unique_ptr<PosixMappedLog>> Reserve(const std::string& path, UniqueFd fd,
                                                         uint64_t bytes);
  // Allocates disk space up to `end`, rounded up to whole segments, and maps it. Needs room in the
  // reserved range. An error leaves the mapped part as it was.
  Status AllocateLocked(uint64_t end) REQUIRES(grow_mutex_);
  Status MapLocked(uint64_t new_end) REQUIRES(grow_mutex_);
  Status MapWritten() EXCLUDES(grow_mutex_);

  int fd_;  // -1 after Close()
  SigbusGuard guard_;

  Mutex grow_mutex_{LockRank::kFile};  // only one thread at a time may grow the file
  // Length of the address range from base_ that is reserved.
  uint64_t reserved_ GUARDED_BY(grow_mutex_);
  uint64_t populated_ GUARDED_BY(grow_mutex_) = 0;  // pages before it were faulted in
  uint64_t released_ GUARDED_BY(grow_mutex_) = 0;   // pages before it were dropped from the mapping
};

}  // namespace ashlar
