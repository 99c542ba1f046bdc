// SPDX-License-Identifier: Apache-2.0
//
// StagingOrder joins ranges of a log, which many threads fill at once, back into one order: it
// knows up to where everything is staged, and stores the headers of records strictly in file order.
//
// So if the process dies, the file holds whole records up to some place and a zero header there,
// whatever was copied behind: nothing is ever visible behind a hole.
//
// How. Ranges are contiguous, so exactly one thread's range begins where the staged part ends; only
// that thread may extend it, and needs no lock to do so. A thread that comes too early leaves its
// headers in `early_`, and whoever extends the staged part up to it takes them from there. Each
// side first writes its own variable and then reads the other's, all sequentially consistent, so at
// least one of them sees the other; if both do, the lock decides who takes the entry. Threads: any.
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

  // The payload of [offset, end) is in place. Stores its headers, now or when all before it is
  // staged. Most records have one header.
  void Complete(uint64_t offset, uint64_t end, const LogHeaderStore& header) {
    if (staged_end_.load(std::memory_order_acquire) == offset) [[likely]] {
      header.Commit();
      Extend(end);
      return;
    }
    CompleteEarly({offset, end, {header}});
  }
  void Complete(uint64_t offset, uint64_t end, std::vector<LogHeaderStore> headers);

  // All bytes before it are staged (acquire: and can be read).
  uint64_t staged_end() const { return staged_end_.load(std::memory_order_acquire); }

  // Waits until staged_end() >= end; false if Abort() came first.
  bool WaitUntil(uint64_t end) {
    if (staged_end() >= end) [[likely]]
      return true;
    return WaitSlowly(end);
  }
  // A range will never be completed: nothing behind staged_end() is ever stored, and nobody waits.
  void Abort();
  bool is_aborted() const { return is_aborted_.load(std::memory_order_acquire); }

  // How far it has come, the ranges that came early, and whether anybody waits; one line.
  std::string DebugString();

 private:
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

  // Written only by the thread whose range begins there, or under mutex_ on behalf of it.
  alignas(64) std::atomic<uint64_t> staged_end_{0};
  std::atomic<size_t> early_count_{0};  // early_.size(); written under mutex_
  std::atomic<int> waiters_{0};
  std::atomic<bool> is_aborted_{false};
  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  std::vector<Range> early_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
