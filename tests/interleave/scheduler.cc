// SPDX-License-Identifier: Apache-2.0
//
// The exploration is a depth-first search without stored states. A run is determined by its
// choices: which thread continues at each point where several could. Each run repeats the choices
// of the run before, except for the last one that has another alternative, and from there on takes
// the first alternative, which is to continue with the running thread.
//
// The threads are real ones, so that thread-local state works as usual. They pass a token on to
// each other: each has a semaphore. They exist during all runs of an exploration; the first run
// warms them up (slots, caches) and is not counted.
#include "tests/interleave/scheduler.h"

#include <gtest/gtest.h>
#include <semaphore.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <thread>

#include "tests/interleave/interleave.h"

namespace ashlar::interleave {

namespace {
class Exploration;
}  // namespace

class Worker {
 public:
  enum class State : uint8_t { kIdle, kReady, kAsleep, kYielding, kEnded };
  struct Delayed {
    void* address;
    uint64_t value;
    int bytes;
  };

  Worker(Exploration* owner, int number) : owner(owner), number(number) { sem_init(&turn, 0, 0); }

  Exploration* const owner;
  const int number;
  sem_t turn;
  std::thread thread;
  const std::function<void()>* run = nullptr;  // null: end the thread
  const std::function<void()>* prepare = nullptr;
  State state = State::kIdle;
  const void* sleeps_on = nullptr;
  std::deque<Delayed> delayed;
  // The last load: see NoteLoad().
  const void* loaded_address = nullptr;
  uint64_t loaded_value = 0;
  int repeated_loads = 0;
  int ignored_yields = 0;  // since it last let other threads run
};

namespace {

constexpr uint64_t kMaxSteps = 200000;  // of one run; more is an endless loop

thread_local Worker* current = nullptr;

void Acquire(sem_t* semaphore) {
  while (sem_wait(semaphore) != 0) {
  }
}

class Exploration {
 public:
  explicit Exploration(const Limits& limits) : limits_(limits) { sem_init(&is_over_, 0, 0); }
  Outcome Run(const std::function<Scenario()>& make);

  void Fail(const std::string& what) {
    if (outcome_.failure.empty()) outcome_.failure = what + "\n" + DescribeSteps();
  }
  void NoteStep(const char* what, const void* address) {
    if (++step_count_ > kMaxSteps) Abandon("endless: " + std::to_string(kMaxSteps) + " steps");
    steps_.push_back({current->number, what, address});
    if (steps_.size() > kKeptSteps) steps_.pop_front();
  }

  // A point where another thread may continue instead of the running one, which could continue,
  // too.
  void Interrupt();
  // A point where the running thread cannot continue.
  void Leave();
  bool ChooseDelay() {
    if (!limits_.delays_stores || budget_ == 0) return false;
    if (Choose(2) == 0) return false;
    budget_--;
    return true;
  }
  bool IgnoresYields() const { return current->ignored_yields < limits_.ignored_yields; }
  void WakeYielding() {
    for (auto& worker : workers_) {
      if (worker.get() != current && worker->state == Worker::State::kYielding) {
        worker->state = Worker::State::kReady;
      }
    }
  }
  std::vector<std::unique_ptr<Worker>>& workers() { return workers_; }

 private:
  struct Choice {
    int taken;
    int count;
  };
  struct Step {
    int thread;
    const char* what;
    const void* address;
  };
  static constexpr size_t kKeptSteps = 160;

  void RunOnce(Scenario* scenario);
  bool ToNextRun();
  // Begins again with the first order, at most once for each thread.
  void StartOver();
  int Choose(int count);
  void HandTo(Worker* worker);
  Worker* ReadyOther(int index);
  int CountReadyOthers();
  [[noreturn]] void Abandon(const std::string& why);
  void StartWorkers(size_t count);
  void EndWorkers();
  std::string DescribeSteps() const;

