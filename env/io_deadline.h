// SPDX-License-Identifier: Apache-2.0
//
// IoDeadline says until when one operation may go to files (ReadOptions::deadline) and how long one
// read may take (io_timeout). It is asked before each read: too late is TimedOut, else the file
// system is told how long the read may take. A read that is under way is only cut short where the
// file system does that. What is in memory is found at any time.
//
// A small value. Threads: const functions from any thread.
#pragma once

#include <chrono>

#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

class SystemClock;
struct ReadOptions;

// Also the priority at which the reads are paced: the third thing that a user says of them.
class IoDeadline {
 public:
  IoDeadline() = default;  // never
  // `clock`, of which the deadline is a time, outlives this. Null: the default one.
  IoDeadline(const ReadOptions& options, SystemClock* clock);

  // OK and what the next read is told; TimedOut if there may be none any more.
  // Costs nothing but a branch where nothing was asked for.
  Status Prepare(IOOptions* io) const {
    if (!is_set_) [[likely]]
      return Status::OK();
    return PrepareSet(io);
  }
  // The same for who reads nothing itself.
  Status Check() const;

 private:
  Status PrepareSet(IOOptions* io) const;

  bool is_set_ = false;
  Env::IOPriority priority_ = Env::IO_TOTAL;  // IO_TOTAL = not paced
  std::chrono::microseconds deadline_{0};     // since the epoch of the clock; 0 = none
  std::chrono::microseconds timeout_{0};      // of one read; 0 = none
  SystemClock* clock_ = nullptr;
};

}  // namespace ashlar
