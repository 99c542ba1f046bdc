// SPDX-License-Identifier: Apache-2.0
//
// Runs a trace against a database and its oracle side by side.
#include "tests/support/trace_runner.h"

#include <utility>

#include "ashlar/write_batch.h"

namespace ashlar {
namespace {

std::string Shown(const Slice& bytes) {
  return bytes.size() > 40 ? Slice(bytes.data(), 40).ToString(true) + "..(" +
                                 std::to_string(bytes.size()) + " bytes)"
                           : "'" + bytes.ToString(true) + "'";
}

ReadOptions ReadAt(const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  options.total_order_seek = true;
  return options;
}

}  // namespace

std::string FamilyName(int family) {
  return family == 0 ? "default" : "cf" + std::to_string(family);
}

TraceRunner::TraceRunner(Env* env, const std::string& dir, const OptionSet& options)
    : env_(env), dir_(dir), option_set_(options), oracle_(options.comparator()) {}

TraceRunner::~TraceRunner() { (void)Close(); }

ColumnFamilyHandle* TraceRunner::Handle(int family) const {
  const auto it = handles_.find(family);
  return it == handles_.end() ? nullptr : it->second;
}

std::string TraceRunner::Want(const Status& status, const char* what) const {
  return status.ok() ? "" : std::string(what) + ": " + status.ToString();
}

std::string TraceRunner::Open() {
  const Options options = option_set_.Build(env_);
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const auto& family : oracle_.families()) {
    descriptors.emplace_back(FamilyName(family.first), ColumnFamilyOptions(options));
  }
  std::vector<ColumnFamilyHandle*> handles;
  const Status status = DB::Open(DBOptions(options), dir_, descriptors, &handles, &db_);
  if (!status.ok()) return "open: " + status.ToString();
  size_t i = 0;
  for (const auto& family : oracle_.families()) handles_[family.first] = handles[i++];
  return "";
}

void TraceRunner::CloseObjects() {
  iterators_.clear();
  for (const auto& snapshot : snapshots_) db_->ReleaseSnapshot(snapshot.second.real);
  snapshots_.clear();
}

std::string TraceRunner::Close() {
  if (db_ == nullptr) return "";
  CloseObjects();
  std::string wrong;
  for (const auto& handle : handles_) {
    const Status status = db_->DestroyColumnFamilyHandle(handle.second);
    if (wrong.empty()) wrong = Want(status, "destroy handle");
  }
  handles_.clear();
  const Status status = db_->Close();
  db_.reset();
  return wrong.empty() ? Want(status, "close") : wrong;
}

std::string TraceRunner::Apply(const TraceOp& op) {
  if (op.IsWrite()) return ApplyWrite(op);
  switch (op.kind) {
    case OpKind::kGet:
    case OpKind::kMultiGet: return ApplyRead(op);
    case OpKind::kIter: return Handle(op.family) == nullptr ? "" : NewPair(op);
    case OpKind::kSnapshot:
      snapshots_[op.object] = {db_->GetSnapshot(), oracle_.seqno()};
      return "";
    case OpKind::kRelease: {
      const auto it = snapshots_.find(op.object);
      if (it == snapshots_.end()) return "";
      db_->ReleaseSnapshot(it->second.real);
      snapshots_.erase(it);
      return "";
    }
    case OpKind::kIterClose: iterators_.erase(op.object); return "";
    case OpKind::kVerify: return VerifyAll();
    default: break;
  }
  return op.kind >= OpKind::kFlush ? ApplyStructure(op) : ApplyIterator(op);
}

std::string TraceRunner::ApplyWrite(const TraceOp& op) {
  WriteOptions options;
  options.sync = op.sync;
  options.disableWAL = op.disable_wal;
  Status status;
  if (op.kind == OpKind::kBatch) {
    WriteBatch batch;
    for (const BatchPart& part : op.parts) {
      ColumnFamilyHandle* handle = Handle(part.family);
      if (handle == nullptr) continue;
      Status added;
      if (part.kind == OpKind::kPut) added = batch.Put(handle, part.key, part.value.Expand());
      else if (part.kind == OpKind::kDelete) added = batch.Delete(handle, part.key);
      else added = batch.SingleDelete(handle, part.key);
      if (!added.ok()) return "batch: " + added.ToString();
    }
    status = db_->Write(options, &batch);
  } else {
    ColumnFamilyHandle* handle = Handle(op.family);
    if (handle == nullptr) return "";
    const std::string& key = op.keys.front();
    if (op.kind == OpKind::kPut) status = db_->Put(options, handle, key, op.value.Expand());
    else if (op.kind == OpKind::kDelete) status = db_->Delete(options, handle, key);
    else status = db_->SingleDelete(options, handle, key);
  }
  if (status.ok()) oracle_.Write(op);
  return Want(status, "write");
}

