// SPDX-License-Identifier: Apache-2.0
//
// ConcurrentTaskLimiter limits how many compactions run at the same time in all column families and
// databases that share it (ColumnFamilyOptions::compaction_thread_limiter). Compactions that a call
// such as CompactRange() requests count, but do not wait. Thread safe.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/export.h"

namespace ashlar {

// A limit on running compactions. Created by NewConcurrentTaskLimiter().
class ASHLAR_EXPORT ConcurrentTaskLimiter {
 public:
  virtual ~ConcurrentTaskLimiter() {}

  virtual const std::string& GetName() const = 0;
  // Changes the limit: negative = no limit; 0 = no compaction starts. Running compactions are not
  // stopped.
  virtual void SetMaxOutstandingTask(int32_t limit) = 0;
  // Removes the limit.
  virtual void ResetMaxOutstandingTask() = 0;
  // Number of compactions that are running now.
  virtual int32_t GetOutstandingTask() const = 0;
};

// Creates a limiter with a name and an initial limit. The caller owns the result.
ASHLAR_EXPORT ConcurrentTaskLimiter* NewConcurrentTaskLimiter(const std::string& name,
                                                              int32_t limit);

}  // namespace ashlar
