// SPDX-License-Identifier: Apache-2.0
//
// The part of TraceRunner that reads everything: full scans, copies, reopening, crashes. Rows are
// compared as keys and hashes of values.
#include <cstdlib>

#include "ashlar/utilities/checkpoint.h"
#include "tests/support/trace_runner.h"
#include "util/hash/hash.h"

namespace ashlar {
namespace {

ReadOptions ReadAll(const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  options.total_order_seek = true;
  return options;
}

std::string RowText(const std::pair<std::string, uint64_t>& row) {
  return "'" + Slice(row.first).ToString(true).substr(0, 80) + "'(" +
         std::to_string(row.first.size()) + ")=" + std::to_string(row.second);
}

}  // namespace

std::string TraceRunner::VerifyAll() {
  for (const auto& handle : handles_) {
    std::string wrong = VerifyFamily(handle.first, nullptr, oracle_.seqno());
    if (!wrong.empty()) return wrong;
    for (const auto& snapshot : snapshots_) {
      wrong = VerifyFamily(handle.first, snapshot.second.real, snapshot.second.seqno);
      if (!wrong.empty()) return "snapshot " + std::to_string(snapshot.first) + ": " + wrong;
    }
  }
  return "";
}

std::string TraceRunner::VerifyFamily(int family, const Snapshot* snapshot, uint64_t seqno) {
  HashedRows rows;
  std::string wrong = ScanFamily(family, snapshot, &rows);
  if (wrong.empty()) wrong = CompareRows(family, rows, seqno);
  if (wrong.empty()) wrong = VerifyGets(family, snapshot, rows);
  return wrong.empty() ? "" : "verify cf=" + std::to_string(family) + ": " + wrong;
}

// Forwards, then backwards, which must return the same rows.
std::string TraceRunner::ScanFamily(int family, const Snapshot* snapshot, HashedRows* rows) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadAll(snapshot), Handle(family)));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    rows->emplace_back(it->key().ToString(), FilterHash64(it->value()));
  }
  if (!it->status().ok()) return "forward scan: " + it->status().ToString();
  size_t left = rows->size();
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    const std::pair<std::string, uint64_t> row(it->key().ToString(), FilterHash64(it->value()));
    if (left == 0) return "backward scan: more rows than forward, " + RowText(row);
    if (row != (*rows)[--left]) {
      return "backward scan: found " + RowText(row) + ", forward " + RowText((*rows)[left]);
    }
  }
  if (!it->status().ok()) return "backward scan: " + it->status().ToString();
  return left == 0 ? "" : "backward scan: " + std::to_string(left) + " rows fewer";
}

std::string TraceRunner::CompareRows(int family, const HashedRows& rows, uint64_t seqno) {
  if (answers_ != nullptr) {
    uint64_t hash = 0;
    for (const auto& row : rows) hash = hash * 31 + (FilterHash64(row.first) ^ row.second);
    Note(std::to_string(rows.size()) + " rows " + std::to_string(hash));
    return "";
  }
  const std::vector<OracleRow> expected = oracle_.Family(family)->RowsAt(seqno);
  for (size_t i = 0; i < std::max(rows.size(), expected.size()); ++i) {
    std::pair<std::string, uint64_t> row;
    if (i < expected.size()) {
      row = {expected[i].first, FilterHash64(expected[i].second.Expand())};
    }
    if (i < rows.size() && i < expected.size() && rows[i] == row) continue;
    return "scan, row " + std::to_string(i) + ": found " +
           (i < rows.size() ? RowText(rows[i]) : "end") + ", expected " +
           (i < expected.size() ? RowText(row) + " (" + std::to_string(expected[i].second.tag) +
                                      "x" + std::to_string(expected[i].second.size) + ")"
                                : "end");
  }
  return "";
}

