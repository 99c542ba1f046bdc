// SPDX-License-Identifier: Apache-2.0
//
// Iterators for one prefix skip the tables without it, in both directions, and show the same rows
// as if they read them all: with range tombstones, bounds, keys without a prefix, and tables that
// were written with another extractor.
#include <algorithm>
#include <random>
#include <set>

#include "ashlar/filter_policy.h"
#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "ashlar/snapshot.h"
#include "tests/support/sample_database.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class PrefixSeekTest : public DbTest {
 protected:
  PrefixSeekTest() {
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    options_.target_file_size_base = 4096;
    options_.prefix_extractor.reset(NewFixedPrefixTransform(3));
  }
  void SetUp() override { Open(); }
  void TearDown() override {
    db_->ReleaseSnapshot(snapshot_);
    DbTest::TearDown();
  }
  void Put(const std::string& key) {
    DbTest::Put(key, "v" + key);
    model_[key] = "v" + key;
  }

  // Keys with the prefixes 000, 010, 020 .., and some that are shorter than a prefix, on the last
  // level, in several tables of level 0 and in the memtable, with tombstones of keys and of ranges.
  // A snapshot keeps those of the last level.
  void FillAllLevels() {
    std::mt19937 random(17);
    const auto key = [&random] {
      std::string name = std::to_string(1000 + random() % 100 * 10).substr(1);
      name.resize(2 + random() % 4, 'x');
      return name;
    };
    const auto delete_range = [&] {
      const std::string begin = key(),
                        end = begin + std::string(1, static_cast<char>('0' + random() % 70));
      DeleteRange(begin, end);
      model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
    };
    const auto change = [&](int keys) {
      for (int i = 0; i < keys; i++) Put(key());
      for (int i = 0; i < keys / 5; i++) {
        const std::string gone = key();
        Delete(gone);
        model_.erase(gone);
      }
      for (int i = 0; i < keys / 20; i++) delete_range();
    };
    change(400);
    if (snapshot_ == nullptr) snapshot_ = db_->GetSnapshot();
    change(100);
    Flush();
    Compact();
    for (int table = 0; table < 3; table++) {
      change(40);
      Flush();
    }
    change(20);
  }

  std::string PrefixOf(const std::string& key) { return key.substr(0, 3); }
  bool HasPrefix(const std::string& key) { return key.size() >= 3; }

  Rows model_;
  const Snapshot* snapshot_ = nullptr;
};

TEST_F(PrefixSeekTest, AbsentPrefixesCostNoTable) {
  for (const char* key : {"aaa1", "ccc1", "eee1"}) Put(key);
  Flush();
  Compact();
  for (const char* key : {"aaa2", "eee2"}) Put(key);
  Flush();
  ReadOptions options;
  options.prefix_same_as_start = true;
  const uint64_t misses_before = get_perf_context()->bloom_sst_miss_count;
  TakeTicks(BLOCK_CACHE_DATA_MISS);
  std::unique_ptr<Iterator> it(db_->NewIterator(options));
  it->Seek("ddd");
  EXPECT_FALSE(it->Valid());
  ASSERT_OK(it->status());
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 2u);
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 2u);
  it->SeekForPrev("dddd");
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 2u);
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 2u);
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), 0u);
  it.reset(db_->NewIterator(options));
  EXPECT_EQ(TakeTicks(BLOCK_CACHE_DATA_MISS), 0u);
  EXPECT_EQ(get_perf_context()->bloom_sst_miss_count - misses_before, 4u);
  it->Seek("ccc");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "ccc1");
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 2u);
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 1u);  // by the newer table
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), 1u);
  it->SeekForPrev("ccc0");  // there are keys with the prefix, but none so small
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_TRUE_POSITIVE), 0u);
}

