// SPDX-License-Identifier: Apache-2.0
//
// CopyProgress calls the program's progress callback after each interval of copied bytes. All
// copying threads count together. The callback is never called by two threads at the same time, and
// no lock is held during the call. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "ashlar/status.h"
#include "util/threads/mutex.h"

namespace ashlar {

class CopyProgress {
 public:
  // The callback may be empty. interval_bytes = 0: one call for each Add().
  CopyProgress(std::function<void()> callback, uint64_t interval_bytes)
      : callback_(std::move(callback)), interval_bytes_(interval_bytes) {}
  CopyProgress(const CopyProgress&) = delete;
  CopyProgress& operator=(const CopyProgress&) = delete;

  // Aborted if the callback throws.
  Status Add(uint64_t bytes);

 private:
  const std::function<void()> callback_;
  // Bytes between two calls, counted over all threads.
  const uint64_t interval_bytes_;
  Mutex mutex_{LockRank::kUtility};
  CondVar is_over_{&mutex_};
  // The bytes that all threads have copied since the last call of the callback began.
  uint64_t bytes_since_call_ GUARDED_BY(mutex_) = 0;
  // A thread is in the callback; others that completed an interval wait for is_over_.
  bool is_calling_ GUARDED_BY(mutex_) = false;
};

// Calls a function of the program. If it throws, returns Aborted with `name` in the message.
Status CallUser(const char* name, const std::function<void()>& function);

}  // namespace ashlar
