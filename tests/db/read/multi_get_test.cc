// SPDX-License-Identifier: Apache-2.0
//
// MultiGet returns for each key what Get returns: in random databases with several families and
// levels, for present, absent, deleted (also by ranges), merged and duplicate keys, with snapshots,
// with warm and cold caches, on files in memory and on disk, with and without io_uring, and with
// reads that fail. It reads missing blocks together.
#include <sys/syscall.h>

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/snapshot.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/forbidden_call.h"
#include "tests/support/paths.h"
#include "tests/support/read_recorder.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr int kKeyCount = 3000;

enum class CacheKind { kLarge, kTiny, kNone };

struct Setup {
  CacheKind cache = CacheKind::kLarge;
  bool is_on_disk = false;
  bool has_filter = true;
  bool is_reverse = false;
};

std::string NameOf(const Setup& setup) {
  std::string name = setup.cache == CacheKind::kLarge  ? "LargeCache"
                     : setup.cache == CacheKind::kTiny ? "TinyCache"
                                                       : "NoCache";
  name += setup.is_on_disk ? "OnDisk" : "InMemory";
  if (!setup.has_filter) name += "NoFilter";
  if (setup.is_reverse) name += "Reverse";
  return name;
}

class MultiGetTest : public DbTestWith<Setup> {
 protected:
  static std::string Key(uint64_t i) { return "common prefix " + std::to_string(1000000 + i); }

  MultiGetTest() {
    if (GetParam().is_on_disk) dir_ = FreshTempDir("multi_get", "/dev/shm");
    const std::shared_ptr<FileSystem> base =
        GetParam().is_on_disk ? FileSystem::Default() : std::shared_ptr<FileSystem>(memory_);
    UseFiles(std::make_shared<RecordingFileSystem>(base, &recorder_));
    if (GetParam().is_reverse) options_.comparator = ReverseBytewiseComparator();
    options_.level_compaction_dynamic_level_bytes = false;
    options_.level0_file_num_compaction_trigger = 2;
    options_.target_file_size_base = 8 << 10;
    options_.max_bytes_for_level_base = 16 << 10;
    options_.max_bytes_for_level_multiplier = 2;
    options_.compression = kNoCompression;
    options_.merge_operator = NewStockMergeOperator("stringappend");
    Open();
  }
  void TearDown() override {
    ReleaseSnapshots();
    Close();
    if (GetParam().is_on_disk) {
      EXPECT_OK(DestroyDB(dir_, options_));
    }
    DbTest::TearDown();
  }

  // With an empty cache.
  void Open() {
    BlockBasedTableOptions table;
    table.block_size = 512;
    table.no_block_cache = GetParam().cache == CacheKind::kNone;
    if (GetParam().cache == CacheKind::kLarge) table.block_cache = NewLRUCache(32 << 20);
    if (GetParam().cache == CacheKind::kTiny) table.block_cache = NewLRUCache(20 << 10, 0);
    if (GetParam().has_filter) table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    DbTest::Open({"default", "one", "two"});
  }
  void ReleaseSnapshots() {
    for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
  }
  // From here on the files stay as they are.
  void Reopen() {
    ReleaseSnapshots();
    options_.disable_auto_compactions = true;
    Open();
  }