TEST_F(PrefixSeekTest, NoFilterIsAskedUnlessTheReaderWantsOnePrefix) {
  for (const char* key : {"aaa1", "ccc1", "eee1"}) Put(key);
  Flush();
  ReadOptions total;
  total.prefix_same_as_start = true;
  total.total_order_seek = true;
  ReadOptions unbounded;
  unbounded.auto_prefix_mode = true;
  for (const ReadOptions& options : {ReadOptions(), total, unbounded}) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->Seek("bbb");
    EXPECT_EQ(it->Valid(), !options.prefix_same_as_start);
    EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 0u);
  }
  const Slice far("ccc"), near("bbd"), next("bbc"), same("bbbz");
  unbounded.iterate_upper_bound = &far;
  std::unique_ptr<Iterator> it(db_->NewIterator(unbounded));
  it->Seek("bbb");
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 0u);
  unbounded.iterate_upper_bound = &near;
  it.reset(db_->NewIterator(unbounded));
  it->Seek("bbb");
  EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 0u);
  for (const Slice* bound : {&next, &same}) {
    unbounded.iterate_upper_bound = bound;
    it.reset(db_->NewIterator(unbounded));
    it->Seek("bbb");
    EXPECT_FALSE(it->Valid());
    EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED), 1u);
    EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 1u);
  }
}

TEST_F(PrefixSeekTest, WhatHasThePrefixIsShownAndNothingElse) {
  FillAllLevels();
  ReadOptions options;
  options.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  for (int i = 0; i < 1000; i += 3) {
    const std::string target = std::to_string(1000 + i).substr(1);
    it->Seek(target);
    auto expected = model_.lower_bound(target);
    for (; it->Valid(); it->Next(), ++expected) {
      ASSERT_NE(expected, model_.end());
      ASSERT_EQ(it->key(), expected->first);
      ASSERT_EQ(it->value(), expected->second);
    }
    ASSERT_OK(it->status());
    const bool is_over = expected == model_.end() || !HasPrefix(expected->first) ||
                         PrefixOf(expected->first) != target;
    ASSERT_TRUE(is_over) << target << " ended before " << expected->first;
  }
  EXPECT_GT(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 500u);
}

// Makes the same moves with an iterator that uses no filter: seeks of both kinds, for keys with and
// without a prefix, changes of direction, with bounds of every kind.
TEST_F(PrefixSeekTest, WhatIsSparedChangesNothingThatIsShown) {
  std::mt19937 random(3);
  const auto text = [&random] {
    return std::to_string(1000 + random() % 1000).substr(1, 1 + random() % 3) +
           std::string(random() % 3, 'x');
  };
  const auto near = [&](const std::string& target) {
    std::string bound = random() % 3 == 0 ? text() : target.substr(0, 3) + "y";
    if (random() % 4 == 0 && target.size() >= 3) bound = target.substr(0, 3);
    if (random() % 4 == 0) bound.back()++;
    return bound;
  };
  for (int i = 0; i < 4000; i++) {
    if (i % 1000 == 0) FillAllLevels();
    const std::string target = text(), end = near(target), begin = near(target);
    const Slice lower(begin), upper(end);
    ReadOptions sparing, total;
    if (random() % 4 != 0) sparing.iterate_upper_bound = total.iterate_upper_bound = &upper;
    if (random() % 4 == 0) sparing.iterate_lower_bound = total.iterate_lower_bound = &lower;
    if (random() % 2 == 0) {
      sparing.auto_prefix_mode = true;
    } else {
      sparing.prefix_same_as_start = total.prefix_same_as_start = true;
    }
    total.total_order_seek = true;
    if (random() % 4 == 0) sparing.snapshot = total.snapshot = snapshot_;
    const std::unique_ptr<Iterator> ours(db_->NewIterator(sparing));
    const std::unique_ptr<Iterator> theirs(db_->NewIterator(total));
    bool is_forward = true;
    for (int move = 0; move < 24; move++) {
      // Sometimes to another place, which may have another prefix or none.
      if (move % 12 == 0 || random() % 6 == 0) {
        const std::string to = move == 0 || random() % 2 == 0 ? target : text();
        is_forward = random() % 2 == 0;
        for (Iterator* it : {ours.get(), theirs.get()}) {
          is_forward ? it->Seek(to) : it->SeekForPrev(to);
        }
      } else {
        if (random() % 4 == 0) is_forward = !is_forward;
        for (Iterator* it : {ours.get(), theirs.get()}) is_forward ? it->Next() : it->Prev();
      }
      ASSERT_EQ(ours->Valid(), theirs->Valid())
          << target << " in " << begin << " to " << end << ", move " << move << " of " << i;
      if (!ours->Valid()) {
        move = move < 11 ? 11 : 23;  // to the next seek or to the end
        continue;
      }
      ASSERT_EQ(ours->key(), theirs->key()) << target << " in " << begin << " to " << end;
      ASSERT_EQ(ours->value(), theirs->value());
    }
    ASSERT_OK(ours->status());
    ASSERT_OK(theirs->status());
  }
  EXPECT_GT(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 500u);
}

