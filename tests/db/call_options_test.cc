// SPDX-License-Identifier: Apache-2.0
//
// Options of single calls take effect, or the call is refused with the name of the option.
#include <functional>

#include "ashlar/table_properties.h"
#include "ashlar/write_batch.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class CallOptionsTest : public DbTest {
 protected:
  explicit CallOptionsTest(TestFiles files = TestFiles::kMemory) : DbTest(files) {
    options_.disable_auto_compactions = true;
    Open();
  }

  void PutInTable(const std::string& key) {
    Put(key, "v");
    Flush();
  }
};

TEST_F(CallOptionsTest, IteratorsSkipTheTablesThatTheFilterRefuses) {
  PutInTable("a");
  Compact();
  PutInTable("b");
  Put("b2", "v");
  PutInTable("b3");
  Put("c", "v");
  const std::function<bool(const TableProperties&)> of_two_entries =
      [](const TableProperties& table) { return table.num_entries == 2; };
  ReadOptions read;
  EXPECT_EQ(Keys(read), "abb2b3c");
  read.table_filter = &of_two_entries;
  EXPECT_EQ(Keys(read), "b2b3c");
}

TEST_F(CallOptionsTest, RangeTombstonesOfTablesThatTheFilterRefusesStillHide) {
  for (const char* key : {"a", "b", "c"}) Put(key, "v");
  Flush();
  DeleteRange("a", "b");
  Delete("b");
  Put("d", "v");
  Flush();
  const std::function<bool(const TableProperties&)> without_ranges =
      [](const TableProperties& table) { return table.num_range_deletions == 0; };
  ReadOptions read;
  EXPECT_EQ(Keys(read), "cd");
  read.table_filter = &without_ranges;
  EXPECT_EQ(Keys(read), "bc");
}

TEST_F(CallOptionsTest, IteratorsOverMemTablesShowNoTables) {
  PutInTable("a");
  Put("b", "v");
  ReadOptions read;
  read.read_tier = kMemtableTier;
  EXPECT_EQ(Keys(read), "b");
}

TEST_F(CallOptionsTest, PersistedReadsDoNotSeeWhatSkippedTheLog) {
  ReadOptions read;
  read.read_tier = kPersistedTier;
  Put("k", "logged");
  EXPECT_EQ(Get("k", read), "logged");
  Flush();
  ASSERT_OK(db_->Put(Unlogged(), "k", "unlogged"));
  EXPECT_EQ(Get("k", read), "logged");
  std::vector<std::string> values;
  ASSERT_OK(db_->MultiGet(read, {Slice("k")}, &values)[0]);
  EXPECT_EQ("logged", values[0]);
  EXPECT_EQ(Get("k"), "unlogged");
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  EXPECT_TRUE(it->status().IsNotSupported()) << it->status().ToString();
}

TEST_F(CallOptionsTest, WritesMayLeaveOutFamiliesThatDoNotExist) {
  ColumnFamilyHandle* dropped = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "dropped", &dropped));
  ASSERT_OK(db_->DropColumnFamily(dropped));
  // The fifth family of another database has an id that this one never assigned.
  TestDb other;
  other.Open({"default", "1", "2", "3", "4", "5"});

  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put(dropped, "a", "2"));
  ASSERT_OK(batch.Put(other.handles()[5], "a", "3"));
  ASSERT_OK(batch.Put("b", "4"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  WriteOptions ignoring;
  ignoring.ignore_missing_column_families = true;
  ASSERT_OK(db_->Write(ignoring, &batch));

  ASSERT_OK(db_->DestroyColumnFamilyHandle(dropped));
  Reopen();
  EXPECT_EQ(Keys(), "ab");
}

// Otherwise replay would report the family as lost. 2^32 - 1 is a valid id.
TEST_F(CallOptionsTest, ALogHoldsNothingOfFamiliesThatNeverWere) {
  options_.avoid_flush_during_shutdown = true;
  Reopen();
  // A batch with one Put into family 77, then one with a Put into family 2^32 - 1.
  for (const std::string& family : {std::string("\x4d"), std::string("\xff\xff\xff\xff\x0f")}) {
    std::string bytes(12, '\0');
    bytes[8] = 2;
    bytes += '\x05' + family + "\x01k\x01v";
    bytes += std::string("\x01\x01") + family.back() + "\x01v";
    WriteBatch batch(bytes);
    EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
    WriteOptions ignoring;
    ignoring.ignore_missing_column_families = true;
    ASSERT_OK(db_->Write(ignoring, &batch));
    // Replay reports a lost family only for logs that the MANIFEST records.
    ASSERT_OK(db_->SyncWAL());
    ColumnFamilyHandle* brief = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options_, "brief", &brief));
    ASSERT_OK(db_->DropColumnFamily(brief));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(brief));
    Reopen();
    EXPECT_EQ(Get(family.substr(family.size() - 1)), "v");
    EXPECT_EQ(Get("k"), "(none)");
  }
}