// Reads all keys ever written, by Get and by MultiGet; keys that the scan did not return must be
// absent.
std::string TraceRunner::VerifyGets(int family, const Snapshot* snapshot, const HashedRows& rows) {
  std::map<std::string, std::optional<uint64_t>> expected;
  for (const std::string& key : oracle_.Family(family)->AllKeys()) expected[key];
  for (const auto& row : rows) expected[row.first] = row.second;
  if (expected.empty()) return "";
  std::vector<Slice> keys;
  for (const auto& entry : expected) keys.emplace_back(entry.first);
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  const ReadOptions options = ReadAll(snapshot);
  db_->MultiGet(options, Handle(family), keys.size(), keys.data(), values.data(), statuses.data());
  size_t i = 0;
  PinnableSlice value;
  for (const auto& [key, hash] : expected) {
    value.Reset();
    const Status status = db_->Get(options, Handle(family), key, &value);
    const auto is_right = [&, &hash = hash](const Status& said, const Slice& found) {
      return hash.has_value() ? said.ok() && FilterHash64(found) == *hash : said.IsNotFound();
    };
    const std::string where =
        " of '" + Slice(key).ToString(true).substr(0, 80) + "' disagrees with the scan: ";
    if (!is_right(statuses[i], values[i])) return "multiget" + where + statuses[i].ToString();
    if (!is_right(status, value)) return "get" + where + status.ToString();
    ++i;
  }
  return "";
}

// The families of another opened database.
std::string TraceRunner::VerifyCopy(const Contents& contents, const char* what) {
  if (contents.size() != handles_.size()) return std::string(what) + ": other families";
  for (const auto& handle : handles_) {
    const auto found = contents.find(FamilyName(handle.first));
    if (found == contents.end()) return std::string(what) + ": a family is missing";
    std::map<std::string, uint64_t> hashes;
    for (const auto& [key, value] : found->second) hashes[key] = FilterHash64(value);
    HashedRows rows(hashes.begin(), hashes.end());
    const Comparator* order = option_set_.comparator();
    std::sort(rows.begin(), rows.end(), [order](const auto& a, const auto& b) {
      return order->Compare(a.first, b.first) < 0;
    });
    const std::string wrong = CompareRows(handle.first, rows, oracle_.seqno());
    if (!wrong.empty())
      return std::string(what) + " cf=" + std::to_string(handle.first) + ": " + wrong;
  }
  return "";
}

std::string TraceRunner::ApplyCheckpoint() {
  Unpause();
  Checkpoint* made = nullptr;
  Status status = Checkpoint::Create(db_.get(), &made);
  const std::unique_ptr<Checkpoint> checkpoint(made);
  // A new directory each time, because a crash may bring an earlier copy back.
  const std::string dir = dir_ + "_copy" + std::to_string(++copies_);
  if (status.ok()) status = checkpoint->CreateCheckpoint(dir);
  if (!status.ok()) return "checkpoint: " + status.ToString();
  Options options = option_set_.Build(env_);
  options.wal_dir.clear();
  options.db_paths.clear();
  std::string wrong;
  {
    OpenedDb copy;
    Contents contents;
    status = copy.Open(options, dir);
    if (status.ok()) status = copy.ReadAll(&contents);
    wrong = status.ok() ? VerifyCopy(contents, "checkpoint") : "checkpoint: " + status.ToString();
    if (wrong.empty()) wrong = Want(copy.Close(), "checkpoint, close");
  }
  status = DestroyDB(dir, options);
  return wrong.empty() ? Want(status, "checkpoint, destroy") : wrong;
}

// Opens the files a second time, while the database is open. Only with one thread: otherwise a
// compaction may delete files meanwhile.
std::string TraceRunner::ApplyReadOnlyOpen() {
  if (machine_ == nullptr) return "";
  const Options options = option_set_.Build(env_);
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const auto& handle : handles_) {
    descriptors.emplace_back(FamilyName(handle.first), ColumnFamilyOptions(options));
  }
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> reader;
  Status status = DB::OpenForReadOnly(DBOptions(options), dir_, descriptors, &handles, &reader);
  if (!status.ok()) return "read-only open: " + status.ToString();
  Contents contents;
  for (ColumnFamilyHandle* handle : handles) {
    Rows& rows = contents[handle->GetName()];
    const std::unique_ptr<Iterator> it(reader->NewIterator(ReadAll(nullptr), handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      rows[it->key().ToString()] = it->value().ToString();
    }
    if (status.ok()) status = it->status();
  }
  for (ColumnFamilyHandle* handle : handles) (void)reader->DestroyColumnFamilyHandle(handle).ok();
  // Data that is only in the memory of the first database is not visible: also the deletion of a
  // failing operand.
  const bool sees_all = !has_unlogged_ && option_set_.Get("manual_wal_flush") == 0;
  if (!sees_all && status.subcode() == Status::kMergeOperatorFailed) return "";
  if (!status.ok()) return "read-only scan: " + status.ToString();
  return sees_all ? VerifyCopy(contents, "read-only") : "";
}

