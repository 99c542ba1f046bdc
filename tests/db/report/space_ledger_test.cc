// SPDX-License-Identifier: Apache-2.0
//
// The ledger of space and its neighbours among the properties: every byte that is live, and why the
// others are still there.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class SpaceLedgerTest : public testing::Test {
 protected:
  SpaceLedgerTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }
  // A table of 100 keys, each with 100 bytes.
  void WriteTable(int first) {
    for (int i = first; i < first + 100; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", 1000 + i), std::string(100, 'v')));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  void Compact() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  uint64_t Of(const std::string& name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db_->GetMapProperty("ashlar.space-ledger", &map));
    EXPECT_TRUE(map.contains(name)) << name;
    return std::stoull(map[name]);
  }
  uint64_t Number(const std::string& property) {
    uint64_t number = 0;
    EXPECT_TRUE(db_->GetIntProperty(property, &number)) << property;
    return number;
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(SpaceLedgerTest, LiveTablesAndLogs) {
  WriteTable(0);
  EXPECT_EQ(Of("live-table-bytes"), Number("rocksdb.live-sst-files-size"));
  EXPECT_GT(Of("live-table-bytes"), 10000u);
  const uint64_t before = Of("log-bytes");
  ASSERT_OK(db_->Put(WriteOptions(), "key", std::string(5000, 'v')));
  EXPECT_GE(Of("log-bytes"), before + 5000);
  EXPECT_GT(Of("manifest-bytes"), 0u);
  EXPECT_EQ(Of("pinned-by-readers-bytes") + Of("pinned-by-copies-bytes") +
                Of("waiting-for-deletion-bytes") + Of("temporary-files"),
            0u);
}

TEST_F(SpaceLedgerTest, AnIteratorPinsWhatACompactionReplaced) {
  WriteTable(0);
  WriteTable(0);
  const uint64_t tables = Of("live-table-bytes");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  Compact();
  EXPECT_EQ(Of("pinned-by-readers-bytes"), tables);
  EXPECT_GE(Of("older-versions"), 1u);
  it.reset();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // deletes what is obsolete
  EXPECT_EQ(Of("pinned-by-readers-bytes"), 0u);
  EXPECT_EQ(Of("pinned-by-copies-bytes") + Of("waiting-for-deletion-bytes"), 0u);
}

TEST_F(SpaceLedgerTest, ACopyPinsWhatMayNotBeDeleted) {
  WriteTable(0);
  WriteTable(0);
  const uint64_t tables = Of("live-table-bytes");
  ASSERT_OK(db_->DisableFileDeletions());
  Compact();
  EXPECT_EQ(Of("pinned-by-copies-bytes"), tables);
  EXPECT_EQ(Number("rocksdb.obsolete-sst-files-size"), tables);
  EXPECT_EQ(Of("disabled-deletions"), 1u);
  ASSERT_OK(db_->EnableFileDeletions());
  EXPECT_EQ(Number("rocksdb.obsolete-sst-files-size"), 0u);
  EXPECT_EQ(Of("pinned-by-copies-bytes"), 0u);
}

TEST_F(SpaceLedgerTest, ADroppedFamilyIsKeptByItsHandle) {
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "family", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "key", std::string(10000, 'v')));
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  const uint64_t bytes = Of("live-table-bytes");
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_EQ(Of("live-table-bytes"), 0u);
  EXPECT_EQ(Of("pinned-by-readers-bytes"), bytes);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // a flush has the family until it ends
  EXPECT_EQ(Of("pinned-by-readers-bytes"), 0u);
}

TEST_F(SpaceLedgerTest, TombstonesPromiseSpace) {
  WriteTable(0);
  Compact();
  EXPECT_EQ(Of("under-tombstones-bytes"), 0u);
  const uint64_t live = Of("live-table-bytes");
  for (int i = 0; i < 50; i++) {
    ASSERT_OK(db_->Delete(WriteOptions(), StrCat("key", 1000 + i)));
  }
  ASSERT_OK(db_->Flush(FlushOptions()));
  const uint64_t promised = Of("under-tombstones-bytes");
  EXPECT_GT(promised, live / 4);
  EXPECT_LT(promised, live);
  Compact();
  EXPECT_EQ(Of("under-tombstones-bytes"), 0u);
}

TEST_F(SpaceLedgerTest, SnapshotsAreCounted) {
  const Snapshot* snapshot = db_->GetSnapshot();
  EXPECT_EQ(Of("snapshots"), 1u);
  db_->ReleaseSnapshot(snapshot);
  EXPECT_EQ(Of("snapshots"), 0u);
}

TEST_F(SpaceLedgerTest, TheTextHasALineForEachNumber) {
  std::map<std::string, std::string> map;
  std::string text;
  ASSERT_TRUE(db_->GetMapProperty("ashlar.space-ledger", &map));
  ASSERT_TRUE(db_->GetProperty("ashlar.space-ledger", &text));
  for (const auto& [name, number] : map) {
    EXPECT_NE(("\n" + text).find(StrCat("\n", name, ": ")), std::string::npos) << name;
  }
}

TEST_F(SpaceLedgerTest, TablesAreOfNoTemperature) {
  WriteTable(0);
  std::string value;
  ASSERT_TRUE(db_->GetProperty("rocksdb.live-sst-files-size-at-temperature0", &value));
  EXPECT_EQ(value, std::to_string(Number("rocksdb.live-sst-files-size")));
  ASSERT_TRUE(db_->GetProperty("rocksdb.live-sst-files-size-at-temperature4", &value));
  EXPECT_EQ(value, "0");
  EXPECT_FALSE(db_->GetProperty("rocksdb.live-sst-files-size-at-temperature", &value));
  EXPECT_FALSE(db_->GetProperty("rocksdb.live-sst-files-size-at-temperaturex", &value));
}

TEST_F(SpaceLedgerTest, NothingIsInSightOfADatabaseAtRest) {
  EXPECT_EQ(Number("ashlar.seconds-until-slowdown"), UINT64_MAX);
}

}  // namespace
}  // namespace ashlar
