// SPDX-License-Identifier: Apache-2.0
//
// Runs a trace against a database and its oracle side by side.
#include "tests/support/trace_runner.h"

#include <cstdlib>
#include <utility>

#include "ashlar/write_batch.h"
#include "db/read/read_sampler.h"
#include "util/hash/hash.h"

namespace ashlar {
namespace {

std::string Shown(const Slice& bytes) {
  return bytes.size() > 40 ? Slice(bytes.data(), 40).ToString(true) + "..(" +
                                 std::to_string(bytes.size()) + " bytes)"
                           : "'" + bytes.ToString(true) + "'";
}

// Short, and different for different values.
std::string Digest(const Slice& bytes) {
  return std::to_string(bytes.size()) + ":" + std::to_string(FilterHash64(bytes));
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
    : machine_(nullptr),
      env_(env),
      dir_(dir),
      option_set_(options),
      oracle_(options.comparator()) {}

TraceRunner::TraceRunner(SimMachine* machine, const std::string& dir, const OptionSet& options)
    : TraceRunner(machine->env(), dir, options) {
  machine_ = machine;
  this_thread_sampling = {.reads_to_go = 10,
                          .has_begun = true};  // every run samples the same reads
}

TraceRunner::~TraceRunner() { (void)Close(); }

ColumnFamilyHandle* TraceRunner::Handle(int family) const {
  const auto it = handles_.find(family);
  return it == handles_.end() ? nullptr : it->second;
}

std::string TraceRunner::Want(const Status& status, const char* what) const {
  return status.ok() ? "" : std::string(what) + ": " + status.ToString();
}

void TraceRunner::Note(const std::string& answer) {
  if (answers_ != nullptr) answers_->back() += " " + answer;
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
  Unpause();
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

void TraceRunner::Unpause() {
  if (!std::exchange(is_paused_, false)) return;
  (void)db_->ContinueBackgroundWork().ok();
}

std::string TraceRunner::Apply(const TraceOp& op) {
  if (answers_ != nullptr) answers_->emplace_back(NameOf(op.kind));
  return Dispatch(op);
}

std::string TraceRunner::Dispatch(const TraceOp& op) {
  if (op.IsWrite()) return ApplyWrite(op);
  switch (op.kind) {
    case OpKind::kGet:
    case OpKind::kKeyMayExist:
    case OpKind::kMultiGet: return ApplyRead(op);
    case OpKind::kIter: return Handle(op.family) == nullptr ? "" : NewPair(op);
    case OpKind::kSnapshot: {
      const auto old = snapshots_.find(op.object);
      if (old != snapshots_.end()) db_->ReleaseSnapshot(old->second.real);
      snapshots_[op.object] = {db_->GetSnapshot(), oracle_.seqno()};
      return "";
    }
    case OpKind::kRelease: {
      const auto it = snapshots_.find(op.object);
      if (it == snapshots_.end()) return "";
      db_->ReleaseSnapshot(it->second.real);
      snapshots_.erase(it);
      return "";
    }
    case OpKind::kIterClose: iterators_.erase(op.object); return "";
    case OpKind::kVerify: return VerifyAll();
    case OpKind::kMultiGetFamilies: return ReadFamilies(op);
    case OpKind::kPrefixScan: return ScanPrefix(op);
    case OpKind::kFailingMerge: return ApplyFailingMerge(op);
    default: break;
  }
  return op.kind >= OpKind::kFlush ? ApplyStructure(op) : ApplyIterator(op);
}

bool TraceRunner::IsLegal(OpKind kind, int family, const std::string& key) const {
  const auto model = oracle_.Family(family);
  if (model == nullptr) return false;
  return kind != OpKind::kSingleDelete || model->LivePuts(key) <= 1;
}

namespace {

Status PutInto(WriteBatch* batch, ColumnFamilyHandle* handle, const std::string& key,
               const ValueSpec& value) {
  const std::string bytes = value.Expand(), tag = std::to_string(value.tag);
  if (!value.IsPutAsEntity()) return batch->Put(handle, key, bytes);
  return batch->PutEntity(handle, key, WideColumns{{"tag", tag}, {"", bytes}});
}

}  // namespace

// Adds to *done the parts that were put into the batch.
std::string TraceRunner::FillBatch(const TraceOp& op, WriteBatch* batch, TraceOp* done) {
  done->kind = OpKind::kBatch;
  std::map<std::pair<int, std::string>, int> puts;  // of this batch
  for (const BatchPart& part : op.parts) {
    if (!IsLegal(part.kind, part.family, part.key) || IsReversed(part)) continue;
    const bool is_merge = part.kind == OpKind::kMerge;
    int& count = puts[{part.family, part.key}];
    const bool was_put = oracle_.Family(part.family)->LivePuts(part.key) > 0;
    if (part.kind == OpKind::kSingleDelete && count + (was_put ? 1 : 0) > 1) continue;
    count += is_merge ? 2 : part.kind == OpKind::kPut ? 1 : 0;
    ColumnFamilyHandle* handle = Handle(part.family);
    Status added;
    if (part.kind == OpKind::kFailingMerge) added = batch->Merge(handle, part.key, "!");
    if (part.kind == OpKind::kPut)
      added = PutInto(batch, handle, part.key, part.value);
    else if (is_merge)
      added = batch->Merge(handle, part.key, part.value.Expand());
    else if (part.kind == OpKind::kDelete || part.kind == OpKind::kFailingMerge)
      added = added.ok() ? batch->Delete(handle, part.key) : added;
    else if (part.kind == OpKind::kDeleteRange)
      added = batch->DeleteRange(handle, part.key, part.end);
    else
      added = batch->SingleDelete(handle, part.key);
    if (!added.ok()) return "batch: " + added.ToString();
    done->parts.push_back(part);
  }
  return "";
}

std::string TraceRunner::ApplyWrite(const TraceOp& op) {
  WriteBatch batch;
  TraceOp done;
  TraceOp single = op;
  if (op.kind != OpKind::kBatch) {
    single.parts = {{op.kind, op.family, op.keys.front(), op.value, op.keys.back()}};
  }
  if (op.kind == OpKind::kDeleteRange && oracle_.Family(op.family) != nullptr &&
      IsReversed(single.parts.front())) {
    return ApplyReversedRange(op);
  }
  std::string wrong = FillBatch(single, &batch, &done);
  if (!wrong.empty() || (done.parts.empty() && op.kind != OpKind::kBatch)) return wrong;
  WriteOptions options;
  options.sync = op.sync;
  options.disableWAL = op.disable_wal;
  // A paused database cannot end a stall.
  options.no_slowdown = is_paused_;
  ColumnFamilyHandle* handle = Handle(op.family);
  const auto write = [&] {
    if (op.kind == OpKind::kBatch) return db_->Write(options, &batch);
    const std::string& key = op.keys.front();
    if (op.kind == OpKind::kPut && op.value.IsPutAsEntity()) return db_->Write(options, &batch);
    if (op.kind == OpKind::kPut) return db_->Put(options, handle, key, op.value.Expand());
    if (op.kind == OpKind::kMerge) return db_->Merge(options, handle, key, op.value.Expand());
    if (op.kind == OpKind::kDeleteRange) {
      return db_->DeleteRange(options, handle, key, op.keys.back());
    }
    if (op.kind == OpKind::kDelete) return db_->Delete(options, handle, key);
    return db_->SingleDelete(options, handle, key);
  };
  Status status = write();
  if (is_paused_ && status.IsIncomplete()) {
    Unpause();
    options.no_slowdown = false;
    status = write();
  }
  if (!status.ok()) return Want(status, "write");
  oracle_.Write(done);
  done.sync = op.sync;
  has_unlogged_ |= op.disable_wal;
  NoteDurable(done);
  return "";
}

void TraceRunner::NoteDurable(const TraceOp& op) {
  if (op.sync) durable_ = oracle_.seqno();
  for (const BatchPart& part : op.parts) last_write_[part.family] = oracle_.seqno();
}

std::string TraceRunner::ApplyStructure(const TraceOp& op) {
  switch (op.kind) {
    case OpKind::kCreateFamily:
    case OpKind::kSyncWal:
    case OpKind::kReopen:
    case OpKind::kSetDbOptions:
    case OpKind::kCheckpoint:
    case OpKind::kReadOnlyOpen:
    case OpKind::kPause:
    case OpKind::kContinue:
    case OpKind::kWaitIdle:
    case OpKind::kClockJump:
    case OpKind::kCrash: return ApplyToDatabase(op);
    default: break;
  }
  ColumnFamilyHandle* handle = Handle(op.family);
  return handle == nullptr ? "" : ApplyToFamily(op, handle);
}

std::string TraceRunner::ApplyToDatabase(const TraceOp& op) {
  switch (op.kind) {
    case OpKind::kCreateFamily: {
      if (Handle(op.family) != nullptr) return "";
      ColumnFamilyHandle* handle = nullptr;
      const Status status = db_->CreateColumnFamily(ColumnFamilyOptions(option_set_.Build(env_)),
                                                    FamilyName(op.family), &handle);
      if (!status.ok()) return "create family: " + status.ToString();
      handles_[op.family] = handle;
      oracle_.CreateFamily(op.family);
      return "";
    }
    case OpKind::kSyncWal: {
      const Status status = db_->SyncWAL();
      if (status.ok()) durable_ = oracle_.seqno();
      return Want(status, "sync log");
    }
    case OpKind::kSetDbOptions: {
      const size_t equals = op.text.find('=');
      return Want(db_->SetDBOptions({{op.text.substr(0, equals), op.text.substr(equals + 1)}}),
                  "set db options");
    }
    case OpKind::kPause:
      if (is_paused_) return "";
      is_paused_ = true;
      return Want(db_->PauseBackgroundWork(), "pause");
    case OpKind::kContinue: Unpause(); return "";
    case OpKind::kWaitIdle: {
      Unpause();
      const std::string wrong = Want(db_->WaitForCompact(WaitForCompactOptions()), "wait");
      return wrong.empty() ? VerifyAll() : wrong;
    }
    case OpKind::kClockJump:
      if (machine_ == nullptr) return "";
      machine_->executor()->clock()->Jump(std::atoll(op.text.c_str()) * 1000000);
      return "";
    case OpKind::kCheckpoint: return ApplyCheckpoint();
    case OpKind::kReadOnlyOpen: return ApplyReadOnlyOpen();
    case OpKind::kCrash: return ApplyCrash(op);
    default: return Reopen(op);
  }
}

std::string TraceRunner::ApplyToFamily(const TraceOp& op, ColumnFamilyHandle* handle) {
  if (op.kind == OpKind::kFlush) {
    Unpause();
    const Status status = db_->Flush(FlushOptions(), handle);
    if (status.ok()) durable_ = std::max(durable_, last_write_[op.family]);
    return Want(status, "flush");
  }
  if (op.kind == OpKind::kSetOptions) {
    const size_t equals = op.text.find('=');
    return Want(db_->SetOptions(handle, {{op.text.substr(0, equals), op.text.substr(equals + 1)}}),
                "set options");
  }
  if (op.kind == OpKind::kDropFamily) return op.family == 0 ? "" : DropFamily(op.family);
  return CompactOrMeasure(op, handle);
}

std::string TraceRunner::CompactOrMeasure(const TraceOp& op, ColumnFamilyHandle* handle) {
  Unpause();
  std::string lower_bytes = op.lower.value_or(""), upper_bytes = op.upper.value_or("");
  const bool is_range = op.lower.has_value() && op.upper.has_value();
  if (is_range && option_set_.comparator()->Compare(lower_bytes, upper_bytes) > 0) {
    std::swap(lower_bytes, upper_bytes);
  }
  const Slice lower = lower_bytes, upper = upper_bytes;
  if (op.kind == OpKind::kCompact) {
    return Want(db_->CompactRange(CompactRangeOptions(), handle, op.lower ? &lower : nullptr,
                                  op.upper ? &upper : nullptr),
                "compact");
  }
  if (!is_range) return "";
  const Range range(lower, upper);
  uint64_t bytes = 0;
  SizeApproximationOptions both;
  both.include_memtables = true;
  return Want(db_->GetApproximateSizes(both, handle, &range, 1, &bytes), "approximate size");
}

std::string TraceRunner::DropFamily(int family) {
  ColumnFamilyHandle* handle = Handle(family);
  const Status dropped = db_->DropColumnFamily(handle);
  oracle_.DropFamily(family);
  handles_.erase(family);
  const Status destroyed = db_->DestroyColumnFamilyHandle(handle);
  return Want(dropped.ok() ? destroyed : dropped, "drop family");
}

std::string TraceRunner::CompareValue(int family, const std::string& key, uint64_t seqno,
                                      const Status& status, const Slice& value) {
  const std::string where = "get cf=" + std::to_string(family) + " " + Shown(key) + ": ";
  if (!status.ok() && !status.IsNotFound()) return where + status.ToString();
  if (answers_ != nullptr) {
    Note(status.ok() ? Digest(value) : "none");
    return "";
  }
  const std::optional<ValueSpec> expected = oracle_.Family(family)->At(key, seqno);
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
  // A family that is younger than the snapshot has no history before it, in the oracle either.
  const uint64_t seqno = is_old ? moment->second.seqno : oracle_.seqno();
  const ReadOptions options = ReadAt(is_old ? moment->second.real : nullptr);
  if (op.kind == OpKind::kKeyMayExist) return KeyMayExist(op, handle, options, seqno);
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
  return answers_ == nullptr ? ReadColumns(op, options, seqno) : "";
}

std::string TraceRunner::NewPair(const TraceOp& op) {
  const auto moment = snapshots_.find(op.snapshot);
  if (op.snapshot >= 0 && moment == snapshots_.end()) return "";
  Pair& pair = iterators_[op.object];
  pair = Pair();
  pair.is_tailing = op.is_tailing;
  const bool is_old = op.snapshot >= 0;
  ReadOptions options = ReadAt(is_old ? moment->second.real : nullptr);
  options.tailing = op.is_tailing;
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

std::string TraceRunner::Compare(const Pair& pair) {
  if (answers_ != nullptr) {
    Note(pair.real->Valid() ? Digest(pair.real->key()) + "=" + Digest(pair.real->value()) : "end");
    return Want(pair.real->status(), "iterator");
  }
  const bool is_same =
      pair.real->status().ok() && pair.real->Valid() == pair.model->Valid() &&
      (!pair.real->Valid() || pair.real->key().ToStringView() == pair.model->key());
  if (!is_same) {
    return "iterator: at " +
           (pair.real->Valid() ? Shown(pair.real->key())
                               : "end (" + pair.real->status().ToString() + ")") +
           ", expected " + (pair.model->Valid() ? Shown(pair.model->key()) : "end");
  }
  if (!pair.real->Valid()) return "";
  const std::string value = pair.model->value().Expand();
  if (!pair.model->value().EqualsColumns(pair.real->columns())) {
    return "iterator: at " + Shown(pair.real->key()) + " other columns than " + Shown(value);
  }
  if (pair.real->value().ToStringView() == value) return "";
  return "iterator: at " + Shown(pair.real->key()) + " expected value " + Shown(value) +
         ", found " + Shown(pair.real->value());
}

std::string TraceRunner::ApplyIterator(const TraceOp& op) {
  const auto it = iterators_.find(op.object);
  if (it == iterators_.end() || it->second.real == nullptr) return "";
  Iterator* real = it->second.real.get();
  OracleIterator* model = it->second.model.get();
  const bool is_seek = op.kind != OpKind::kNext && op.kind != OpKind::kPrev;
  if (is_seek && it->second.is_tailing) model->Refresh(oracle_.seqno());
  switch (op.kind) {
    case OpKind::kSeek:
      real->Seek(op.keys.front());
      model->Seek(op.keys.front());
      break;
    case OpKind::kSeekForPrev:
      real->SeekForPrev(op.keys.front());
      model->SeekForPrev(op.keys.front());
      break;
    case OpKind::kFirst:
      real->SeekToFirst();
      model->SeekToFirst();
      break;
    case OpKind::kLast:
      real->SeekToLast();
      model->SeekToLast();
      break;
    case OpKind::kRefresh: {
      const Status status = real->Refresh();
      if (!status.ok()) return "refresh: " + status.ToString();
      model->Refresh(oracle_.seqno());
      return real->Valid() ? "refresh: still positioned" : "";
    }
    default:
      if (!real->Valid() || !model->Valid()) return "";
      if (op.kind == OpKind::kNext) {
        const std::string last = model->key();
        real->Next();
        model->Next();
        if (it->second.is_tailing && !model->Valid()) {  // it looks for what was written behind
          model->Refresh(oracle_.seqno());
          model->Seek(last);
          if (model->Valid() && model->key() == last) model->Next();
        }
      } else {
        real->Prev();
        model->Prev();
      }
  }
  return Compare(it->second);
}

}  // namespace ashlar
