// SPDX-License-Identifier: Apache-2.0
//
// Periodic reports of a database: the statistics dump in the info log and the history of counters;
// when they begin, change and end. The tests advance the time by hand.
#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "ashlar/stats_history.h"
#include "env/periodic_timer.h"
#include "tests/support/log_lines.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr uint64_t kSecond = 1'000'000;
constexpr unsigned kHour = 3600;  // longer than any test runs

class PeriodicReportsTest : public DbTest {
 protected:
  PeriodicReportsTest() {
    UseFiles(memory_, clock_);
    options_.info_log = log_;
    options_.statistics = CreateDBStatistics();
    options_.stats_dump_period_sec = kHour;
    options_.stats_persist_period_sec = kHour;
  }
  // Advances all clocks, the clock of the environment first, so that no report has an old time.
  void PassHours(unsigned hours) {
    clock_->moved_by_seconds += hours * kHour;
    PeriodicTimer::Default()->PassTime(hours * kHour * kSecond);
  }
  size_t Dumps() { return log_->Count("------- DUMPING STATS -------"); }
  std::vector<uint64_t> KeysWrittenByReport() {
    std::unique_ptr<StatsHistoryIterator> it;
    EXPECT_OK(db_->GetStatsHistory(0, UINT64_MAX, &it));
    std::vector<uint64_t> keys;
    for (; it->Valid(); it->Next()) {
      keys.push_back(it->GetStatsMap().at("rocksdb.number.keys.written"));
    }
    return keys;
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
  const std::shared_ptr<LogLines> log_ = std::make_shared<LogLines>();
};

TEST_F(PeriodicReportsTest, TheDumpHasAllFamiliesAndTheCounters) {
  Open();
  ColumnFamilyHandle* const family = CreateFamily("another");
  Put("key", "value");
  PassHours(1);
  EXPECT_EQ(Dumps(), 1u);
  EXPECT_EQ(log_->Count("** DB Stats **"), 1u);
  EXPECT_GE(log_->Count("** Compaction Stats [default] **"), 1u);
  EXPECT_GE(log_->Count("** Compaction Stats [another] **"), 1u);
  EXPECT_EQ(log_->Count("rocksdb.number.keys.written COUNT : 1"), 1u);
  ASSERT_OK(db_->DropColumnFamily(family));
  PassHours(1);
  EXPECT_EQ(Dumps(), 2u);
}

TEST_F(PeriodicReportsTest, WithoutStatisticsTheDumpHasLevelsAndWrites) {
  options_.statistics = nullptr;
  Open();
  PassHours(1);
  EXPECT_EQ(Dumps(), 1u);
  EXPECT_EQ(log_->Count("STATISTICS:"), 0u);
  EXPECT_TRUE(KeysWrittenByReport().empty());
}

TEST_F(PeriodicReportsTest, TheHistoryHasWhatEachPeriodGained) {
  Open();
  PassHours(1);  // the first report is the base of the next ones
  for (int i = 0; i < 3; i++) Put("key", "value");
  PassHours(1);
  PassHours(1);
  Put("key", "value");
  PassHours(1);
  EXPECT_EQ(KeysWrittenByReport(), (std::vector<uint64_t>{3, 0, 1}));
  std::unique_ptr<StatsHistoryIterator> it;
  ASSERT_OK(db_->GetStatsHistory(0, UINT64_MAX, &it));
  const uint64_t first = it->GetStatsTime();
  it->Next();
  EXPECT_GE(it->GetStatsTime(), first + kHour);
  ASSERT_OK(db_->GetStatsHistory(first, first + 1, &it));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->GetStatsMap().at("rocksdb.number.keys.written"), 3u);
  EXPECT_TRUE(db_->GetStatsHistory(0, 1, nullptr).IsInvalidArgument());
}

