// SPDX-License-Identifier: Apache-2.0
//
// ErrorRetries resumes a database automatically after an error that may go away: an error that the
// file system calls retryable, or a full disk that no SstFileManager watches. It makes an attempt
// every bgerror_resume_retry_interval, at most max_bgerror_resume_count times. For a full disk it
// first waits until there is space for the tables to be written, and it makes no attempt while
// background work is paused. After the last attempt, only DB::Resume() helps.
//
// Threads: any thread that does not hold the DB mutex. The timer's thread decides when to try; a
// thread of the high priority pool makes the attempt.
#pragma once

#include <cassert>

#include "db/jobs/error_recovery.h"
#include "db/state/db_core.h"
#include "env/periodic_timer.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ErrorRetries final : public AutomaticRecovery, private PeriodicTask {
 public:
  // Both outlive the object.
  ErrorRetries(DbCore* core, ErrorRecovery* recovery) : core_(core), recovery_(recovery) {
    assert(core != nullptr);
    assert(recovery != nullptr);
  }
  ~ErrorRetries() override { StopTrying(); }

  Answer Wants(const Status& error) override EXCLUDES(db_mutex);
  void Begin() override EXCLUDES(db_mutex);
  void StopTrying() override EXCLUDES(db_mutex);

 private:
  enum class Outcome : uint8_t {
    kGoesOn,     // another attempt may help
    kOver,       // a call has resumed, or something worse has come
    kRecovered,  // by this attempt
    kGivenUp,
  };

  void RunPeriodically() override;
  static void TryMain(void* retries) { static_cast<ErrorRetries*>(retries)->Try(); }
  void Try() EXCLUDES(db_mutex);
  Outcome TryOnce(const Status& error) EXCLUDES(db_mutex);
  // Returns whether listeners must be notified that the recovery has ended.
  bool EndsWith(Outcome outcome);
  void LeaveThread() EXCLUDES(db_mutex);
  int MostAttempts() const EXCLUDES(db_mutex);
  uint64_t IntervalMicros() const EXCLUDES(db_mutex);  // at least 1

  DbCore* const core_;
  ErrorRecovery* const recovery_;

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  bool is_trying_ GUARDED_BY(mutex_) = false;  // from Begin() until no further attempt is needed
  // Another error was raised during an attempt, which has perhaps not seen it.
  bool is_wanted_again_ GUARDED_BY(mutex_) = false;
  // An attempt is queued in the pool or runs. Until its thread leaves, only that thread sets the
  // timer.
  bool is_scheduled_ GUARDED_BY(mutex_) = false;
  bool is_stopped_ GUARDED_BY(mutex_) = false;  // never reset
  int calls_ GUARDED_BY(mutex_) = 0;            // threads in Begin() that are setting the timer
  int attempts_ GUARDED_BY(mutex_) = 0;         // since Begin()
};

}  // namespace ashlar