  // Overwrites and deletes a part of the keys of a family.
  void Write(ColumnFamilyHandle* family, int count) {
    for (int i = 0; i < count; i++) {
      const std::string key = Key(random_.Uniform(kKeyCount) * 2);
      const uint64_t choice = random_.Uniform(20);
      if (random_.OneIn(100)) DeleteSomeRange(family);
      const size_t bytes = choice == 0 ? 3000 : random_.Uniform(60);
      if (choice < 3) {
        Delete(family, key);
      } else if (choice < 6) {
        const std::string operand = std::to_string(i) + std::string(bytes / 4, 'o');
        Merge(family, key, operand);
      } else {
        const std::string value = key + "=" + std::to_string(i) + std::string(bytes, 'v');
        Put(family, key, value);
      }
    }
  }
  void DeleteSomeRange(ColumnFamilyHandle* family) {
    const uint64_t first = random_.Uniform(2 * kKeyCount);
    std::string begin = Key(first), end = Key(first + random_.Uniform(100));
    if (GetParam().is_reverse) std::swap(begin, end);
    DeleteRange(family, begin, end);
  }
  // Tables on several levels, two of them on level 0, entries in the memtable, and snapshots taken
  // in between.
  void Fill() {
    for (ColumnFamilyHandle* family : handles_) {
      for (int i = 0; i < 30; i++) {
        Write(family, 200);
        Flush(family);
        if (i == 24) snapshots_.push_back(db_->GetSnapshot());
      }
      WaitForJobs();
      ASSERT_OK(db_->SetOptions(family, {{"disable_auto_compactions", "true"}}));
      for (int i = 0; i < 2; i++) {
        Write(family, 100);
        Flush(family);
      }
      snapshots_.push_back(db_->GetSnapshot());
      Write(family, 50);
      ASSERT_GE(LevelsOf(family), 4);
    }
  }
  // How many levels hold tables.
  int LevelsOf(ColumnFamilyHandle* family) {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    return static_cast<int>(
        std::count_if(meta.levels.begin(), meta.levels.end(),
                      [](const LevelMetaData& level) { return !level.files.empty(); }));
  }

  struct Batch {
    std::vector<ColumnFamilyHandle*> families;
    std::vector<std::string> names;
    std::vector<Slice> keys;
    std::vector<PinnableSlice> values;
    std::vector<Status> statuses;
  };
  Batch MakeBatch(size_t size, bool one_family) {
    Batch batch;
    const bool is_dense = random_.OneIn(3);
    const uint64_t start = random_.Uniform(2 * kKeyCount);
    ColumnFamilyHandle* const family = handles_[random_.Uniform(handles_.size())];
    for (size_t i = 0; i < size; i++) {
      batch.families.push_back(one_family ? family : handles_[random_.Uniform(handles_.size())]);
      const bool again = i > 0 && random_.OneIn(8);
      const uint64_t number =
          is_dense ? start + random_.Uniform(40) : random_.Uniform(2 * kKeyCount);
      batch.names.push_back(again ? batch.names[random_.Uniform(i)] : Key(number));
    }
    if (random_.OneIn(10) && size > 0) batch.names[0] = "";
    if (random_.OneIn(10) && size > 1) batch.names[1] = "zzz";
    for (const std::string& name : batch.names) batch.keys.emplace_back(name);
    batch.values = std::vector<PinnableSlice>(size);
    batch.statuses.resize(size);
    return batch;
  }
  // Sorts the keys, as sorted_input requires.
  void Sort(Batch* batch) const {
    const Comparator* const order = options_.comparator;
    std::sort(batch->keys.begin(), batch->keys.end(),
              [order](const Slice& a, const Slice& b) { return order->Compare(a, b) < 0; });
  }
  void Run(const ReadOptions& options, Batch* batch, bool is_sorted = false) {
    db_->MultiGet(options, batch->keys.size(), batch->families.data(), batch->keys.data(),
                  batch->values.data(), batch->statuses.data(), is_sorted);
  }
  void ExpectAsGet(const ReadOptions& options, const Batch& batch) {
    for (size_t i = 0; i < batch.keys.size(); i++) {
      PinnableSlice value;
      const Status status = db_->Get(options, batch.families[i], batch.keys[i], &value);
      ASSERT_EQ(batch.statuses[i].ToString(), status.ToString()) << batch.keys[i].ToString();
      ASSERT_EQ(batch.values[i].ToString(), status.ok() ? value.ToString() : "");
    }
  }
  void CheckRandomBatches(int count) {
    for (int i = 0; i < count; i++) {
      const size_t size = random_.OneIn(4) ? random_.Uniform(150) : random_.Uniform(40);
      const bool one_family = random_.OneIn(2);
      Batch batch = MakeBatch(size, one_family);
      const bool is_sorted = one_family && random_.OneIn(2);
      if (is_sorted) Sort(&batch);
      ReadOptions options;
      options.fill_cache = !random_.OneIn(3);
      options.optimize_multiget_for_io = random_.OneIn(2);
      options.ignore_range_deletions = random_.OneIn(6);
      if (random_.OneIn(2) && !snapshots_.empty()) {
        options.snapshot = snapshots_[random_.Uniform(snapshots_.size())];
      }
      Run(options, &batch, is_sorted);
      ASSERT_NO_FATAL_FAILURE(ExpectAsGet(options, batch)) << "batch " << i;
    }
  }

