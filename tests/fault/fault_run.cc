// SPDX-License-Identifier: Apache-2.0
//
// The steps of a run, and the conditions that must hold after each.
#include "tests/fault/fault_run.h"

#include <gtest/gtest.h>

#include <new>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/write_batch.h"
#include "env/sim/sim_env.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";
constexpr char kSecond[] = "second";
constexpr unsigned kKeys = 25;
constexpr char kFailingKey[] = "fails";  // no other write uses it

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
         " failed calls, " + std::to_string(views) + " snapshots and iterators read again, " +
         std::to_string(mapped) + " runs with mapped logs";
}

FaultRun::FaultRun(const FaultCase& test)
    : case_(test),
      random_(test.seed),
      threads_(test.seed, test.has_own_threads),
      sim_(SimFS::Create(threads_.clock())),
      env_(test.new_env ? test.new_env(sim_) : threads_.NewEnv(sim_)) {
  sim_->OfferMappedLogs(test.maps_logs);
  if (test.maps_logs) ++fault_suite.figures.mapped;
}

FaultRun::~FaultRun() { DropView(); }

std::string FaultRun::Run() {
  if (!sim_->CreateDir(kDir, IOOptions(), nullptr).ok()) return "no directory";
  sim_->SyncEverything();
  case_.begin_fault(sim_.get());
  std::string wrong = Open().ok() ? Work() : "";
  if (!case_.ends_after_close) case_.end_fault(sim_.get());
  // Whatever failed, the database can be read as soon as the disk can.
  if (wrong.empty() && !case_.ends_after_close && opened_.db() != nullptr) {
    wrong = CheckRows("after the fault", /*must_be_ok=*/true);
    if (wrong.empty()) wrong = CheckView("after the fault", /*must_be_ok=*/true);
  }
  if (wrong.empty()) wrong = Recover();
  if (wrong.empty()) wrong = WriteAll("settled");
  if (wrong.empty()) wrong = CheckRows("after recovery", /*must_be_ok=*/true);
  if (wrong.empty()) wrong = CheckView("after recovery", /*must_be_ok=*/true);
  if (wrong.empty() && case_.must_succeed) wrong = first_failure_;
  return wrong.empty() ? CrashAndCheck() : wrong;
}

Status FaultRun::Open() {
  Status status = Call([&] { return opened_.Open(case_.options.Build(env_.get()), kDir); });
  // Creating a family may wait for jobs.
  if (!status.ok() || case_.never_waits) return status;
  has_second_family_ =
      Call([&] { return opened_.CreateFamily(case_.options.Build(env_.get()), kSecond); }).ok();
  return status;
}

Status FaultRun::Note(const Status& status) {
  if (status.ok() || status.IsNotFound()) return status;
  ++fault_suite.figures.failed_calls;
  if (first_failure_.empty()) first_failure_ = "a call failed: " + status.ToString();
  return status;
}

// A failed allocation may cause an exception.
Status FaultRun::Try(const std::function<Status()>& call) {
  Status status = Status::MemoryLimit("bad_alloc");
  try {
    case_.around([&] { status = call(); });
  } catch (const std::bad_alloc&) {
    status = Status::MemoryLimit("bad_alloc");
  }
  threads_.RunSome();
  return status;
}

void FaultRun::Remember(const Status& status, const WriteOptions& write, ColumnFamilyHandle* family,
                        const std::string& key, const std::string& value) {
  const RowKey row(family->GetName(), key);
  possible_.Write(row, value, status.ok());
  possible_after_loss_.Write(row, value, /*is_acknowledged=*/false);
  if (status.ok() && write.sync) possible_after_loss_ = possible_;
  ever_.Write(row, value, /*is_acknowledged=*/false);
}

void FaultRun::RememberMerge(const Status& status, const WriteOptions& write, const RowKey& row,
                             const std::string& operand) {
  possible_.Append(row, operand, status.ok());
  possible_after_loss_.Append(row, operand, /*is_acknowledged=*/false);
  if (status.ok() && write.sync) possible_after_loss_ = possible_;
  ever_.Append(row, operand, /*is_acknowledged=*/false);
}

ColumnFamilyHandle* FaultRun::DrawFamily() {
  return opened_.handles()[random_.Uniform(opened_.handles().size())];
}

std::string FaultRun::DrawKey() { return "k" + std::to_string(random_.Uniform(kKeys)); }

std::string FaultRun::Work() {
  for (int i = 0; i < case_.steps; ++i) {
    BeginCase(case_.name + ", step " + std::to_string(i));
    std::string wrong = Step(i);
    if (wrong.empty() && case_.must_succeed) wrong = first_failure_;
    if (!wrong.empty()) return "step " + std::to_string(i) + ": " + wrong;
  }
  return "";
}

