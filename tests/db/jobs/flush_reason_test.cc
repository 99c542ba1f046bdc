// SPDX-License-Identifier: Apache-2.0
//
// Listeners hear why a memtable is flushed.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class Listener : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo& info) override { begun = info.flush_reason; }
  void OnFlushCompleted(DB*, const FlushJobInfo& info) override { completed = info.flush_reason; }

  std::atomic<FlushReason> begun{FlushReason::kOthers};
  std::atomic<FlushReason> completed{FlushReason::kOthers};
};

class FlushReasonTest : public testing::Test {
 protected:
  FlushReasonTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.write_buffer_size = 64 << 10;
    options_.max_total_wal_size = 1 << 30;
    options_.memtable_max_range_deletions = 3;
    options_.listeners = {listener_};
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }
  // What is flushed now is flushed for this reason.
  void Expect(FlushReason reason) {
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    EXPECT_STREQ(GetFlushReasonString(listener_->begun), GetFlushReasonString(reason));
    EXPECT_STREQ(GetFlushReasonString(listener_->completed), GetFlushReasonString(reason));
    listener_->begun = listener_->completed = FlushReason::kOthers;
  }
  void Put(const std::string& key, size_t bytes) {
    ASSERT_OK(db_->Put(WriteOptions(), key, std::string(bytes, 'x')));
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  const std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(FlushReasonTest, OfACall) {
  Put("a", 1);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Expect(FlushReason::kManualFlush);
}

TEST_F(FlushReasonTest, OfCallsThatNeedOne) {
  Put("a", 1);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Expect(FlushReason::kManualCompaction);
  Put("a", 1);
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(db_->GetLiveFiles(files, &manifest_bytes));
  Expect(FlushReason::kGetLiveFiles);
  WriteOptions without_log;
  without_log.disableWAL = true;
  ASSERT_OK(db_->Put(without_log, "a", "v"));
  ASSERT_OK(db_->Close());
  EXPECT_STREQ(GetFlushReasonString(listener_->completed),
               GetFlushReasonString(FlushReason::kShutDown));
}

TEST_F(FlushReasonTest, OfAFullMemTable) {
  for (int i = 0; i < 3; i++) Put(std::to_string(i), 60 << 10);
  Expect(FlushReason::kWriteBufferFull);
}

TEST_F(FlushReasonTest, OfTooManyRangeTombstones) {
  for (int i = 0; i < 4; i++) ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "b"));
  Expect(FlushReason::kMemtableMaxRangeDeletions);
  for (int i = 0; i < 2; i++) ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "b"));
  Expect(FlushReason::kOthers);  // not yet
}

TEST_F(FlushReasonTest, OfTooMuchLog) {
  ASSERT_OK(db_->SetDBOptions({{"max_total_wal_size", "20000"}}));
  for (int i = 0; i < 30; i++) Put("a", 1000);
  Expect(FlushReason::kWalFull);
}

}  // namespace
}  // namespace ashlar
