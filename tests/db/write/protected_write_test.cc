// SPDX-License-Identifier: Apache-2.0
//
// Checksums of updates on their way from the program into the memtable: what changes in memory is
// refused, before the log if possible, and never becomes visible.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/write_batch.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"

namespace ashlar {
namespace {

// Does something between the log and the memtable.
class BehindTheLog final : public UserWriteCallback {
 public:
  explicit BehindTheLog(std::function<void()> act) : act_(std::move(act)) {}
  void OnWriteEnqueued() override {}
  void OnWalWriteFinish() override { act_(); }

 private:
  const std::function<void()> act_;
};

WriteBatch ProtectedBatch() { return WriteBatch(0, 0, /*protection_bytes_per_key=*/8, 0); }

// As a defect of the machine would.
void FlipByte(const WriteBatch& batch, size_t offset) {
  const_cast<char*>(batch.Data().data())[offset] ^= 0x10;
}

class ProtectedWriteTest : public testing::Test {
 protected:
  ProtectedWriteTest() {
    options_.create_if_missing = true;
    options_.avoid_flush_during_shutdown = true;
    options_.env = env_.get();
    write_.protection_bytes_per_key = 8;
    EXPECT_OK(db_->Open(options_, "/db"));
  }
  DB* db() { return db_->db(); }
  Rows ReadAll() {
    Contents contents;
    EXPECT_OK(db_->ReadAll(&contents));
    return contents["default"];
  }
  void Restart() {
    db_.reset();
    fs_ = fs_->CrashImage(fs_->CallCount(), CrashPolicy::kAll);
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
    db_ = std::make_unique<OpenedDb>();
    ASSERT_OK(db_->Open(options_, "/db"));
  }

