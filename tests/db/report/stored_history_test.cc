// SPDX-License-Identifier: Apache-2.0
//
// persist_stats_to_disk: the history of the counters in the hidden family, and databases that have
// one. Time is passed by hand.
#include "db/report/stored_history.h"

#include <utility>

#include "ashlar/stats_history.h"
#include "env/periodic_timer.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr uint64_t kStoredSecond = 1'000'000;
constexpr unsigned kStoredHour = 3600;  // longer than any test runs
constexpr char kCounter[] = "rocksdb.number.keys.written";

class StoredHistoryTest : public DbTest {
 protected:
  StoredHistoryTest() {
    UseFiles(memory_, clock_);
    options_.statistics = CreateDBStatistics();
    options_.stats_dump_period_sec = 0;
    options_.stats_persist_period_sec = kStoredHour;
    options_.persist_stats_to_disk = true;
  }
  void PassHours(unsigned hours) {
    clock_->moved_by_seconds += hours * kStoredHour;
    PeriodicTimer::Default()->PassTime(hours * kStoredHour * kStoredSecond);
  }
  void PutAndPassAnHour(int puts) {
    for (int i = 0; i < puts; i++) Put("key", "value");
    PassHours(1);
  }
  // Without the puts of the reports themselves, which write a key for each counter.
  std::vector<int> PutsByReport() {
    std::unique_ptr<StatsHistoryIterator> it;
    EXPECT_OK(db_->GetStatsHistory(0, UINT64_MAX, &it));
    std::vector<int> puts;
    for (; it != nullptr && it->Valid(); it->Next()) {
      puts.push_back(static_cast<int>(it->GetStatsMap().at(kCounter) % it->GetStatsMap().size()));
    }
    return puts;
  }
  std::vector<std::string> FamilyNames() {
    std::vector<std::string> names;
    EXPECT_OK(DB::ListColumnFamilies(options_, "/db", &names));
    return names;
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
};

std::vector<std::string> Both() {
  return {kDefaultColumnFamilyName, kPersistentStatsColumnFamilyName};
}

TEST_F(StoredHistoryTest, OutlivesTheDatabase) {
  Open();
  PassHours(1);  // the first report is the base of the next ones
  PutAndPassAnHour(3);
  PutAndPassAnHour(0);
  EXPECT_EQ(PutsByReport(), (std::vector<int>{3, 0}));
  Open();
  EXPECT_EQ(PutsByReport(), (std::vector<int>{3, 0}));
  PassHours(1);
  PutAndPassAnHour(5);
  EXPECT_EQ(PutsByReport(), (std::vector<int>{3, 0, 5}));

  std::unique_ptr<StatsHistoryIterator> it;
  ASSERT_OK(db_->GetStatsHistory(0, UINT64_MAX, &it));
  it->Next();
  const uint64_t second = it->GetStatsTime();
  ASSERT_OK(db_->GetStatsHistory(second, second + 1, &it));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->GetStatsTime(), second);
  it->Next();
  EXPECT_FALSE(it->Valid());
  ASSERT_OK(db_->GetStatsHistory(0, second, &it));
  ASSERT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid()) << "the end is not part of the range";
  ASSERT_OK(db_->GetStatsHistory(UINT64_MAX - 1, UINT64_MAX, &it));
  EXPECT_FALSE(it->Valid());

  it.reset();
  OpenReadOnly();
  EXPECT_EQ(PutsByReport().size(), 3u);
}

// Otherwise a memtable that takes days to fill up would keep the logs of days.
TEST_F(StoredHistoryTest, IsFlushedWhenOnlyItHoldsOldLogs) {
  options_.write_buffer_size = 64 << 10;
  Open({kDefaultColumnFamilyName});
  Open(Both());
  PassHours(1);
  PutAndPassAnHour(1);
  const auto entries = [&] { return Number("rocksdb.num-entries-active-mem-table", handles_[1]); };
  EXPECT_GT(entries(), 100u);
  const std::string value(1000, 'v');
  for (int i = 0; i < 200; i++) Put(Key(i), value);
  EXPECT_EQ(entries(), 0u);
  EXPECT_EQ(PutsByReport().size(), 1u);
}

