// SPDX-License-Identifier: Apache-2.0
//
// The thread of the timer hands each attempt to the thread pool, because an attempt may write
// gigabytes. If an attempt takes longer than the interval, no second one starts.
#include "db/jobs/error_retries.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "db/jobs/short_jobs.h"
#include "db/jobs/space_recovery.h"
#include "db/state/notify_errors.h"
#include "env/info_log.h"
#include "util/statistics/statistics.h"
#include "util/status_flags.h"
#include "util/threads/simulated.h"

namespace ashlar {
namespace {

// Whether the error may disappear by itself, such as a full disk. Corruption does not, and neither
// does a limit that the user has set.
bool MayGoAway(const Status& error) {
  if (error.ok() || StatusFlags::SaysDataLoss(error) || error.IsIOFenced()) return false;
  return error.IsNoSpace() || (error.IsIOError() && StatusFlags::IsRetryable(error));
}

}  // namespace

// Read anew for each attempt, because SetDBOptions() may change it.
int ErrorRetries::MostAttempts() const {
  MutexLock lock(&core_->mutex);
  return core_->options->max_bgerror_resume_count;
}

// Whether attempts should be made for this error. If a listener leaves the recovery to
// DB::Resume(), Begin() is not called after this.
AutomaticRecovery::Answer ErrorRetries::Wants(const Status& error) {
  if (!MayGoAway(error) || MostAttempts() <= 0 || IsSimulated()) return Answer::kNo;
  if (core_->shutdown.is_background_cancelled()) return Answer::kNo;
  MutexLock lock(&mutex_);
  if (is_stopped_) return Answer::kNo;
  if (is_trying_) is_wanted_again_ = true;
  return is_trying_ ? Answer::kTriesAlready : Answer::kYes;
}

uint64_t ErrorRetries::IntervalMicros() const {
  MutexLock lock(&core_->mutex);
  return std::max<uint64_t>(core_->options->bgerror_resume_retry_interval, 1);
}

// Starts the timer. If an attempt is still running, the timer is left to its thread; see
// LeaveThread().
void ErrorRetries::Begin() {
  const uint64_t interval_micros = IntervalMicros();
  {
    MutexLock lock(&mutex_);
    if (is_trying_ || is_stopped_) return;
    is_trying_ = true;
    attempts_ = 0;
    if (is_scheduled_) return;
    // StopTrying() waits until this call has set the timer.
    calls_++;
  }
  if (!PeriodicTimer::Default()->Set(this, interval_micros)) {
    Warn(core_->services.info_log, "no thread to try again after an error; DB::Resume() is needed");
    LeaveToResume(core_);
  }
  MutexLock lock(&mutex_);
  assert(calls_ > 0);
  calls_--;
  changed_.SignalAll();
}

// Ends all attempts, at close. Waits for threads that are setting the timer and for a running
// attempt. Listeners get an end for each beginning, so a recovery that is cut off is reported as a
// shutdown.
void ErrorRetries::StopTrying() {
  bool was_trying = false;
  {
    MutexLock lock(&mutex_);
    was_trying = is_trying_ && !is_stopped_;
    is_stopped_ = true;
    while (calls_ > 0) changed_.Wait();
  }
  PeriodicTimer::Default()->Forget(this);
  const int unscheduled = UnScheduleShortJobs(core_->environment.env, this);
  {
    MutexLock lock(&mutex_);
    if (unscheduled > 0) is_scheduled_ = false;
    while (is_scheduled_) changed_.Wait();
  }
  PeriodicTimer::Default()->Forget(this);  // LeaveThread() may have set it once more
  const Status error = core_->errors.Get();
  if (!was_trying || error.ok()) return;
  NotifyRecoveryEnd(core_->services, error, Status::ShutdownInProgress());
}

// Called by the thread of the timer, which serves other databases too and must not be delayed.
void ErrorRetries::RunPeriodically() {
  {
    MutexLock lock(&mutex_);
    // The last attempt may have ended after the timer checked.
    if (is_stopped_ || is_scheduled_ || !is_trying_) return;
    is_scheduled_ = true;
  }
  ScheduleShortJob(core_->environment.env, &ErrorRetries::TryMain, this, this);
}

// One attempt, on a thread of the pool.
void ErrorRetries::Try() {
  {
    MutexLock lock(&mutex_);
    assert(is_scheduled_);
    is_wanted_again_ = false;
  }
  const Status error = core_->errors.Get();
  const Outcome outcome = TryOnce(error);
  const bool is_fatal = error.severity() >= Status::kFatalError;  // only reopening helps
  if (outcome == Outcome::kGivenUp || is_fatal) LeaveToResume(core_);
  // Listeners are notified last, because a listener may raise the next error.
  if (EndsWith(outcome)) {
    const bool is_recovered = outcome == Outcome::kRecovered;
    NotifyRecoveryEnd(core_->services, error,
                      is_recovered ? Status::OK() : Status::Aborted("Exceeded resume retry count"));
  }
  LeaveThread();
}

// Makes one attempt. An attempt that could not even begin is not counted.
ErrorRetries::Outcome ErrorRetries::TryOnce(const Status& error) {
  if (core_->shutdown.is_background_cancelled()) return Outcome::kGoesOn;
  if (!MayGoAway(error) || error.severity() >= Status::kFatalError) return Outcome::kOver;
  if (error.IsNoSpace() && !HasSpaceToRecover(core_)) return Outcome::kGoesOn;
  const std::optional<Status> tried = recovery_->RunUnasked(ErrorRecovery::Notify::kNobody);
  if (!tried.has_value()) return Outcome::kGoesOn;  // work is paused: not counted as an attempt
  const Status& status = *tried;
  int attempts = 0;
  {
    MutexLock lock(&mutex_);
    attempts = ++attempts_;
  }
  Statistics* const statistics = core_->services.statistics.get();
  RecordTick(statistics, ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT);
  if (!status.ok() && attempts < MostAttempts()) return Outcome::kGoesOn;
  if (status.ok()) RecordTick(statistics, ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
  RecordInHistogram(statistics, ERROR_HANDLER_AUTORESUME_RETRY_COUNT,
                    static_cast<uint64_t>(attempts));
  return status.ok() ? Outcome::kRecovered : Outcome::kGivenUp;
}

// Updates is_trying_ after an attempt. Returns whether listeners must hear of the end.
bool ErrorRetries::EndsWith(Outcome outcome) {
  MutexLock lock(&mutex_);
  assert(is_scheduled_);
  if (outcome == Outcome::kGoesOn) return false;
  // An error that was raised meanwhile is part of this recovery: attempts continue for it.
  if (!is_wanted_again_ || outcome == Outcome::kGivenUp) is_trying_ = false;
  return outcome != Outcome::kOver;
}

// Called before the thread of an attempt leaves. The timer is set without the lock, so the state
// may change meanwhile; the loop repeats until the timer agrees with is_trying_.
void ErrorRetries::LeaveThread() {
  const uint64_t interval_micros = IntervalMicros();
  bool is_set = true;  // because the timer has called this thread
  for (;;) {
    {
      MutexLock lock(&mutex_);
      if (is_set == is_trying_ || is_stopped_) {
        is_scheduled_ = false;
        changed_.SignalAll();
        return;
      }
      is_set = is_trying_;
    }
    PeriodicTimer::Default()->Set(this, is_set ? interval_micros : 0);
  }
}

}  // namespace ashlar
