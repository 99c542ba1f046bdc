// SPDX-License-Identifier: Apache-2.0
//
// An error in creating a log ahead is not reported: the switch that then creates the log itself
// meets the same error, or it has gone away.
#include "db/state/log_ahead.h"

#include <cassert>
#include <new>
#include <string>
#include <utility>

#include "util/result.h"
#include "util/scope_exit.h"
#include "util/statistics/statistics.h"
#include "util/threads/simulated.h"

namespace ashlar {
namespace {

// The mapped log also reserves its space in this pool: flushes and deletions do not delay it there.
constexpr Env::Priority kPriority = Env::Priority::USER;

}  // namespace

LogAhead::~LogAhead() { assert(jobs_ == 0 && ready_ == nullptr); }

// An error in scheduling is not reported: the next switch creates the log itself.
void LogAhead::RequestLocked() {
  is_wanted_.store(false, std::memory_order_relaxed);
  if (state_ != State::kNone || is_stopped_ || IsSimulated()) return;
  if (!core_->wals->current_has_records() || core_->errors.BlocksWrites()) return;
  state_ = State::kQueued;
  jobs_++;
  try {
    core_->environment.env->Schedule(&LogAhead::Main, this, kPriority, /*tag=*/this);
  } catch (const std::bad_alloc&) {
    state_ = State::kNone;
    jobs_--;
  }
}

// The main function of the background thread.
void LogAhead::Run() {
  MutexLock lock(&core_->mutex);
  // The request may have been withdrawn and made again. Then another job is queued as well, and
  // it will find nothing to do.
  if (state_ == State::kQueued && !is_stopped_) MakeLocked();
  assert(jobs_ > 0);
  jobs_--;
  changed_.SignalAll();
}

// Releases the mutex while the file is created.
void LogAhead::MakeLocked() {
  assert(state_ == State::kQueued);
  assert(ready_ == nullptr);
  state_ = State::kMaking;
  const FileNumber number = core_->versions->NewFileNumber();
  std::unique_ptr<WalSink> made;
  {
    MutexUnlock unlock(&core_->mutex);
    try {
      auto log = core_->wals->CreateAhead(number);
      if (log.ok()) made = log.Take();
    } catch (const std::bad_alloc&) {
      // The next switch tries again.
    }
  }
  if (made == nullptr) RecordTick(core_->services.statistics.get(), WAL_PRECREATE_FAILED);
  state_ = made == nullptr ? State::kNone : State::kReady;
  ready_ = std::move(made);
}

// A request that no thread has begun is withdrawn: its job finds nothing to do.
std::unique_ptr<WalSink> LogAhead::TakeLocked() {
  Statistics* const statistics = core_->services.statistics.get();
  if (state_ == State::kMaking) {
    const uint64_t start = core_->environment.clock->NowMicros();
    AwaitMadeLocked();
    RecordTick(statistics, WAL_PRECREATE_WAITED);
    RecordTick(statistics, WAL_PRECREATE_WAIT_MICROS,
               core_->environment.clock->NowMicros() - start);
  }
  assert(state_ != State::kMaking);
  assert((state_ == State::kReady) == (ready_ != nullptr));
  RecordTick(statistics, ready_ != nullptr ? WAL_PRECREATE_HIT : WAL_PRECREATE_MISS);
  state_ = State::kNone;
  return std::move(ready_);
}

void LogAhead::AwaitMadeLocked() {
  while (state_ == State::kMaking) changed_.Wait();
}

// The log is empty, so that a crash before its file is deleted loses nothing. The mutex is released
// for the I/O; the state was reset before, so that no other thread can take the log meanwhile.
void LogAhead::DiscardLocked() {
  AwaitMadeLocked();
  assert((state_ == State::kReady) == (ready_ != nullptr));
  state_ = State::kNone;
  std::unique_ptr<WalSink> log = std::move(ready_);
  if (log == nullptr) return;
  MutexUnlock unlock(&core_->mutex);
  const std::string path = log->path();
  log.reset();
  IgnoreError(core_->environment.fs->DeleteFile(path, IOOptions(), nullptr),
              "it is empty, and the next opening deletes it");
}

// Jobs that wait in the Env are removed; a running one is waited for.
void LogAhead::Stop() {
  MutexLock lock(&core_->mutex);
  is_stopped_ = true;
  int unscheduled = 0;
  {
    MutexUnlock unlock(&core_->mutex);
    unscheduled = core_->environment.env->UnSchedule(/*tag=*/this, kPriority);
  }
  jobs_ -= unscheduled;
  while (jobs_ > 0) changed_.Wait();
  DiscardLocked();
}

}  // namespace ashlar
