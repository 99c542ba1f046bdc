// SPDX-License-Identifier: Apache-2.0
//
// Checksums of updates from the program to the memtable: an update that has changed in memory is
// refused, before the log if possible, and never becomes visible.
#include <functional>
#include <thread>

#include "ashlar/user_write_callback.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// Calls a function between the write to the log and the insert into the memtable.
class BehindTheLog final : public UserWriteCallback {
 public:
  explicit BehindTheLog(std::function<void()> act) : act_(std::move(act)) {}
  void OnWriteEnqueued() override {}
  void OnWalWriteFinish() override { act_(); }

 private:
  const std::function<void()> act_;
};

WriteBatch ProtectedBatch() { return WriteBatch(0, 0, /*protection_bytes_per_key=*/8, 0); }

// As defective memory would.
void FlipByte(const WriteBatch& batch, size_t offset) {
  const_cast<char*>(batch.Data().data())[offset] ^= 0x10;
}

class ProtectedWriteTest : public DbTest {
 protected:
  ProtectedWriteTest() : DbTest(TestFiles::kSim) {
    options_.avoid_flush_during_shutdown = true;
    write_.protection_bytes_per_key = 8;
    Open();
  }
  void KillAndOpen() {
    Kill();
    OpenAll();
  }

  WriteOptions write_;
};

TEST_F(ProtectedWriteTest, WritesWhatIsWhole) {
  ASSERT_OK(db_->Put(write_, "a", "1"));
  ASSERT_OK(db_->Put(write_, "b", "2"));
  ASSERT_OK(db_->Delete(write_, "a"));
  WriteBatch batch = ProtectedBatch();
  ASSERT_OK(batch.Put("c", "3"));
  ASSERT_OK(batch.PutLogData("a remark"));
  ASSERT_OK(batch.DeleteRange("a", "bb"));
  ASSERT_OK(batch.Put("b", "4"));
  ASSERT_OK(db_->Write(write_, &batch));
  WriteBatch plain;
  ASSERT_OK(plain.Put("d", "5"));
  ASSERT_OK(db_->Write(write_, &plain));
  EXPECT_EQ(plain.GetProtectionBytesPerKey(), 8u);
  const Rows expected{{"b", "4"}, {"c", "3"}, {"d", "5"}};
  EXPECT_EQ(ReadRows(), expected);
  KillAndOpen();
  EXPECT_EQ(ReadRows(), expected);
}

TEST_F(ProtectedWriteTest, OnlyEightBytesAreBuilt) {
  for (const size_t bytes : {1, 4, 16}) {
    write_.protection_bytes_per_key = bytes;
    EXPECT_TRUE(db_->Put(write_, "a", "1").IsNotSupported()) << bytes;
  }
}

TEST_F(ProtectedWriteTest, WhatHasChangedIsNotLogged) {
  WriteBatch sample = ProtectedBatch();
  ASSERT_OK(sample.Put("key", "value"));
  ASSERT_OK(sample.Delete("other"));
  for (size_t offset = 12; offset < sample.GetDataSize(); offset++) {
    WriteBatch batch(sample);
    FlipByte(batch, offset);
    const Status status = db_->Write(WriteOptions(), &batch);
    EXPECT_TRUE(status.IsCorruption()) << offset << ": " << status.ToString();
  }
  ASSERT_OK(db_->Put(write_, "a", "1"));  // the refused writes did not change the database
  const Rows expected{{"a", "1"}};
  EXPECT_EQ(ReadRows(), expected);
  KillAndOpen();
  EXPECT_EQ(ReadRows(), expected);
}

TEST_F(ProtectedWriteTest, WhatChangesBehindTheLogStopsWrites) {
  Rows expected{{"a", "1"}};
  ASSERT_OK(db_->Put(write_, "a", "1"));
  for (const bool is_plain : {false, true}) {
    const std::string second = is_plain ? "y" : "x";
    WriteBatch batch = is_plain ? WriteBatch() : ProtectedBatch();
    ASSERT_OK(batch.Put("first", "v"));
    ASSERT_OK(batch.Put(second, "v"));
    expected["first"] = expected[second] = "v";
    BehindTheLog flip([&] { FlipByte(batch, batch.GetDataSize() - 1); });
    const Status status = db_->WriteWithCallback(write_, &batch, &flip);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find("checksum"), std::string::npos) << status.ToString();
    EXPECT_EQ(Get(second), "(none)");
    EXPECT_FALSE(db_->Put(WriteOptions(), "later", "v").ok());
    KillAndOpen();  // the log has the unchanged batch
    EXPECT_EQ(ReadRows(), expected);
  }
}

TEST_F(ProtectedWriteTest, LostAndChangedRecordsBehindTheLogAreNoticedToo) {
  WriteBatch sample = ProtectedBatch();
  ASSERT_OK(sample.Put("first", "v"));
  ASSERT_OK(sample.Put("second", "v"));
  for (size_t offset = 12; offset < sample.GetDataSize(); offset++) {
    WriteBatch batch(sample);
    BehindTheLog flip([&] { FlipByte(batch, offset); });
    EXPECT_TRUE(db_->WriteWithCallback(write_, &batch, &flip).IsCorruption()) << offset;
    KillAndOpen();
  }
}

// A commit finds changed memory while a recovery runs. The recovery must neither count the records
// of the commit as flushed nor clear its error.
TEST_F(ProtectedWriteTest, ARecoveryGivesWayToAChangeThatComesInBetween) {
  ASSERT_OK(db_->Put(Synced(), "acknowledged", "v"));
  WriteBatch batch = ProtectedBatch();
  ASSERT_OK(batch.Put("first", "v"));
  Status resumed;
  std::thread recovery;
  BehindTheLog meet([&] {
    Fail(CallKind::kSync, ".log");
    EXPECT_FALSE(db_->SyncWAL().ok());
    sim_->ClearFaults();
    const uint64_t calls = sim_->CallCount();
    recovery = std::thread([&] { resumed = db_->Resume(); });
    while (sim_->CallCount() == calls) std::this_thread::yield();  // until it creates the next log
    FlipByte(batch, batch.GetDataSize() - 1);
  });
  EXPECT_TRUE(db_->WriteWithCallback(write_, &batch, &meet).IsCorruption());
  recovery.join();
  EXPECT_FALSE(resumed.ok());
  EXPECT_FALSE(db_->Put(WriteOptions(), "later", "v").ok());
  EXPECT_FALSE(db_->Resume().ok());
  KillAndOpen();
  EXPECT_EQ(ReadRows()["acknowledged"], "v");
}

TEST_F(ProtectedWriteTest, UpdatesOfMissingFamiliesAreLeftOutOfAWholeBatchOnly) {
  write_.ignore_missing_column_families = true;
  ColumnFamilyHandle* const gone = CreateFamily("gone");
  WriteBatch batch = ProtectedBatch();
  ASSERT_OK(batch.Put(gone, "x", "v"));
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(db_->DropColumnFamily(gone));
  WriteBatch changed(batch);
  FlipByte(changed, changed.GetDataSize() - 1);
  EXPECT_TRUE(db_->Write(write_, &changed).IsCorruption());
  ASSERT_OK(db_->Write(write_, &batch));
  EXPECT_EQ(Get("a"), "1");
}

}  // namespace
}  // namespace ashlar