std::string FaultRun::Step(int i) {
  WriteOptions write;
  write.sync = random_.OneIn(4);
  write.no_slowdown = case_.never_waits;
  const uint64_t kind = random_.Uniform(19);
  switch (kind) {
    case 0: Put(write, ""); return "";
    case 1:
    case 2: Structure(kind); return "";
    case 3:
    case 4: return CheckKey();
    case 5: return random_.OneIn(4) ? CheckRows("while working", /*must_be_ok=*/false) : "";
    case 6: PutBatch(write, "batch" + std::to_string(i)); return "";
    case 7:
    case 8:
    case 14: return OpenOrCheckView();
    case 15: DeleteRange(write); return "";
    case 16: Merge(write, "merged" + std::to_string(i)); return "";
    case 17: return CheckBatch();
    case 18: return random_.OneIn(4) ? MergeInVain(write) : "";
    default: Put(write, std::to_string(i) + std::string(random_.Uniform(300), 'v')); return "";
  }
}

// An empty value deletes the key.
void FaultRun::Put(const WriteOptions& write, const std::string& value) {
  ColumnFamilyHandle* const family = DrawFamily();
  const std::string key = DrawKey();
  DB* const db = opened_.db();
  const Status status = Call([&] {
    return value.empty() ? db->Delete(write, family, key) : db->Put(write, family, key, value);
  });
  Remember(status, write, family, key, value);
}

// In two families, if there are two.
void FaultRun::PutBatch(const WriteOptions& write, const std::string& value) {
  WriteBatch batch;
  const std::string key = DrawKey(), other = key + "b";
  ColumnFamilyHandle* const first = opened_.handles().front();
  ColumnFamilyHandle* const last = opened_.handles().back();
  (void)batch.Put(first, key, value).ok();
  (void)batch.Put(last, other, value).ok();
  const Status status = Call([&] { return opened_.db()->Write(write, &batch); });
  Remember(status, write, first, key, value);
  Remember(status, write, last, other, value);
}

void FaultRun::DeleteRange(const WriteOptions& write) {
  ColumnFamilyHandle* const family = DrawFamily();
  const Comparator* const order = family->GetComparator();
  std::string begin = DrawKey(), end = DrawKey();
  if (order->Compare(end, begin) < 0) std::swap(begin, end);
  const Status status = Call([&] { return opened_.db()->DeleteRange(write, family, begin, end); });
  for (unsigned i = 0; i < 2 * kKeys; ++i) {
    const std::string key = "k" + std::to_string(i / 2) + (i % 2 == 0 ? "" : "b");
    const bool is_inside = order->Compare(begin, key) <= 0 && order->Compare(key, end) < 0;
    if (is_inside) Remember(status, write, family, key, "");
  }
}

void FaultRun::Merge(const WriteOptions& write, const std::string& operand) {
  ColumnFamilyHandle* const family = DrawFamily();
  const std::string key = DrawKey();
  const Status status = Call([&] { return opened_.db()->Merge(write, family, key, operand); });
  RememberMerge(status, write, {family->GetName(), key}, operand);
}

// An operand that fails (tests/support/option_set.cc) makes reads of its key fail, independent of
// other faults; jobs keep it until it is deleted.
std::string FaultRun::MergeInVain(WriteOptions write) {
  ColumnFamilyHandle* const family = DrawFamily();
  has_failing_key_ = true;
  (void)Call([&] { return opened_.db()->Merge(write, family, kFailingKey, "!"); }).ok();
  if (random_.OneIn(2)) Structure(/*kind=*/1);
  std::string value;
  const Status got =
      Try([&] { return opened_.db()->Get(ReadOptions(), family, kFailingKey, &value); });
  if (got.ok()) return "an operand that fails is read as '" + value + "'";
  (void)RemoveFailingKeys(/*may_wait=*/!case_.never_waits).ok();
  return "";
}

Status FaultRun::RemoveFailingKeys(bool may_wait) {
  WriteOptions write;
  write.sync = true;
  write.no_slowdown = !may_wait;
  for (ColumnFamilyHandle* family : opened_.handles()) {
    const Status status = Call([&] { return opened_.db()->Delete(write, family, kFailingKey); });
    if (!status.ok()) return status;
  }
  has_failing_key_ = false;
  return Status::OK();
}

bool FaultRun::IsFailingMerge(const Status& status) const {
  return has_failing_key_ && status.subcode() == Status::kMergeOperatorFailed;
}

