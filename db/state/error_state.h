// SPDX-License-Identifier: Apache-2.0
//
// ErrorState holds the background error of a database: the first one of the highest severity, until
// DB::Resume() or an automatic retry clears it.
//
//   soft    background work failed and is tried again; writes go on
//   hard    writes are refused: the log, the MANIFEST or a flush cannot be trusted
//   fatal   only reopening helps
//
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "ashlar/listener.h"
#include "ashlar/status.h"
#include "util/mutex.h"

namespace ashlar {

class ErrorState {
 public:
  // Remembers the error with the severity that its kind and reason deserve. True if it is now the
  // current one.
  bool Raise(const Status& error, BackgroundErrorReason reason);
  // Memory and log differ: only reopening helps, and nothing may be flushed. Allocates nothing for
  // an error without a message.
  void RaiseFatal(const Status& error);
  void Clear();
  // The work that had failed softly was done after all.
  void ClearSoft();

  // One load when all is well.
  bool BlocksWrites() const { return blocks_writes_.load(std::memory_order_acquire); }
  bool IsFatal() const { return is_fatal_.load(std::memory_order_acquire); }
  // OK, or the current error.
  Status Get() const;
  // Nothing more may be appended to the current log.
  bool NeedsNewLog() const { return needs_new_log_.load(std::memory_order_acquire); }
  uint64_t raised_count() const { return raised_count_.load(std::memory_order_relaxed); }

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  Status error_ GUARDED_BY(mutex_);
  std::atomic<bool> blocks_writes_{false};
  std::atomic<bool> needs_new_log_{false};
  std::atomic<bool> is_fatal_{false};
  std::atomic<uint64_t> raised_count_{0};
};

}  // namespace ashlar