std::string TraceRunner::Reopen(const TraceOp& op) {
  ++reopenings_;
  std::string wrong = Close();
  if (!wrong.empty()) return wrong;
  if (option_set_.Get("recover_no_flush") == 0) durable_ = oracle_.seqno();
  // Other options, as far as the files allow; not if answers are compared between runs.
  if (!op.text.empty() && answers_ == nullptr) {
    OptionSet other = OptionSet::Draw(std::strtoull(op.text.c_str(), nullptr, 10), true);
    for (const char* name :
         {"comparator", "levels", "wal_dir", "paths", "no_flush_at_close", "recycled_logs"}) {
      other.Set(name, option_set_.Get(name));
    }
    option_set_ = other;
  }
  wrong = Open();
  return wrong.empty() ? VerifyAll() : wrong;
}

std::string TraceRunner::ApplyCrash(const TraceOp& op) {
  if (machine_ == nullptr || machine_->sim_fs() == nullptr || has_unlogged_) return "";
  ++reopenings_;
  ++crashes_;
  const size_t comma = op.text.find(',');
  auto policy = static_cast<CrashPolicy>(std::atoi(op.text.c_str()));
  const uint64_t seed = std::strtoull(op.text.c_str() + comma + 1, nullptr, 10);
  // Answers can be compared only if nothing is lost, and only the default recovery mode accepts a
  // torn log.
  const bool may_tear = option_set_.Get("recovery_mode") ==
                        static_cast<uint64_t>(WALRecoveryMode::kPointInTimeRecovery);
  if (answers_ != nullptr || (policy >= CrashPolicy::kTorn && !may_tear))
    policy = CrashPolicy::kAll;
  const std::shared_ptr<SimFS> image = machine_->TakeImage(policy, seed);
  const uint64_t first = policy == CrashPolicy::kAll && option_set_.Get("manual_wal_flush") == 0
                             ? oracle_.seqno()
                             : durable_;
  (void)Close().empty();  // what it still writes is lost
  machine_->Restart(image);
  env_ = machine_->env();
  std::string wrong = Open();
  if (wrong.empty() && answers_ == nullptr) wrong = AdoptRecoveredState(first);
  if (wrong.empty()) wrong = VerifyAll();
  return wrong.empty() ? "" : std::string("after a crash, policy ") + NameOf(policy) + ": " + wrong;
}

// The oracle returns to the moment that was recovered, which must not be before `first`.
std::string TraceRunner::AdoptRecoveredState(uint64_t first) {
  std::map<int, Rows> contents;
  for (const auto& [family, handle] : handles_) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadAll(nullptr), handle));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      contents[family][it->key().ToString()] = it->value().ToString();
    }
    if (!it->status().ok()) return it->status().ToString();
    contents[family];
  }
  std::optional<uint64_t> moment = oracle_.FindMoment(contents, first);
  if (!moment.has_value()) {
    moment = oracle_.FindMoment(contents, 0);
    return "writes 1.." + std::to_string(oracle_.seqno()) + ", durable up to " +
           std::to_string(first) + ", found " +
           (moment.has_value() ? "those up to " + std::to_string(*moment) : "no prefix of them");
  }
  oracle_.RollBackTo(*moment);
  durable_ = *moment;
  for (auto& last : last_write_) last.second = std::min(last.second, *moment);
  return "";
}

bool TraceRunner::IsReversed(const BatchPart& part) const {
  return part.kind == OpKind::kDeleteRange &&
         oracle_.Family(part.family)->comparator()->Compare(part.key, part.end) > 0;
}

// Nothing is changed.
std::string TraceRunner::ApplyReversedRange(const TraceOp& op) {
  const Status status = db_->DeleteRange({}, Handle(op.family), op.keys.front(), op.keys.back());
  return status.IsInvalidArgument() ? "" : "a reversed range: " + status.ToString();
}

}  // namespace ashlar
