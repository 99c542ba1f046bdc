// SPDX-License-Identifier: Apache-2.0
//
// TimeSampler notes at intervals how far the sequence numbers have come, while a family keeps the
// times of its writes, and tells the pickers of compactions which data has grown old.
//
// Threads: any, without the DB mutex; the timer's thread takes the samples.
#pragma once

#include <cassert>
#include <cstdint>

#include "db/jobs/scheduler.h"
#include "db/state/db_core.h"
#include "env/periodic_timer.h"

namespace ashlar {

// Owned by the database, and stopped before the DbCore is dismantled.
class TimeSampler final : private PeriodicTask {
 public:
  // The arguments outlive the object.
  TimeSampler(DbCore* core, Scheduler* scheduler) : core_(core), scheduler_(scheduler) {
    assert(core != nullptr);
    assert(scheduler != nullptr);
  }
  ~TimeSampler() override { Stop(); }
  TimeSampler(const TimeSampler&) = delete;
  TimeSampler& operator=(const TimeSampler&) = delete;

  // Learns the times of numbers that earlier processes have given, from tables of families that
  // keep data off their last level. Called once, before Start().
  void Learn() EXCLUDES(db_mutex);
  // Takes a sample, and from now on samples at the interval that the options of all families ask
  // for; none, if no family keeps times. Called when the database is open, and whenever families or
  // their options have changed. Does nothing after Stop().
  void Start() EXCLUDES(db_mutex);
  // For good: no sample is taken after it returns.
  void Stop() EXCLUDES(db_mutex);

 private:
  void RunPeriodically() override EXCLUDES(db_mutex);
  void SampleLocked() REQUIRES(db_mutex);

  DbCore* const core_;
  Scheduler* const scheduler_;
  bool is_stopped_ GUARDED_BY(db_mutex) = false;
};

}  // namespace ashlar
