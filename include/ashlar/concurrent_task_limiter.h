// SPDX-License-Identifier: Apache-2.0
//
// ConcurrentTaskLimiter: a limit on compactions that run at once, shared by column families or
// databases (ColumnFamilyOptions::compaction_thread_limiter). Calls such as CompactRange() count,
// but do not wait. Thread safe.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_EXPORT ConcurrentTaskLimiter {
 public:
  virtual ~ConcurrentTaskLimiter() {}

  virtual const std::string& GetName() const = 0;
  // Negative = no limit; 0 = nothing starts. Running tasks are not stopped.
  virtual void SetMaxOutstandingTask(int32_t limit) = 0;
  virtual void ResetMaxOutstandingTask() = 0;
  // Tasks running now.
  virtual int32_t GetOutstandingTask() const = 0;
};

// The caller owns the result.
ASHLAR_EXPORT ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name,
                                                              int32_t limit);

}  // namespace ashlar