  Random64 random_{301};
  ReadRecorder recorder_;
  std::vector<const Snapshot*> snapshots_;
};

TEST_P(MultiGetTest, AnswersAsGet) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  CheckRandomBatches(150);
}

TEST_P(MultiGetTest, AnswersAsGetAfterAReopen) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  Reopen();
  CheckRandomBatches(60);
}

// The kernel refuses to create an io_uring.
TEST_P(MultiGetTest, AnswersAsGetByPlainReads) {
  if (!GetParam().is_on_disk) return;
  ASSERT_NO_FATAL_FAILURE(Fill());
  Reopen();
  bool is_possible = true;
  std::thread([&] {
    is_possible = ForbidSystemCall(SYS_io_uring_setup);
    if (is_possible) CheckRandomBatches(40);
  }).join();
  if (!is_possible) SkipAsImpossible("a filter of system calls");
}

TEST_P(MultiGetTest, AFailedReadConcernsItsKeysOnly) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  Reopen();
  Batch warm = MakeBatch(200, false);  // opens the tables
  Run(ReadOptions(), &warm);
  ReadOptions options;
  options.fill_cache = false;
  for (int i = 0; i < 40; i++) {
    const uint64_t bad = random_.Uniform(24);
    recorder_.FailIf([bad](const ReadRecorder::Read& read) {
      for (uint64_t page = read.offset >> 10; page <= (read.offset + read.n - 1) >> 10; page++) {
        if (page % 24 == bad) return true;
      }
      return false;
    });
    Batch batch = MakeBatch(32, random_.OneIn(2));
    Run(options, &batch);
    ASSERT_NO_FATAL_FAILURE(ExpectAsGet(options, batch));
    recorder_.FailIf(nullptr);
  }
}

TEST_P(MultiGetTest, MemoryOnlyNeverReadsAndNeverLies) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  Reopen();
  ReadOptions options;
  options.read_tier = kBlockCacheTier;
  for (int i = 0; i < 20; i++) {
    Batch batch = MakeBatch(40, false);
    recorder_.Take();
    Run(options, &batch);
    EXPECT_EQ(recorder_.Take().size(), 0u);
    for (size_t k = 0; k < batch.keys.size(); k++) {
      if (batch.statuses[k].IsIncomplete()) continue;
      std::string value;
      const Status status = db_->Get(ReadOptions(), batch.families[k], batch.keys[k], &value);
      ASSERT_EQ(batch.statuses[k].ToString(), status.ToString());
      ASSERT_EQ(batch.values[k].ToString(), status.ok() ? value : "");
    }
  }
}

TEST_P(MultiGetTest, ALimitOfBytesCutsInTheOrderOfTheCaller) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  for (const uint64_t limit : {0, 1, 100, 1000, 5000, 1000000}) {
    Batch batch = MakeBatch(100, false);
    ReadOptions options;
    options.value_size_soft_limit = limit;
    Run(options, &batch);
    uint64_t bytes = 0;
    for (size_t i = 0; i < batch.keys.size(); i++) {
      if (bytes > limit) {
        EXPECT_TRUE(batch.statuses[i].IsAborted());
        EXPECT_EQ(batch.values[i].size(), 0u);
        continue;
      }
      std::string value;
      const Status status = db_->Get(ReadOptions(), batch.families[i], batch.keys[i], &value);
      EXPECT_EQ(batch.statuses[i].ToString(), status.ToString());
      bytes += status.ok() ? value.size() : 0;
    }
  }
}

