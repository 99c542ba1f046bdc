// SPDX-License-Identifier: Apache-2.0
//
// The mapped log of the machine's own file systems.
#pragma once

#include <memory>
#include <string>

#include "env/mapped_file.h"
#include "env/posix/posix_error.h"
#include "env/posix/sigbus_guard.h"

namespace ashlar {

class PosixMappedLog final : public MappedLogFile {
 public:
  // See MappedLogFactory::NewMappedLog(). On which file systems: docs/mapped_log.md.
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

  Status SyncNow() override;
  static Result<std::unique_ptr<PosixMappedLog>> Reserve(const std::string& path, UniqueFd fd,
                                                         uint64_t bytes);
  Status AllocateLocked(uint64_t end) REQUIRES(grow_mutex_);
  Status MapLocked(uint64_t new_end) REQUIRES(grow_mutex_);
  Status MapWritten() EXCLUDES(grow_mutex_);

  int fd_;  // -1 after Close()
  SigbusGuard guard_;

  Mutex grow_mutex_{LockRank::kFile};               // makes one thread at a time grow the file
  uint64_t reserved_ GUARDED_BY(grow_mutex_);       // addresses from base_ that are ours
  uint64_t populated_ GUARDED_BY(grow_mutex_) = 0;  // pages before it were faulted in
  uint64_t released_ GUARDED_BY(grow_mutex_) = 0;   // pages before it were given back
};

}  // namespace ashlar
