// SPDX-License-Identifier: Apache-2.0
//
// Writers that are held up: by a flush that is slower than they are, or, with low priority, by
// compactions that lag.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "ashlar/rate_limiter.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint64_t kMiB = 1 << 20;

uint64_t MemTableBytes(DB* db) {
  uint64_t bytes = 0;
  EXPECT_TRUE(db->GetIntProperty(DB::Properties::kCurSizeAllMemTables, &bytes));
  return bytes;
}

// The flush is slow on purpose: without a pace the writer would fill the second buffer before the
// first one is flushed.
TEST(WritePace, MemTablesTakeAQuarterMoreThanOneBuffer) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.write_buffer_size = 32 * kMiB;
  options.rate_limiter.reset(NewGenericRateLimiter(128 * kMiB));
  DB* raw = nullptr;
  ASSERT_OK(DB::Open(options, "/db", &raw));
  const std::unique_ptr<DB> db(raw);
  const std::string value(16 << 10, 'v');
  uint64_t highest = 0;
  for (uint64_t i = 0; i < 3 * options.write_buffer_size / value.size(); ++i) {
    ASSERT_OK(db->Put(WriteOptions(), std::to_string(i), value));
    highest = std::max(highest, MemTableBytes(db.get()));
  }
  EXPECT_GE(highest, options.write_buffer_size);
  constexpr uint64_t kBlockBytes = 2 * kMiB;  // memtables grow by such steps
  EXPECT_LE(highest, options.write_buffer_size * 5 / 4 + 2 * kBlockBytes);
}

// Sixteen level-0 files, and a compaction that cannot begin.
class LowPriorityWrite : public testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    DB* raw = nullptr;
    ASSERT_OK(DB::Open(options, "/db", &raw));
    db_.reset(raw);
    options_.low_pri = options_.no_slowdown = true;
    ASSERT_OK(db_->Put(options_, "before", "nothing lags"));
    no_compactions_.emplace(env_.get(), Env::LOW);
    FlushOptions flush;
    for (int i = 0; i < 16; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), "key", std::to_string(i)));
      ASSERT_OK(db_->Flush(flush));
    }
  }
  void TearDown() override {
    no_compactions_.reset();
    db_.reset();
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  std::unique_ptr<DB> db_;
  std::optional<BlockedPool> no_compactions_;
  WriteOptions options_;
};

TEST_F(LowPriorityWrite, IsRefusedWithoutSlowdownWhileCompactionsLag) {
  const Status status = db_->Put(options_, "key", "low");
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "15");
}

TEST_F(LowPriorityWrite, OthersAreNotHeldUp) {
  WriteOptions usual;
  usual.no_slowdown = true;
  EXPECT_OK(db_->Put(usual, "key", "usual"));
}

TEST_F(LowPriorityWrite, IsWrittenInItsTurnWithSlowdown) {
  options_.no_slowdown = false;
  ASSERT_OK(db_->Put(options_, "key", "low"));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "low");
}

}  // namespace
}  // namespace ashlar
