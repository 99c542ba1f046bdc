// SPDX-License-Identifier: Apache-2.0
//
// Where a thread may do file I/O: anywhere but
//
//   inside an EpochGuard     one slow read would hold up the freeing of memory in the whole process
//                            (util/threads/epoch.h)
//   under a DB mutex         it would hold up the writers, jobs and calls of the database; only who
//                            opens one may, as nobody else has it yet
//
// Builds with assertions stop at the first breach; the functions through which the engine reaches
// files call AssertIoAllowed().
#pragma once

#include <cassert>

#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {

// While one lives, its thread may do file I/O under a DB mutex. They nest.
class IoUnderDbMutex {
 public:
  IoUnderDbMutex() { ++count; }
  ~IoUnderDbMutex() { --count; }
  IoUnderDbMutex(const IoUnderDbMutex&) = delete;
  IoUnderDbMutex& operator=(const IoUnderDbMutex&) = delete;

  static bool IsAllowed() { return count > 0; }

 private:
  static inline thread_local constinit int count = 0;
};

inline void AssertIoAllowed() {
  assert(!InEpoch() && "file I/O inside an EpochGuard");
  assert((IoUnderDbMutex::IsAllowed() || !HoldsRank(LockRank::kDb)) && "file I/O under a DB mutex");
}

}  // namespace ashlar
