// SPDX-License-Identifier: Apache-2.0
//
// Fault test: a trace runs on SimFS while one call fails, once or from then on, with EIO or
// ENOSPC. Every call of the database must be OK and true, or not OK. Then the fault ends, the
// database is resumed (or reopened), written to, checked, crashed and opened again. Also runs
// against a quota of bytes that is lifted after the error.
//
//   fault_test [--seconds=20] [--seed=N]
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/write_batch.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/option_set.h"
#include "tests/support/suite.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";
constexpr int kSteps = 120;

SuiteArguments arguments;

struct Figures {
  std::map<std::string, uint64_t> injections;
  uint64_t quotas = 0, resumed = 0, reopened = 0, failed_calls = 0;
};
Figures figures;

// What a key may hold: one value if its last write was acknowledged, more after failed ones. An
// empty string stands for no value.
using Possible = std::map<std::string, std::set<std::string>>;

struct Case {
  std::string name;
  OptionSet options;
  std::function<void(SimFS*)> begin_fault;
  std::function<void(SimFS*)> end_fault;
};

class FaultRun {
 public:
  FaultRun(const Case& test, uint64_t seed)
      : case_(test), random_(seed), sim_(SimFS::Create()), env_(NewCompositeEnv(sim_)) {}

  // Says what is wrong.
  std::string Run() {
    if (!sim_->CreateDir(kDir, IOOptions(), nullptr).ok()) return "no directory";
    sim_->SyncEverything();
    case_.begin_fault(sim_.get());
    std::string wrong = Open().ok() ? Work() : "";
    case_.end_fault(sim_.get());
    if (wrong.empty()) wrong = Recover();
    if (wrong.empty()) wrong = WriteAll("settled");
    if (wrong.empty()) wrong = CheckRows("after recovery");
    return wrong.empty() ? CrashAndCheck() : wrong;
  }

 private:
  Status Open() { return Note(opened_.Open(case_.options.Build(env_.get()), kDir)); }

  Status Note(const Status& status) {
    if (!status.ok() && !status.IsNotFound()) ++figures.failed_calls;
    return status;
  }

  // A write that was acknowledged decides; one that failed leaves its keys undecided.
  void Remember(const Status& status, const std::string& key, const std::string& value) {
    std::set<std::string>& values = possible_[key];
    if (values.empty()) values.insert("");
    if (status.ok()) values.clear();
    values.insert(value);
  }

  std::string Work() {
    for (int i = 0; i < kSteps; ++i) {
      BeginCase(case_.name + ", step " + std::to_string(i));
      std::string wrong = Step(i);
      if (!wrong.empty()) return "step " + std::to_string(i) + ": " + wrong;
    }
    return "";
  }

  std::string Step(int i) {
    const std::string key = "k" + std::to_string(random_.Uniform(25));
    DB* db = opened_.db();
    WriteOptions write;
    write.sync = random_.OneIn(4);
    switch (random_.Uniform(12)) {
      case 0:
        Remember(Note(db->Delete(write, key)), key, "");
        return "";
      case 1: (void)Note(db->Flush(FlushOptions())).ok(); return "";
      case 2:
        if (random_.OneIn(3)) {
          (void)Note(db->CompactRange(CompactRangeOptions(), nullptr, nullptr)).ok();
        }
        return "";
      case 3:
      case 4: return CheckKey(key);
      case 5: return random_.OneIn(4) ? CheckRows("while working") : "";
      case 6: {
        WriteBatch batch;
        const std::string value = "batch" + std::to_string(i);
        const std::string other = key + "b";
        (void)batch.Put(key, value).ok();
        (void)batch.Put(other, value).ok();
        const Status status = Note(db->Write(write, &batch));
        Remember(status, key, value);
        Remember(status, other, value);
        return "";
      }
      default: {
        const std::string value = std::to_string(i) + std::string(random_.Uniform(300), 'v');
        Remember(Note(db->Put(write, key, value)), key, value);
        return "";
      }
    }
  }

  std::string Judge(const std::string& key, const std::string& value) {
    const auto it = possible_.find(key);
    const bool is_known = it == possible_.end() ? value.empty() : it->second.count(value) != 0;
    return is_known ? "" : key + " is '" + value.substr(0, 20) + "', which it cannot be";
  }

  std::string CheckKey(const std::string& key) {
    std::string value;
    const Status status = Note(opened_.db()->Get(ReadOptions(), key, &value));
    if (!status.ok() && !status.IsNotFound()) return "";
    return Judge(key, status.ok() ? value : "");
  }

  // A scan that ends with OK shows every key that must be there.
  std::string CheckRows(const std::string& when) {
    Contents contents;
    const Status status = Note(opened_.ReadAll(&contents));
    if (status.ToString().find("DISAGREE") != std::string::npos) return when + status.ToString();
    if (!status.ok()) return "";
    return JudgeRows(contents["default"], when);
  }

  std::string JudgeRows(const Rows& rows, const std::string& when) {
    for (const auto& [key, value] : rows) {
      const std::string wrong = Judge(key, value);
      if (!wrong.empty()) return when + ": " + wrong;
    }
    for (const auto& [key, values] : possible_) {
      if (values.count("") == 0 && rows.count(key) == 0) return when + ": " + key + " is lost";
    }
    return "";
  }

  std::string Recover() {
    BeginCase(case_.name + ", recovering");
    if (opened_.db() != nullptr && opened_.db()->Resume().ok()) {
      ++figures.resumed;
      return "";
    }
    ++figures.reopened;
    (void)opened_.Close().ok();
    const Status status = Open();
    return status.ok() ? CheckRows("after reopening") : "reopen: " + status.ToString();
  }

