// SPDX-License-Identifier: Apache-2.0
//
// WriteBufferManager: one limit on the memory of many memtables, which may belong to several
// databases. It can charge this memory to a cache and make writers wait.
//
// Each time the memory of a memtable has grown by 16 KiB, or by one block, its database reports
// this to the manager. If ShouldFlush() returns true, the database flushes its largest memtable,
// unless that is small compared to memtables of other databases. A manager without limit and cache
// receives no reports. Thread safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "ashlar/cache.h"
#include "ashlar/export.h"

namespace ashlar {

// How the manager blocks and releases the writers of one database.
class ASHLAR_EXPORT StallInterface {
 public:
  virtual ~StallInterface() {}
  virtual void Block() = 0;
  virtual void Signal() = 0;
};

class ASHLAR_EXPORT WriteBufferManager final {
 public:
  // _buffer_size is the limit in bytes; 0 = no limit. Databases that are opened with a manager that
  // has neither a limit nor a cache do not report to it, and keep no limit that is set later. If
  // `cache` is set, the memory is charged to it in steps of 256 KiB. The charge is the highest
  // recent use, because new memtables will soon use the memory that a flush frees. If allow_stall
  // is true, writers wait while the limit is exceeded and memory of immutable memtables is about to
  // be freed; writes with WriteOptions::no_slowdown fail with Incomplete instead.
  explicit WriteBufferManager(size_t _buffer_size, std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false);
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;
  ~WriteBufferManager();

  // Whether there is a limit.
  bool enabled() const { return buffer_size() > 0; }
  // Whether memory is charged to a cache, and that cache (Ashlar's own call; null without one).
  bool cost_to_cache() const { return charge_ != nullptr; }
  std::shared_ptr<Cache> cache() const;

  // Bytes used by all memtables, bytes used by active memtables, and bytes charged to the cache.
  size_t memory_usage() const { return memory_used_.load(); }
  size_t mutable_memtable_memory_usage() const { return memory_active_.load(); }
  size_t dummy_entries_in_cache_usage() const;
  size_t buffer_size() const { return buffer_size_.load(); }

  // Changes the limit; new_size must not be 0.
  void SetBufferSize(size_t new_size);
  void SetAllowStall(bool new_allow_stall);

  // Whether a memtable should be flushed: active memtables use 7/8 of the limit, or the limit is
  // exceeded and flushes can free at least half of it.
  bool ShouldFlush() const;
  // ShouldStall(): whether writers must wait now. IsStallActive(): whether writers are waiting.
  // IsStallThresholdExceeded(): whether the limit is exceeded.
  bool ShouldStall() const;
  bool IsStallActive() const { return stall_active_.load(); }
  bool IsStallThresholdExceeded() const { return memory_usage() >= buffer_size(); }
  // Whether flushes, of any database, will free memory without any further request. If not, writers
  // do not wait although the limit is exceeded. Flushed memtables that readers keep do not count.
  // (Ashlar's own call.)
  bool IsFreeing() const {
    const size_t used = memory_usage();  // read before the other sums, see ReserveMem()
    return used > mutable_memtable_memory_usage() + memory_kept_.load();
  }

  // Reports about a memtable: it has reserved memory, its memory will be freed because it is
  // immutable now, its memory has been freed. `mem` is in bytes.
  void ReserveMem(size_t mem);
  void ScheduleFreeMem(size_t mem);
  void FreeMem(size_t mem);

  // BeginWriteStall() registers a database whose writers wait; the database calls
  // wbm_stall->Block(). The manager calls wbm_stall->Signal() when memory is available again, or
  // when no memory is about to be freed. It holds its lock then, so Signal() must not call the
  // manager. RemoveDBFromQueue() is called when the database is closed.
  void BeginWriteStall(StallInterface* wbm_stall);
  void MaybeEndWriteStall();
  void RemoveDBFromQueue(StallInterface* wbm_stall);

 private:
  friend class MemoryReport;  // reports about a memtable
  bool MayStall() const;

  struct CacheCharge;  // the part of memory_used_ that is charged to the cache
  struct StallQueue;   // the databases whose writers wait

  // Written by the arenas of memtables, read by any thread. Sequentially consistent where a stalled
  // database depends on it.
  std::atomic<size_t> buffer_size_;
  std::atomic<size_t> mutable_limit_;
  std::atomic<size_t> memory_used_{0};
  std::atomic<size_t> memory_active_{0};
  std::atomic<size_t> memory_kept_{0};       // of memtables that wait for no flush
  std::atomic<size_t> active_memtables_{0};  // number of memtables that memory_active_ sums
  std::atomic<bool> allow_stall_;
  // Whether the queue has databases, or one is about to be added. Written under the lock of the
  // queue, read without it.
  std::atomic<bool> stall_active_{false};
  std::unique_ptr<CacheCharge> charge_;
  std::unique_ptr<StallQueue> queue_;
};

}  // namespace ashlar
