// SPDX-License-Identifier: Apache-2.0
//
// The part of TraceRunner that reads batches over families, scans prefixes, and reads merge
// operands that fail.
#include <algorithm>
#include <cstdlib>

#include "tests/support/trace_runner.h"
#include "util/hash/hash.h"

namespace ashlar {
namespace {

constexpr size_t kPrefixBytes = 2;  // of the prefix extractor in the options
constexpr int kMostRows = 40;

bool IsShorterFirst(const OptionSet& options) { return options.Get("comparator") == 2; }

bool HasPrefix(const Slice& key, const std::string& prefix) { return key.starts_with(prefix); }

}  // namespace

// False: the snapshot does not exist.
bool TraceRunner::MomentOf(const TraceOp& op, ReadOptions* options, uint64_t* seqno) const {
  *seqno = oracle_.seqno();
  if (op.snapshot < 0) return true;
  const auto moment = snapshots_.find(op.snapshot);
  if (moment == snapshots_.end()) return false;
  options->snapshot = moment->second.real;
  *seqno = moment->second.seqno;
  return true;
}

std::string TraceRunner::KeyMayExist(const TraceOp& op, ColumnFamilyHandle* handle,
                                     const ReadOptions& options, uint64_t seqno) {
  const std::string& key = op.keys.front();
  std::string value;
  bool is_value_found = false;
  const bool may_exist = db_->KeyMayExist(options, handle, key, &value, &is_value_found);
  // The answer is an estimate that may differ between option sets, but "absent" is never wrong.
  if (answers_ != nullptr) return "";
  const std::optional<ValueSpec> expected = oracle_.Family(op.family)->At(key, seqno);
  const std::string where =
      "key-may-exist cf=" + std::to_string(op.family) + " " + Slice(key).ToString(/*hex=*/true);
  if (!may_exist && expected.has_value()) return where + ": no, but it does";
  if (may_exist && is_value_found && (!expected.has_value() || expected->Expand() != value)) {
    return where + ": found " + Slice(value).ToString(/*hex=*/true);
  }
  return "";
}

// The keys of a Get or MultiGet as columns.
std::string TraceRunner::ReadColumns(const TraceOp& op, const ReadOptions& options,
                                     uint64_t seqno) {
  ColumnFamilyHandle* const handle = Handle(op.family);
  const std::vector<Slice> keys(op.keys.begin(), op.keys.end());
  std::vector<PinnableWideColumns> columns(keys.size());
  std::vector<Status> statuses(keys.size());
  if (keys.size() == 1) {
    statuses[0] = db_->GetEntity(options, handle, keys[0], &columns[0]);
  } else {
    db_->MultiGetEntity(options, handle, keys.size(), keys.data(), columns.data(), statuses.data());
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::optional<ValueSpec> expected = oracle_.Family(op.family)->At(op.keys[i], seqno);
    const bool is_right = expected.has_value()
                              ? statuses[i].ok() && expected->EqualsColumns(columns[i].columns())
                              : statuses[i].IsNotFound();
    if (!is_right) return "other columns of " + keys[i].ToString(true) + statuses[i].ToString();
  }
  return "";
}

std::string TraceRunner::ReadFamilies(const TraceOp& op) {
  ReadOptions options;
  uint64_t seqno = 0;
  if (!MomentOf(op, &options, &seqno)) return "";
  std::vector<BatchPart> parts;
  for (const BatchPart& part : op.parts) {
    if (Handle(part.family) != nullptr) parts.push_back(part);
  }
  const bool is_sorted = op.text == "sorted";
  if (is_sorted) {
    const Comparator* const order = option_set_.comparator();
    std::sort(parts.begin(), parts.end(), [order](const BatchPart& a, const BatchPart& b) {
      return a.family != b.family ? a.family < b.family : order->Compare(a.key, b.key) < 0;
    });
  }
  options.optimize_multiget_for_io = parts.size() % 2 == 0;
  options.fill_cache = parts.size() % 3 != 0;
  options.async_io = parts.size() % 5 == 0;
  std::vector<Slice> keys;
  std::vector<ColumnFamilyHandle*> handles;
  for (const BatchPart& part : parts) {
    keys.emplace_back(part.key);
    handles.push_back(Handle(part.family));
  }
  std::vector<PinnableSlice> values(parts.size());
  std::vector<Status> statuses(parts.size());
  db_->MultiGet(options, parts.size(), handles.data(), keys.data(), values.data(), statuses.data(),
                is_sorted);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string wrong = CompareValue(parts[i].family, parts[i].key, seqno, statuses[i], values[i]);
    if (!wrong.empty()) return "multiget over families: " + wrong;
  }
  return "";
}

