// SPDX-License-Identifier: Apache-2.0
//
// db_stress: many threads work on one database, while a file has the expected state of every key;
// both must agree, also after kill -9 and with changed options. --help explains it; crash_loop.py
// kills and restarts it.
//
// A run: the expected states are opened, the options are drawn from a number, the database is
// opened with them, and everything is verified. Then the threads work, and everything is verified
// again. The first contradiction ends the process with a message that begins with WRONG.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "tools/db_stress/worker.h"
#include "tools/lib/console.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

int64_t NowMillis() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Draws operations according to their weights, and those of --<flag>_one_in according to that.
class OperationDraw {
 public:
  explicit OperationDraw(const Settings& settings) {
    for (const Operation& operation : Operations()) {
      sum_ += WeightOf(settings, operation);
      ends_.push_back(sum_);
      const auto given = settings.one_in.find(operation.name);
      if (given == settings.one_in.end() || given->second == 0) continue;
      apart_.push_back({.operation = &operation, .one_in = given->second});
    }
  }
  uint64_t sum() const { return sum_; }
  const Operation& Draw(Random64* random) const {
    assert(random != nullptr);
    for (const Apart& apart : apart_) {
      if (random->Uniform(apart.one_in) == 0) return *apart.operation;
    }
    const uint64_t number = random->Uniform(sum_);
    const auto at = std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin();
    return Operations()[static_cast<size_t>(at)];
  }

 private:
  struct Apart {
    const Operation* operation = nullptr;
    uint64_t one_in = 0;
  };

  static uint64_t WeightOf(const Settings& settings, const Operation& operation) {
    if (settings.one_in.contains(operation.name)) return 0;
    const auto given = settings.weights.find(operation.name);
    return static_cast<uint64_t>(given != settings.weights.end() ? given->second
                                                                 : operation.weight);
  }

  // Sums of the weights up to each operation; a random number below the last one selects an
  // operation.
  std::vector<uint64_t> ends_;
  std::vector<Apart> apart_;
  uint64_t sum_ = 0;
};

// The working threads of one run, and the watchdog over their calls.
class Run {
 public:
  Run(Shared* shared, const OperationDraw& operations)
      : shared_(shared), operations_(operations), workers_(static_cast<size_t>(Threads())) {}

  void WorkAll();

 private:
  int Threads() const { return shared_->settings->threads; }
  void Work(Worker* worker);
  void Call(Worker* worker, const Operation& operation);
  void WatchUntilEnd();

  Shared* const shared_;
  const OperationDraw& operations_;
  std::vector<Worker> workers_;
  const int64_t start_millis_ = NowMillis();
  std::mutex mutex_;
  std::condition_variable ended_;
  int working_ = 0;  // guarded by mutex_
};

// The name and the begin of the call are for the watchdog, which runs in another thread.
void Run::Call(Worker* worker, const Operation& operation) {
  assert(worker != nullptr);
  worker->call_name.store(operation.name, std::memory_order_relaxed);
  // After the name: the watchdog that sees the time also sees the name.
  worker->call_began_millis.store(NowMillis(), std::memory_order_release);
  operation.run(worker);
  worker->call_began_millis.store(0, std::memory_order_release);
}

// The main function of a worker: calls random operations until the time or the number of operations
// is used up.
void Run::Work(Worker* worker) {
  const Settings& settings = *shared_->settings;
  const auto end_millis = start_millis_ + static_cast<int64_t>(settings.seconds * 1000);
  constexpr uint64_t kOpsBetweenCounts = 64;
  uint64_t done = 0;
  const auto is_over = [&] {
    return settings.ops_per_thread != 0 ? done >= settings.ops_per_thread
                                        : NowMillis() >= end_millis;
  };
  while (!is_over()) {
    Call(worker, operations_.Draw(&worker->random));
    if (++done % kOpsBetweenCounts == 0) {
      // Counted in groups, as the counter is shared by all threads.
      shared_->expected->Count(Figure::kOperations, kOpsBetweenCounts);
    }
  }
  shared_->expected->Count(Figure::kOperations, done % kOpsBetweenCounts);
  // The database cannot be closed with snapshots.
  Call(worker, {"releasing snapshots", "", 0, &ReleaseAllSnapshots});
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--working_ == 0) ended_.notify_all();
}

// A call that lasts too long is a hang. The watchdog then ends the process with a message that
// names the call.
void Run::WatchUntilEnd() {
  std::unique_lock<std::mutex> lock(mutex_);
  // The watchdog looks twice a second at how long each call has lasted.
  while (!ended_.wait_for(lock, std::chrono::milliseconds(500), [this] { return working_ == 0; })) {
    for (const Worker& worker : workers_) {
      const int64_t began = worker.call_began_millis.load(std::memory_order_acquire);
      if (began == 0 || NowMillis() - began < shared_->settings->watchdog_seconds * 1000) continue;
      std::fprintf(stderr, "db_stress: WRONG: %s has not returned for %d seconds\n",
                   worker.call_name.load(std::memory_order_relaxed),
                   shared_->settings->watchdog_seconds);
      std::abort();  // a core dump, if the system writes them, shows the position of each thread
    }
  }
}

