// SPDX-License-Identifier: Apache-2.0
//
// A simulated machine with one thread. Background jobs are queued; they run when the thread would
// otherwise sleep, and whenever the driver says so. The seed picks the next job, so the same seed
// and the same calls give the same run, file call by file call:
//
//   SimExecutor executor(seed);                     // from here on this thread runs the jobs
//   std::unique_ptr<Env> env = NewSimEnv(sim_fs, &executor);
//   ... open a database with env and use it; between calls: executor.RunSome() ...
//
// A wait that no queued job can end is a deadlock or a lost wake-up: it aborts the program. Timed
// waits and sleeps move the clock instead. Threads: one.
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

// Time of the simulation: a microsecond passes with every reading.
class SimClock : public SystemClock {
 public:
  const char* Name() const override { return "SimClock"; }
  uint64_t NowMicros() override { return ++elapsed_micros_ + offset_micros_; }
  uint64_t NowNanos() override { return ++elapsed_micros_ * 1000; }
  void SleepForMicroseconds(int micros) override { Advance(static_cast<uint64_t>(micros)); }
  bool TimedWait(port::CondVar* cv, std::chrono::microseconds deadline) override;
  Status GetCurrentTime(int64_t* unix_time) override;
  std::string TimeToString(uint64_t time) override { return std::to_string(time); }

  void Advance(uint64_t micros) { elapsed_micros_ += micros; }
  // Sets the time of day forward or back, as an operator would; intervals go on.
  void Jump(int64_t micros) { offset_micros_ += static_cast<uint64_t>(micros); }

 private:
  uint64_t elapsed_micros_ = 0;
  uint64_t offset_micros_ = uint64_t{1700000000} * 1000000;
};

class SimExecutor final : public SleepReplacement {
 public:
  explicit SimExecutor(uint64_t seed);
  // Drops what is queued.
  ~SimExecutor() override;

  // Runs a few queued jobs, or none, as the seed has it.
  void RunSome();
  // Until nothing is queued.
  void RunAll();
  size_t queued() const { return jobs_.size() + threads_.size(); }

  bool RunInsteadOfSleep(uint64_t micros) override;

  // For SimEnv.
  struct Job {
    void (*function)(void*) = nullptr;
    void* arg = nullptr;
    void* tag = nullptr;
    void (*unschedule)(void*) = nullptr;
    Env::Priority priority = Env::LOW;
  };
  void Schedule(const Job& job) { jobs_.push_back(job); }
  int UnSchedule(void* tag, Env::Priority priority);
  void StartThread(void (*function)(void*), void* arg) { threads_.push_back({function, arg}); }
  const std::shared_ptr<SimClock>& clock() const { return clock_; }
  uint64_t NextRandom() { return random_.Next(); }

 private:
  bool RunOne();
  void RunFrom(std::deque<Job>* queue);

  Random64 random_;
  const std::shared_ptr<SimClock> clock_ = std::make_shared<SimClock>();
  SleepReplacement* const outer_;
  std::deque<Job> jobs_;
  std::deque<Job> threads_;
  // A job that waits may need its own threads, but no other job: that might wait for this one,
  // which cannot go on below it.
  int jobs_on_stack_ = 0;
};

// `executor` outlives the Env; several may share it.
std::unique_ptr<Env> NewSimEnv(const std::shared_ptr<FileSystem>& fs, SimExecutor* executor);

}  // namespace ashlar
