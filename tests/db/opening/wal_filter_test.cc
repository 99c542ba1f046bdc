// SPDX-License-Identifier: Apache-2.0
//
// DBOptions::wal_filter: what a program's filter sees of the logs, and what its answers do.
#include "ashlar/wal_filter.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/write_batch.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Answer = WalFilter::WalProcessingOption;

class Filter final : public WalFilter {
 public:
  const char* Name() const override { return "test.Filter"; }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& logs,
                                const std::map<std::string, uint32_t>& ids) override {
    log_numbers = logs;
    family_ids = ids;
  }
  Answer LogRecordFound(unsigned long long log_number, const std::string& path,
                        const WriteBatch& batch, WriteBatch* new_batch, bool* changed) override {
    batches++;
    last_log = log_number;
    last_path = path;
    updates += batch.Count();
    return answer ? answer(batches, new_batch, changed) : Answer::kContinueProcessing;
  }

  std::function<Answer(int batch, WriteBatch*, bool*)> answer;
  std::map<uint32_t, uint64_t> log_numbers;
  std::map<std::string, uint32_t> family_ids;
  int batches = 0;
  uint32_t updates = 0;
  uint64_t last_log = 0;
  std::string last_path;
};

class WalFilterTest : public testing::Test {
 protected:
  WalFilterTest() {
    options_.create_if_missing = true;
    options_.avoid_flush_during_shutdown = true;
    options_.env = env_.get();
  }

  // A log with the batches 1 to `count`: batch i puts key i and key "all".
  void WriteLog(int count, int flush_second_at = 0) {
    OpenedDb db;
    ASSERT_OK(db.Open(options_, "/db"));
    if (flush_second_at > 0) {
      ASSERT_OK(db.CreateFamily(options_, "second"));
    }
    for (int i = 1; i <= count; i++) {
      WriteBatch batch;
      ASSERT_OK(batch.Put(StrCat("key", i), "v"));
      ASSERT_OK(batch.Put("all", StrCat(i)));
      ASSERT_OK(db.db()->Write(WriteOptions(), &batch));
      if (i != flush_second_at) continue;
      ASSERT_OK(db.db()->Put(WriteOptions(), db.handles().back(), "s", "v"));
      ASSERT_OK(db.db()->Flush(FlushOptions(), db.handles().back()));  // begins another log
    }
    ASSERT_OK(db.Close());
    fs_ = fs_->CrashImage(fs_->CallCount(), CrashPolicy::kAll);
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
  }
  // What the default family holds, in short: "1 2 all=2".
  std::string Open(bool with_filter = true) {
    options_.wal_filter = with_filter ? &filter_ : nullptr;
    OpenedDb db;
    status_ = db.Open(options_, "/db");
    if (!status_.ok()) return "failed";
    Contents contents;
    EXPECT_OK(db.ReadAll(&contents));
    std::string text;
    for (const auto& [key, value] : contents["default"]) {
      if (key != "all") text += key.substr(3) + " ";
    }
    EXPECT_TRUE(db.db()->GetProperty("ashlar.recovery-report", &report_));
    EXPECT_OK(db.db()->Put(WriteOptions(), db.db()->DefaultColumnFamily(), "later", "v"));
    EXPECT_OK(db.db()->Delete(WriteOptions(), db.db()->DefaultColumnFamily(), "later"));
    return text + "all=" + contents["default"]["all"];
  }
  void AnswerAt(int batch, Answer answer) {
    filter_.answer = [=](int at, WriteBatch*, bool*) {
      return at == batch ? answer : Answer::kContinueProcessing;
    };
  }
  void ReplaceAt(int batch, const WriteBatch& by) {
    filter_.answer = [=](int at, WriteBatch* new_batch, bool* changed) {
      *changed = at == batch;
      if (*changed) *new_batch = by;
      return Answer::kContinueProcessing;
    };
  }

  std::shared_ptr<SimFS> fs_ = SimFS::Create();
  std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  Filter filter_;
  Status status_;
  std::string report_;
};

TEST_F(WalFilterTest, SeesEveryBatchAndTheFamilies) {
  WriteLog(3, /*flush_second_at=*/2);
  EXPECT_EQ(Open(), "1 2 3 all=3");
  EXPECT_EQ(filter_.batches, 4);  // that of the other family too, and no record of our own
  EXPECT_EQ(filter_.updates, 7u);
  EXPECT_EQ(filter_.family_ids, (std::map<std::string, uint32_t>{{"default", 0}, {"second", 1}}));
  ASSERT_EQ(filter_.log_numbers.size(), 2u);
  EXPECT_GT(filter_.log_numbers[1], filter_.log_numbers[0]);  // it was flushed
  EXPECT_EQ(filter_.last_log, filter_.log_numbers[1]);
  EXPECT_EQ(filter_.last_path.substr(0, 4), "/db/");
  EXPECT_EQ(report_, "");
}

