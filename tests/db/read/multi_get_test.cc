// SPDX-License-Identifier: Apache-2.0
//
// MultiGet answers for each key what Get answers: over random databases of several families and
// levels, keys that are there, absent, deleted (also by ranges), merged and asked for twice,
// snapshots, warm and cold, on files in memory and on disk, by io_uring and without, with reads
// that fail. And it reads what is missing together.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/snapshot.h"
#include "ashlar/table.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/forbidden_call.h"
#include "tests/support/paths.h"
#include "tests/support/read_recorder.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
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

std::string Key(uint64_t i) { return "common prefix " + std::to_string(1000000 + i); }

class MultiGetTest : public testing::TestWithParam<Setup> {
 protected:
  MultiGetTest()
      : memory_(NewMemEnv(Env::Default())),
        dir_(GetParam().is_on_disk ? FreshTempDir("multi_get", "/dev/shm") : "/db") {
    Env* const base = GetParam().is_on_disk ? Env::Default() : memory_.get();
    env_ =
        NewCompositeEnv(std::make_shared<RecordingFileSystem>(base->GetFileSystem(), &recorder_));
    Open();
  }
  ~MultiGetTest() override {
    for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    Close();
    if (GetParam().is_on_disk) {
      EXPECT_OK(DestroyDB(dir_, MakeOptions()));
    }
  }

  Options MakeOptions() const {
    BlockBasedTableOptions table;
    table.block_size = 512;
    table.no_block_cache = GetParam().cache == CacheKind::kNone;
    if (GetParam().cache == CacheKind::kLarge) table.block_cache = NewLRUCache(32 << 20);
    if (GetParam().cache == CacheKind::kTiny) table.block_cache = NewLRUCache(20 << 10, 0);
    if (GetParam().has_filter) table.filter_policy.reset(NewBloomFilterPolicy(10));
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    if (GetParam().is_reverse) options.comparator = ReverseBytewiseComparator();
    options.disable_auto_compactions = is_filled_;
    options.level_compaction_dynamic_level_bytes = false;
    options.level0_file_num_compaction_trigger = 2;
    options.target_file_size_base = 8 << 10;
    options.max_bytes_for_level_base = 16 << 10;
    options.max_bytes_for_level_multiplier = 2;
    options.compression = kNoCompression;
    options.merge_operator = NewStockMergeOperator("stringappend");
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return options;
  }
  void Open() {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const char* name : {"default", "one", "two"})
      descriptors.emplace_back(name, MakeOptions());
    DB* db = nullptr;
    ASSERT_OK(DB::Open(MakeOptions(), dir_, descriptors, &families_, &db));
    db_.reset(db);
  }
  void Close() {
    for (ColumnFamilyHandle* family : families_) EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
    families_.clear();
    db_.reset();
  }
  void Reopen() {
    for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
    is_filled_ = true;
    Close();
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
        ASSERT_OK(db_->Delete(WriteOptions(), family, key));
      } else if (choice < 6) {
        const std::string operand = std::to_string(i) + std::string(bytes / 4, 'o');
        ASSERT_OK(db_->Merge(WriteOptions(), family, key, operand));
      } else {
        const std::string value = key + "=" + std::to_string(i) + std::string(bytes, 'v');
        ASSERT_OK(db_->Put(WriteOptions(), family, key, value));
      }
    }
  }
  void DeleteSomeRange(ColumnFamilyHandle* family) {
    const uint64_t first = random_.Uniform(2 * kKeyCount);
    std::string begin = Key(first), end = Key(first + random_.Uniform(100));
    if (GetParam().is_reverse) std::swap(begin, end);
    ASSERT_OK(db_->DeleteRange(WriteOptions(), family, begin, end));
  }
  // Tables on several levels, two of level 0, something in the memtable, and snapshots from
  // between.
  void Fill() {
    for (ColumnFamilyHandle* family : families_) {
      for (int i = 0; i < 30; i++) {
        Write(family, 200);
        ASSERT_OK(db_->Flush(FlushOptions(), family));
        if (i == 24) snapshots_.push_back(db_->GetSnapshot());
      }
      ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
      ASSERT_OK(db_->SetOptions(family, {{"disable_auto_compactions", "true"}}));
      for (int i = 0; i < 2; i++) {
        Write(family, 100);
        ASSERT_OK(db_->Flush(FlushOptions(), family));
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
    ColumnFamilyHandle* const family = families_[random_.Uniform(families_.size())];
    for (size_t i = 0; i < size; i++) {
      batch.families.push_back(one_family ? family : families_[random_.Uniform(families_.size())]);
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
  // As the caller promises with sorted_input.
  void Sort(Batch* batch) const {
    const Comparator* const order = MakeOptions().comparator;
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

  bool is_filled_ = false;  // files stay as they are from now on
  Random64 random_{301};
  ReadRecorder recorder_;
  const std::unique_ptr<Env> memory_;
  std::unique_ptr<Env> env_;
  const std::string dir_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> families_;
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

// Where the kernel refuses an io_uring.
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

// The oldest promise: all keys of a batch as of one moment, whatever is written meanwhile, is held
// by atomic_batches_test.

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
  for (ColumnFamilyHandle* family : families_) {
    Write(family, 500);
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
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

// How missing blocks are read: a table of level 1 with blocks of one key each, nothing cached.
class MissingBlocksTest : public testing::Test {
 protected:
  static constexpr int kBlocks = 200;

  MissingBlocksTest() {
    BlockBasedTableOptions table;
    table.block_size = 1;
    table.no_block_cache = true;
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    DB* db = nullptr;
    EXPECT_OK(DB::Open(options_, "/db", &db));
    db_.reset(db);
    for (int i = 0; i < kBlocks; i++) {
      EXPECT_OK(db_->Put(WriteOptions(), Key(i), std::string(1000, 'v')));
    }
    EXPECT_OK(db_->Flush(FlushOptions()));
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), Key(0), &value));  // opens the table
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
  const std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  const std::unique_ptr<Env> env_{
      NewCompositeEnv(std::make_shared<RecordingFileSystem>(memory_->GetFileSystem(), &recorder_))};
  Options options_;
  std::unique_ptr<DB> db_;
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
  // One key in a thousand is watched, and looked for by itself: in one of the two batches at most.
  const size_t reads = ReadsOf(all).size();
  EXPECT_EQ(std::min(reads, ReadsOf(all).size()), 1u);
}

// Each of three tables of level 0 holds a third of the keys, and the batch asks for all: all keys
// that are not in memory wait at the same time.
TEST_F(MissingBlocksTest, KeysOfSeveralLevelsAreReadInOneTurn) {
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  for (int table = 0; table < 2; table++) {
    for (int i = 100 + 30 * table; i < 120 + 30 * table; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), Key(i), std::string(1000, 'w')));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  ReadsOf({0, 100, 130});  // opens them
  const auto reads = ReadsOf({0, 105, 135});
  EXPECT_EQ(reads.size(), 3u);
  std::set<std::string> paths;
  for (const auto& read : reads) paths.insert(read.path);
  EXPECT_EQ(paths.size(), 3u);
}

}  // namespace
}  // namespace ashlar