TEST_F(PeriodicReportsTest, PeriodsAndRoomChangeWhileItIsOpen) {
  Open();
  PassHours(2);
  EXPECT_EQ(Dumps(), 1u);
  ASSERT_OK(db_->SetDBOptions(
      {{"stats_dump_period_sec", "0"}, {"stats_persist_period_sec", std::to_string(2 * kHour)}}));
  PassHours(1);
  EXPECT_TRUE(KeysWrittenByReport().empty());
  PassHours(1);
  EXPECT_EQ(KeysWrittenByReport().size(), 1u);
  EXPECT_EQ(Dumps(), 1u);
  ASSERT_OK(db_->SetDBOptions({{"stats_history_buffer_size", "0"}}));
  PassHours(2);
  EXPECT_TRUE(KeysWrittenByReport().empty());
  ASSERT_OK(db_->SetDBOptions({{"stats_dump_period_sec", std::to_string(kHour)}}));
  PassHours(1);
  EXPECT_EQ(Dumps(), 2u);
}

class PeriodicReportsWithFaults : public DbTest {
 protected:
  PeriodicReportsWithFaults() : DbTest(TestFiles::kSim) {}
};

TEST_F(PeriodicReportsWithFaults, PeriodsChangeEvenIfTheOptionsCannotBeStored) {
  const auto log = std::make_shared<LogLines>();
  options_.info_log = log;
  options_.stats_dump_period_sec = 0;
  Open();
  Fail(CallKind::kCreate, "OPTIONS", FaultMode::kSticky);
  EXPECT_TRUE(db_->SetDBOptions({{"stats_dump_period_sec", std::to_string(kHour)}}).IsIOError());
  EXPECT_EQ(db_->GetDBOptions().stats_dump_period_sec, kHour);
  sim_->ClearFaults();
  PeriodicTimer::Default()->PassTime(kHour * kSecond);
  EXPECT_EQ(log->Count("------- DUMPING STATS -------"), 1u);
}

TEST_F(PeriodicReportsTest, EndWithTheDatabase) {
  Open();
  PassHours(1);
  CancelAllBackgroundWork(db_.get());
  PassHours(1);
  ASSERT_OK(db_->SetDBOptions({{"stats_dump_period_sec", std::to_string(2 * kHour)}}));
  PassHours(2);
  EXPECT_EQ(Dumps(), 1u);
  Reopen();
  PassHours(1);
  ASSERT_OK(db_->Close());
  PassHours(1);
  EXPECT_EQ(Dumps(), 2u);
  EXPECT_EQ(KeysWrittenByReport().size(), 0u) << "the reports of the opening before are gone";
}

// What the options ask for at the very end begins no more.
class ChangesAtTheEnd final : public EventListener {
 public:
  void OnDBShutdownBegin(DB* db) override {
    EXPECT_OK(db->SetDBOptions({{"stats_dump_period_sec", std::to_string(2 * kHour)},
                                {"stats_persist_period_sec", std::to_string(2 * kHour)}}));
    EXPECT_OK(db->SetOptions({{"preclude_last_level_data_seconds", "100000"}}));
    is_called = true;
  }
  bool is_called = false;
};

TEST_F(PeriodicReportsTest, AreNotBegunAgainByAListener) {
  const auto listener = std::make_shared<ChangesAtTheEnd>();
  options_.listeners.push_back(listener);
  Open();
  ASSERT_OK(db_->Close());
  ASSERT_TRUE(listener->is_called);
  const uint64_t asked = clock_->times_asked;
  PassHours(4);
  EXPECT_EQ(Dumps(), 0u);
  EXPECT_EQ(clock_->times_asked, asked) << "the times of writes are not sampled either";
}

TEST_F(PeriodicReportsTest, AReadOnlyDatabaseMakesNone) {
  Open();
  OpenReadOnly();
  PassHours(1);
  EXPECT_EQ(Dumps(), 0u);
  EXPECT_TRUE(KeysWrittenByReport().empty());
}

}  // namespace
}  // namespace ashlar