void FaultRun::Structure(uint64_t kind) {
  DB* const db = opened_.db();
  ColumnFamilyHandle* const family = DrawFamily();
  if (kind == 1) {
    FlushOptions flush;
    flush.wait = !case_.never_waits;
    flush.allow_write_stall = case_.never_waits;
    (void)Call([&] { return db->Flush(flush, family); }).ok();
  } else if (random_.OneIn(3) && !case_.never_waits) {
    (void)Call([&] {
      return db->CompactRange(CompactRangeOptions(), family, nullptr, nullptr);
    }).ok();
  }
}

// ---- Snapshots and iterators

std::string FaultRun::OpenOrCheckView() {
  if (!view_.has_value()) {
    if (!has_failing_key_) (void)OpenView().ok();
    return "";
  }
  const std::string wrong = CheckView("while working", /*must_be_ok=*/false);
  if (random_.OneIn(4)) DropView();
  return wrong;
}

Status FaultRun::OpenView() {
  view_ = View();
  view_->family = DrawFamily();
  view_->rows = possible_;
  const bool by_iterator = random_.OneIn(2);
  DB* const db = opened_.db();
  Status status = Call([&] {
    if (by_iterator) {
      view_->iterator.reset(db->NewIterator(ReadOptions(), view_->family));
      return view_->iterator->status();
    }
    view_->snapshot = db->GetSnapshot();
    return view_->snapshot != nullptr ? Status::OK() : Status::MemoryLimit("no snapshot");
  });
  if (!status.ok()) DropView();
  return status;
}

// The first read decides what was undecided.
std::string FaultRun::CheckView(const std::string& when, bool must_be_ok) {
  if (!view_.has_value()) return "";
  Rows rows;
  const auto read = [&] {
    rows.clear();
    ReadOptions options;
    options.snapshot = view_->snapshot;
    std::unique_ptr<Iterator> of_snapshot;
    Iterator* it = view_->iterator.get();
    if (it == nullptr) {
      of_snapshot.reset(opened_.db()->NewIterator(options, view_->family));
      it = of_snapshot.get();
    }
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      rows.emplace(it->key().ToString(), it->value().ToString());
    }
    return it->status();
  };
  const std::string what = when + (view_->snapshot != nullptr ? ", snapshot" : ", iterator");
  const Status status = must_be_ok ? Note(read()) : Call(read);
  if (!status.ok() && view_->iterator != nullptr) {
    DropView();  // an iterator may keep an error, also of its creation; a snapshot has none
    return "";
  }
  if (!status.ok()) return must_be_ok ? what + ": " + status.ToString() : "";
  ++fault_suite.figures.views;
  const std::string family = view_->family->GetName();
  const std::string wrong = view_->rows.JudgeFamily(family, rows);
  view_->rows.SettleAll({{family, rows}});
  return wrong.empty() ? "" : what + ": " + wrong;
}

void FaultRun::DropView() {
  if (!view_.has_value()) return;
  if (view_->snapshot != nullptr) opened_.db()->ReleaseSnapshot(view_->snapshot);
  view_.reset();
}

// ---- The current contents

std::string FaultRun::CheckKey() {
  ColumnFamilyHandle* const family = DrawFamily();
  const std::string key = DrawKey();
  std::string value;
  const Status status = Call([&] { return opened_.db()->Get(ReadOptions(), family, key, &value); });
  if (!status.ok() && !status.IsNotFound()) return "";
  return possible_.Judge({family->GetName(), key}, status.ok() ? value : "");
}

// Keys of all families in one call, some of them twice.
std::string FaultRun::CheckBatch() {
  std::vector<ColumnFamilyHandle*> families;
  std::vector<std::string> names;
  for (uint64_t i = 0; i < 6; ++i) {
    families.push_back(DrawFamily());
    names.push_back(random_.OneIn(4) && i > 0 ? names[i - 1] : DrawKey());
  }
  const std::vector<Slice> keys(names.begin(), names.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size(), Status::Aborted());
  const Status status = Call([&] {
    opened_.db()->MultiGet(ReadOptions(), keys.size(), families.data(), keys.data(), values.data(),
                           statuses.data());
    for (const Status& each : statuses) {
      if (!each.ok() && !each.IsNotFound()) return each;
    }
    return Status::OK();
  });
  if (status.IsMemoryLimit()) return "";  // perhaps in the middle of the scan
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok() && !statuses[i].IsNotFound()) continue;
    const std::string value = statuses[i].ok() ? values[i].ToString() : "";
    const std::string wrong = possible_.Judge({families[i]->GetName(), names[i]}, value);
    if (!wrong.empty()) return "in a batch: " + wrong;
  }
  return "";
}

