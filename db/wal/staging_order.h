// SPDX-License-Identifier: Apache-2.0
//
// StagingOrder joins ranges of a log, which many threads fill at once, back into one order: it
// tracks the offset up to which all bytes are staged, and stores the headers of records strictly in
// file order.
//
// If the process dies, the file holds complete records up to some offset and a zero header there,
// regardless of the bytes copied behind it. So no record is visible behind a hole.
//
// Method: ranges are contiguous, so exactly one thread's range begins at the end of the staged
// part. Only this thread may extend the staged part, and it needs no lock. A thread that completes
// too early leaves its headers in `early_`; the thread that extends the staged part up to this
// range takes them from there. Each side first writes its own variable and then reads the other's,
// with sequential consistency, so at least one of them sees the other. If both do, the lock decides
// which of them takes the entry. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "db/wal/log_format.h"
#include "util/threads/mutex.h"

namespace ashlar {

class StagingOrder {
 public:
  StagingOrder() = default;
  StagingOrder(const StagingOrder&) = delete;
  StagingOrder& operator=(const StagingOrder&) = delete;

  // The payload of [offset, end) is in place. Stores its headers at once or when all bytes before
  // them are staged. Most records have one header.
  void Complete(uint64_t offset, uint64_t end, const LogHeaderStore& header) {
    if (staged_end_.load(std::memory_order_acquire) == offset) [[likely]] {
      header.Commit();
      Extend(end);
      return;
    }
    CompleteEarly({offset, end, {header}});
  }
  void Complete(uint64_t offset, uint64_t end, std::vector<LogHeaderStore> headers);

  // All bytes before this offset are staged and, with the acquire load, readable.
  uint64_t staged_end() const { return staged_end_.load(std::memory_order_acquire); }

  // Waits until staged_end() >= end; false if Abort() came first.
  bool WaitUntil(uint64_t end) {
    if (staged_end() >= end) [[likely]]
      return true;
    return WaitSlowly(end);
  }
  // Called when a range will never be completed: no header after staged_end() is stored any more,
  // and all waiting threads return.
  void Abort();
  bool is_aborted() const { return is_aborted_.load(std::memory_order_acquire); }

  // One line: the staged end, the ranges completed early, and the number of waiting threads.
  std::string DebugString();

 private:
  // A completed range whose headers are not stored yet.
  struct Range {
    uint64_t offset;
    uint64_t end;
    std::vector<LogHeaderStore> headers;
  };

  void Extend(uint64_t end) {
    staged_end_.store(end, std::memory_order_seq_cst);
    if (early_count_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      TakeEarly();
    if (waiters_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      WakeWaiters();
  }
  void CompleteEarly(Range range);
  void TakeEarly();
  void WakeWaiters();
  bool WaitSlowly(uint64_t end);

  // Written only by the thread whose range begins there, or by another thread on its behalf under
  // mutex_.
  alignas(64) std::atomic<uint64_t> staged_end_{0};
  std::atomic<size_t> early_count_{0};  // early_.size(); written under mutex_
  std::atomic<int> waiters_{0};         // threads in WaitSlowly(); incremented under mutex_
  std::atomic<bool> is_aborted_{false};
  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  std::vector<Range> early_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
