// SPDX-License-Identifier: Apache-2.0
//
// Steps that look keys up, one by one and in batches.
#include <rocksdb/merge_operator.h>

#include <algorithm>

#include "session.h"

namespace differential {
namespace {

constexpr int kMostOperands = 2000;

}  // namespace

// Options that do not change the result.
rocksdb::ReadOptions Session::DrawReadOptions(Draw* draw) {
  rocksdb::ReadOptions options;
  if (!snapshots_.empty() && draw->OneIn(3)) {
    options.snapshot = snapshots_[draw->Below(snapshots_.size())];
  }
  options.verify_checksums = !draw->OneIn(4);
  options.fill_cache = !draw->OneIn(4);
  options.readahead_size = draw->Of<size_t>({0, 0, 4096});
  options.adaptive_readahead = draw->OneIn(4);
  options.pin_data = draw->OneIn(4);
  options.background_purge_on_iterator_cleanup = draw->OneIn(4);
  options.optimize_multiget_for_io = draw->OneIn(2);
  return options;
}

void Session::Get(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw);
  const rocksdb::ReadOptions options = DrawReadOptions(draw);
  std::string value;
  rocksdb::Status status;
  if (draw->OneIn(2)) {
    status = db_->Get(options, handles_[index], key, &value);
  } else {
    rocksdb::PinnableSlice pinned;
    status = db_->Get(options, handles_[index], key, &pinned);
    if (status.ok()) value = pinned.ToString();
  }
  Print("get %zu %s: %s %s\n", index, Show(key).c_str(), Show(status).c_str(),
        status.ok() ? Show(value).c_str() : "");
}

namespace {

// The keys of one batch, with their families.
struct Batch {
  std::vector<size_t> families;
  std::vector<std::string> keys;
  std::vector<rocksdb::Slice> slices;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::vector<rocksdb::PinnableSlice> pinned;
  std::vector<rocksdb::Status> statuses;

  void Fill(const std::vector<rocksdb::ColumnFamilyHandle*>& all) {
    for (size_t i = 0; i < keys.size(); i++) {
      slices.emplace_back(keys[i]);
      handles.push_back(all[families[i]]);
    }
    pinned = std::vector<rocksdb::PinnableSlice>(keys.size());
    statuses.resize(keys.size());
  }
  std::string ValueAt(size_t i) const { return statuses[i].ok() ? Show(pinned[i]) : ""; }
};

// Sorted by family, then in the family's order: the requirement of `sorted_input`.
void Sort(const Shape& shape, Batch* batch) {
  std::vector<std::pair<size_t, std::string>> pairs;
  for (size_t i = 0; i < batch->keys.size(); i++) {
    pairs.emplace_back(batch->families[i], batch->keys[i]);
  }
  std::sort(pairs.begin(), pairs.end(), [&shape](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return shape.families[a.first].comparator->Compare(a.second, b.second) < 0;
  });
  for (size_t i = 0; i < pairs.size(); i++) {
    batch->families[i] = pairs[i].first;
    batch->keys[i] = pairs[i].second;
  }
}

void GetStrings(rocksdb::DB* db, const rocksdb::ReadOptions& options, bool names_families,
                Batch* batch) {
  std::vector<std::string> values;
  batch->statuses = names_families ? db->MultiGet(options, batch->handles, batch->slices, &values)
                                   : db->MultiGet(options, batch->slices, &values);
  for (size_t i = 0; i < values.size(); i++) {
    if (batch->statuses[i].ok()) batch->pinned[i].PinSelf(values[i]);
  }
}

}  // namespace

void Session::MultiGet(Draw* draw) {
  Batch batch;
  const uint64_t form = draw->Below(4);
  const bool is_sorted = form >= 2 && draw->OneIn(3);
  const size_t only = form == 1 ? 0 : AnyFamily(draw);
  const uint64_t count = draw->Of<uint64_t>({1, 2, 3, 7, 16, 33, 70});
  for (uint64_t i = 0; i < count; i++) {
    batch.families.push_back(form == 0 || form == 3 ? AnyFamily(draw) : only);
    const bool repeats = i > 0 && draw->OneIn(6);
    batch.keys.push_back(repeats ? batch.keys[draw->Below(i)] : Key(draw));
  }
  if (is_sorted) Sort(shape_, &batch);
  batch.Fill(handles_);
  const rocksdb::ReadOptions options = DrawReadOptions(draw);
  if (form < 2) {
    GetStrings(db_.get(), options, form == 0, &batch);
  } else if (form == 2) {
    db_->MultiGet(options, handles_[only], count, batch.slices.data(), batch.pinned.data(),
                  batch.statuses.data(), is_sorted);
  } else {
    db_->MultiGet(options, count, batch.handles.data(), batch.slices.data(), batch.pinned.data(),
                  batch.statuses.data(), is_sorted);
  }
  Print("multiget form %d", static_cast<int>(form));
  for (size_t i = 0; i < count; i++) {
    Print(" %zu:%s=%s%s", batch.families[i], Show(batch.slices[i]).c_str(),
          Show(batch.statuses[i]).c_str(), batch.ValueAt(i).c_str());
  }
  Print("\n");
}

