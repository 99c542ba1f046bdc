// SPDX-License-Identifier: Apache-2.0
//
// Property ashlar.space-ledger and related properties: the live bytes, and why files that are not
// live still exist.
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class SpaceLedgerTest : public DbTest {
 protected:
  SpaceLedgerTest() : DbTest(TestFiles::kSim) {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    Open();
  }
  // A table of 100 keys with values of 100 bytes.
  void WriteTable(int first) {
    for (int i = first; i < first + 100; i++) {
      Put(StrCat("key", 1000 + i), std::string(100, 'v'));
    }
    Flush();
  }
  void CompactAll() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    Compact(all);
    WaitForJobs();
  }
  uint64_t Of(const std::string& name) {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db_->GetMapProperty("ashlar.space-ledger", &map));
    EXPECT_TRUE(map.contains(name)) << name;
    return std::stoull(map[name]);
  }
};

TEST_F(SpaceLedgerTest, LiveTablesAndLogs) {
  WriteTable(0);
  EXPECT_EQ(Of("live-table-bytes"), Number("rocksdb.live-sst-files-size"));
  EXPECT_GT(Of("live-table-bytes"), 10000u);
  const uint64_t before = Of("log-bytes");
  Put("key", std::string(5000, 'v'));
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
  CompactAll();
  EXPECT_EQ(Of("pinned-by-readers-bytes"), tables);
  EXPECT_GE(Of("older-versions"), 1u);
  it.reset();
  WaitForJobs();  // until the obsolete tables are deleted
  EXPECT_EQ(Of("pinned-by-readers-bytes"), 0u);
  EXPECT_EQ(Of("pinned-by-copies-bytes") + Of("waiting-for-deletion-bytes"), 0u);
}

TEST_F(SpaceLedgerTest, ACopyPinsWhatMayNotBeDeleted) {
  WriteTable(0);
  WriteTable(0);
  const uint64_t tables = Of("live-table-bytes");
  ASSERT_OK(db_->DisableFileDeletions());
  CompactAll();
  EXPECT_EQ(Of("pinned-by-copies-bytes"), tables);
  EXPECT_EQ(Number("rocksdb.obsolete-sst-files-size"), tables);
  EXPECT_EQ(Of("disabled-deletions"), 1u);
  ASSERT_OK(db_->EnableFileDeletions());
  EXPECT_EQ(Number("rocksdb.obsolete-sst-files-size"), 0u);
  EXPECT_EQ(Of("pinned-by-copies-bytes"), 0u);
}

TEST_F(SpaceLedgerTest, ADroppedFamilyIsKeptByItsHandle) {
  ColumnFamilyHandle* const family = CreateFamily("family");
  Put(family, "key", std::string(10000, 'v'));
  Flush(family);
  const uint64_t bytes = Of("live-table-bytes");
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_EQ(Of("live-table-bytes"), 0u);
  EXPECT_EQ(Of("pinned-by-readers-bytes"), bytes);
  DestroyHandles();
  WaitForJobs();  // the flush references the family until it ends
  EXPECT_EQ(Of("pinned-by-readers-bytes"), 0u);
}

TEST_F(SpaceLedgerTest, TombstonesPromiseSpace) {
  WriteTable(0);
  CompactAll();
  EXPECT_EQ(Of("under-tombstones-bytes"), 0u);
  const uint64_t live = Of("live-table-bytes");
  for (int i = 0; i < 50; i++) Delete(StrCat("key", 1000 + i));
  Flush();
  const uint64_t promised = Of("under-tombstones-bytes");
  EXPECT_GT(promised, live / 4);
  EXPECT_LT(promised, live);
  CompactAll();
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
  ASSERT_TRUE(db_->GetMapProperty("ashlar.space-ledger", &map));
  const std::string text = Property("ashlar.space-ledger");
  for (const auto& [name, number] : map) {
    EXPECT_NE(("\n" + text).find(StrCat("\n", name, ": ")), std::string::npos) << name;
  }
}

TEST_F(SpaceLedgerTest, TablesAreOfNoTemperature) {
  WriteTable(0);
  EXPECT_EQ(Property("rocksdb.live-sst-files-size-at-temperature0"),
            Property("rocksdb.live-sst-files-size"));
  EXPECT_EQ(Property("rocksdb.live-sst-files-size-at-temperature4"), "0");
  std::string value;
  EXPECT_FALSE(db_->GetProperty("rocksdb.live-sst-files-size-at-temperature", &value));
  EXPECT_FALSE(db_->GetProperty("rocksdb.live-sst-files-size-at-temperaturex", &value));
}

TEST_F(SpaceLedgerTest, NothingIsInSightOfADatabaseAtRest) {
  EXPECT_EQ(Number("ashlar.seconds-until-slowdown"), UINT64_MAX);
}

}  // namespace
}  // namespace ashlar