TEST_F(PrefixSeekTest, TablesOfAnotherExtractorAreAllRead) {
  FillAllLevels();
  for (const char* extractor : {"fixed:2", "capped:3", "noop", "nullptr", "fixed:3"}) {
    ASSERT_OK(db_->SetOptions({{"prefix_extractor", extractor}}));
    TakeTicks(BLOOM_FILTER_PREFIX_CHECKED);
    ReadOptions options;
    options.prefix_same_as_start = true;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    for (const auto& [key, value] : model_) {
      it->Seek(key);
      ASSERT_TRUE(it->Valid()) << key << " with " << extractor;
      ASSERT_EQ(it->key(), key);
      ASSERT_EQ(it->value(), value);
    }
    for (auto last = model_.rbegin(); last != model_.rend(); ++last) {
      it->SeekForPrev(last->first);
      ASSERT_TRUE(it->Valid()) << last->first << " with " << extractor;
      ASSERT_EQ(it->key(), last->first);
    }
    const bool is_of_tables = std::string(extractor) == "fixed:3";
    EXPECT_EQ(TakeTicks(BLOOM_FILTER_PREFIX_CHECKED) > 0, is_of_tables) << extractor;
  }
}

// SetOptions() changes the extractor while a tailing iterator is on its way to the end.
TEST_F(PrefixSeekTest, ATailingIteratorEndsWithTheSoughtPrefixUnderAnyExtractor) {
  for (const char* key : {"aaa11", "aaa22", "aab11", "bbb11"}) Put(key);
  ReadOptions options;
  options.tailing = true;
  options.prefix_same_as_start = true;
  for (const char* extractor : {"nullptr", "fixed:1", "fixed:5"}) {
    SCOPED_TRACE(extractor);
    ASSERT_OK(db_->SetOptions({{"prefix_extractor", "fixed:3"}}));
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->Seek("aaa2");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "aaa22");
    ASSERT_OK(db_->SetOptions({{"prefix_extractor", extractor}}));
    it->Next();
    EXPECT_FALSE(it->Valid()) << it->key().ToString();
    EXPECT_OK(it->status());
    it->Seek("aaa1");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), "aaa11");
  }
}

TEST_F(PrefixSeekTest, ATailingIteratorWithoutAPrefixGetsNoneAtItsEnd) {
  Put("aaa1");
  ReadOptions options;
  options.tailing = true;
  options.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  it->Seek("a");
  ASSERT_TRUE(it->Valid());
  Put("bbb1");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "bbb1");
}

TEST_F(PrefixSeekTest, RangeTombstonesOfSparedTablesHideOlderEntries) {
  for (const char* key : {"aaa1", "bbb1", "bbb5", "ccc1"}) Put(key);
  Flush();
  Compact();
  // The newer table has a tombstone over the prefix, but no key of it.
  DeleteRange("aaa2", "bbb4");
  Put("aaa0"), Put("ccc2");
  Flush();
  ReadOptions options;
  options.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  it->Seek("bbb0");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "bbb5");
  EXPECT_GT(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 0u);
}