// Which keys are answered before the limit is reached depends on their location, so only results
// that must be the same everywhere are printed.
void Session::MultiGetWithLimit(Draw* draw) {
  Batch batch;
  const size_t only = AnyFamily(draw);
  const uint64_t count = 1 + draw->Below(40);
  for (uint64_t i = 0; i < count; i++) {
    batch.families.push_back(only);
    batch.keys.push_back(Key(draw));
  }
  batch.Fill(handles_);
  rocksdb::ReadOptions options = DrawReadOptions(draw);
  std::vector<std::string> values(count);
  std::vector<rocksdb::Status> expected(count);
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    expected[i] = db_->Get(options, handles_[only], batch.slices[i], &values[i]);
    if (expected[i].ok()) sum += values[i].size();
  }
  options.value_size_soft_limit = draw->Below(6000);
  db_->MultiGet(options, handles_[only], count, batch.slices.data(), batch.pinned.data(),
                batch.statuses.data());
  Print("multiget with a limit:");
  for (size_t i = 0; i < count; i++) {
    const bool may_abort = sum > options.value_size_soft_limit;
    if (batch.statuses[i].IsAborted() && may_abort) continue;
    if (batch.statuses[i].code() != expected[i].code() ||
        (expected[i].ok() && batch.pinned[i] != rocksdb::Slice(values[i]))) {
      Print(" %s: %s, by Get %s", Show(batch.slices[i]).c_str(), Show(batch.statuses[i]).c_str(),
            Show(expected[i]).c_str());
    }
  }
  Print(" done\n");
}

// Operands may have been merged with each other; their common result is the same.
std::string Session::Fold(size_t index, const std::string& key,
                          const std::vector<rocksdb::Slice>& operands) const {
  if (operands.empty()) return "nothing";
  const rocksdb::MergeOperator* merge = family(index).merge_operator.get();
  if (merge == nullptr) return operands.size() == 1 ? Show(operands[0]) : "several";
  std::string value;
  rocksdb::Slice existing(nullptr, 0);
  const rocksdb::Slice key_slice(key);
  rocksdb::MergeOperator::MergeOperationInput input(key_slice, nullptr, operands, nullptr);
  rocksdb::MergeOperator::MergeOperationOutput output(value, existing);
  if (!merge->FullMergeV2(input, &output)) return "failed";
  return Show(existing.data() != nullptr ? existing : rocksdb::Slice(value));
}

// RocksDB 7.8 refuses an entity; ours returns its default column, like later versions.
void Session::Operands(Draw* draw) {
  size_t index = AnyFamily(draw);
  for (size_t i = 1; i < shape_.families.size() && family(index).HasEntities(); i++) {
    index = (index + 1) % shape_.families.size();
  }
  if (family(index).HasEntities()) return Print("operands: not of entities\n");
  const std::string key = Key(draw);
  std::vector<rocksdb::PinnableSlice> found(kMostOperands);
  rocksdb::GetMergeOperandsOptions most;
  most.expected_max_number_of_operands = kMostOperands;
  int count = 0;
  const rocksdb::Status status = db_->GetMergeOperands(DrawReadOptions(draw), handles_[index], key,
                                                       found.data(), &most, &count);
  std::vector<rocksdb::Slice> operands;
  for (int i = 0; status.ok() && i < count; i++) operands.push_back(found[static_cast<size_t>(i)]);
  Print("operands %zu %s: %s %s\n", index, Show(key).c_str(), Show(status).c_str(),
        Fold(index, key, operands).c_str());
}

void Session::MayExist(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw);
  const rocksdb::ReadOptions options = DrawReadOptions(draw);
  std::string value, quick;
  const rocksdb::Status status = db_->Get(options, handles_[index], key, &value);
  bool is_found = false;
  const bool may_exist = db_->KeyMayExist(options, handles_[index], key, &quick, &is_found);
  Print("may exist %zu %s:", index, Show(key).c_str());
  if (status.ok() && !may_exist) Print(" denied, but it is there");
  const bool is_without_value = !is_found || (session_.is_rocksdb && quick.empty());
  if (may_exist && !is_without_value && (!status.ok() || quick != value)) Print(" another value");
  Print(" done\n");
}

// Results from memory are either those of the file or Incomplete.
void Session::CacheOnly(Draw* draw) {
  const size_t index = AnyFamily(draw);
  const std::string key = Key(draw);
  rocksdb::ReadOptions options = DrawReadOptions(draw);
  std::string value, quick;
  const rocksdb::Status status = db_->Get(options, handles_[index], key, &value);
  options.read_tier = rocksdb::kBlockCacheTier;
  const rocksdb::Status cached = db_->Get(options, handles_[index], key, &quick);
  Print("cache only %zu %s:", index, Show(key).c_str());
  // RocksDB may return OK without a value if a filter or an index is not in its cache.
  const bool is_without_answer = cached.IsIncomplete() || (session_.is_rocksdb && quick.empty());
  if (!is_without_answer && (cached.code() != status.code() || (cached.ok() && quick != value))) {
    Print(" %s %s, from the file %s %s", Show(cached).c_str(), Show(quick).c_str(),
          Show(status).c_str(), Show(value).c_str());
  }
  Print(" done\n");
}

}  // namespace differential
