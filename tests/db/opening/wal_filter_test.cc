// SPDX-License-Identifier: Apache-2.0
//
// DBOptions::wal_filter: the arguments that a filter of the program gets, and the effect of its
// results.
#include "ashlar/wal_filter.h"

#include <functional>

#include "ashlar/write_batch.h"
#include "tests/support/test_db.h"
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

class WalFilterTest : public DbTest {
 protected:
  WalFilterTest() : DbTest(TestFiles::kSim) { options_.avoid_flush_during_shutdown = true; }

  // A log with the batches 1 to `count`. Batch i puts the keys "key<i>" and "all".
  void WriteLog(int count, int flush_second_at = 0) {
    DbTest::Open();
    if (flush_second_at > 0) CreateFamily("second");
    for (int i = 1; i <= count; i++) {
      WriteBatch batch;
      ASSERT_OK(batch.Put(StrCat("key", i), "v"));
      ASSERT_OK(batch.Put("all", StrCat(i)));
      Write(&batch);
      if (i != flush_second_at) continue;
      Put(handles_.back(), "s", "v");
      Flush(handles_.back());  // switches to another log
    }
    Kill();
  }
  // The rows of the default family after an open, in short: "1 2 all=2".
  std::string Open(bool with_filter = true) {
    options_.wal_filter = with_filter ? &filter_ : nullptr;
    status_ = TryOpenAll();
    if (!status_.ok()) return "failed";
    Contents contents = ReadAll();
    std::string text;
    for (const auto& [key, value] : contents["default"]) {
      if (key != "all") text += key.substr(3) + " ";
    }
    report_ = Property("ashlar.recovery-report");
    Put("later", "v");
    Delete("later");
    Close();
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

  Filter filter_;
  Status status_;
  std::string report_;
};

TEST_F(WalFilterTest, SeesEveryBatchAndTheFamilies) {
  WriteLog(3, /*flush_second_at=*/2);
  EXPECT_EQ(Open(), "1 2 3 all=3");
  EXPECT_EQ(filter_.batches,
            4);  // with that of the other family, and without records of the engine
  EXPECT_EQ(filter_.updates, 7u);
  EXPECT_EQ(filter_.family_ids, (std::map<std::string, uint32_t>{{"default", 0}, {"second", 1}}));
  ASSERT_EQ(filter_.log_numbers.size(), 2u);
  EXPECT_GT(filter_.log_numbers[1], filter_.log_numbers[0]);  // the second family was flushed
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
  EXPECT_EQ(filter_.batches, 2);  // the next log is not read
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
    IgnoreError(new_batch->Put("key9", "v"), "the filter does not use this batch");
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
    UseSim(SimFS::Create());
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
  OpenReadOnly();
  EXPECT_EQ(Get("key1"), "(none)");
  EXPECT_EQ(Get("key3"), "v");
}

}  // namespace
}  // namespace ashlar
