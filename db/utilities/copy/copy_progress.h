// SPDX-License-Identifier: Apache-2.0
//
// CopyProgress calls a program's callback each time so many bytes were copied, by whichever of the
// copying threads. Calls come one at a time, without a lock held. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "ashlar/status.h"
#include "util/threads/mutex.h"

namespace ashlar {

class CopyProgress {
 public:
  // A call each `interval_bytes` bytes; 0 = at each Add().
  CopyProgress(std::function<void()> callback, uint64_t interval_bytes)
      : callback_(std::move(callback)), interval_bytes_(interval_bytes) {}
  CopyProgress(const CopyProgress&) = delete;
  CopyProgress& operator=(const CopyProgress&) = delete;

  // Aborted if the callback has thrown.
  Status Add(uint64_t bytes);

 private:
  const std::function<void()> callback_;
  const uint64_t interval_bytes_;
  Mutex mutex_{LockRank::kUtility};
  CondVar is_over_{&mutex_};
  uint64_t bytes_since_call_ GUARDED_BY(mutex_) = 0;
  bool is_calling_ GUARDED_BY(mutex_) = false;
};

// Calls a program's function: Aborted, naming it, if it throws.
Status CallUser(const char* name, const std::function<void()>& function);

}  // namespace ashlar
