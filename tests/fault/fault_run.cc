// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run, and what has to hold after each.
#include "tests/fault/fault_run.h"

#include <gtest/gtest.h>

#include <new>

#include "ashlar/write_batch.h"
#include "env/sim/sim_env.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";
constexpr unsigned kKeys = 25;

}  // namespace

uint64_t FaultFigures::Injections() const {
  uint64_t sum = 0;
  for (const auto& count : injections) sum += count.second;
  return sum;
}

std::string FaultFigures::ToString() const {
  std::string text = std::to_string(Injections()) + " injections (";
  for (const auto& [kind, count] : injections) text += std::to_string(count) + " " + kind + ", ";
  text += "at:";
  for (const auto& [kind, count] : calls) text += " " + kind + " " + std::to_string(count);
  return text + "), " + std::to_string(quotas) + " quotas, " + std::to_string(clocks) +
         " odd clocks, " + std::to_string(delays) + " jobs held back, " +
         std::to_string(allocations) + " failed allocations, " + std::to_string(resumed) +
         " resumed, " + std::to_string(reopened) + " reopened, " + std::to_string(failed_calls) +
         " failed calls";
}

FaultRun::FaultRun(const FaultCase& test)
    : case_(test),
      random_(test.seed),
      threads_(test.seed, test.has_own_threads),
      sim_(SimFS::Create(threads_.clock())),
      env_(test.new_env ? test.new_env(sim_) : threads_.NewEnv(sim_)) {}

FaultRun::~FaultRun() = default;

std::string FaultRun::Run() {
  if (!sim_->CreateDir(kDir, IOOptions(), nullptr).ok()) return "no directory";
  sim_->SyncEverything();
  case_.begin_fault(sim_.get());
  std::string wrong = Open().ok() ? Work() : "";
  if (!case_.ends_after_close) case_.end_fault(sim_.get());
  // Whatever failed, the database can be read as soon as the disk can.
  if (wrong.empty() && !case_.ends_after_close && opened_.db() != nullptr) {
    wrong = CheckRows("after the fault", /*must_be_ok=*/true);
  }
  if (wrong.empty()) wrong = Recover();
  if (wrong.empty()) wrong = WriteAll("settled");
  if (wrong.empty()) wrong = CheckRows("after recovery", /*must_be_ok=*/true);
  return wrong.empty() ? CrashAndCheck() : wrong;
}

Status FaultRun::Open() {
  return Call([&] { return opened_.Open(case_.options.Build(env_.get()), kDir); });
}

Status FaultRun::Note(const Status& status) {
  if (!status.ok() && !status.IsNotFound()) ++fault_suite.figures.failed_calls;
  return status;
}

// A failed allocation may come out as an exception.
Status FaultRun::Call(const std::function<Status()>& call) {
  Status status = Status::MemoryLimit("bad_alloc");
  try {
    case_.around([&] { status = call(); });
  } catch (const std::bad_alloc&) {
    status = Status::MemoryLimit("bad_alloc");
  }
  threads_.RunSome();
  return Note(status);
}

// A write that was acknowledged decides; one that failed leaves its keys undecided.
void FaultRun::Remember(const Status& status, const WriteOptions& write, const std::string& key,
                        const std::string& value) {
  std::set<std::string>& values = possible_[key];
  if (values.empty()) {
    values.insert("");
    possible_after_loss_[key].insert("");
  }
  if (status.ok()) values.clear();
  values.insert(value);
  possible_after_loss_[key].insert(value);
  if (status.ok() && write.sync) possible_after_loss_ = possible_;
  ever_[key].insert(value);
}

std::string FaultRun::Work() {
  for (int i = 0; i < case_.steps; ++i) {
    BeginCase(case_.name + ", step " + std::to_string(i));
    const std::string wrong = Step(i);
    if (!wrong.empty()) return "step " + std::to_string(i) + ": " + wrong;
  }
  return "";
}

std::string FaultRun::Step(int i) {
  const std::string key = "k" + std::to_string(random_.Uniform(kKeys));
  DB* const db = opened_.db();
  WriteOptions write;
  write.sync = random_.OneIn(4);
  write.no_slowdown = case_.never_waits;
  const uint64_t kind = random_.Uniform(12);
  const std::string value = std::to_string(i) + std::string(random_.Uniform(300), 'v');
  switch (kind) {
    case 0: Remember(Call([&] { return db->Delete(write, key); }), write, key, ""); return "";
    case 1:
    case 2: return Structure(kind);
    case 3:
    case 4: return CheckKey(key);
    case 5: return random_.OneIn(4) ? CheckRows("while working") : "";
    case 6: return PutBatch(write, key, "batch" + std::to_string(i));
    default:
      Remember(Call([&] { return db->Put(write, key, value); }), write, key, value);
      return "";
  }
}

std::string FaultRun::PutBatch(const WriteOptions& write, const std::string& key,
                               const std::string& value) {
  WriteBatch batch;
  const std::string other = key + "b";
  (void)batch.Put(key, value).ok();
  (void)batch.Put(other, value).ok();
  const Status status = Call([&] { return opened_.db()->Write(write, &batch); });
  Remember(status, write, key, value);
  Remember(status, write, other, value);
  return "";
}