TEST_F(WalFilterTest, LeavesOutABatch) {
  WriteLog(3);
  AnswerAt(3, Answer::kIgnoreCurrentRecord);
  EXPECT_EQ(Open(), "1 2 all=2");
  EXPECT_NE(report_.find("1 batches left out"), std::string::npos) << report_;
  EXPECT_EQ(Open(/*with_filter=*/false), "1 2 all=2");
}

TEST_F(WalFilterTest, WhatItLeftOutStaysOutWhenLogsWouldBeKept) {
  options_.avoid_flush_during_recovery = true;
  WriteLog(3);
  AnswerAt(2, Answer::kIgnoreCurrentRecord);
  EXPECT_EQ(Open(), "1 3 all=3");
  EXPECT_EQ(Open(/*with_filter=*/false), "1 3 all=3");
}

TEST_F(WalFilterTest, StopsReplayForGood) {
  WriteLog(5, /*flush_second_at=*/3);
  AnswerAt(2, Answer::kStopReplay);
  EXPECT_EQ(Open(), "1 all=1");
  EXPECT_EQ(filter_.batches, 2);  // nor is the log behind it read
  EXPECT_EQ(Open(/*with_filter=*/false), "1 all=1");
}

TEST_F(WalFilterTest, ChangesABatch) {
  WriteLog(3);
  WriteBatch other;
  ASSERT_OK(other.Put("key7", "v"));
  ReplaceAt(2, other);
  EXPECT_EQ(Open(), "1 3 7 all=3");
  EXPECT_EQ(Open(/*with_filter=*/false), "1 3 7 all=3");
}

TEST_F(WalFilterTest, MayEmptyABatch) {
  WriteLog(2);
  ReplaceAt(2, WriteBatch());
  EXPECT_EQ(Open(), "1 all=1");
}

TEST_F(WalFilterTest, AnUnchangedBatchIsAppliedWhateverTheOtherOneHolds) {
  WriteLog(2);
  filter_.answer = [](int, WriteBatch* new_batch, bool*) {
    IgnoreError(new_batch->Put("key9", "v"), "not wanted");
    return Answer::kContinueProcessing;
  };
  EXPECT_EQ(Open(), "1 2 all=2");
}

TEST_F(WalFilterTest, MayNotAddUpdates) {
  WriteLog(2);
  WriteBatch larger;
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(larger.Put(key, "v"));
  ReplaceAt(1, larger);
  EXPECT_EQ(Open(), "failed");
  EXPECT_TRUE(status_.IsNotSupported()) << status_.ToString();
  EXPECT_NE(status_.ToString().find("test.Filter"), std::string::npos) << status_.ToString();
  EXPECT_EQ(Open(/*with_filter=*/false), "1 2 all=2");  // nothing has changed
}

TEST_F(WalFilterTest, AnAnswerThatIsNoneIsRefused) {
  WriteLog(2);
  AnswerAt(2, Answer::kWalProcessingOptionMax);
  EXPECT_EQ(Open(), "failed");
  EXPECT_TRUE(status_.IsNotSupported()) << status_.ToString();
}

TEST_F(WalFilterTest, DamageIsWhatTheRecoveryModeMakesOfIt) {
  struct Case {
    WALRecoveryMode mode;
    const char* expected;
  };
  for (const Case& c : {Case{WALRecoveryMode::kTolerateCorruptedTailRecords, "failed"},
                        Case{WALRecoveryMode::kAbsoluteConsistency, "failed"},
                        Case{WALRecoveryMode::kSkipAnyCorruptedRecords, "1 3 all=3"},
                        Case{WALRecoveryMode::kPointInTimeRecovery, "1 all=1"}}) {
    fs_ = SimFS::Create();
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
    options_.wal_filter = nullptr;
    options_.wal_recovery_mode = c.mode;
    filter_.batches = 0;
    WriteLog(3);
    AnswerAt(2, Answer::kCorruptedRecord);
    EXPECT_EQ(Open(), c.expected) << static_cast<int>(c.mode);
    if (!status_.ok()) {
      EXPECT_TRUE(status_.IsCorruption()) << status_.ToString();
      EXPECT_NE(status_.ToString().find("test.Filter"), std::string::npos) << status_.ToString();
    }
  }
}

TEST_F(WalFilterTest, WorksForADatabaseThatIsOpenForReadingOnly) {
  WriteLog(3);
  AnswerAt(1, Answer::kIgnoreCurrentRecord);
  options_.wal_filter = &filter_;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::OpenForReadOnly(options_, "/db", &db));
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "key1", &value).IsNotFound());
  EXPECT_OK(db->Get(ReadOptions(), "key3", &value));
}

}  // namespace
}  // namespace ashlar