// The layout is that of RocksDB, whose tools can read it.
TEST_F(StoredHistoryTest, LiesInTheFamilyByTimeAndCounter) {
  Open();
  PassHours(1);
  PutAndPassAnHour(3);
  std::unique_ptr<StatsHistoryIterator> look;
  ASSERT_OK(db_->GetStatsHistory(0, UINT64_MAX, &look));
  ASSERT_TRUE(look->Valid());
  const std::string seconds = std::to_string(look->GetStatsTime());
  const std::string gain = std::to_string(look->GetStatsMap().at(kCounter));
  look.reset();
  Open(Both());
  ASSERT_EQ(handles_.size(), 2u);
  ASSERT_EQ(seconds.size(), 10u);
  EXPECT_EQ(Get(handles_[1], seconds + "#" + kCounter), gain);
  for (const char* key :
       {"__persistent_stats_format_version__", "__persistent_stats_compatible_version__"}) {
    EXPECT_EQ(Get(handles_[1], key), "1") << key;
  }
}

TEST_F(StoredHistoryTest, TheFamilyHasOptionsOfItsOwnHoweverItIsOpened) {
  options_.write_buffer_size = 1 << 20;
  options_.level0_file_num_compaction_trigger = 9;
  for (const bool persists : {true, false}) {
    options_.persist_stats_to_disk = persists;
    Open();
    Open(Both());
    EXPECT_EQ(db_->GetOptions(handles_[0]).write_buffer_size, size_t{1} << 20);
    const Options hidden = db_->GetOptions(handles_[1]);
    EXPECT_EQ(hidden.write_buffer_size, size_t{2} << 20);
    EXPECT_EQ(hidden.level0_file_num_compaction_trigger, 4);
    EXPECT_EQ(hidden.compression, kNoCompression);
    Close();
  }
}

TEST_F(StoredHistoryTest, TheFamilyNeedsNoNamingButOthersDo) {
  Open();
  CreateFamily("other");
  Close();
  EXPECT_EQ(TryOpen().ToString(), "Invalid argument: Column families not opened: other");
  for (const bool persists : {true, false}) {
    options_.persist_stats_to_disk = persists;
    Open({kDefaultColumnFamilyName, "other"});
    EXPECT_EQ(handles_.size(), 2u);
    Put(handles_[1], "key", "value");
    Close();
  }
  options_.persist_stats_to_disk = true;
  options_.create_missing_column_families = false;
  EXPECT_EQ(TryOpen({kDefaultColumnFamilyName, "other", "third"}).ToString(),
            "Invalid argument: Column family not found: third");
  ASSERT_OK(DestroyDB("/db", options_));
}

TEST_F(StoredHistoryTest, TheFamilyIsMadeOnlyIfItIsAskedFor) {
  options_.persist_stats_to_disk = false;
  Open();
  Close();
  EXPECT_EQ(FamilyNames(), (std::vector<std::string>{kDefaultColumnFamilyName}));
  options_.persist_stats_to_disk = true;
  OpenReadOnly();
  Close();
  EXPECT_EQ(FamilyNames().size(), 1u);
  Open();
  Close();
  EXPECT_EQ(FamilyNames(), Both());
  options_.best_efforts_recovery = true;
  Open();
  Close();
  options_.persist_stats_to_disk = false;
  Open();
  Close();
  EXPECT_EQ(FamilyNames(), Both());
}

TEST_F(StoredHistoryTest, AFormatOfTheFutureIsLeftAlone) {
  Open(Both());
  Put(handles_[1], "__persistent_stats_compatible_version__", "2");
  Open();
  PassHours(1);
  PutAndPassAnHour(3);
  EXPECT_EQ(PutsByReport(), (std::vector<int>{3}));
  Open(Both());
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[1]));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "__persistent_stats_compatible_version__");
}

TEST_F(StoredHistoryTest, WhatIsNoLookIsCorruption) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"0000000007#counter", "many"}, {"00000007#counter", "1"}, {"0000000007", "1"}}) {
    Open({kDefaultColumnFamilyName});
    Open(Both());
    Put(handles_[1], key, value);
    std::unique_ptr<StatsHistoryIterator> it;
    const Status status = db_->GetStatsHistory(0, UINT64_MAX, &it);
    EXPECT_FALSE(it->Valid());
    it.reset();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(key), std::string::npos) << status.ToString();
    Delete(handles_[1], key);
    Close();
  }
}

}  // namespace
}  // namespace ashlar