  // All writes must be accepted again; the last one is synced.
  std::string WriteAll(const std::string& value) {
    for (int i = 0; i < 5; ++i) {
      const std::string key = "k" + std::to_string(i);
      WriteOptions write;
      write.sync = i == 4;
      const Status status = opened_.db()->Put(write, key, value);
      if (!status.ok()) return "write after recovery: " + status.ToString();
      Remember(status, key, value);
    }
    const Status status = opened_.db()->Flush(FlushOptions());
    return status.ok() ? "" : "flush after recovery: " + status.ToString();
  }

  // After the sync nothing that was acknowledged may be missing.
  std::string CrashAndCheck() {
    BeginCase(case_.name + ", crash");
    const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kStrict);
    const std::unique_ptr<Env> env = NewCompositeEnv(image);
    OpenedDb again;
    Contents contents;
    Status status = again.Open(case_.options.Build(env.get()), kDir);
    if (status.ok()) status = again.ReadAll(&contents);
    if (!status.ok()) return "after the crash: " + status.ToString();
    return JudgeRows(contents["default"], "after the crash");
  }

  const Case& case_;
  Random64 random_;
  const std::shared_ptr<SimFS> sim_;
  const std::unique_ptr<Env> env_;
  OpenedDb opened_;
  Possible possible_;
};

OptionSet OptionsFor(uint64_t seed) {
  OptionSet set = OptionSet::Draw(seed);
  set.Set("memtable", 4096);
  set.Set("comparator", 0);
  return set;
}

bool RunCase(const Case& test, uint64_t seed) {
  const std::string wrong = FaultRun(test, seed).Run();
  if (wrong.empty()) return true;
  ADD_FAILURE() << test.name << ": " << wrong << "\noptions " << test.options.ToString();
  return false;
}

uint64_t CountCalls(uint64_t seed) {
  uint64_t calls = 0;
  const Case plain{"no fault, seed " + std::to_string(seed), OptionsFor(seed), [](SimFS*) {},
                   [&calls](SimFS* sim) { calls = sim->CallCount(); }};
  return RunCase(plain, seed) ? calls : 0;
}

std::string InjectAt(uint64_t call, FaultError error, FaultMode mode, uint64_t seed) {
  const std::string kind = std::string(error == FaultError::kIO ? "EIO" : "ENOSPC") +
                           (mode == FaultMode::kOnce ? " once" : " sticky");
  Case test{"seed " + std::to_string(seed) + ", " + kind + " at call " + std::to_string(call),
            OptionsFor(seed), nullptr, [](SimFS* sim) { sim->ClearFaults(); }};
  test.begin_fault = [=](SimFS* sim) {
    FaultPlan plan;
    plan.first_call = call;
    plan.error = error;
    plan.mode = mode;
    // A disk that is full can still be read.
    if (error == FaultError::kNoSpace) plan.kinds = kMutatingKinds;
    sim->AddFault(plan);
  };
  return RunCase(test, seed) ? kind : "";
}

TEST(FaultTest, EveryCallIsTrueOrSaysThatItFailed) {
  std::printf("fault: seed %llu\n", static_cast<unsigned long long>(arguments.seed));
  const double deadline = SuiteClock() + arguments.seconds * 0.85;
  int failures = 0;
  for (uint64_t seed = arguments.seed; SuiteClock() < deadline && failures < 8; ++seed) {
    const uint64_t calls = CountCalls(seed);
    ASSERT_GT(calls, 0u);
    for (uint64_t call = seed % 23; call < calls && SuiteClock() < deadline; call += 23) {
      for (FaultError error : {FaultError::kIO, FaultError::kNoSpace}) {
        for (FaultMode mode : {FaultMode::kOnce, FaultMode::kSticky}) {
          const std::string kind = InjectAt(call, error, mode, seed);
          if (kind.empty()) ++failures;
          else ++figures.injections[kind];
          if (failures >= 8) return;
        }
      }
    }
  }
  EndCases();
}

TEST(FaultTest, AFullDiskThatGetsRoomAgainLosesNothing) {
  const double deadline = SuiteClock() + arguments.seconds * 0.15;
  int failures = 0;
  for (uint64_t quota = 0; SuiteClock() < deadline && failures < 4; quota += 4096) {
    const uint64_t seed = arguments.seed + quota;
    Case test{"quota of " + std::to_string(quota) + " bytes", OptionsFor(seed),
              [quota](SimFS* sim) { sim->SetByteQuota(quota); },
              [](SimFS* sim) { sim->SetByteQuota(UINT64_MAX); }};
    if (!RunCase(test, seed)) ++failures;
    ++figures.quotas;
  }
  EndCases();
}

}  // namespace
}  // namespace ashlar

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ashlar::arguments = ashlar::ParseSuiteArguments(argc, argv, 20);
  const int result = RUN_ALL_TESTS();
  const auto& figures = ashlar::figures;
  std::printf("fault:");
  for (const auto& [kind, count] : figures.injections) {
    std::printf(" %llu %s,", static_cast<unsigned long long>(count), kind.c_str());
  }
  std::printf(" %llu quotas, %llu resumed, %llu reopened, %llu failed calls, seed %llu\n",
              static_cast<unsigned long long>(figures.quotas),
              static_cast<unsigned long long>(figures.resumed),
              static_cast<unsigned long long>(figures.reopened),
              static_cast<unsigned long long>(figures.failed_calls),
              static_cast<unsigned long long>(ashlar::arguments.seed));
  return result;
}