std::string TraceRunner::ApplyStructure(const TraceOp& op) {
  ColumnFamilyHandle* handle = Handle(op.family);
  switch (op.kind) {
    case OpKind::kCreateFamily: {
      const Status status = db_->CreateColumnFamily(ColumnFamilyOptions(option_set_.Build(env_)),
                                                    FamilyName(op.family), &handle);
      if (!status.ok()) return "create family: " + status.ToString();
      handles_[op.family] = handle;
      oracle_.CreateFamily(op.family);
      return "";
    }
    case OpKind::kSyncWal: return Want(db_->SyncWAL(), "sync log");
    case OpKind::kReopen: {
      ++reopenings_;
      std::string wrong = Close();
      if (wrong.empty()) wrong = Open();
      return wrong.empty() ? VerifyAll() : wrong;
    }
    default: break;
  }
  if (handle == nullptr) return "";
  if (op.kind == OpKind::kFlush) return Want(db_->Flush(FlushOptions(), handle), "flush");
  if (op.kind == OpKind::kSetOptions) {
    const size_t equals = op.text.find('=');
    return Want(db_->SetOptions(handle, {{op.text.substr(0, equals), op.text.substr(equals + 1)}}),
                "set options");
  }
  if (op.kind == OpKind::kCompact) {
    std::string lower_bytes = op.lower.value_or(""), upper_bytes = op.upper.value_or("");
    const bool is_range = op.lower.has_value() && op.upper.has_value();
    if (is_range && option_set_.comparator()->Compare(lower_bytes, upper_bytes) > 0) {
      std::swap(lower_bytes, upper_bytes);
    }
    const Slice lower = lower_bytes, upper = upper_bytes;
    return Want(db_->CompactRange(CompactRangeOptions(), handle, op.lower ? &lower : nullptr,
                                  op.upper ? &upper : nullptr),
                "compact");
  }
  const Status dropped = db_->DropColumnFamily(handle);
  oracle_.DropFamily(op.family);
  handles_.erase(op.family);
  const Status destroyed = db_->DestroyColumnFamilyHandle(handle);
  return Want(dropped.ok() ? destroyed : dropped, "drop family");
}

std::string TraceRunner::CompareValue(int family, const std::string& key, uint64_t seqno,
                                      const Status& status, const Slice& value) const {
  const std::optional<ValueSpec> expected = oracle_.Family(family)->At(key, seqno);
  const std::string where = "get cf=" + std::to_string(family) + " " + Shown(key) + ": ";
  if (!status.ok() && !status.IsNotFound()) return where + status.ToString();
  if (expected.has_value() != status.ok()) {
    return where + (status.ok() ? "found " + Shown(value) + ", expected nothing"
                                : "found nothing, expected " + Shown(expected->Expand()));
  }
  if (expected.has_value() && expected->Expand() != value.ToStringView()) {
    return where + "found " + Shown(value) + ", expected " + Shown(expected->Expand());
  }
  return "";
}

