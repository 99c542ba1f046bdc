// SPDX-License-Identifier: Apache-2.0
//
// The clock is only read if a deadline was set.
#include "env/io_deadline.h"

#include <cassert>

#include "ashlar/options.h"
#include "ashlar/system_clock.h"
#include "util/text/str_cat.h"

namespace ashlar {

IoDeadline::IoDeadline(const ReadOptions& options, SystemClock* clock)
    : is_set_(options.deadline.count() != 0 || options.io_timeout.count() != 0 ||
              options.rate_limiter_priority != Env::IO_TOTAL),
      priority_(options.rate_limiter_priority),
      deadline_(options.deadline),
      timeout_(options.io_timeout) {
  // Without a limit the clock is not needed, and the default one is not looked up.
  if (is_set_) clock_ = clock != nullptr ? clock : SystemClock::Default().get();
}

Status IoDeadline::Check() const {
  IOOptions unused;
  return Prepare(&unused);
}

Status IoDeadline::PrepareSet(IOOptions* io) const {
  assert(io != nullptr);
  assert(clock_ != nullptr);
  io->timeout = timeout_;
  io->rate_limiter_priority = priority_;
  if (deadline_.count() == 0) return Status::OK();
  const auto now = std::chrono::microseconds(clock_->NowMicros());
  if (now >= deadline_) {
    return Status::TimedOut(StrCat("ReadOptions::deadline passed ", (now - deadline_).count(),
                                   " microseconds ago, and a file is to be read"));
  }
  const auto left = deadline_ - now;
  // The file system gets the shorter of the two limits.
  if (timeout_.count() == 0 || left < timeout_) io->timeout = left;
  return Status::OK();
}

}  // namespace ashlar
