// SPDX-License-Identifier: Apache-2.0
//
// IoDeadline contains the time until which one operation may read files (ReadOptions::deadline) and
// the time that one read may take (io_timeout). It is checked before each read: TimedOut if it is
// too late, else the file system gets the time that is left for the read. A read that is running is
// only cut short if the file system does that. Data in memory is found at any time.
//
// It is a small value. Threads: const functions from any thread.
#pragma once

#include <chrono>

#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

class SystemClock;
struct ReadOptions;

// Also contains the priority for the rate limiting of the reads, which the user sets in the same
// options.
class IoDeadline {
 public:
  IoDeadline() = default;  // no deadline
  // `clock`, to whose time the deadline refers, outlives this object. Null: the default clock.
  IoDeadline(const ReadOptions& options, SystemClock* clock);

  // Fills `io` for the next read. TimedOut if the deadline has passed. Costs only a branch if
  // nothing was set.
  Status Prepare(IOOptions* io) const {
    if (!is_set_) [[likely]]
      return Status::OK();
    return PrepareSet(io);
  }
  // Checks the deadline for a caller that does not read files itself.
  Status Check() const;

 private:
  // Called only if something was set.
  Status PrepareSet(IOOptions* io) const;

  bool is_set_ = false;
  Env::IOPriority priority_ = Env::IO_TOTAL;  // IO_TOTAL: no rate limit
  std::chrono::microseconds deadline_{0};     // in time of the clock; 0: none
  std::chrono::microseconds timeout_{0};      // for one read; 0: none
  SystemClock* clock_ = nullptr;
};

}  // namespace ashlar
