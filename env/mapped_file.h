// SPDX-License-Identifier: Apache-2.0
//
// MappedLogFile: an append-only file that is written through a shared memory mapping, so that a
// write without sync needs no system call. A file system with such files offers a MappedLogFactory:
// the one of the operating system (env/posix), and SimFS, so that simulated crashes and faults test
// what users run.
//
//   |<------------------- capacity: reserved addresses, without memory behind them -------------->|
//   |<-- allocated: blocks on disk, mapped -->|
//   |<-- written by the caller -->|0 0 0 0 0 0|
//
// Space is really allocated before it is mapped, and only on file systems that write it in place.
// So a full disk is an error of EnsureAllocated() and never a SIGBUS. Remaining dangers, another
// program that cuts the file or a disk that dies, are described in docs/mapped_log.md; see
// is_lost(). Behind the written part the file is zero (or has its old contents if it was reused)
// until Close() cuts it. After a crash these bytes remain, which the log format permits. Addresses
// are stable and contiguous. Bytes that were copied into the mapping survive the death of the
// process like written data.
//
// Threads: any number may call At() and write through it, within allocated(). The other members may
// be called from any thread; Close() once, and without any other call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/status.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

class MappedLogFile {
 public:
  // Without Close() the file keeps its zeros at the end.
  virtual ~MappedLogFile() = default;
  MappedLogFile(const MappedLogFile&) = delete;
  MappedLogFile& operator=(const MappedLogFile&) = delete;

  // Allocates and maps at least [0, end), in whole segments; does nothing if that was done already.
  // NoSpace if the disk is full, InvalidArgument beyond the capacity; after both, the allocated
  // part remains usable. Pages are faulted in by the writers.
  virtual Status EnsureAllocated(uint64_t end) = 0;
  // Does the same ahead of the writers, as far as the implementation likes, and also faults the
  // pages in. For a background thread.
  virtual Status PopulateAhead(uint64_t end) = 0;

  // Called when the file will not grow any more: releases the addresses behind the allocated part.
  virtual void EndGrowth() {}

  // The bytes before `end` will not be used again: removes them from the resident memory of this
  // process. They remain in the file.
  virtual void ReleaseBehind(uint64_t /*end*/) {}

  // The address of the byte at `offset`, which must be below allocated().
  char* At(uint64_t offset) const { return base_ + offset; }
  uint64_t allocated() const { return allocated_.load(std::memory_order_acquire); }
  uint64_t capacity() const { return capacity_; }
  const std::string& path() const { return path_; }

  // True if a store could not be carried out (another program cut the file, the disk died) and went
  // to memory that does not belong to the file. This is permanent; every later Sync() fails. A loss
  // that happened before the file was touched again is only noticed by Sync().
  bool is_lost() const { return lost_->load(std::memory_order_acquire); }

  // Makes everything durable that was stored before the call. After a failure every later Sync()
  // returns the same error without trying, because a second fdatasync would prove nothing. Also
  // fails if the file has become shorter than its allocated part.
  Status Sync() {
    MutexLock lock(&sync_mutex_);
    if (sync_error_.ok()) sync_error_ = SyncNow();
    return sync_error_;
  }

  // Unmaps the file, cuts it to `final_size` and closes it. kKeepsSize does not cut it, for
  // ReuseMappedLog(). Does not sync.
  static constexpr uint64_t kKeepsSize = UINT64_MAX;
  virtual Status Close(uint64_t final_size) = 0;

 protected:
  MappedLogFile(std::string path, char* base, uint64_t capacity)
      : path_(std::move(path)), capacity_(capacity), base_(base) {}

  // Syncs the file. Called under sync_mutex_, so that two calls never overlap.
  virtual Status SyncNow() = 0;

  const std::string path_;
  const uint64_t capacity_;
  char* base_;  // null after Close()
  // Stored with release, loaded by allocated() with acquire: the mapping is complete before the
  // number says so. Written by one thread at a time.
  std::atomic<uint64_t> allocated_{0};
  static inline const std::atomic<bool> kNeverLost{false};
  // Set to the flag of the guard if the file system watches its mappings
  // (env/posix/sigbus_guard.h).
  const std::atomic<bool>* lost_ = &kNeverLost;

 private:
  // Held during calls of file systems, whose locks have a later rank.
  Mutex sync_mutex_{LockRank::kLogger};
  Status sync_error_ GUARDED_BY(sync_mutex_);
};

// Creates mapped logs in the files of one file system.
class MappedLogFactory {
 public:
  // Only addresses are reserved; this limits the size of one log.
  static constexpr uint64_t kDefaultCapacity = uint64_t{1} << 30;

  // The factory of this file system, or null. A wrapper has none, whatever it wraps, because it
  // could not observe the stores.
  static MappedLogFactory* Of(FileSystem* fs) {
    return fs == nullptr ? nullptr : fs->GetOptions<MappedLogFactory>(kName);
  }

  // Creates the file (empties an existing one) and allocates `initial_bytes`, or less. NotSupported
  // if it is not known that allocated space can be written, or if addresses are scarce: the caller
  // uses FileWriter instead. `capacity` limits the size of the file.
  virtual Result<std::unique_ptr<MappedLogFile>> NewMappedLog(
      const std::string& path, uint64_t initial_bytes, uint64_t capacity = kDefaultCapacity) = 0;

  // Renames `old_path`, a file that nothing uses any more, to `path` and maps it with its contents.
  // Later stores go to space that was written before, so a sync does not need to write changes of
  // the size or of the extents. The rename is the last step: after an error the file has its old
  // name.
  virtual Result<std::unique_ptr<MappedLogFile>> ReuseMappedLog(
      const std::string& path, const std::string& old_path, uint64_t initial_bytes,
      uint64_t capacity = kDefaultCapacity) = 0;

 protected:
  // The name for GetOptionsPtr() of a file system that is a factory.
  static constexpr const char* kName = "MappedLogFactory";
  ~MappedLogFactory() = default;
};

}  // namespace ashlar
