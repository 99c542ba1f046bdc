// SPDX-License-Identifier: Apache-2.0
//
// Writers replace groups of keys as a whole, with a range deletion, puts and a merge in one batch
// over two families. Other threads read the groups in every way, flush and compact, and never see
// two versions of a group or a part of one.
#include <atomic>
#include <thread>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/write_batch.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/test_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr int kGroups = 4;
constexpr int kRangeKeys = 12;
constexpr int kVersions = 250;  // written by each writer

std::string KeyAt(int group, int key) {
  return "g" + std::to_string(group) + "-" + std::to_string(100 + key);
}
// Follows the keys of the group, within its range.
std::string MergedKey(int group) { return "g" + std::to_string(group) + "-x"; }
std::string BeginOf(int group) { return "g" + std::to_string(group); }

class RangeRaces : public DbTestWith<int> {
 protected:
  RangeRaces() {
    options_.write_buffer_size = 64 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.target_file_size_base = 2000;
    options_.merge_operator = NewStockMergeOperator("stringappend");
    BlockBasedTableOptions table;
    table.block_size = 100;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    if (GetParam() == 1) {
      options_.row_cache = NewLRUCache(20000);
      options_.memtable_prefix_bloom_size_ratio = 0.1;
      options_.memtable_whole_key_filtering = true;
    }
    if (GetParam() == 2) {
      table.no_block_cache = true;
      options_.prefix_extractor.reset(NewFixedPrefixTransform(2));
      options_.memtable_prefix_bloom_size_ratio = 0.1;
      options_.max_successive_merges = 2;
    }
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open({"default", "other"});
  }

  void WriteGroup(int group, int version) {
    const std::string value = std::to_string(version);
    WriteBatch batch;
    for (ColumnFamilyHandle* handle : handles_) {
      ASSERT_OK(batch.DeleteRange(handle, BeginOf(group), BeginOf(group + 1)));
      for (int i = 0; i < kRangeKeys; i++) ASSERT_OK(batch.Put(handle, KeyAt(group, i), value));
      ASSERT_OK(batch.Merge(handle, MergedKey(group), value));
    }
    Write(&batch);
  }

  // All keys of the group in both families, with one MultiGet().
  void LookUp(int group, const ReadOptions& options, bool is_sorted) {
    std::vector<std::string> keys;
    for (int i = 0; i < kRangeKeys; i++) keys.push_back(KeyAt(group, i));
    keys.push_back(MergedKey(group));
    const size_t count = 2 * keys.size();
    std::vector<Slice> slices;
    std::vector<ColumnFamilyHandle*> families;
    for (size_t i = 0; i < count; i++) {
      slices.emplace_back(keys[i % keys.size()]);
      families.push_back(handles_[i / keys.size()]);
    }
    std::vector<PinnableSlice> values(count);
    std::vector<Status> statuses(count);
    db_->MultiGet(options, count, families.data(), slices.data(), values.data(), statuses.data(),
                  is_sorted);
    for (size_t i = 0; i < count; i++) {
      ASSERT_OK(statuses[i]) << slices[i].ToString();
      ASSERT_EQ(values[i].ToString(), values[0].ToString()) << slices[i].ToString();
    }
  }

  void Scan(int group, ReadOptions options, bool forwards) {
    const std::string begin = BeginOf(group), end = BeginOf(group + 1);
    const Slice lower(begin), upper(end);
    options.iterate_lower_bound = &lower;
    options.iterate_upper_bound = &upper;
    options.total_order_seek = true;
    for (ColumnFamilyHandle* handle : handles_) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(options, handle));
      std::string first;
      int count = 0;
      forwards ? it->SeekToFirst() : it->SeekToLast();
      for (; it->Valid(); forwards ? it->Next() : it->Prev(), count++) {
        if (count == 0) first = it->value().ToString();
        ASSERT_EQ(it->value().ToString(), first) << it->key().ToString();
      }
      ASSERT_OK(it->status());
      ASSERT_EQ(count, kRangeKeys + 1);
    }
  }

  // Key by key, as of one snapshot.
  void GetAll(int group) {
    ReadOptions options;
    ManagedSnapshot snapshot(db_.get());
    options.snapshot = snapshot.snapshot();
    std::string first, value;
    for (ColumnFamilyHandle* handle : handles_) {
      for (int i = 0; i <= kRangeKeys; i++) {
        const std::string key = i == kRangeKeys ? MergedKey(group) : KeyAt(group, i);
        ASSERT_OK(db_->Get(options, handle, key, &value)) << key;
        if (first.empty()) first = value;
        ASSERT_EQ(value, first) << key;
      }
    }
    LookUp(group, options, /*is_sorted=*/true);
    Scan(group, options, /*forwards=*/true);
  }

  void ReadUntilDone(uint64_t seed) {
    Random64 random(seed);
    while (!is_done_ && !HasFailure()) {
      const int group = static_cast<int>(random.Uniform(kGroups));
      switch (random.Uniform(4)) {
        case 0: LookUp(group, ReadOptions(), random.OneIn(2)); break;
        case 1: Scan(group, ReadOptions(), /*forwards=*/true); break;
        case 2: Scan(group, ReadOptions(), /*forwards=*/false); break;
        default: GetAll(group);
      }
    }
  }

  void MaintainUntilDone() {
    for (int i = 0; !is_done_ && !HasFailure(); i++) {
      ColumnFamilyHandle* const handle = handles_[static_cast<size_t>(i) % 2];
      Flush(handle);
      if (i % 5 == 4) Compact(handle);
    }
  }

  std::atomic<bool> is_done_{false};
};

TEST_P(RangeRaces, AGroupIsSeenWholeAndInOneVersion) {
  for (int group = 0; group < kGroups; group++) WriteGroup(group, 0);
  std::vector<std::thread> writers, others;
  for (int writer = 0; writer < 2; writer++) {
    writers.emplace_back([this, writer] {
      for (int version = 1; version <= kVersions; version++) {
        WriteGroup(writer + 2 * (version % 2), version);
      }
    });
  }
  for (uint64_t seed = 1; seed <= 2; seed++)
    others.emplace_back([this, seed] { ReadUntilDone(seed); });
  others.emplace_back([this] { MaintainUntilDone(); });
  for (std::thread& thread : writers) thread.join();
  is_done_ = true;
  for (std::thread& thread : others) thread.join();
  for (int group = 0; group < kGroups; group++) GetAll(group);
}

INSTANTIATE_TEST_SUITE_P(Options, RangeRaces, testing::Values(0, 1, 2));

}  // namespace
}  // namespace ashlar