  const Limits limits_;
  Outcome outcome_;
  std::vector<std::unique_ptr<Worker>> workers_;
  sem_t is_over_;  // of one run
  bool is_abandoned_ = false;
  std::vector<Choice> choices_;
  size_t next_choice_ = 0;
  bool is_warming_up_ = true;
  // A run differed from the one before although the choices were the same: it created something
  // that a thread keeps (for example its shard of an arena), which no later run will create again.
  bool is_surprised_ = false;
  size_t restarts_ = 0;
  int budget_ = 0;
  uint64_t step_count_ = 0;
  std::deque<Step> steps_;
};

Exploration* running = nullptr;  // for Require() outside the threads

void WorkerMain(Worker* worker) {
  current = worker;
  while (true) {
    Acquire(&worker->turn);
    if (worker->run == nullptr) return;
    if (*worker->prepare != nullptr) {
      current = nullptr;
      (*worker->prepare)();
      current = worker;
    }
    (*worker->run)();
    if (!worker->delayed.empty()) Point("end", nullptr);
    Drain();
    worker->state = Worker::State::kEnded;
    worker->owner->WakeYielding();
    worker->owner->Leave();
  }
}

Outcome Exploration::Run(const std::function<Scenario()>& make) {
  running = this;
  while (true) {
    // Not freed if the run is abandoned: its threads still use it.
    auto* scenario = new Scenario(make());
    if (workers_.empty()) StartWorkers(scenario->threads.size());
    RunOnce(scenario);
    if (is_abandoned_) break;
    if (scenario->check != nullptr) scenario->check();
    delete scenario;
    if (!outcome_.failure.empty()) break;
    if (is_warming_up_) {
      is_warming_up_ = false;
      continue;
    }
    if (is_surprised_) {
      is_surprised_ = false;
      StartOver();
      continue;
    }
    outcome_.interleavings++;
    if (!ToNextRun()) break;
    if (outcome_.interleavings == limits_.max_interleavings) {
      Fail("more than " + std::to_string(limits_.max_interleavings) + " interleavings");
      break;
    }
  }
  EndWorkers();
  running = nullptr;
  return outcome_;
}

void Exploration::RunOnce(Scenario* scenario) {
  next_choice_ = 0;
  budget_ = is_warming_up_ ? 0 : limits_.preemptions;
  step_count_ = 0;
  steps_.clear();
  for (size_t i = 0; i < workers_.size(); i++) {
    Worker* worker = workers_[i].get();
    worker->run = &scenario->threads[i];
    worker->prepare = &scenario->prepare;
    worker->state = Worker::State::kReady;
    worker->loaded_address = nullptr;
    worker->ignored_yields = 0;
  }
  const int first = Choose(static_cast<int>(workers_.size()));
  sem_post(&workers_[static_cast<size_t>(first)]->turn);
  Acquire(&is_over_);
}

void Exploration::StartOver() {
  if (++restarts_ > workers_.size()) {
    std::fprintf(stderr, "interleave: the scenario does not repeat itself\n");
    std::abort();
  }
  choices_.clear();
  outcome_.interleavings = 0;
}

bool Exploration::ToNextRun() {
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) {
    choices_.pop_back();
  }
  if (choices_.empty()) return false;
  choices_.back().taken++;
  return true;
}

int Exploration::Choose(int count) {
  if (count == 1 || is_warming_up_ || is_surprised_) return 0;
  if (next_choice_ == choices_.size()) choices_.push_back({0, count});
  const Choice& choice = choices_[next_choice_++];
  if (choice.count != count) {
    is_surprised_ = true;
    budget_ = 0;
    return 0;
  }
  return choice.taken;
}

int Exploration::CountReadyOthers() {
  int count = 0;
  for (auto& worker : workers_) {
    count += worker.get() != current && worker->state == Worker::State::kReady;
  }
  return count;
}

Worker* Exploration::ReadyOther(int index) {
  for (auto& worker : workers_) {
    if (worker.get() == current || worker->state != Worker::State::kReady) continue;
    if (index-- == 0) return worker.get();
  }
  return nullptr;
}

void Exploration::HandTo(Worker* worker) {
  worker->loaded_address = nullptr;
  Worker* const self = current;
  self->ignored_yields = 0;
  const bool has_ended = self->state == Worker::State::kEnded;
  sem_post(&worker->turn);
  if (!has_ended) Acquire(&self->turn);
}

void Exploration::Interrupt() {
  if (budget_ == 0 || (limits_.interruptible >> current->number & 1) == 0) return;
  const int others = CountReadyOthers();
  if (others == 0) return;
  const int choice = Choose(1 + others);
  if (choice == 0) return;
  budget_--;
  HandTo(ReadyOther(choice - 1));
}

void Exploration::Leave() {
  int others = CountReadyOthers();
  if (others == 0) {
    // Store buffers empty themselves after some time, and threads that yielded may continue.
    DrainAll();
    for (auto& worker : workers_) {
      if (worker->state == Worker::State::kYielding) worker->state = Worker::State::kReady;
    }
    if (current->state == Worker::State::kReady) return;  // the thread itself
    others = CountReadyOthers();
  }
  if (others > 0) {
    HandTo(ReadyOther(Choose(others)));
    return;
  }
  for (auto& worker : workers_) {
    if (worker->state != Worker::State::kEnded) Abandon("deadlock: no thread can continue");
  }
  sem_post(&is_over_);
}

// The threads of this run stay here forever.
void Exploration::Abandon(const std::string& why) {
  std::string asleep;
  for (auto& worker : workers_) {
    if (worker->state == Worker::State::kAsleep) {
      asleep += "; thread " + std::to_string(worker->number) + " sleeps";
    }
  }
  Fail(why + asleep);
  is_abandoned_ = true;
  sem_post(&is_over_);
  while (true) Acquire(&current->turn);
}

void Exploration::StartWorkers(size_t count) {
  for (size_t i = 0; i < count; i++) {
    workers_.push_back(std::make_unique<Worker>(this, static_cast<int>(i)));
    workers_.back()->thread = std::thread(WorkerMain, workers_.back().get());
  }
}

void Exploration::EndWorkers() {
  for (auto& worker : workers_) {
    if (is_abandoned_) {
      worker->thread.detach();
      static_cast<void>(worker.release());
      continue;
    }
    worker->run = nullptr;
    sem_post(&worker->turn);
    worker->thread.join();
  }
}

std::string Exploration::DescribeSteps() const {
  std::string text = "the last steps:\n";
  char line[96];
  for (const Step& step : steps_) {
    std::snprintf(line, sizeof(line), "  %*sthread %d: %s %p\n", 4 * step.thread, "", step.thread,
                  step.what, step.address);
    text += line;
  }
  return text;
}

void StoreNow(const Worker::Delayed& store) {
  switch (store.bytes) {
    case 1: return __atomic_store_n(static_cast<uint8_t*>(store.address), store.value, 5);
    case 2: return __atomic_store_n(static_cast<uint16_t*>(store.address), store.value, 5);
    case 4: return __atomic_store_n(static_cast<uint32_t*>(store.address), store.value, 5);
    default: return __atomic_store_n(static_cast<uint64_t*>(store.address), store.value, 5);
  }
}

void DrainOf(Worker* worker) {
  if (worker->delayed.empty()) return;
  for (const Worker::Delayed& store : worker->delayed) StoreNow(store);
  worker->delayed.clear();
  worker->owner->WakeYielding();
}

}  // namespace

