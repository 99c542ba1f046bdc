// SPDX-License-Identifier: Apache-2.0
//
// What a database says of itself by the clock: the dump in its info log, the history of its
// counters; when they begin, change and end. Time is passed by hand.
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "ashlar/stats_history.h"
#include "env/env_adaptors.h"
#include "env/periodic_timer.h"
#include "env/sim/sim_fs.h"
#include "tests/support/moved_clock.h"
#include "tests/support/status_matchers.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr uint64_t kSecond = 1'000'000;
constexpr unsigned kHour = 3600;  // no test takes as long

class TextLog final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    char text[20000];
    std::vsnprintf(text, sizeof(text), format, ap);
    MutexLock lock(&mutex_);
    text_ += text;
    text_ += "\n";
  }
  size_t Count(const std::string& part) {
    MutexLock lock(&mutex_);
    size_t count = 0;
    for (size_t at = text_.find(part); at != std::string::npos; at = text_.find(part, at + 1)) {
      count++;
    }
    return count;
  }

 private:
  Mutex mutex_{LockRank::kLogger};
  std::string text_ GUARDED_BY(mutex_);
};

class PeriodicReportsTest : public testing::Test {
 protected:
  PeriodicReportsTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.info_log = log_;
    options_.statistics = CreateDBStatistics();
    options_.stats_dump_period_sec = kHour;
    options_.stats_persist_period_sec = kHour;
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  // So do all clocks, in the order in which nothing is told with an old time.
  void PassHours(unsigned hours) {
    clock_->moved_by_seconds += hours * kHour;
    PeriodicTimer::Default()->PassTime(hours * kHour * kSecond);
  }
  size_t Dumps() { return log_->Count("------- DUMPING STATS -------"); }
  std::vector<uint64_t> KeysWrittenByLook() {
    std::unique_ptr<StatsHistoryIterator> it;
    EXPECT_OK(db_->GetStatsHistory(0, UINT64_MAX, &it));
    std::vector<uint64_t> keys;
    for (; it->Valid(); it->Next()) {
      keys.push_back(it->GetStatsMap().at("rocksdb.number.keys.written"));
    }
    return keys;
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
  const std::unique_ptr<Env> env_ = NewCompositeEnvOver(Env::Default(), SimFS::Create(), clock_);
  const std::shared_ptr<TextLog> log_ = std::make_shared<TextLog>();
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(PeriodicReportsTest, TheDumpHasAllFamiliesAndTheCounters) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "another", &family));
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  PassHours(1);
  EXPECT_EQ(Dumps(), 1u);
  EXPECT_EQ(log_->Count("** DB Stats **"), 1u);
  EXPECT_GE(log_->Count("** Compaction Stats [default] **"), 1u);
  EXPECT_GE(log_->Count("** Compaction Stats [another] **"), 1u);
  EXPECT_EQ(log_->Count("rocksdb.number.keys.written COUNT : 1"), 1u);
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  PassHours(1);
  EXPECT_EQ(Dumps(), 2u);
}

TEST_F(PeriodicReportsTest, WithoutStatisticsTheDumpHasLevelsAndWrites) {
  options_.statistics = nullptr;
  Open();
  PassHours(1);
  EXPECT_EQ(Dumps(), 1u);
  EXPECT_EQ(log_->Count("STATISTICS:"), 0u);
  EXPECT_TRUE(KeysWrittenByLook().empty());
}

TEST_F(PeriodicReportsTest, TheHistoryHasWhatEachPeriodGained) {
  Open();
  PassHours(1);  // the first sample says where to count from
  for (int i = 0; i < 3; i++) ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  PassHours(1);
  PassHours(1);
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  PassHours(1);
  EXPECT_EQ(KeysWrittenByLook(), (std::vector<uint64_t>{3, 0, 1}));
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
  EXPECT_TRUE(KeysWrittenByLook().empty());
  PassHours(1);
  EXPECT_EQ(KeysWrittenByLook().size(), 1u);
  EXPECT_EQ(Dumps(), 1u);
  ASSERT_OK(db_->SetDBOptions({{"stats_history_buffer_size", "0"}}));
  PassHours(2);
  EXPECT_TRUE(KeysWrittenByLook().empty());
  ASSERT_OK(db_->SetDBOptions({{"stats_dump_period_sec", std::to_string(kHour)}}));
  PassHours(1);
  EXPECT_EQ(Dumps(), 2u);
}

TEST_F(PeriodicReportsTest, EndWithTheDatabase) {
  Open();
  PassHours(1);
  CancelAllBackgroundWork(db_.get());
  PassHours(1);
  ASSERT_OK(db_->SetDBOptions({{"stats_dump_period_sec", std::to_string(2 * kHour)}}));
  PassHours(2);
  EXPECT_EQ(Dumps(), 1u);
  db_.reset();
  Open();
  PassHours(1);
  ASSERT_OK(db_->Close());
  PassHours(1);
  EXPECT_EQ(Dumps(), 2u);
  EXPECT_EQ(KeysWrittenByLook().size(), 0u) << "its samples are not those of the opening before";
}

TEST_F(PeriodicReportsTest, AReadOnlyDatabaseMakesNone) {
  Open();
  db_.reset();
  ASSERT_OK(DB::OpenForReadOnly(options_, "/db", &db_));
  PassHours(1);
  EXPECT_EQ(Dumps(), 0u);
  EXPECT_TRUE(KeysWrittenByLook().empty());
}

}  // namespace
}  // namespace ashlar