// A scan that ends with OK shows every key that must exist.
std::string FaultRun::CheckRows(const std::string& when, bool must_be_ok) {
  Contents contents;
  Status status =
      must_be_ok ? opened_.ReadAll(&contents) : Try([&] { return opened_.ReadAll(&contents); });
  if (IsFailingMerge(status)) return "";
  status = Note(status);
  if (status.ToString().find("DISAGREE") != std::string::npos) return when + status.ToString();
  if (!status.ok()) return must_be_ok ? when + ": " + status.ToString() : "";
  return JudgeRows(contents, when);
}

std::string FaultRun::JudgeRows(const Contents& contents, const std::string& when) const {
  if (has_second_family_ && !contents.contains(kSecond)) return when + ": the family is lost";
  const std::string wrong = possible_.JudgeAll(contents);
  return wrong.empty() ? "" : when + ": " + wrong;
}

// ---- After the fault

std::string FaultRun::Recover() {
  BeginCase(case_.name + ", recovering");
  FaultFigures& figures = fault_suite.figures;
  const bool may_resume = opened_.db() != nullptr && !case_.never_waits;
  if (may_resume && case_.has_own_threads) {
    // The effects of the fault are known when the jobs that met it have ended.
    (void)opened_.db()->PauseBackgroundWork().ok();
    (void)opened_.db()->ContinueBackgroundWork().ok();
  }
  const Status resumed = may_resume ? opened_.db()->Resume() : Status::OK();
  if (may_resume && !case_.ends_after_close) {
    if (resumed.ok()) {
      ++figures.resumed;
      return "";
    }
    if (!MayRefuseToResume(resumed)) return "resume: " + resumed.ToString();
  }
  ++figures.reopened;
  // A log whose sync failed may have lost everything unsynced, until it is written again.
  return ReopenAfterFault(/*may_lose_unsynced=*/case_.ends_after_close || may_resume);
}

// Damage that a job found in a file, and half a batch in a memtable, stay until the database is
// opened again from its files.
bool FaultRun::MayRefuseToResume(const Status& resumed) const {
  if (resumed.IsCorruption()) return case_.may_show_damage;
  return case_.may_half_insert && resumed.IsMemoryLimit() &&
         resumed.severity() == Status::kFatalError;
}

std::string FaultRun::ReopenAfterFault(bool may_lose_unsynced) {
  DropView();
  (void)opened_.Close().ok();
  case_.end_fault(sim_.get());
  const Status status = opened_.Open(case_.options.Build(env_.get()), kDir);
  if (!status.ok()) return "reopen: " + status.ToString();
  if (has_failing_key_) {
    const Status removed = RemoveFailingKeys(/*may_wait=*/true);
    if (!removed.ok()) return "delete after reopening: " + removed.ToString();
  }
  if (!may_lose_unsynced) return CheckRows("after reopening", /*must_be_ok=*/true);
  possible_ = possible_after_loss_;
  Contents contents;
  const Status read = opened_.ReadAll(&contents);
  if (!read.ok()) return "read after reopening: " + read.ToString();
  std::string wrong = JudgeRows(contents, "after reopening");
  possible_.SettleAll(contents);
  return wrong;
}

// All writes must be accepted again, in every family; the last one is synced.
std::string FaultRun::WriteAll(const std::string& value) {
  if (has_failing_key_) {
    const Status removed = RemoveFailingKeys(/*may_wait=*/true);
    if (!removed.ok()) return "delete after recovery: " + removed.ToString();
  }
  for (ColumnFamilyHandle* family : opened_.handles()) {
    for (int i = 0; i < 5; ++i) {
      const std::string key = "k" + std::to_string(i);
      WriteOptions write;
      write.sync = i == 4;
      const Status status = opened_.db()->Put(write, family, key, value);
      if (!status.ok()) return "write after recovery: " + status.ToString();
      Remember(status, write, family, key, value);
    }
    const Status status = opened_.db()->Flush(FlushOptions(), family);
    if (!status.ok()) return "flush after recovery: " + status.ToString();
  }
  return "";
}

// After the sync nothing that was acknowledged may be missing. If syncs returned OK without
// syncing, the database may report damage or miss writes, but must not contain data that was never
// written.
std::string FaultRun::CrashAndCheck() {
  BeginCase(case_.name + ", crash");
  const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kStrict);
  const std::unique_ptr<Env> env = threads_.NewEnv(image);
  OpenedDb again;
  Contents contents;
  Status status = again.Open(case_.options.Build(env.get()), kDir);
  if (status.ok()) status = again.ReadAll(&contents);
  if (!case_.may_lose_synced) {
    return status.ok() ? JudgeRows(contents, "after the crash")
                       : "after the crash: " + status.ToString();
  }
  if (!status.ok()) return "";
  for (const auto& [family, rows] : contents) {
    for (const auto& [key, value] : rows) {
      const std::string wrong = ever_.Judge({family, key}, value);
      if (!wrong.empty()) return "after the crash, never written: " + wrong;
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