class PartlyLoggedBatch : public CallOptionsTest {
 protected:
  PartlyLoggedBatch() : CallOptionsTest(TestFiles::kSim) {}
};

TEST_F(PartlyLoggedBatch, EndsAtItsMarkInTheLogAlsoWithoutMissingFamilies) {
  options_.avoid_flush_during_shutdown = true;  // the rest counts as unlogged
  Reopen();
  for (const auto& [before, behind] : {std::pair(1, 0), {0, 1}, {2, 3}}) {
    SCOPED_TRACE(before);
    ColumnFamilyHandle* dropped = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options_, "dropped", &dropped));
    ASSERT_OK(db_->DropColumnFamily(dropped));
    WriteBatch batch;
    for (int i = 0; i < before; i++) ASSERT_OK(batch.Put(dropped, "k", "of nobody"));
    ASSERT_OK(batch.Put("a", "1"));
    batch.MarkWalTerminationPoint();
    for (int i = 0; i < behind; i++) ASSERT_OK(batch.Put(dropped, "k", "of nobody"));
    ASSERT_OK(batch.Put("b", "1"));
    WriteOptions ignoring;
    ignoring.ignore_missing_column_families = true;
    ASSERT_OK(db_->Write(ignoring, &batch));
    EXPECT_EQ(Keys(), "ab");
    ASSERT_OK(db_->DestroyColumnFamilyHandle(dropped));
    Kill();
    Open();
    EXPECT_EQ(Keys(), "a");
    EXPECT_EQ(Property("ashlar.recovery-report"), "");
    Delete("a");
  }
}

// What is not in the log is flushed at the end, and is not there for readers of persisted data.
TEST_F(PartlyLoggedBatch, CountsAsUnloggedIfItGoesOnBehindTheMark) {
  ReadOptions persisted;
  persisted.read_tier = kPersistedTier;
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  batch.MarkWalTerminationPoint();
  Write(&batch);
  EXPECT_EQ(Get("a", persisted), "1");
  ASSERT_OK(batch.Put("b", "1"));
  Write(&batch);
  EXPECT_EQ(Get("b", persisted), "(none)");
  Reopen();
  EXPECT_EQ(Keys(), "ab");
}

TEST_F(CallOptionsTest, LimitOfHistoryIsRefusedWhereKeysHaveNoTimestamps) {
  const Slice low("x");
  CompactRangeOptions compact;
  compact.full_history_ts_low = &low;
  const Status status = db_->CompactRange(compact, nullptr, nullptr);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(std::string::npos, status.ToString().find("FullHistoryTsLow"));
}

TEST_F(CallOptionsTest, ReadOnlyDatabasesListTheirFilesWithoutFlushing) {
  PutInTable("a");
  OpenReadOnly();
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(files, &manifest_bytes));
  EXPECT_GE(files.size(), 3u);
  EXPECT_GT(manifest_bytes, 0u);
}

}  // namespace
}  // namespace ashlar
