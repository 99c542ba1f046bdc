// SPDX-License-Identifier: Apache-2.0
//
// MappedLogFile: an append-only file written through a shared memory mapping, so that a write
// without sync needs no system call. A file system that has such files offers a MappedLogFactory:
// the machine's own (env/posix), and SimFS, so that crashes and faults reach what users run.
//
//   |<------------------- capacity: reserved addresses, nothing behind them ------------------->|
//   |<-- allocated: blocks on disk, mapped -->|
//   |<-- written by the caller -->|0 0 0 0 0 0|
//
// Space is really allocated before it is mapped, and only on file systems that write it in place,
// so a full disk is an error of EnsureAllocated() and never a SIGBUS. What remains is in
// docs/mapped_log.md: somebody who cuts the file, a disk that dies; see is_lost(). The file is zero
// behind the written part (of one that is reused: what it held) until Close() cuts it; after a
// crash that stays, which the log format allows. Addresses are stable and contiguous. What was
// copied into the mapping survives the death of the process like written data.
//
// Threads: At() and writing through it from any number of threads, within allocated(); the other
// members from any thread, Close() once and alone.
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
  // Without Close() the file keeps its zero tail.
  virtual ~MappedLogFile() = default;
  MappedLogFile(const MappedLogFile&) = delete;
  MappedLogFile& operator=(const MappedLogFile&) = delete;

  // Allocates and maps at least [0, end), in steps of whole segments; does nothing if that is so
  // already. NoSpace on a full disk, InvalidArgument beyond the capacity; both leave what was
  // allocated usable. Page faults are left to the writers.
  virtual Status EnsureAllocated(uint64_t end) = 0;
  // Does the same ahead of the writers, as far as it likes, and also faults the pages in: for a
  // background thread.
  virtual Status PopulateAhead(uint64_t end) = 0;

  // The file grows no more: gives back the addresses behind what is allocated.
  virtual void EndGrowth() {}

  // The bytes before `end` will not be touched again: takes them out of this process's resident
  // memory. They stay in the file.
  virtual void ReleaseBehind(uint64_t /*end*/) {}

  // The byte at `offset`; valid up to allocated().
  char* At(uint64_t offset) const { return base_ + offset; }
  uint64_t allocated() const { return allocated_.load(std::memory_order_acquire); }
  uint64_t capacity() const { return capacity_; }
  const std::string& path() const { return path_; }

  // A store could not be carried out (somebody cut the file, the disk died): it went into memory
  // that is no file's. For good; every Sync() fails from then on. A store that was lost before the
  // file was touched again shows only in Sync().
  bool is_lost() const { return lost_->load(std::memory_order_acquire); }

  // Makes everything stored before the call durable. After a failure every later Sync() answers
  // the same error without trying: a second fdatasync would prove nothing. Fails, too, if the file
  // has become shorter than what was allocated.
  Status Sync() {
    MutexLock lock(&sync_mutex_);
    if (sync_error_.ok()) sync_error_ = SyncNow();
    return sync_error_;
  }

  // Unmaps, cuts the file to `final_size` and closes it; kKeepsSize leaves it as long as it is, for
  // ReuseMappedLog(). Does not sync.
  static constexpr uint64_t kKeepsSize = UINT64_MAX;
  virtual Status Close(uint64_t final_size) = 0;

 protected:
  MappedLogFile(std::string path, char* base, uint64_t capacity)
      : path_(std::move(path)), capacity_(capacity), base_(base) {}

  virtual Status SyncNow() = 0;

  const std::string path_;
  const uint64_t capacity_;
  char* base_;  // null after Close()
  // Its release pairs with the acquire in allocated(): the mapping is in place before the number
  // says so. Written by one thread at a time.
  std::atomic<uint64_t> allocated_{0};
  static inline const std::atomic<bool> kNeverLost{false};
  const std::atomic<bool>* lost_ = &kNeverLost;

 private:
  Mutex sync_mutex_{LockRank::kLogger};  // held over calls of file systems, which rank behind
  Status sync_error_ GUARDED_BY(sync_mutex_);
};

// Makes mapped logs in the files of one file system.
class MappedLogFactory {
 public:
  // Addresses only; bounds the size of one log.
  static constexpr uint64_t kDefaultCapacity = uint64_t{1} << 30;

  // The factory of this file system, or null. A wrapper has none, whatever it wraps: stores would
  // pass it by.
  static MappedLogFactory* Of(FileSystem* fs) {
    return fs == nullptr ? nullptr : fs->GetOptions<MappedLogFactory>(kName);
  }

  // Creates the file (empties an existing one) and allocates `initial_bytes`, or less if it likes.
  // NotSupported where it is not known that allocated space can be written, or where addresses are
  // scarce: the caller falls back to FileWriter. `capacity` bounds the file size.
  virtual Result<std::unique_ptr<MappedLogFile>> NewMappedLog(
      const std::string& path, uint64_t initial_bytes, uint64_t capacity = kDefaultCapacity) = 0;

  // Renames `old_path`, a file that nobody uses any more, to `path` and maps it with what it holds:
  // what is stored then goes to space that was written before, so a sync finds neither the size
  // nor the extents changed. The rename comes last: after an error the file is where it was.
  virtual Result<std::unique_ptr<MappedLogFile>> ReuseMappedLog(
      const std::string& path, const std::string& old_path, uint64_t initial_bytes,
      uint64_t capacity = kDefaultCapacity) = 0;

 protected:
  // What GetOptionsPtr() of a file system that is one is asked for.
  static constexpr const char* kName = "MappedLogFactory";
  ~MappedLogFactory() = default;
};

}  // namespace ashlar
