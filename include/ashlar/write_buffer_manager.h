// SPDX-License-Identifier: Apache-2.0
//
// WriteBufferManager: one limit on the memory of many memtables, of several databases if wanted.
// It can charge that memory to a cache and hold back writers. Databases report what their memtables
// have taken from the system when it has grown by 16 KiB or a block, and flush their own largest
// memtable when ShouldFlush(), unless it is small beside those of others, idle ones perhaps. Only
// with a limit or a cache: other managers are told nothing. Thread safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "ashlar/cache.h"
#include "ashlar/export.h"

namespace ashlar {

// How a database is held back and released.
class ASHLAR_EXPORT StallInterface {
 public:
  virtual ~StallInterface() {}
  virtual void Block() = 0;
  virtual void Signal() = 0;
};

class ASHLAR_EXPORT WriteBufferManager final {
 public:
  // _buffer_size is the limit in bytes; 0 only counts. With a cache, the memory is charged to it
  // in steps of 256 KiB: the most that was used lately, as memtables will want what a flush frees.
  // With allow_stall, writers wait while the limit is exceeded and memory of sealed memtables is
  // about to be freed; with WriteOptions::no_slowdown they fail then (Incomplete).
  explicit WriteBufferManager(size_t _buffer_size, std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false);
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;
  ~WriteBufferManager();

  // Whether there is a limit.
  bool enabled() const { return buffer_size() > 0; }
  bool cost_to_cache() const { return charge_ != nullptr; }

  // Bytes held by all memtables; by those still written to; charged to the cache.
  size_t memory_usage() const { return memory_used_.load(std::memory_order_relaxed); }
  size_t mutable_memtable_memory_usage() const {
    return memory_active_.load(std::memory_order_relaxed);
  }
  size_t dummy_entries_in_cache_usage() const;
  size_t buffer_size() const { return buffer_size_.load(std::memory_order_relaxed); }

  // new_size must be above 0.
  void SetBufferSize(size_t new_size);
  void SetAllowStall(bool new_allow_stall);

  // True when a memtable should be flushed: 7/8 of the limit are still written to, or the limit is
  // exceeded and at least half of it can be freed by flushing.
  bool ShouldFlush() const;
  // True when writers must wait. IsStallActive: some do; IsStallThresholdExceeded: they would.
  bool ShouldStall() const;
  bool IsStallActive() const { return stall_active_.load(std::memory_order_relaxed); }
  bool IsStallThresholdExceeded() const { return memory_usage() >= buffer_size(); }

  // A memtable's life: memory reserved as it grows, scheduled to be freed when it is sealed, freed
  // when it is gone.
  void ReserveMem(size_t mem);
  void ScheduleFreeMem(size_t mem);
  void FreeMem(size_t mem);

  // Registers a database as stalled: Block() has been or will be called by it. Signal() is called
  // when memory is available again or none is about to be freed, under a lock of the manager: it
  // must not call it. RemoveDBFromQueue() when it closes.
  void BeginWriteStall(StallInterface* wbm_stall);
  void MaybeEndWriteStall();
  void RemoveDBFromQueue(StallInterface* wbm_stall);

 private:
  friend class MemoryReport;  // a memtable's life, which it tells by the functions above
  // Some memory of memtables that take no more writes will be free without anybody's doing.
  bool IsFreeing() const { return memory_usage() > mutable_memtable_memory_usage(); }

  struct CacheCharge;  // the part of memory_used_ that is charged to the cache
  struct StallQueue;   // the databases that wait

  // Written by the memtables' arenas, read anywhere. Only sums: relaxed.
  std::atomic<size_t> buffer_size_;
  std::atomic<size_t> mutable_limit_;
  std::atomic<size_t> memory_used_{0};
  std::atomic<size_t> memory_active_{0};
  std::atomic<size_t> active_memtables_{0};  // of which memory_active_ is the sum
  std::atomic<bool> allow_stall_;
  // Written under the queue's lock; read without it as a hint.
  std::atomic<bool> stall_active_{false};
  std::unique_ptr<CacheCharge> charge_;
  std::unique_ptr<StallQueue> queue_;
};

}  // namespace ashlar
