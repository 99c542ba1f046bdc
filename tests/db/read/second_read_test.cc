// SPDX-License-Identifier: Apache-2.0
//
// Bytes that do not match their checksum are read a second time: damage in transit is repaired, and
// bytes that are damaged twice are reported.
#include <utility>

#include "ashlar/filter_policy.h"
#include "tests/support/damaged_files.h"
#include "tests/support/test_db.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class SecondReadTest : public DbTest {
 protected:
  static constexpr int kKeys = 200;

  SecondReadTest() {
    UseFiles(files_);
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
    Open();
    for (int i = 0; i < kKeys; i++) Put(Key(i), Value(i));
    DeleteRange("x", "y");
    Flush();
  }
  static std::string Key(int i) { return StrCat("key", 1000 + i); }
  static std::string Value(int i) { return StrCat("value ", i, " ", std::string(20, 'v')); }
  // No damage during the open.
  void Reopen() {
    Close();
    const int count = damage_.count;
    damage_.count = 0;
    Open();
    damage_.count = count;
    damage_.reads = 0;
  }

  // Makes a read of each kind. The first error, or Aborted if a result is wrong.
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
  const std::shared_ptr<DamagedFiles> files_ = std::make_shared<DamagedFiles>(memory_, &damage_);
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
  const uint64_t tried = Ticks(FILE_READ_CORRUPTION_RETRY_COUNT);
  EXPECT_GE(tried, static_cast<uint64_t>(reads) / 2);
  EXPECT_EQ(Ticks(FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT), tried);
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

// The page cache of the kernel would return the same bytes again. It drops whole pages.
TEST_F(SecondReadTest, GoesPastThePageCache) {
  Reopen();
  PinnableSlice found;
  ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), Key(3), &found));
  damage_.first = damage_.reads;
  damage_.count = 1;
  EXPECT_EQ(damage_.forgotten_end, 0u);
  EXPECT_EQ(Get(Key(3)), Value(3));
  EXPECT_EQ(damage_.forgotten_begin % 4096, 0u);
  EXPECT_EQ(damage_.forgotten_end % 4096, 0u);
  EXPECT_GT(damage_.forgotten_end, damage_.forgotten_begin);
}

}  // namespace ashlar