  std::shared_ptr<SimFS> fs_ = SimFS::Create();
  std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  WriteOptions write_;
  std::unique_ptr<OpenedDb> db_ = std::make_unique<OpenedDb>();
};

TEST_F(ProtectedWriteTest, WritesWhatIsWhole) {
  ASSERT_OK(db()->Put(write_, "a", "1"));
  ASSERT_OK(db()->Put(write_, "b", "2"));
  ASSERT_OK(db()->Delete(write_, "a"));
  WriteBatch batch = ProtectedBatch();
  ASSERT_OK(batch.Put("c", "3"));
  ASSERT_OK(batch.PutLogData("a remark"));
  ASSERT_OK(batch.DeleteRange("a", "bb"));
  ASSERT_OK(batch.Put("b", "4"));
  ASSERT_OK(db()->Write(write_, &batch));
  WriteBatch plain;
  ASSERT_OK(plain.Put("d", "5"));
  ASSERT_OK(db()->Write(write_, &plain));
  EXPECT_EQ(plain.GetProtectionBytesPerKey(), 8u);
  const Rows expected{{"b", "4"}, {"c", "3"}, {"d", "5"}};
  EXPECT_EQ(ReadAll(), expected);
  Restart();
  EXPECT_EQ(ReadAll(), expected);
}

TEST_F(ProtectedWriteTest, OnlyEightBytesAreBuilt) {
  for (const size_t bytes : {1, 4, 16}) {
    write_.protection_bytes_per_key = bytes;
    EXPECT_TRUE(db()->Put(write_, "a", "1").IsNotSupported()) << bytes;
  }
}

TEST_F(ProtectedWriteTest, WhatHasChangedIsNotLogged) {
  WriteBatch sample = ProtectedBatch();
  ASSERT_OK(sample.Put("key", "value"));
  ASSERT_OK(sample.Delete("other"));
  for (size_t offset = 12; offset < sample.GetDataSize(); offset++) {
    WriteBatch batch(sample);
    FlipByte(batch, offset);
    const Status status = db()->Write(WriteOptions(), &batch);
    EXPECT_TRUE(status.IsCorruption()) << offset << ": " << status.ToString();
  }
  ASSERT_OK(db()->Put(write_, "a", "1"));  // nothing has happened to the database
  const Rows expected{{"a", "1"}};
  EXPECT_EQ(ReadAll(), expected);
  Restart();
  EXPECT_EQ(ReadAll(), expected);
}

TEST_F(ProtectedWriteTest, WhatChangesBehindTheLogStopsWrites) {
  Rows expected{{"a", "1"}};
  ASSERT_OK(db()->Put(write_, "a", "1"));
  for (const bool is_plain : {false, true}) {
    const std::string second = is_plain ? "y" : "x";
    WriteBatch batch = is_plain ? WriteBatch() : ProtectedBatch();
    ASSERT_OK(batch.Put("first", "v"));
    ASSERT_OK(batch.Put(second, "v"));
    expected["first"] = expected[second] = "v";
    BehindTheLog flip([&] { FlipByte(batch, batch.GetDataSize() - 1); });
    const Status status = db()->WriteWithCallback(write_, &batch, &flip);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find("checksum"), std::string::npos) << status.ToString();
    std::string value;
    EXPECT_TRUE(db()->Get(ReadOptions(), second, &value).IsNotFound());
    EXPECT_FALSE(db()->Put(WriteOptions(), "later", "v").ok());
    Restart();  // the log has it whole
    EXPECT_EQ(ReadAll(), expected);
  }
}

TEST_F(ProtectedWriteTest, LostAndChangedRecordsBehindTheLogAreNoticedToo) {
  WriteBatch sample = ProtectedBatch();
  ASSERT_OK(sample.Put("first", "v"));
  ASSERT_OK(sample.Put("second", "v"));
  for (size_t offset = 12; offset < sample.GetDataSize(); offset++) {
    WriteBatch batch(sample);
    BehindTheLog flip([&] { FlipByte(batch, offset); });
    EXPECT_TRUE(db()->WriteWithCallback(write_, &batch, &flip).IsCorruption()) << offset;
    Restart();
  }
}

// The commit that finds memory changed is under way when the recovery begins. What it left behind
// must not count as flushed, nor its error as recovered from.
TEST_F(ProtectedWriteTest, ARecoveryGivesWayToAChangeThatComesInBetween) {
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db()->Put(sync, "acknowledged", "v"));
  WriteBatch batch = ProtectedBatch();
  ASSERT_OK(batch.Put("first", "v"));
  Status resumed;
  std::thread recovery;
  BehindTheLog meet([&] {
    FaultPlan plan;
    plan.kinds = KindBit(CallKind::kSync);
    plan.path_part = ".log";
    plan.first_call = fs_->CallCount();
    fs_->AddFault(plan);
    EXPECT_FALSE(db()->SyncWAL().ok());
    fs_->ClearFaults();
    const uint64_t calls = fs_->CallCount();
    recovery = std::thread([&] { resumed = db()->Resume(); });
    while (fs_->CallCount() == calls) std::this_thread::yield();  // it makes the next log
    FlipByte(batch, batch.GetDataSize() - 1);
  });
  EXPECT_TRUE(db()->WriteWithCallback(write_, &batch, &meet).IsCorruption());
  recovery.join();
  EXPECT_FALSE(resumed.ok());
  EXPECT_FALSE(db()->Put(WriteOptions(), "later", "v").ok());
  EXPECT_FALSE(db()->Resume().ok());
  Restart();
  EXPECT_EQ(ReadAll()["acknowledged"], "v");
}

TEST_F(ProtectedWriteTest, UpdatesOfMissingFamiliesAreLeftOutOfAWholeBatchOnly) {
  write_.ignore_missing_column_families = true;
  ASSERT_OK(db_->CreateFamily(options_, "gone"));
  ColumnFamilyHandle* gone = db_->handles().back();
  WriteBatch batch = ProtectedBatch();
  ASSERT_OK(batch.Put(gone, "x", "v"));
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(db()->DropColumnFamily(gone));
  WriteBatch changed(batch);
  FlipByte(changed, changed.GetDataSize() - 1);
  EXPECT_TRUE(db()->Write(write_, &changed).IsCorruption());
  ASSERT_OK(db()->Write(write_, &batch));
  std::string value;
  ASSERT_OK(db()->Get(ReadOptions(), "a", &value));
  EXPECT_EQ(value, "1");
}

}  // namespace
}  // namespace ashlar