TEST_P(MultiGetTest, PinnedValuesOutliveTheDataBehindThem) {
  ASSERT_NO_FATAL_FAILURE(Fill());
  Batch batch = MakeBatch(150, false);
  Run(ReadOptions(), &batch);
  std::vector<std::string> copies;
  for (const PinnableSlice& value : batch.values) copies.push_back(value.ToString());
  for (ColumnFamilyHandle* family : handles_) {
    Write(family, 500);
    Compact(family);
  }
  for (size_t i = 0; i < copies.size(); i++) EXPECT_EQ(batch.values[i].ToString(), copies[i]);
}

INSTANTIATE_TEST_SUITE_P(
    , MultiGetTest,
    testing::Values(Setup{}, Setup{.cache = CacheKind::kTiny}, Setup{.cache = CacheKind::kNone},
                    Setup{.cache = CacheKind::kTiny, .is_on_disk = true},
                    Setup{.cache = CacheKind::kNone, .is_on_disk = true, .has_filter = false},
                    Setup{.cache = CacheKind::kTiny, .is_reverse = true}),
    [](const auto& info) { return NameOf(info.param); });

// How missing blocks are read: a table with one key in each block, and no cache.
class MissingBlocksTest : public DbTest {
 protected:
  static constexpr int kBlocks = 200;

  MissingBlocksTest() {
    UseFiles(std::make_shared<RecordingFileSystem>(memory_, &recorder_));
    BlockBasedTableOptions table;
    table.block_size = 1;
    table.no_block_cache = true;
    options_.compression = kNoCompression;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    for (int i = 0; i < kBlocks; i++) Put(Key(i), std::string(1000, 'v'));
    Flush();
    EXPECT_NE(Get(Key(0)), "(none)");  // opens the table
  }
  std::vector<ReadRecorder::Read> ReadsOf(const std::vector<int>& numbers) {
    std::vector<std::string> names, values;
    for (const int i : numbers) names.push_back(Key(i));
    recorder_.Take();
    const std::vector<Slice> keys(names.begin(), names.end());
    for (const Status& status : db_->MultiGet(ReadOptions(), keys, &values)) EXPECT_OK(status);
    return recorder_.Take();
  }

  ReadRecorder recorder_;
};

TEST_F(MissingBlocksTest, NeighboursAreOneRead) {
  const auto reads = ReadsOf({12, 10, 11, 13});
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_GT(reads[0].n, 4000u);
  EXPECT_LT(reads[0].n, 5000u);
}

TEST_F(MissingBlocksTest, OthersAreOneCall) {
  const auto reads = ReadsOf({150, 10, 90, 50});
  ASSERT_EQ(reads.size(), 4u);
  for (const auto& read : reads) {
    EXPECT_EQ(read.batch, 4u);
    EXPECT_LT(read.n, 2000u);
  }
}

TEST_F(MissingBlocksTest, ABlockIsReadOnceForAllItsKeys) {
  EXPECT_EQ(ReadsOf({7, 7, 7}).size(), 1u);
}

TEST_F(MissingBlocksTest, LongRunsAreSeveralReads) {
  std::vector<int> all;
  for (int i = 0; i < 32; i++) all.push_back(i);
  // One key in a thousand is sampled and read alone, which concerns at most one of the two batches.
  const size_t reads = ReadsOf(all).size();
  EXPECT_EQ(std::min(reads, ReadsOf(all).size()), 1u);
}

// The keys of the batch are in three tables on two levels: the reads for all of them are issued
// together.
TEST_F(MissingBlocksTest, KeysOfSeveralLevelsAreReadInOneTurn) {
  Compact();
  for (int table = 0; table < 2; table++) {
    for (int i = 100 + 30 * table; i < 120 + 30 * table; i++) Put(Key(i), std::string(1000, 'w'));
    Flush();
  }
  ReadsOf({0, 100, 130});  // opens the tables
  const auto reads = ReadsOf({0, 105, 135});
  EXPECT_EQ(reads.size(), 3u);
  std::set<std::string> paths;
  for (const auto& read : reads) paths.insert(read.path);
  EXPECT_EQ(paths.size(), 3u);
}

}  // namespace
}  // namespace ashlar
