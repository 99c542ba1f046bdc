// SPDX-License-Identifier: Apache-2.0
//
// The contended paths. early_ holds at most one entry per writing thread, so it is searched
// linearly.
#include "db/wal/staging_order.h"

#include <cassert>
#include <utility>

#include "util/text/str_cat.h"

namespace ashlar {

// Bytes are visible to readers of the log only without holes. A range that is complete before its
// predecessors waits in early_.
void StagingOrder::Complete(uint64_t offset, uint64_t end, std::vector<LogHeaderStore> headers) {
  assert(offset < end);
  assert(staged_end_.load(std::memory_order_acquire) <= offset);
  if (staged_end_.load(std::memory_order_acquire) == offset) {
    for (const LogHeaderStore& header : headers) header.Commit();
    Extend(end);
    return;
  }
  CompleteEarly({offset, end, std::move(headers)});
}

void StagingOrder::CompleteEarly(Range range) {
  assert(range.offset < range.end);
  {
    MutexLock lock(&mutex_);
    const uint64_t offset = range.offset;
    early_.push_back(std::move(range));
    early_count_.store(early_.size(), std::memory_order_seq_cst);
    if (staged_end_.load(std::memory_order_seq_cst) != offset) return;
  }
  // The thread before this one has just extended the staged part, and may have missed the entry.
  TakeEarly();
  if (waiters_.load(std::memory_order_seq_cst) != 0) WakeWaiters();
}

void StagingOrder::TakeEarly() {
  MutexLock lock(&mutex_);
  for (bool found = true; found;) {
    found = false;
    // While an entry that begins at the staged end is in early_, no other thread extends the staged
    // part: the entry's own thread has left, and other takers wait for the lock.
    const uint64_t staged = staged_end_.load(std::memory_order_seq_cst);
    for (Range& range : early_) {
      if (range.offset != staged) continue;
      for (const LogHeaderStore& header : range.headers) header.Commit();
      const uint64_t end = range.end;
      assert(end > staged);
      std::swap(range, early_.back());
      early_.pop_back();
      early_count_.store(early_.size(), std::memory_order_seq_cst);
      staged_end_.store(end, std::memory_order_seq_cst);
      found = true;
      break;
    }
  }
}

void StagingOrder::WakeWaiters() {
  MutexLock lock(&mutex_);
  changed_.SignalAll();
}

bool StagingOrder::WaitSlowly(uint64_t end) {
  // The threads before this one are usually copying a record, which takes some hundred cycles.
  constexpr int kSpins = 200;
  for (int i = 0; i < kSpins; ++i) {
    if (staged_end() >= end) return true;
    SpinPause();
  }
  MutexLock lock(&mutex_);
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  while (staged_end_.load(std::memory_order_seq_cst) < end && !is_aborted()) changed_.Wait();
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  return staged_end() >= end;
}

void StagingOrder::Abort() {
  is_aborted_.store(true, std::memory_order_release);
  WakeWaiters();
}

[[gnu::cold]] std::string StagingOrder::DebugString() {
  MutexLock lock(&mutex_);
  std::string text = StrCat("staged to ", staged_end());
  for (const Range& range : early_) {
    StrAppend(&text, ", early [", range.offset, ", ", range.end, ")");
  }
  const int waiters = waiters_.load(std::memory_order_acquire);
  if (waiters > 0) StrAppend(&text, ", ", waiters, " wait");
  return StrCat(text, is_aborted() ? ", aborted" : "");
}

}  // namespace ashlar
