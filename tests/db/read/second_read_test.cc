// SPDX-License-Identifier: Apache-2.0
//
// Bytes that do not fit their checksum are read once more: what was damaged on its way is no damage
// of the file, and what is damaged twice is told.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "env/env_adaptors.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/damaged_files.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class SecondReadTest : public testing::Test {
 protected:
  static constexpr int kKeys = 200;

  SecondReadTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
    BlockBasedTableOptions table;
    table.block_size = 512;
    table.no_block_cache = true;  // so that every use of a block reads it
    table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 256;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    EXPECT_OK(DB::Open(options_, "/db", &db_));
    for (int i = 0; i < kKeys; i++) EXPECT_OK(db_->Put(WriteOptions(), Key(i), Value(i)));
    EXPECT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "x", "y"));
    EXPECT_OK(db_->Flush(FlushOptions()));
  }
  static std::string Key(int i) { return StrCat("key", 1000 + i); }
  static std::string Value(int i) { return StrCat("value ", i, " ", std::string(20, 'v')); }
  // Opening reads without damage.
  void Reopen() {
    db_.reset();
    const int count = damage_.count;
    damage_.count = 0;
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    damage_.count = count;
    damage_.reads = 0;
  }

  // One of each kind of read; the first error, or an error of ours if an answer is wrong.
  Status ReadAll() {
    PinnableSlice found;
    RETURN_IF_ERROR(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), Key(3), &found));
    if (found != Slice(Value(3))) return Status::Aborted("Get: a wrong value");
    const std::vector<std::string> keys = {Key(1), Key(90), Key(180)};
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> values;
    for (const Status& status : db_->MultiGet(ReadOptions(), slices, &values)) {
      RETURN_IF_ERROR(status);
    }
    if (values[1] != Value(90)) return Status::Aborted("MultiGet: a wrong value");
    RETURN_IF_ERROR(Scan());
    return db_->VerifyChecksum(ReadOptions());
  }
  Status Scan() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), i++) {
      if (it->key() != Slice(Key(i)) || it->value() != Slice(Value(i))) {
        return Status::Aborted("a wrong entry", Key(i));
      }
    }
    RETURN_IF_ERROR(it->status());
    return i == kKeys ? Status::OK() : Status::Aborted("lost keys");
  }

  Damage damage_;
  const std::shared_ptr<DamagedFiles> files_ =
      std::make_shared<DamagedFiles>(std::make_shared<MemoryFileSystem>(), &damage_);
  const std::unique_ptr<Env> env_ = NewCompositeEnv(files_);
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(SecondReadTest, HealsAnyOneReadThatCameDamaged) {
  Reopen();
  ASSERT_OK(ReadAll());
  const int reads = damage_.reads;
  ASSERT_GT(reads, 20);
  damage_.count = 1;
  for (int read = 0; read < reads; read++) {
    damage_.first = read;
    Reopen();
    EXPECT_OK(ReadAll()) << "read " << read;
  }
  const uint64_t tried = options_.statistics->getTickerCount(FILE_READ_CORRUPTION_RETRY_COUNT);
  EXPECT_GE(tried, static_cast<uint64_t>(reads) / 2);
  EXPECT_EQ(options_.statistics->getTickerCount(FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT), tried);
}

TEST_F(SecondReadTest, TellsWhatIsDamagedTwice) {
  Reopen();
  ASSERT_OK(ReadAll());
  const int reads = damage_.reads;
  damage_.count = 2;
  int told = 0;
  for (int read = 0; read < reads; read++) {
    damage_.first = read;
    Reopen();
    const Status status = ReadAll();
    EXPECT_TRUE(status.ok() || status.IsCorruption()) << "read " << read << status.ToString();
    told += status.IsCorruption() ? 1 : 0;
  }
  EXPECT_GE(told, reads / 2);
}

// The kernel would give the same bytes again, out of its page cache, which forgets whole pages.
TEST_F(SecondReadTest, GoesPastThePageCache) {
  Reopen();
  PinnableSlice found;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), Key(3), &found));
  damage_.first = damage_.reads;
  damage_.count = 1;
  EXPECT_EQ(damage_.forgotten_end, 0u);
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), Key(3), &found));
  EXPECT_EQ(found, Slice(Value(3)));
  EXPECT_EQ(damage_.forgotten_begin % 4096, 0u);
  EXPECT_EQ(damage_.forgotten_end % 4096, 0u);
  EXPECT_GT(damage_.forgotten_end, damage_.forgotten_begin);
}

}  // namespace ashlar