// The result after the end of the prefix is undefined, so both are compared only up to there.
std::string TraceRunner::ScanPrefix(const TraceOp& op) {
  const std::string& key = op.keys.front();
  ReadOptions options;
  uint64_t seqno = 0;
  if (Handle(op.family) == nullptr || key.size() < kPrefixBytes) return "";
  if (!MomentOf(op, &options, &seqno)) return "";
  // An order that separates keys with the same prefix does not support prefix seeks.
  options.total_order_seek = IsShorterFirst(option_set_);
  options.prefix_same_as_start = op.text == "same" && !options.total_order_seek;
  const std::string prefix = key.substr(0, kPrefixBytes);
  const bool goes_back = op.object != 0;
  const std::unique_ptr<Iterator> real(db_->NewIterator(options, Handle(op.family)));
  OracleIterator model(oracle_.Family(op.family), seqno, std::nullopt, std::nullopt);
  goes_back ? real->SeekForPrev(key) : real->Seek(key);
  goes_back ? model.SeekForPrev(key) : model.Seek(key);
  for (int i = 0; i < kMostRows; ++i) {
    if (!real->status().ok()) return "prefix scan: " + real->status().ToString();
    const bool is_there = real->Valid() && HasPrefix(real->key(), prefix);
    const bool is_expected = model.Valid() && HasPrefix(model.key(), prefix);
    if (answers_ != nullptr) {
      Note(is_there ? std::to_string(FilterHash64(real->key()) ^ FilterHash64(real->value()))
                    : "end");
      if (!is_there) return "";
    } else {
      if (is_there != is_expected || (is_there && real->key() != Slice(model.key()))) {
        return "prefix scan: found " + (is_there ? real->key().ToString(true) : "end") +
               ", expected " + (is_expected ? Slice(model.key()).ToString(true) : "end");
      }
      if (!is_there) return "";
      if (real->value() != Slice(model.value().Expand())) {
        return "prefix scan: wrong value at " + real->key().ToString(true);
      }
      goes_back ? model.Prev() : model.Next();
    }
    goes_back ? real->Prev() : real->Next();
  }
  return "";
}

// The bits of the text: a base below, an operand above, a flush, a compaction.
Status TraceRunner::WriteFailing(const TraceOp& op, ColumnFamilyHandle* handle) {
  const int variant = std::atoi(op.text.c_str());
  const std::string& key = op.keys.front();
  const WriteOptions options;
  Status status;
  if ((variant & 1) != 0) status = db_->Put(options, handle, key, "base");
  if (status.ok()) status = db_->Merge(options, handle, key, "!");
  if (status.ok() && (variant & 2) != 0) status = db_->Merge(options, handle, key, "more");
  if (status.ok() && (variant & 4) != 0) status = db_->Flush(FlushOptions(), handle);
  if (status.ok() && (variant & 8) != 0) {
    status = db_->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr);
  }
  return status;
}

std::string TraceRunner::ReadFailingMerge(const TraceOp& op, ColumnFamilyHandle* handle) {
  ReadOptions options;
  options.total_order_seek = true;
  const std::string& key = op.keys.front();
  // Before its extension in the usual orders, after a prefix of it in the reverse one.
  const std::string extended = key + '\0';
  const bool is_before = option_set_.comparator()->Compare(key, extended) < 0;
  const std::string behind = is_before ? extended : key.substr(0, 4);
  const auto fails = [](const Status& status) {
    return status.IsCorruption() && status.subcode() == Status::kMergeOperatorFailed;
  };
  std::string value;
  const Status got = db_->Get(options, handle, key, &value);
  if (!fails(got)) return "get: " + got.ToString();
  const Slice keys[] = {behind, key, behind};
  PinnableSlice values[3];
  Status statuses[3];
  db_->MultiGet(options, handle, 3, keys, values, statuses);
  if (!fails(statuses[1])) return "multiget: " + statuses[1].ToString();
  for (const size_t i : {0, 2}) {
    std::string wrong = CompareValue(op.family, behind, oracle_.seqno(), statuses[i], values[i]);
    if (!wrong.empty()) return wrong;
  }
  const std::unique_ptr<Iterator> it(db_->NewIterator(options, handle));
  it->Seek(key);
  if (it->Valid() || !fails(it->status())) return "seek: " + it->status().ToString();
  it->SeekForPrev(key);
  if (it->Valid() || !fails(it->status())) return "seek for prev: " + it->status().ToString();
  it->Seek(behind);
  if (!it->status().ok()) return "seek after it: " + it->status().ToString();
  if (answers_ != nullptr) {
    Note(it->Valid() ? std::to_string(FilterHash64(it->key())) : "end");
    return "";
  }
  OracleIterator model(oracle_.Family(op.family), oracle_.seqno(), std::nullopt, std::nullopt);
  model.Seek(behind);
  const bool is_right =
      it->Valid() == model.Valid() && (!it->Valid() || it->key() == Slice(model.key()));
  return is_right ? "" : "seek after it: another key";
}

// The oracle is not told about this, because its state must not change.
std::string TraceRunner::ApplyFailingMerge(const TraceOp& op) {
  ColumnFamilyHandle* const handle = Handle(op.family);
  if (handle == nullptr || oracle_.Family(op.family)->At(op.keys.front(), oracle_.seqno()))
    return "";
  Unpause();
  std::string wrong = Want(WriteFailing(op, handle), "failing merge");
  if (wrong.empty()) wrong = ReadFailingMerge(op, handle);
  if (!wrong.empty()) return "failing merge: " + wrong;
  return Want(db_->Delete(WriteOptions(), handle, op.keys.front()), "failing merge, delete");
}

}  // namespace ashlar
