// SPDX-License-Identifier: Apache-2.0
//
// The executor is a queue of jobs. They run on the stack of the thread that would otherwise sleep.
#include "env/sim/sim_env.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "env/env_adaptors.h"

namespace ashlar {

bool SimClock::TimedWait(port::CondVar*, std::chrono::microseconds deadline) {
  // Reading the clock advances it, too, so that loops that wait for a time end.
  const uint64_t now = NowMicros();
  const auto until = static_cast<uint64_t>(deadline.count());
  if (now < until) Advance(until - now);
  return true;
}

Status SimClock::GetCurrentTime(int64_t* unix_time) {
  assert(unix_time != nullptr);
  *unix_time = static_cast<int64_t>(NowMicros() / 1000000);
  return Status::OK();
}

SimExecutor::SimExecutor(uint64_t seed) : random_(seed), outer_(SetSleepReplacement(this)) {}

SimExecutor::~SimExecutor() { SetSleepReplacement(outer_); }

void SimExecutor::RunSome() {
  for (uint64_t n = random_.Uniform(3); n > 0; --n) RunOne();
}

void SimExecutor::RunAll() {
  while (RunOne()) {
  }
}

bool SimExecutor::RunOne() {
  // While a job is on the stack only threads may run; see jobs_on_stack_.
  if (!threads_.empty() && (jobs_.empty() || jobs_on_stack_ > 0 || random_.OneIn(2))) {
    RunFrom(&threads_);
    return true;
  }
  if (jobs_.empty() || jobs_on_stack_ > 0) return false;
  jobs_on_stack_++;
  RunFrom(&jobs_);
  assert(jobs_on_stack_ > 0);
  jobs_on_stack_--;
  return true;
}

void SimExecutor::RunFrom(std::deque<Job>* queue) {
  assert(queue != nullptr);
  assert(!queue->empty());
  const auto it = queue->begin() + static_cast<ptrdiff_t>(random_.Uniform(queue->size()));
  // Removed before it runs: it may queue others, or wait and so run others.
  const Job job = *it;
  queue->erase(it);
  assert(job.function != nullptr);
  job.function(job.arg);
}

bool SimExecutor::RunInsteadOfSleep(uint64_t micros) {
  if (RunOne()) return false;
  if (micros == UINT64_MAX) {
    std::fprintf(stderr,
                 "simulation: a wait that nothing can end (%d jobs on the stack, %zu queued)\n",
                 jobs_on_stack_, queued());
    std::abort();
  }
  clock_->Advance(micros);
  return true;
}

int SimExecutor::UnSchedule(void* tag, Env::Priority priority) {
  // The functions are called after the queue is in order, because they may schedule again.
  std::deque<Job> kept;
  std::vector<Job> taken;
  for (const Job& job : jobs_) {
    if (job.tag == tag && job.priority == priority)
      taken.push_back(job);
    else
      kept.push_back(job);
  }
  jobs_.swap(kept);
  for (const Job& job : taken) {
    if (job.unschedule != nullptr) job.unschedule(job.arg);
  }
  return static_cast<int>(taken.size());
}

namespace {

// Files of `fs`, time and threads of the executor. Names and ids come from the seed.
class SimEnv final : public CompositeEnv {
 public:
  SimEnv(const std::shared_ptr<FileSystem>& fs, SimExecutor* executor)
      : CompositeEnv(fs, executor->clock()), executor_(executor) {
    assert(executor != nullptr);
  }

  const char* Name() const override { return "SimEnv"; }

  void Schedule(void (*function)(void*), void* arg, Priority priority, void* tag,
                void (*unschedule)(void*)) override {
    executor_->Schedule({function, arg, tag, unschedule, priority});
  }
  int UnSchedule(void* tag, Priority priority) override {
    return executor_->UnSchedule(tag, priority);
  }
  void StartThread(void (*function)(void*), void* arg) override {
    executor_->StartThread(function, arg);
  }
  void WaitForJoin() override { executor_->RunAll(); }
  void SetBackgroundThreads(int number, Priority priority) override {
    assert(priority < Priority::TOTAL);
    threads_[priority] = number;
  }
  int GetBackgroundThreads(Priority priority) override {
    assert(priority < Priority::TOTAL);
    return threads_[priority];
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority priority) override {
    threads_[priority] = std::max(threads_[priority], number);
  }
  Status GetHostName(char* name, uint64_t size) override {
    std::snprintf(name, size, "simulation");
    return Status::OK();
  }
  std::string GenerateUniqueId() override {
    char text[40];
    std::snprintf(text, sizeof(text), "%08x-%04x-4%03x-8%03x-%012llx", Bits(32), Bits(16), Bits(12),
                  Bits(12), static_cast<unsigned long long>(executor_->NextRandom() >> 16));
    return text;
  }

 private:
  unsigned Bits(unsigned count) {
    assert(count > 0);
    assert(count <= 32);
    return static_cast<unsigned>(executor_->NextRandom() >> (64 - count));
  }

  SimExecutor* const executor_;
  int threads_[Priority::TOTAL] = {};
};

}  // namespace

std::unique_ptr<Env> NewSimEnv(const std::shared_ptr<FileSystem>& fs, SimExecutor* executor) {
  return std::make_unique<SimEnv>(fs, executor);
}

}  // namespace ashlar
