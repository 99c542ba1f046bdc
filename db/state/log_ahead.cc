// SPDX-License-Identifier: Apache-2.0
//
// An error of making a log is told to nobody: the switch that then makes it itself meets the same
// one, or it has gone away.
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

// Where the mapped log takes its space ahead too: flushes and deletions keep nothing waiting there.
constexpr Env::Priority kPriority = Env::Priority::USER;

}  // namespace

LogAhead::~LogAhead() { assert(jobs_ == 0 && ready_ == nullptr); }

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

void LogAhead::Run() {
  MutexLock lock(&core_->mutex);
  // It may have been taken back, and asked for again: then another job is on its way, and makes
  // nothing.
  if (state_ == State::kQueued && !is_stopped_) MakeLocked();
  assert(jobs_ > 0);
  jobs_--;
  changed_.SignalAll();
}

void LogAhead::MakeLocked() {
  assert(state_ == State::kQueued && ready_ == nullptr);
  state_ = State::kMaking;
  const FileNumber number = core_->versions->NewFileNumber();
  std::unique_ptr<WalSink> made;
  {
    MutexUnlock unlock(&core_->mutex);
    try {
      auto log = core_->wals->CreateAhead(number);
      if (log.ok()) made = log.Take();
    } catch (const std::bad_alloc&) {
      // Whoever switches tries again.
    }
  }
  if (made == nullptr) RecordTick(core_->services.statistics.get(), WAL_PRECREATE_FAILED);
  state_ = made == nullptr ? State::kNone : State::kReady;
  ready_ = std::move(made);
}

std::unique_ptr<WalSink> LogAhead::TakeLocked() {
  Statistics* const statistics = core_->services.statistics.get();
  if (state_ == State::kMaking) {
    const uint64_t start = core_->environment.clock->NowMicros();
    AwaitMadeLocked();
    RecordTick(statistics, WAL_PRECREATE_WAITED);
    RecordTick(statistics, WAL_PRECREATE_WAIT_MICROS,
               core_->environment.clock->NowMicros() - start);
  }
  RecordTick(statistics, ready_ != nullptr ? WAL_PRECREATE_HIT : WAL_PRECREATE_MISS);
  state_ = State::kNone;
  return std::move(ready_);
}

void LogAhead::AwaitMadeLocked() {
  while (state_ == State::kMaking) changed_.Wait();
}

void LogAhead::DiscardLocked() {
  AwaitMadeLocked();
  state_ = State::kNone;
  std::unique_ptr<WalSink> log = std::move(ready_);
  if (log == nullptr) return;
  MutexUnlock unlock(&core_->mutex);
  const std::string path = log->path();
  log.reset();
  IgnoreError(core_->environment.fs->DeleteFile(path, IOOptions(), nullptr),
              "it is empty, and the next opening deletes it");
}

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