// Starts the workers and returns when all of them have ended. The random numbers of a worker depend
// only on the seed and on its index, so that a run can be repeated with the same operations in each
// thread (though not with the same interleaving).
void Run::WorkAll() {
  std::vector<std::thread> threads;
  working_ = Threads();
  for (int i = 0; i < Threads(); i++) {
    Worker& worker = workers_[static_cast<size_t>(i)];
    worker.shared = shared_;
    worker.index = i;
    worker.random = Random64(shared_->settings->seed * 1000 + static_cast<uint64_t>(i));
    threads.emplace_back([this, &worker] { Work(&worker); });
  }
  WatchUntilEnd();
  for (std::thread& thread : threads) thread.join();
}

std::string OperationLines() {
  std::string text;
  for (const Operation& operation : Operations()) {
    const std::string name(operation.name);
    StrAppend(&text, "  ", name, std::string(18 - name.size(), ' '), operation.weight,
              std::string(6 - std::to_string(operation.weight).size(), ' '), operation.what, "\n");
  }
  return text;
}

// Removes the expected state first: a kill in between may leave a database without expected state,
// which is refused later, but never an expected state without its database.
Status RemoveAll(const Settings& settings) {
  RETURN_IF_ERROR(ExpectedState::Remove(settings.expected));
  std::error_code error;
  std::filesystem::remove_all(settings.db, error);
  return error ? Status::IOError(StrCat(settings.db, ": ", error.message())) : Status::OK();
}

// A database without its expected state cannot be verified, and must not be overwritten.
Result<std::unique_ptr<ExpectedState>> OpenExpectedState(const Settings& settings) {
  const bool has_db = std::filesystem::exists(settings.db + "/CURRENT");
  if (!has_db && settings.verifies_only) {
    return Status::InvalidArgument(StrCat(settings.db, ": no database to verify"));
  }
  Result<std::unique_ptr<ExpectedState>> expected = ExpectedState::Open(
      settings.expected, settings.families, settings.keys,
      has_db ? ExpectedState::IfMissing::kRefuse : ExpectedState::IfMissing::kCreate);
  if (!expected.status().IsNotFound()) return expected;
  return Status::InvalidArgument(StrCat(settings.db, " is a database without expected states in ",
                                        settings.expected, "; --destroy begins with an empty one"));
}

// One run: opens the database that an earlier run may have left, verifies it against the expected
// state, and then works on it.
Status RunWith(Settings settings) {
  if (settings.seed == 0) settings.seed = static_cast<uint64_t>(NowMillis());
  if (settings.destroys) RETURN_IF_ERROR(RemoveAll(settings));
  const OperationDraw operations(settings);
  if (operations.sum() == 0) return Status::InvalidArgument("--weights: all are 0");
  ASSIGN_OR_RETURN(const std::unique_ptr<ExpectedState> expected, OpenExpectedState(settings));
  expected->Count(Figure::kRuns, 1);
  std::printf("seed %llu, draw %llu\n", static_cast<unsigned long long>(settings.seed),
              static_cast<unsigned long long>(settings.draw));
  ASSIGN_OR_RETURN(DrawnOptions options, MakeOptions(settings));
  std::fputs(options.text.c_str(), stdout);
  std::fflush(stdout);

  Result<std::unique_ptr<StressedDb>> db =
      StressedDb::Open(settings.db, std::move(options), settings.transactions,
                       static_cast<TxnDBWritePolicy>(settings.txn_write_policy));
  Require(db.status(), "opening");
  Shared shared{.settings = &settings, .db = db->get(), .expected = expected.get()};
  shared.space.keys = settings.keys;
  Random64 random(settings.seed);
  const auto verify = [&] {
    if (!settings.skips_verification) VerifyAll(&shared, &random);
  };
  verify();
  std::puts(settings.verifies_only ? "verified" : "verified, working");
  std::fflush(stdout);
  if (!settings.verifies_only) {
    Run(&shared, operations).WorkAll();
    verify();
    EndCopies(&shared);
  }
  // An error while closing is a failure like any other.
  Require((*db)->Close(), "closing");
  expected->Count(Figure::kCleanEnds, 1);
  std::printf("ok; in all runs: %s\n", expected->FiguresText().c_str());
  return FlushOutput();
}

// Returns the exit code of the program: 1 if the flags are wrong or the run failed.
int Main(const CommandLine& line) {
  if (line.Has("help")) {
    std::fputs(HelpText(OperationLines()).c_str(), stdout);
    return 0;
  }
  std::vector<std::string_view> names;
  for (const Operation& operation : Operations()) names.push_back(operation.name);
  const Result<Settings> settings = ParseSettings(line, names);
  const Status status = settings.ok() ? RunWith(settings.value()) : settings.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "db_stress: %s; --help explains it\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace ashlar::stress

int main(int argc, char** argv) { return ashlar::stress::Main(ashlar::CommandLine(argc, argv)); }
