// SPDX-License-Identifier: Apache-2.0
//
// The record in a log that tells which families have timestamps.
#include <functional>
#include <memory>

#include "ashlar/comparator.h"
#include "ashlar/transaction_log.h"
#include "ashlar/write_batch.h"
#include "db/wal/log_format.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/test_db.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

// A program of RocksDB stopped to use timestamps that are not persisted: the newest log still has
// them after its keys. Inserted as they are, these would be other keys.
TEST(TimestampedLog, OfAFamilyWithoutTimestampsIsRefused) {
  TestDb test(TestFiles::kSim);
  test.Open();
  test.Put("a", "1");
  test.Close();

  WriteBatch batch;
  ASSERT_OK(batch.Put("key12345678", "value"));
  std::string bytes = batch.Data();
  EncodeFixed64(bytes.data(), 100);
  const auto write_log = [&](uint16_t timestamp_bytes) {
    LogImage log{FileNumber(99)};
    // Family 77 does not exist, so its timestamps are ignored.
    log.AddSpecial(LogRecordType::kTimestampSizes,
                   EncodeTimestampSizes({{0, timestamp_bytes}, {77, 8}}));
    log.Add(bytes);
    ASSERT_OK(WriteStringToFile(test.env(), log.bytes, "/db/000099.log", /*should_sync=*/true));
  };
  write_log(8);
  for (const WALRecoveryMode mode : kAllRecoveryModes) {
    test.options().wal_recovery_mode = mode;
    const Status status = test.TryOpen();
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find("timestamps of 8 bytes"), std::string::npos)
        << status.ToString();
  }
  write_log(0);
  test.Open();
  EXPECT_EQ(test.Get("key12345678"), "value");
  EXPECT_EQ(test.Get("a"), "1");
}

// The creation of a family with timestamps appends their size to the log, and the next log begins
// before another write. The next log and the MANIFEST count that record.
class SizesAtTheEndOfALog : public DbTest {
 protected:
  SizesAtTheEndOfALog() : DbTest(TestFiles::kSim) {
    options_.avoid_flush_during_shutdown = true;
    options_.WAL_ttl_seconds = 3600;
  }

  void Write() {
    Open({"default", "a"});
    ASSERT_OK(db_->Put(Synced(), handles_[1], "k1", "v"));
    ASSERT_OK(db_->Put(Synced(), "k", "v"));
    CreateFamily("ts", Stamped());
    Flush(handles_[0]);
    ASSERT_OK(db_->Put(Synced(), handles_[1], "k2", "v"));
  }
  ColumnFamilyOptions Stamped() const {
    ColumnFamilyOptions stamped(options_);
    stamped.comparator = BytewiseComparatorWithU64Ts();
    return stamped;
  }
  // Opens a copy of these files in every mode.
  void ExpectAllRows(const std::function<std::shared_ptr<SimFS>()>& files) {
    for (const WALRecoveryMode mode : kAllRecoveryModes) {
      SCOPED_TRACE(static_cast<int>(mode));
      TestDb copy(files(), options_);
      copy.options().wal_recovery_mode = mode;
      const ColumnFamilyOptions plain(options_);
      copy.OpenWith({{kDefaultColumnFamilyName, plain}, {"a", plain}, {"ts", Stamped()}});
      if (copy.db() == nullptr) continue;  // a failure already
      EXPECT_EQ(copy.Scan(), "k=v");
      EXPECT_EQ(copy.Scan({}, copy.handles()[1]), "k1=v k2=v");
      EXPECT_EQ(copy.Property("ashlar.recovery-report"), "");
      ExpectAllUpdates(copy.db());
    }
  }
  // The logs are in the archive.
  static void ExpectAllUpdates(DB* db) {
    std::unique_ptr<WalIterator> updates;
    ASSERT_OK(db->GetUpdatesSince(1, &updates));
    for (SequenceNumber seqno = 1; seqno <= 3; seqno++, updates->Next()) {
      ASSERT_TRUE(updates->Valid()) << seqno << ": " << updates->status().ToString();
      EXPECT_EQ(updates->GetBatch().sequence, seqno);
    }
  }
};

TEST_F(SizesAtTheEndOfALog, AreNoDamage) {
  for (const bool is_verified : {false, true}) {
    SCOPED_TRACE(is_verified ? "verified" : "not verified");
    options_.track_and_verify_wals = is_verified;
    UseSim(SimFS::Create());
    ASSERT_NO_FATAL_FAILURE(Write());
    for (const CrashPolicy policy :
         {CrashPolicy::kStrict, CrashPolicy::kAll, CrashPolicy::kTorn, CrashPolicy::kReorder,
          CrashPolicy::kEntryLoss, CrashPolicy::kSizeFirst}) {
      SCOPED_TRACE(static_cast<int>(policy));
      ExpectAllRows([&] { return CrashImage(policy); });
    }
    Close();
    ExpectAllRows([&] { return CrashImage(CrashPolicy::kAll); });
  }
}

}  // namespace
}  // namespace ashlar
