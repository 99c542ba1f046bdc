// SPDX-License-Identifier: Apache-2.0
//
// persist_stats_to_disk: the history of the counters in the hidden family, and databases that have
// one. Time is passed by hand.
#include "db/report/stored_history.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "ashlar/stats_history.h"
#include "env/env_adaptors.h"
#include "env/periodic_timer.h"
#include "env/sim/sim_fs.h"
#include "tests/support/moved_clock.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint64_t kSecond = 1'000'000;
constexpr unsigned kHour = 3600;  // no test takes as long
constexpr char kCounter[] = "rocksdb.number.keys.written";

class StoredHistoryTest : public testing::Test {
 protected:
  StoredHistoryTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.statistics = CreateDBStatistics();
    options_.stats_dump_period_sec = 0;
    options_.stats_persist_period_sec = kHour;
    options_.persist_stats_to_disk = true;
  }
  ~StoredHistoryTest() override { Close(); }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(db_->DestroyColumnFamilyHandle(handle));
    handles_.clear();
    db_.reset();
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  Status OpenFamilies(const std::vector<std::string>& names) {
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options_);
    return DB::Open(options_, "/db", families, &handles_, &db_);
  }
  void PassHours(unsigned hours) {
    clock_->moved_by_seconds += hours * kHour;
    PeriodicTimer::Default()->PassTime(hours * kHour * kSecond);
  }
  void PutAndPassAnHour(int puts) {
    for (int i = 0; i < puts; i++) ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
    PassHours(1);
  }
  // Without those of the looks themselves, which write a key for each counter.
  std::vector<int> PutsByLook() {
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
  const std::unique_ptr<Env> env_ = NewCompositeEnvOver(Env::Default(), SimFS::Create(), clock_);
  Options options_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<DB> db_;
};

std::vector<std::string> Both() {
  return {kDefaultColumnFamilyName, kPersistentStatsColumnFamilyName};
}

TEST_F(StoredHistoryTest, OutlivesTheDatabase) {
  Open();
  PassHours(1);  // the first look says where to count from
  PutAndPassAnHour(3);
  PutAndPassAnHour(0);
  EXPECT_EQ(PutsByLook(), (std::vector<int>{3, 0}));
  Close();
  Open();
  EXPECT_EQ(PutsByLook(), (std::vector<int>{3, 0}));
  PassHours(1);
  PutAndPassAnHour(5);
  EXPECT_EQ(PutsByLook(), (std::vector<int>{3, 0, 5}));

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
  Close();
  ASSERT_OK(DB::OpenForReadOnly(options_, "/db", &db_));
  EXPECT_EQ(PutsByLook().size(), 3u);
}

// Else a memtable that takes days to fill up would keep the logs of days.
TEST_F(StoredHistoryTest, IsFlushedWhenOnlyItHoldsOldLogs) {
  options_.write_buffer_size = 64 << 10;
  ASSERT_OK(OpenFamilies({kDefaultColumnFamilyName}));
  Close();
  ASSERT_OK(OpenFamilies(Both()));
  PassHours(1);
  PutAndPassAnHour(1);
  const auto entries = [&] {
    uint64_t count = 0;
    EXPECT_TRUE(
        db_->GetIntProperty(handles_[1], "rocksdb.num-entries-active-mem-table", &count));
    return count;
  };
  EXPECT_GT(entries(), 100u);
  const std::string value(1000, 'v');
  for (int i = 0; i < 200; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), "key" + std::to_string(i), value));
  }
  EXPECT_EQ(entries(), 0u);
  EXPECT_EQ(PutsByLook().size(), 1u);
}

// As RocksDB does, by whose tools it may be read.
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
  Close();
  ASSERT_OK(OpenFamilies(Both()));
  ASSERT_EQ(handles_.size(), 2u);
  ASSERT_EQ(seconds.size(), 10u);
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), handles_[1], seconds + "#" + kCounter, &value));
  EXPECT_EQ(value, gain);
  for (const char* key :
       {"__persistent_stats_format_version__", "__persistent_stats_compatible_version__"}) {
    ASSERT_OK(db_->Get(ReadOptions(), handles_[1], key, &value)) << key;
    EXPECT_EQ(value, "1");
  }
}

TEST_F(StoredHistoryTest, TheFamilyHasOptionsOfItsOwnHoweverItIsOpened) {
  options_.write_buffer_size = 1 << 20;
  options_.level0_file_num_compaction_trigger = 9;
  for (const bool persists : {true, false}) {
    options_.persist_stats_to_disk = persists;
    Open();
    Close();
    ASSERT_OK(OpenFamilies(Both()));
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
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
  Close();
  const Status status = DB::Open(options_, "/db", &db_);
  EXPECT_EQ(status.ToString(), "Invalid argument: Column families not opened: other");
  for (const bool persists : {true, false}) {
    options_.persist_stats_to_disk = persists;
    ASSERT_OK(OpenFamilies({kDefaultColumnFamilyName, "other"}));
    EXPECT_EQ(handles_.size(), 2u);
    ASSERT_OK(db_->Put(WriteOptions(), handles_[1], "key", "value"));
    Close();
  }
  options_.persist_stats_to_disk = true;
  EXPECT_EQ(OpenFamilies({kDefaultColumnFamilyName, "other", "third"}).ToString(),
            "Invalid argument: Column family not found: third");
  ASSERT_OK(DestroyDB("/db", options_));
}

TEST_F(StoredHistoryTest, TheFamilyIsMadeOnlyIfItIsAskedFor) {
  options_.persist_stats_to_disk = false;
  Open();
  Close();
  EXPECT_EQ(FamilyNames(), (std::vector<std::string>{kDefaultColumnFamilyName}));
  options_.persist_stats_to_disk = true;
  ASSERT_OK(DB::OpenForReadOnly(options_, "/db", &db_));
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
  options_.create_missing_column_families = true;
  ASSERT_OK(OpenFamilies(Both()));
  ASSERT_OK(db_->Put(WriteOptions(), handles_[1], "__persistent_stats_compatible_version__", "2"));
  Close();
  Open();
  PassHours(1);
  PutAndPassAnHour(3);
  EXPECT_EQ(PutsByLook(), (std::vector<int>{3}));
  Close();
  ASSERT_OK(OpenFamilies(Both()));
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[1]));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "__persistent_stats_compatible_version__");
}

TEST_F(StoredHistoryTest, WhatIsNoLookIsCorruption) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"0000000007#counter", "many"}, {"00000007#counter", "1"}, {"0000000007", "1"}}) {
    ASSERT_OK(OpenFamilies({kDefaultColumnFamilyName}));
    Close();
    ASSERT_OK(OpenFamilies(Both()));
    ASSERT_OK(db_->Put(WriteOptions(), handles_[1], key, value));
    std::unique_ptr<StatsHistoryIterator> it;
    const Status status = db_->GetStatsHistory(0, UINT64_MAX, &it);
    EXPECT_FALSE(it->Valid());
    it.reset();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(key), std::string::npos) << status.ToString();
    ASSERT_OK(db_->Delete(WriteOptions(), handles_[1], key));
    Close();
  }
}

}  // namespace
}  // namespace ashlar
