// SPDX-License-Identifier: Apache-2.0
//
// The exploration is a depth-first walk without stored states. A run is fixed by its choices: who
// goes on at each point where that is open. Each run repeats the choices of the one before except
// for the last that has an alternative left, and takes the first alternative from there on: going
// on with the thread that runs.
//
// The threads are real ones, so that thread-local state is what it is in life. They hand each other
// a token: a semaphore each. They live through all runs of an exploration; the first run warms
// them up (slots, caches) and is not counted.
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
  // The last look: see NoteLoad().
  const void* looked_at = nullptr;
  uint64_t looked_value = 0;
  int looks = 0;
  int yields_passed_over = 0;  // since it last let others run
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

  // Where another thread may go on instead of the running one, which could go on too.
  void Interrupt();
  // Where the running thread cannot go on.
  void Leave();
  bool ChooseDelay() {
    if (!limits_.delays_stores || budget_ == 0) return false;
    if (Choose(2) == 0) return false;
    budget_--;
    return true;
  }
  bool PassesOverYields() const { return current->yields_passed_over < limits_.yields_passed_over; }
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
  // From the first order, at most once for each thread.
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
  // A run took another way than the one before it under the same choices: it made something that a
  // thread keeps (its shard of an arena, say), which no later run will make again.
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
    // Never freed if the run is abandoned: its threads still use it.
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
    worker->looked_at = nullptr;
    worker->yields_passed_over = 0;
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
  worker->looked_at = nullptr;
  Worker* const self = current;
  self->yields_passed_over = 0;
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
    // Buffers empty themselves in time; and whoever yielded may as well go on.
    DrainAll();
    for (auto& worker : workers_) {
      if (worker->state == Worker::State::kYielding) worker->state = Worker::State::kReady;
    }
    if (current->state == Worker::State::kReady) return;  // itself
    others = CountReadyOthers();
  }
  if (others > 0) {
    HandTo(ReadyOther(Choose(others)));
    return;
  }
  for (auto& worker : workers_) {
    if (worker->state != Worker::State::kEnded) Abandon("deadlock: nobody can go on");
  }
  sem_post(&is_over_);
}

// The threads of this run stay where they are for ever.
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
  current->looked_at = nullptr;
  current->owner->WakeYielding();
}

void NoteLoad(const void* address, uint64_t value) {
  constexpr int kLooks = 2;
  const bool is_repeated = current->looked_at == address && current->looked_value == value;
  current->looks = is_repeated ? current->looks + 1 : 0;
  if (current->looks >= kLooks) {
    current->owner->NoteStep("looks again at", address);
    return;
  }
  Point("load", address);
  current->looked_at = address;
  current->looked_value = value;
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
  if (current->owner->PassesOverYields()) {
    current->yields_passed_over++;
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
  // Abandoned threads may still look at it.
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
