// SPDX-License-Identifier: Apache-2.0
//
// A program of RocksDB stopped to use timestamps that are not persisted: the newest log still has
// them after its keys. Inserted as they are, these would be other keys.
#include "ashlar/write_batch.h"
#include "db/wal/log_format.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/test_db.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

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

}  // namespace
}  // namespace ashlar