// A file of the last level ends with a range tombstone that reaches into a prefix whose keys are
// only in the next file, and another file begins with such a tombstone.
TEST_F(PrefixSeekTest, ABorderThatATombstoneMakesHidesNoFile) {
  snapshot_ = nullptr;
  for (int i = 0; i < 9; i++) Put("aaa" + std::to_string(i));
  model_["aaa96"] = std::string(5000, 'v');  // so large that its file ends here
  DbTest::Put("aaa96", model_["aaa96"]);
  for (const char* key : {"bbb5", "bbb6"}) Put(key);
  model_["bbb7"] = std::string(5000, 'v');
  DbTest::Put("bbb7", model_["bbb7"]);
  Put("ddd1");
  snapshot_ = db_->GetSnapshot();  // keeps the tombstones
  DeleteRange("aaa95", "bbb4");
  DeleteRange("bbb75", "ddd0");
  Flush();
  Compact();
  const std::vector<LiveFileMetaData> files = Tables();
  std::set<std::string> borders;
  for (const LiveFileMetaData& file : files) borders.insert(file.largestkey);
  ASSERT_TRUE(borders.contains("bbb4")) << "the test needs files with these borders";
  ASSERT_GE(files.size(), 3u);
  for (const bool is_automatic : {false, true}) {
    const Slice lower("bbb"), upper("bbc");
    ReadOptions options;
    options.prefix_same_as_start = !is_automatic;
    options.auto_prefix_mode = is_automatic;
    options.iterate_upper_bound = &upper;
    const std::unique_ptr<Iterator> forward(db_->NewIterator(options));
    forward->Seek("bbb0");
    ASSERT_TRUE(forward->Valid());
    EXPECT_EQ(forward->key(), "bbb5");
    options.iterate_upper_bound = nullptr;
    options.iterate_lower_bound = &lower;
    const std::unique_ptr<Iterator> backward(db_->NewIterator(options));
    backward->SeekForPrev("bbb9");
    ASSERT_TRUE(backward->Valid());
    EXPECT_EQ(backward->key(), "bbb7");
  }
  EXPECT_GT(TakeTicks(BLOOM_FILTER_PREFIX_USEFUL), 0u);
}

// In tables of RocksDB, a partition of a filter has the prefixes of its neighbours too.
TEST(PrefixSeekOfPartitionedFilters, ShowsWhatTotalOrderShows) {
  for (const char* name : {"rocksdb-7.8/partitioned_xxh3", "rocksdb-11.9/partitioned_xxh3"}) {
    const std::vector<std::string> names = SampleDatabaseNames();
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    TestDb test(FileSystem::Default());
    test.dir() = UnpackSampleDatabase(name);
    test.options().statistics = CreateDBStatistics();
    test.options().prefix_extractor.reset(NewFixedPrefixTransform(6));
    test.OpenReadOnly();
    DB* const db = test.db();
    std::vector<std::string> keys;
    for (const auto& [key, value] : test.ReadRows()) keys.push_back(key);
    ASSERT_GT(keys.size(), 100u) << name;
    std::mt19937 random(7);
    for (int i = 0; i < 3000; i++) {
      std::string target = keys[random() % keys.size()];
      if (random() % 2 == 0) target.resize(random() % target.size());
      if (random() % 2 == 0 && !target.empty()) target.back() += static_cast<char>(random() % 3);
      ReadOptions sparing;
      sparing.prefix_same_as_start = true;
      ReadOptions total = sparing;
      total.total_order_seek = true;
      const std::unique_ptr<Iterator> ours(db->NewIterator(sparing));
      const std::unique_ptr<Iterator> theirs(db->NewIterator(total));
      const bool is_forward = random() % 3 != 0;
      for (Iterator* it : {ours.get(), theirs.get()}) {
        is_forward ? it->Seek(target) : it->SeekForPrev(target);
      }
      for (int step = 0; step < 4; step++) {
        ASSERT_EQ(ours->Valid(), theirs->Valid()) << name << ", " << target << ", " << is_forward;
        if (!ours->Valid()) break;
        ASSERT_EQ(ours->key(), theirs->key());
        for (Iterator* it : {ours.get(), theirs.get()}) is_forward ? it->Next() : it->Prev();
      }
      ASSERT_OK(ours->status());
    }
    EXPECT_GT(test.Ticks(BLOOM_FILTER_PREFIX_CHECKED), 100u) << name;
  }
}

}  // namespace
}  // namespace ashlar
