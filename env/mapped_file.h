// SPDX-License-Identifier: Apache-2.0
//
// MappedLogFile: an append-only file written through a shared memory mapping, so that a write
// without sync needs no system call. POSIX only.
//
//   |<------------------- capacity: reserved addresses, nothing behind them ------------------->|
//   |<-- allocated: blocks on disk, mapped -->|
//   |<-- written by the caller -->|0 0 0 0 0 0|
//
// Space is really allocated before it is mapped, and only on file systems that write it in place,
// so a full disk is an error of EnsureAllocated() and never a SIGBUS. What remains is in
// docs/mapped_log.md: somebody who cuts the file, a disk that dies. The file is zero behind the
// written part until Close() cuts it; after a crash the zeros stay, which the log format allows.
// Addresses are stable and contiguous. What was copied into the mapping survives the death of the
// process like written data.
//
// Threads: At() and writing through it from any number of threads, within allocated(); the other
// members from any thread, Close() once and alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/status.h"
#include "util/mutex.h"
#include "util/result.h"

namespace ashlar {

class FileSystem;

class MappedLogFile {
 public:
  static constexpr uint64_t kDefaultCapacity = uint64_t{1} << 30;

  // True only for the machine's own file system object, whose paths the kernel understands.
  static bool IsSupported(const FileSystem* fs);

  // Creates the file (empties an existing one) with `initial_bytes` allocated. NotSupported where
  // the kernel's file system does not promise that allocated space can be written (only ext4, tmpfs
  // and an XFS made without reflink are known to), or where addresses are scarce: the caller falls
  // back to FileWriter.
  // `capacity` bounds the file size; that many addresses are reserved.
  static Result<std::unique_ptr<MappedLogFile>> Create(const std::string& path,
                                                       uint64_t initial_bytes,
                                                       uint64_t capacity = kDefaultCapacity);
  MappedLogFile(const MappedLogFile&) = delete;
  MappedLogFile& operator=(const MappedLogFile&) = delete;
  // Without Close() the file keeps its zero tail.
  ~MappedLogFile();

  // Allocates and maps at least [0, end), in steps of whole segments; does nothing if that is so
  // already. NoSpace on a full disk, InvalidArgument beyond the capacity; both leave what was
  // allocated usable. Page faults are left to the writers.
  Status EnsureAllocated(uint64_t end);
  // The same and also faults the pages in, ahead of the writers: for a background thread.
  Status PopulateAhead(uint64_t end);

  // The file grows no more: gives back the addresses behind what is allocated.
  void EndGrowth();

  // The bytes before `end` will not be touched again: takes them out of this process's resident
  // memory. They stay in the file.
  void ReleaseBehind(uint64_t end);

  // The byte at `offset`; valid up to allocated().
  char* At(uint64_t offset) const { return base_ + offset; }
  uint64_t allocated() const { return allocated_.load(std::memory_order_acquire); }
  uint64_t capacity() const { return capacity_; }
  const std::string& path() const { return path_; }

  // Makes everything stored before the call durable. After a failure every later Sync() answers
  // the same error without trying: a second fdatasync would prove nothing. Fails, too, if the file
  // has become shorter than what was allocated.
  Status Sync();

  // Unmaps, cuts the file to `final_size` and closes it. Does not sync.
  Status Close(uint64_t final_size);

 private:
  MappedLogFile(std::string path, int fd, char* base, uint64_t capacity);

  Status AllocateLocked(uint64_t end) REQUIRES(grow_mutex_);

  const std::string path_;
  int fd_;      // -1 after Close()
  char* base_;  // null after Close()
  const uint64_t capacity_;

  Mutex grow_mutex_{LockRank::kFile};  // makes one thread at a time grow the file
  // Written under grow_mutex_; its release pairs with the acquire in allocated(): the mapping is
  // in place before the number says so.
  std::atomic<uint64_t> allocated_{0};
  uint64_t reserved_ GUARDED_BY(grow_mutex_);       // addresses from base_ that are ours
  uint64_t populated_ GUARDED_BY(grow_mutex_) = 0;  // pages before it were faulted in
  uint64_t released_ GUARDED_BY(grow_mutex_) = 0;   // pages before it were given back

  Mutex sync_mutex_{LockRank::kFile};
  Status sync_error_ GUARDED_BY(sync_mutex_);
};

}  // namespace ashlar
