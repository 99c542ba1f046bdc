// SPDX-License-Identifier: Apache-2.0
//
// One run of a database of two families with a fault. Every call must give the right result or
// return an error; a snapshot or an open iterator must show again what it has shown once. Then the
// fault ends, the database is resumed (or reopened), must be right and accept writes, and lose none
// of these in a crash that keeps only synced data. Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/fault/possible_rows.h"
#include "tests/support/opened_db.h"
#include "tests/support/option_set.h"
#include "tests/support/run_threads.h"
#include "tests/support/suite.h"
#include "util/random.h"

namespace ashlar {

struct FaultFigures {
  std::map<std::string, uint64_t> injections;  // by error and mode
  std::map<std::string, uint64_t> calls;       // by kind of the call that failed
  uint64_t quotas = 0, clocks = 0, delays = 0, allocations = 0;
  uint64_t resumed = 0, reopened = 0, failed_calls = 0;
  uint64_t views = 0;   // reads of an older snapshot or iterator
  uint64_t mapped = 0;  // runs with mapped logs

  uint64_t Injections() const;
  std::string ToString() const;
};

struct FaultSuite {
  SuiteArguments arguments;  // seconds = 0: a fixed amount of work
  FaultFigures figures;
  double started = SuiteClock();

  // Like CrashSuite::HasMoreTime().
  bool HasMoreTime(double until_share, uint64_t fixed, uint64_t done) const {
    if (arguments.seconds > 0) return SuiteClock() - started < arguments.seconds * until_share;
    return static_cast<double>(done) < static_cast<double>(fixed) * SuiteScale();
  }
};
extern FaultSuite fault_suite;

struct FaultCase {
  std::string name;
  OptionSet options;
  uint64_t seed = 0;
  std::function<void(SimFS*)> begin_fault = [](SimFS*) {};
  std::function<void(SimFS*)> end_fault = [](SimFS*) {};
  bool ends_after_close = false;  // whether the fault ends only then
  bool may_show_damage = false;   // reads were too short, so a file seems damaged
  bool may_half_insert = false;   // memory may run out between two records of a batch
  bool may_lose_synced =
      false;  // syncs lied: the contents after the crash must only be values that were written
  bool never_waits =
      false;  // background work may stand still: use only calls that do not wait for it
  bool must_succeed = false;  // no call may fail: for the run without a fault
  bool maps_logs = false;
  bool has_own_threads =
      false;  // otherwise jobs run on this thread, in an order that the seed determines
  // Called around every call of the database in the middle of the run; may throw into it.
  std::function<void(const std::function<void()>&)> around = [](const auto& call) { call(); };
  // Creates the Env, if a special one is needed.
  std::function<std::unique_ptr<Env>(const std::shared_ptr<SimFS>&)> new_env;
  int steps = 120;
};

class FaultRun {
 public:
  explicit FaultRun(const FaultCase& test);
  ~FaultRun();

  std::string Run();  // returns an error message
  SimFS* sim() { return sim_.get(); }

 private:
  // The results that a reader has seen through a snapshot or an iterator that is still open.
  struct View {
    const Snapshot* snapshot = nullptr;
    std::unique_ptr<Iterator> iterator;
    ColumnFamilyHandle* family = nullptr;
    PossibleRows rows;
  };

  Status Open();
  Status Note(const Status& status);
  Status Try(const std::function<Status()>& call);
  Status Call(const std::function<Status()>& call) { return Note(Try(call)); }
  void Remember(const Status& status, const WriteOptions& write, ColumnFamilyHandle* family,
                const std::string& key, const std::string& value);
  void RememberMerge(const Status& status, const WriteOptions& write, const RowKey& row,
                     const std::string& operand);
  ColumnFamilyHandle* DrawFamily();
  std::string DrawKey();
  std::string Work();
  std::string Step(int i);
  void Put(const WriteOptions& write, const std::string& value);
  void PutBatch(const WriteOptions& write, const std::string& value);
  void DeleteRange(const WriteOptions& write);
  void Merge(const WriteOptions& write, const std::string& operand);
  std::string MergeInVain(WriteOptions write);
  Status RemoveFailingKeys(bool may_wait);
  bool IsFailingMerge(const Status& status) const;
  void Structure(uint64_t kind);
  std::string OpenOrCheckView();
  Status OpenView();
  std::string CheckView(const std::string& when, bool must_be_ok);
  void DropView();
  std::string CheckKey();
  std::string CheckBatch();
  std::string CheckRows(const std::string& when, bool must_be_ok);
  std::string JudgeRows(const Contents& contents, const std::string& when) const;
  std::string Recover();
  bool MayRefuseToResume(const Status& resumed) const;
  std::string ReopenAfterFault(bool may_lose_unsynced);
  std::string WriteAll(const std::string& value);
  std::string CrashAndCheck();

  const FaultCase& case_;
  Random64 random_;
  RunThreads threads_;
  const std::shared_ptr<SimFS> sim_;
  const std::unique_ptr<Env> env_;
  OpenedDb opened_;
  std::optional<View> view_;
  bool has_second_family_ = false;  // its creation was acknowledged
  bool has_failing_key_ = false;    // there may be an operand that makes reads of its key fail
  std::string first_failure_;
  PossibleRows possible_;
  // The same if unsynced data may be lost, too: a failed sync drops it, and only a database that
  // stays open can write it again.
  PossibleRows possible_after_loss_;
  PossibleRows ever_;  // all values that a key was ever meant to have
};

// False, and a test failure, after an error.
bool RunFaultCase(const FaultCase& test);
OptionSet FaultOptions(uint64_t seed);

}  // namespace ashlar