Worker* Current() { return current; }

void Point(const char* what, const void* address) {
  current->owner->NoteStep(what, address);
  current->owner->Interrupt();
}

void NoteChange() {
  current->loaded_address = nullptr;
  current->owner->WakeYielding();
}

void NoteLoad(const void* address, uint64_t value) {
  constexpr int kLoadsBeforeSleep = 2;
  const bool is_repeated = current->loaded_address == address && current->loaded_value == value;
  current->repeated_loads = is_repeated ? current->repeated_loads + 1 : 0;
  if (current->repeated_loads >= kLoadsBeforeSleep) {
    current->owner->NoteStep("loads again", address);
    return;
  }
  Point("load", address);
  current->loaded_address = address;
  current->loaded_value = value;
}

void Sleep(const char* what, const void* address) {
  current->owner->NoteStep(what, address);
  current->state = Worker::State::kAsleep;
  current->sleeps_on = address;
  current->owner->Leave();
}

int Wake(const void* address, int count) {
  int woken = 0;
  for (auto& worker : current->owner->workers()) {
    if (woken == count) break;
    if (worker->state != Worker::State::kAsleep || worker->sleeps_on != address) continue;
    worker->state = Worker::State::kReady;
    woken++;
  }
  return woken;
}

void Yield() {
  if (current->owner->IgnoresYields()) {
    current->ignored_yields++;
    return Point("does not yield", nullptr);
  }
  current->owner->NoteStep("yields", nullptr);
  current->state = Worker::State::kYielding;
  current->owner->Leave();
  current->state = Worker::State::kReady;
}

bool DelaysStore() { return !current->delayed.empty() || current->owner->ChooseDelay(); }

void DelayStore(void* address, uint64_t value, int bytes) {
  current->owner->NoteStep("delays a store to", address);
  current->delayed.push_back({address, value, bytes});
}

bool FindDelayed(const void* address, uint64_t* value) {
  for (auto store = current->delayed.rbegin(); store != current->delayed.rend(); ++store) {
    if (store->address != address) continue;
    *value = store->value;
    return true;
  }
  return false;
}

void Drain() { DrainOf(current); }

void DrainAll() {
  for (auto& worker : current->owner->workers()) DrainOf(worker.get());
}

Outcome Explore(const Limits& limits, const std::function<Scenario()>& make) {
  // Abandoned threads may still use it.
  auto* exploration = new Exploration(limits);
  Outcome outcome = exploration->Run(make);
  return outcome;
}

void Require(bool holds, const char* what) {
  if (!holds) running->Fail(what);
}

void ExpectAlways(const Limits& limits, const std::function<Scenario()>& make) {
  const Outcome outcome = Explore(limits, make);
  EXPECT_EQ(outcome.failure, "");
  std::printf("             %llu interleavings\n",
              static_cast<unsigned long long>(outcome.interleavings));
}

}  // namespace ashlar::interleave
