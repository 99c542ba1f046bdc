// SPDX-License-Identifier: Apache-2.0
//
// ErrorRetries resumes a database by itself after an error that may go away: what the file system
// calls retryable, and a full disk that nobody else watches. It tries every
// bgerror_resume_retry_interval, max_bgerror_resume_count times at most; a full disk not before
// there is space for what is to be written, and nothing while background work is paused. After the
// last attempt it is left to DB::Resume().
//
// Threads: any without the DB mutex. The timer says when; a thread of the high priority pool tries.
#pragma once

#include "db/jobs/error_recovery.h"
#include "db/state/db_core.h"
#include "env/periodic_timer.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ErrorRetries final : public AutomaticRecovery, private PeriodicTask {
 public:
  // Both outlive it.
  ErrorRetries(DbCore* core, ErrorRecovery* recovery) : core_(core), recovery_(recovery) {}
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
  // Whether listeners are to be told that it has ended.
  bool EndsWith(Outcome outcome);
  void LeaveToResume() EXCLUDES(db_mutex);
  void LeaveThread() EXCLUDES(db_mutex);
  int MostAttempts() const EXCLUDES(db_mutex);
  uint64_t IntervalMicros() const EXCLUDES(db_mutex);

  DbCore* const core_;
  ErrorRecovery* const recovery_;

  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  bool is_trying_ GUARDED_BY(mutex_) = false;  // from Begin() until there is nothing more to try
  // Another error came while one tried, which this attempt has not seen perhaps.
  bool is_wanted_again_ GUARDED_BY(mutex_) = false;
  // A thread has it, or will: until it leaves, the timer is that thread's to set.
  bool is_scheduled_ GUARDED_BY(mutex_) = false;
  bool is_stopped_ GUARDED_BY(mutex_) = false;  // for good
  int calls_ GUARDED_BY(mutex_) = 0;            // of Begin() that set the timer
  int attempts_ GUARDED_BY(mutex_) = 0;         // since Begin()
};

}  // namespace ashlar
