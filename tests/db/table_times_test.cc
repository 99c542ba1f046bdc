// SPDX-License-Identifier: Apache-2.0
//
// Every table records when it was created and how old its entries may be, for every kind of job.
#include "env/sim/sim_env.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class TableTimesTest : public DbTest {
 protected:
  TableTimesTest() {
    UseEnv(NewSimEnv(std::make_shared<MemoryFileSystem>(executor_.clock()), &executor_));
    Open();
  }

  void PassAnHour() { executor_.clock()->Jump(int64_t{3600} * 1000000); }
  uint64_t Now() {
    int64_t seconds = 0;
    EXPECT_OK(env_->GetCurrentTime(&seconds));
    return static_cast<uint64_t>(seconds);
  }
  LiveFileMetaData OnlyTable() {
    const std::vector<LiveFileMetaData> tables = Tables();
    EXPECT_EQ(tables.size(), 1u);
    return tables.empty() ? LiveFileMetaData() : tables.front();
  }
  void ExpectTimes(uint64_t created, uint64_t oldest_ancestor) {
    const LiveFileMetaData file = OnlyTable();
    EXPECT_NEAR(static_cast<double>(file.file_creation_time), static_cast<double>(created), 60);
    EXPECT_NEAR(static_cast<double>(file.oldest_ancester_time),
                static_cast<double>(oldest_ancestor), 60);
    TablePropertiesCollection properties;
    ASSERT_OK(db_->GetPropertiesOfAllTables(&properties));
    ASSERT_EQ(properties.size(), 1u);
    EXPECT_EQ(properties.begin()->second->file_creation_time, file.file_creation_time);
    EXPECT_EQ(properties.begin()->second->creation_time, file.oldest_ancester_time);
    uint64_t oldest = 0;
    ASSERT_OK(db_->GetCreationTimeOfOldestFile(&oldest));
    EXPECT_EQ(oldest, file.file_creation_time);
  }

  SimExecutor executor_{1};
};

}  // namespace

TEST_F(TableTimesTest, AFlushMakesItNow) {
  Put("a", "1");
  PassAnHour();
  Flush();
  ExpectTimes(Now(), Now());
}

TEST_F(TableTimesTest, RecoveryMakesItNow) {
  Put("a", "1");
  Close();
  PassAnHour();
  Open();
  ExpectTimes(Now(), Now());
}

TEST_F(TableTimesTest, ACompactionLeavesTheNewestKeyAsOldAsItIs) {
  const auto newest_key_time = [this] {
    TablePropertiesCollection properties;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&properties));
    EXPECT_EQ(properties.size(), 1u);
    return properties.empty() ? 0.0
                              : static_cast<double>(properties.begin()->second->newest_key_time);
  };
  Put("a", "1");
  Flush();
  PassAnHour();
  Put("b", "2");
  Flush();
  const auto last_write = static_cast<double>(Now());
  PassAnHour();
  Compact();
  EXPECT_NEAR(newest_key_time(), last_write, 60);
  PassAnHour();
  CompactAndRewrite();
  EXPECT_NEAR(newest_key_time(), last_write, 60);
}

TEST_F(TableTimesTest, ACompactionMakesItNowFromEntriesAsOldAsTheOldestTable) {
  const uint64_t start = Now();
  Put("a", "1");
  Flush();
  PassAnHour();
  Put("a", "2");
  Flush();
  PassAnHour();
  Compact();
  ExpectTimes(Now(), start);
}

}  // namespace ashlar
