// SPDX-License-Identifier: Apache-2.0
//
// Where a thread may do file I/O: anywhere except
//
//   inside an EpochGuard  one slow read would delay the freeing of memory in the whole process
//                         (util/threads/epoch.h)
//   under a DB mutex      it would delay the writers, jobs and calls of the database. Exception:
//                         the thread that opens a database, because no other thread has it yet
//
// Builds with assertions abort at the first violation; the functions through which the engine uses
// files call AssertIoAllowed().
#pragma once

#include <cassert>

#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {

// While an object of this class exists, its thread may do file I/O under a DB mutex. Objects may be
// nested.
class IoUnderDbMutex {
 public:
  IoUnderDbMutex() { ++count; }
  ~IoUnderDbMutex() { --count; }
  IoUnderDbMutex(const IoUnderDbMutex&) = delete;
  IoUnderDbMutex& operator=(const IoUnderDbMutex&) = delete;

  static bool IsAllowed() { return count > 0; }

 private:
  // How many objects of this class the thread has.
  static inline thread_local constinit int count = 0;
};

// Called before the engine uses a file. Compiled away without assertions.
inline void AssertIoAllowed() {
  assert(!InEpoch() && "file I/O inside an EpochGuard");
  assert((IoUnderDbMutex::IsAllowed() || !HoldsRank(LockRank::kDb)) && "file I/O under a DB mutex");
}

}  // namespace ashlar
