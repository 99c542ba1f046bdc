// SPDX-License-Identifier: Apache-2.0
//
// What RocksDB leaves when timestamps that are not persisted are given up: the newest log still has
// them behind its keys. Stored as they are these would be other keys.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/write_batch.h"
#include "db/wal/log_format.h"
#include "env/env_adaptors.h"
#include "env/file_util.h"
#include "env/sim/sim_fs.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

TEST(TimestampedLog, OfAFamilyWithoutTimestampsIsRefused) {
  const std::shared_ptr<SimFS> fs = SimFS::Create();
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, "/db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  db.reset();

  WriteBatch batch;
  ASSERT_OK(batch.Put("key12345678", "value"));
  std::string bytes = batch.Data();
  EncodeFixed64(bytes.data(), 100);
  const auto write_log = [&](uint16_t timestamp_bytes) {
    LogImage log{FileNumber(99)};
    // Of family 77, which is not there, nothing can be wrong.
    log.AddSpecial(LogRecordType::kTimestampSizes,
                   EncodeTimestampSizes({{0, timestamp_bytes}, {77, 8}}));
    log.Add(bytes);
    ASSERT_OK(WriteStringToFile(env.get(), log.bytes, "/db/000099.log", /*should_sync=*/true));
  };
  write_log(8);
  for (const WALRecoveryMode mode : kAllRecoveryModes) {
    options.wal_recovery_mode = mode;
    const Status status = DB::Open(options, "/db", &db);
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find("timestamps of 8 bytes"), std::string::npos)
        << status.ToString();
  }
  write_log(0);
  ASSERT_OK(DB::Open(options, "/db", &db));
  std::string value;
  EXPECT_OK(db->Get(ReadOptions(), "key12345678", &value));
  EXPECT_OK(db->Get(ReadOptions(), "a", &value));
}

}  // namespace
}  // namespace ashlar
