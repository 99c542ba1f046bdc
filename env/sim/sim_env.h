// SPDX-License-Identifier: Apache-2.0
//
// A simulated machine with a single thread. Background jobs are queued. They run when the thread
// would otherwise sleep, and when the driver asks for it. The seed determines the next job, so that
// equal seeds and equal calls give equal runs, down to each file call:
//
//   SimExecutor executor(seed);                     // from here on this thread runs the jobs
//   std::unique_ptr<Env> env = NewSimEnv(sim_fs, &executor);
//   ... open a database with env and use it; between calls: executor.RunSome() ...
//
// A wait that no queued job can end is a deadlock or a lost wake-up, and aborts the program. Timed
// waits and sleeps advance the clock instead of waiting. Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/system_clock.h"
#include "util/random.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The simulated time. Each reading advances it by a microsecond.
class SimClock : public SystemClock {
 public:
  const char* Name() const override { return "SimClock"; }
  uint64_t NowMicros() override { return ++elapsed_micros_ + offset_micros_; }
  uint64_t NowNanos() override { return ++elapsed_micros_ * 1000; }
  void SleepForMicroseconds(int micros) override { Advance(static_cast<uint64_t>(micros)); }
  // Advances the clock to the deadline and reports a timeout, because no other thread could signal.
  bool TimedWait(port::CondVar* cv, std::chrono::microseconds deadline) override;
  Status GetCurrentTime(int64_t* unix_time) override;
  std::string TimeToString(uint64_t time) override { return std::to_string(time); }

  // Simulated sleep.
  void Advance(uint64_t micros) { elapsed_micros_ += micros; }
  // Moves the time of day forward or back, as an operator could. Intervals are not affected.
  void Jump(int64_t micros) { offset_micros_ += static_cast<uint64_t>(micros); }

 private:
  // The monotonic clock, in microseconds.
  uint64_t elapsed_micros_ = 0;
  // What the wall clock adds to the elapsed time: the start is in November 2023.
  uint64_t offset_micros_ = uint64_t{1700000000} * 1000000;
};

// The queue of the simulated machine. While it exists, waits and sleeps of this thread run jobs
// instead. Executors may nest; each restores the one that was there before.
class SimExecutor final : public SleepReplacement {
 public:
  explicit SimExecutor(uint64_t seed);
  // Queued jobs are dropped.
  ~SimExecutor() override;

  // Runs a few queued jobs, or none, depending on the seed.
  void RunSome();
  // Runs jobs until none is queued.
  void RunAll();
  // Jobs and started threads that have not begun.
  size_t queued() const { return jobs_.size() + threads_.size(); }

  // Runs one job and returns false, or advances the clock and returns true as a timeout. A wait
  // without limit that no job can end aborts the program.
  bool RunInsteadOfSleep(uint64_t micros) override;

  // A scheduled function, or one of StartThread() with the fields that it needs.
  // For SimEnv.
  struct Job {
    void (*function)(void*) = nullptr;
    void* arg = nullptr;
    void* tag = nullptr;
    void (*unschedule)(void*) = nullptr;
    Env::Priority priority = Env::LOW;
  };
  void Schedule(const Job& job) { jobs_.push_back(job); }
  // Removes the jobs with this tag and priority, calls their `unschedule` functions, and returns
  // their number.
  int UnSchedule(void* tag, Env::Priority priority);
  void StartThread(void (*function)(void*), void* arg) { threads_.push_back({function, arg}); }
  const std::shared_ptr<SimClock>& clock() const { return clock_; }
  uint64_t NextRandom() { return random_.Next(); }

 private:
  // Runs one job that may run now. Returns false if there is none.
  bool RunOne();
  // Removes a random job from the queue and runs it. The queue is not empty.
  void RunFrom(std::deque<Job>* queue);

  Random64 random_;
  const std::shared_ptr<SimClock> clock_ = std::make_shared<SimClock>();
  // The replacement of sleep before this object; may be null.
  SleepReplacement* const outer_;
  std::deque<Job> jobs_;
  std::deque<Job> threads_;
  // Number of jobs on the stack. While a job waits, the threads that it started may run, but no
  // other job may: that could wait for the first one, which cannot continue below it.
  int jobs_on_stack_ = 0;
};

// `executor` outlives the Env. Several Envs may share it.
std::unique_ptr<Env> NewSimEnv(const std::shared_ptr<FileSystem>& fs, SimExecutor* executor);

}  // namespace ashlar