std::string TraceRunner::ApplyRead(const TraceOp& op) {
  ColumnFamilyHandle* handle = Handle(op.family);
  const auto moment = snapshots_.find(op.snapshot);
  if (handle == nullptr || (op.snapshot >= 0 && moment == snapshots_.end())) return "";
  const bool is_old = op.snapshot >= 0;
  // A family that is younger than the snapshot has no history before it in the oracle either.
  const uint64_t seqno = is_old ? moment->second.seqno : oracle_.seqno();
  const ReadOptions options = ReadAt(is_old ? moment->second.real : nullptr);
  const size_t count = op.keys.size();
  std::vector<PinnableSlice> values(count);
  std::vector<Status> statuses(count);
  if (op.kind == OpKind::kGet) {
    statuses[0] = db_->Get(options, handle, op.keys[0], &values[0]);
  } else {
    const std::vector<Slice> keys(op.keys.begin(), op.keys.end());
    db_->MultiGet(options, handle, count, keys.data(), values.data(), statuses.data());
  }
  for (size_t i = 0; i < count; ++i) {
    std::string wrong = CompareValue(op.family, op.keys[i], seqno, statuses[i], values[i]);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string TraceRunner::NewPair(const TraceOp& op) {
  const auto moment = snapshots_.find(op.snapshot);
  if (op.snapshot >= 0 && moment == snapshots_.end()) return "";
  Pair& pair = iterators_[op.object];
  pair = Pair();
  pair.snapshot = op.snapshot;
  const bool is_old = op.snapshot >= 0;
  ReadOptions options = ReadAt(is_old ? moment->second.real : nullptr);
  if (op.lower.has_value()) {
    pair.lower_bytes = *op.lower;
    pair.lower = std::make_unique<Slice>(pair.lower_bytes);
    options.iterate_lower_bound = pair.lower.get();
  }
  if (op.upper.has_value()) {
    pair.upper_bytes = *op.upper;
    pair.upper = std::make_unique<Slice>(pair.upper_bytes);
    options.iterate_upper_bound = pair.upper.get();
  }
  pair.model = std::make_unique<OracleIterator>(oracle_.Family(op.family),
                                                is_old ? moment->second.seqno : oracle_.seqno(),
                                                op.lower, op.upper);
  pair.real.reset(db_->NewIterator(options, Handle(op.family)));
  return Want(pair.real->status(), "new iterator");
}

std::string TraceRunner::Compare(const Pair& pair) const {
  const std::string found =
      pair.real->Valid() ? Shown(pair.real->key()) : "end (" + pair.real->status().ToString() + ")";
  const std::string expected = pair.model->Valid() ? Shown(pair.model->row().first) : "end";
  const std::string where = "iterator: at " + found + ", expected " + expected;
  if (!pair.real->status().ok()) return where;
  if (pair.real->Valid() != pair.model->Valid()) return where;
  if (!pair.real->Valid()) return "";
  if (pair.real->key().ToStringView() != pair.model->row().first) return where;
  const std::string value = pair.model->row().second.Expand();
  if (pair.real->value().ToStringView() == value) return "";
  return where + " with value " + Shown(value) + ", found " + Shown(pair.real->value());
}

std::string TraceRunner::ApplyIterator(const TraceOp& op) {
  const auto it = iterators_.find(op.object);
  if (it == iterators_.end() || it->second.real == nullptr) return "";
  Pair& pair = it->second;
  switch (op.kind) {
    case OpKind::kSeek:
      pair.real->Seek(op.keys.front());
      pair.model->Seek(op.keys.front());
      break;
    case OpKind::kSeekForPrev:
      pair.real->SeekForPrev(op.keys.front());
      pair.model->SeekForPrev(op.keys.front());
      break;
    case OpKind::kFirst:
      pair.real->SeekToFirst();
      pair.model->SeekToFirst();
      break;
    case OpKind::kLast:
      pair.real->SeekToLast();
      pair.model->SeekToLast();
      break;
    case OpKind::kRefresh: {
      const Status status = pair.real->Refresh();
      if (!status.ok()) return "refresh: " + status.ToString();
      pair.model->Refresh(oracle_.seqno());
      return pair.real->Valid() ? "refresh: still positioned" : "";
    }
    default:
      if (!pair.model->Valid()) return "";
      if (op.kind == OpKind::kNext) {
        pair.real->Next();
        pair.model->Next();
      } else {
        pair.real->Prev();
        pair.model->Prev();
      }
  }
  return Compare(pair);
}

std::string TraceRunner::VerifyFamily(int family, const Snapshot* snapshot, uint64_t seqno) {
  const auto model = oracle_.Family(family);
  const std::string where = "verify cf=" + std::to_string(family) + ": ";
  const std::vector<OracleRow> rows = model->RowsAt(seqno);
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadAt(snapshot), Handle(family)));
  size_t i = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++i) {
    if (i >= rows.size() || it->key().ToStringView() != rows[i].first ||
        it->value().ToStringView() != rows[i].second.Expand()) {
      return where + "forward scan, row " + std::to_string(i) + ": found " + Shown(it->key()) +
             ", expected " + (i < rows.size() ? Shown(rows[i].first) : "end");
    }
  }
  if (!it->status().ok() || i != rows.size()) {
    return where + "forward scan ended after " + std::to_string(i) + " of " +
           std::to_string(rows.size()) + " rows: " + it->status().ToString();
  }
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    if (i == 0 || it->key().ToStringView() != rows[i - 1].first ||
        it->value().ToStringView() != rows[i - 1].second.Expand()) {
      return where + "backward scan, row " + std::to_string(i) + ": found " + Shown(it->key());
    }
    --i;
  }
  if (!it->status().ok() || i != 0) return where + "backward scan: " + it->status().ToString();
  TraceOp read;
  read.family = family;
  read.keys = model->AllKeys();
  if (read.keys.empty()) return "";
  std::vector<PinnableSlice> values(read.keys.size());
  std::vector<Status> statuses(read.keys.size());
  const std::vector<Slice> keys(read.keys.begin(), read.keys.end());
  db_->MultiGet(ReadAt(snapshot), Handle(family), keys.size(), keys.data(), values.data(),
                statuses.data());
  for (i = 0; i < keys.size(); ++i) {
    std::string wrong = CompareValue(family, read.keys[i], seqno, statuses[i], values[i]);
    if (!wrong.empty()) return where + "multiget: " + wrong;
    values[i].Reset();
    const Status status = db_->Get(ReadAt(snapshot), Handle(family), keys[i], &values[i]);
    wrong = CompareValue(family, read.keys[i], seqno, status, values[i]);
    if (!wrong.empty()) return where + wrong;
  }
  return "";
}

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

}  // namespace ashlar