std::string FaultRun::Structure(uint64_t kind) {
  DB* const db = opened_.db();
  if (kind == 1) {
    FlushOptions flush;
    flush.wait = !case_.never_waits;
    flush.allow_write_stall = case_.never_waits;
    (void)Call([&] { return db->Flush(flush); }).ok();
  } else if (random_.OneIn(3) && !case_.never_waits) {
    (void)Call([&] { return db->CompactRange(CompactRangeOptions(), nullptr, nullptr); }).ok();
  }
  return "";
}

std::string FaultRun::Judge(const std::string& key, const std::string& value) const {
  const auto it = possible_.find(key);
  const bool is_known = it == possible_.end() ? value.empty() : it->second.count(value) != 0;
  return is_known ? "" : key + " is '" + value.substr(0, 20) + "', which it cannot be";
}

std::string FaultRun::CheckKey(const std::string& key) {
  std::string value;
  const Status status = Call([&] { return opened_.db()->Get(ReadOptions(), key, &value); });
  if (!status.ok() && !status.IsNotFound()) return "";
  return Judge(key, status.ok() ? value : "");
}

// A scan that ends with OK shows every key that must be there.
std::string FaultRun::CheckRows(const std::string& when, bool must_be_ok) {
  Contents contents;
  const Status status = must_be_ok ? Note(opened_.ReadAll(&contents))
                                   : Call([&] { return opened_.ReadAll(&contents); });
  if (status.ToString().find("DISAGREE") != std::string::npos) return when + status.ToString();
  if (!status.ok()) return must_be_ok ? when + ": " + status.ToString() : "";
  return JudgeRows(contents["default"], when);
}

std::string FaultRun::JudgeRows(const Rows& rows, const std::string& when) const {
  for (const auto& [key, value] : rows) {
    const std::string wrong = Judge(key, value);
    if (!wrong.empty()) return when + ": " + wrong;
  }
  for (const auto& [key, values] : possible_) {
    if (values.count("") == 0 && rows.count(key) == 0) return when + ": " + key + " is lost";
  }
  return "";
}

std::string FaultRun::Recover() {
  BeginCase(case_.name + ", recovering");
  FaultFigures& figures = fault_suite.figures;
  const bool may_resume = opened_.db() != nullptr && !case_.never_waits;
  if (may_resume && case_.has_own_threads) {
    // What the fault has broken so far is known when the jobs that met it have ended.
    (void)opened_.db()->PauseBackgroundWork().ok();
    (void)opened_.db()->ContinueBackgroundWork().ok();
  }
  const bool is_resumed = may_resume && opened_.db()->Resume().ok();
  if (is_resumed && !case_.ends_after_close) {
    ++figures.resumed;
    return "";
  }
  ++figures.reopened;
  return ReopenAfterFault();
}

std::string FaultRun::ReopenAfterFault() {
  (void)opened_.Close().ok();
  case_.end_fault(sim_.get());
  const Status status = opened_.Open(case_.options.Build(env_.get()), kDir);
  if (!status.ok()) return "reopen: " + status.ToString();
  if (!case_.ends_after_close) return CheckRows("after reopening", /*must_be_ok=*/true);
  possible_ = possible_after_loss_;
  Contents contents;
  const Status read = opened_.ReadAll(&contents);
  if (!read.ok()) return "read after reopening: " + read.ToString();
  std::string wrong = JudgeRows(contents["default"], "after reopening");
  // Once seen it stays.
  for (auto& [key, values] : possible_) {
    const auto row = contents["default"].find(key);
    values = {row == contents["default"].end() ? "" : row->second};
  }
  return wrong;
}

// All writes must be accepted again; the last one is synced.
std::string FaultRun::WriteAll(const std::string& value) {
  for (int i = 0; i < 5; ++i) {
    const std::string key = "k" + std::to_string(i);
    WriteOptions write;
    write.sync = i == 4;
    const Status status = opened_.db()->Put(write, key, value);
    if (!status.ok()) return "write after recovery: " + status.ToString();
    Remember(status, write, key, value);
  }
  const Status status = opened_.db()->Flush(FlushOptions());
  return status.ok() ? "" : "flush after recovery: " + status.ToString();
}

// After the sync nothing that was acknowledged may be missing. Where syncs lied, the database may
// be damaged and say so, or miss writes, but not hold what nobody wrote.
std::string FaultRun::CrashAndCheck() {
  BeginCase(case_.name + ", crash");
  const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kStrict);
  const std::unique_ptr<Env> env = threads_.NewEnv(image);
  OpenedDb again;
  Contents contents;
  Status status = again.Open(case_.options.Build(env.get()), kDir);
  if (status.ok()) status = again.ReadAll(&contents);
  if (!case_.may_lose_synced) {
    if (!status.ok()) return "after the crash: " + status.ToString();
    return JudgeRows(contents["default"], "after the crash");
  }
  if (!status.ok()) return "";
  for (const auto& [key, value] : contents["default"]) {
    const auto known = ever_.find(key);
    if (known == ever_.end() || known->second.count(value) == 0) {
      return "after the crash: " + key + " holds what was never written";
    }
  }
  return "";
}

bool RunFaultCase(const FaultCase& test) {
  std::string wrong = FaultRun(test).Run();
  if (wrong.empty()) return true;
  ADD_FAILURE() << test.name << ": " << wrong << "\noptions " << test.options.ToString();
  return false;
}

OptionSet FaultOptions(uint64_t seed) {
  OptionSet options = OptionSet::Draw(seed);
  options.Set("memtable", 4096);
  return options;
}

}  // namespace ashlar
