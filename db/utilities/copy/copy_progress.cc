// SPDX-License-Identifier: Apache-2.0
//
// The thread whose bytes complete an interval calls the callback.
#include "db/utilities/copy/copy_progress.h"

#include <cassert>
#include <exception>

#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The callback is called without the mutex, and by whichever thread completes an interval.
Status CopyProgress::Add(uint64_t bytes) {
  if (!callback_) return Status::OK();
  {
    MutexLock lock(&mutex_);
    bytes_since_call_ += bytes;
    if (bytes_since_call_ < interval_bytes_) return Status::OK();
    // Bytes that are copied during the call belong to the next interval.
    bytes_since_call_ = 0;
    // At most one thread is in the callback. Others wait here, which also slows the copies down to
    // what the callback can follow.
    while (is_calling_) is_over_.Wait();
    is_calling_ = true;
  }
  const Status status = CallUser("progress_callback", callback_);
  MutexLock lock(&mutex_);
  assert(is_calling_);
  is_calling_ = false;
  is_over_.Signal();
  return status;
}

Status CallUser(const char* name, const std::function<void()>& function) {
  assert(name != nullptr);
  assert(function != nullptr);
  // Code of the program may throw, but an exception must not end a thread of the pool.
  try {
    function();
  } catch (const std::exception& thrown) {
    return Status::Aborted(StrCat(name, " has thrown"), thrown.what());
  } catch (...) {
    return Status::Aborted(StrCat(name, " has thrown"));
  }
  return Status::OK();
}

}  // namespace ashlar
