// SPDX-License-Identifier: Apache-2.0
//
// SetOptions() changes the values that the program gave, not those that were adjusted: a value that
// was adjusted because of another one returns when that one changes back.
#include <unordered_map>
#include <utility>

#include "ashlar/memtablerep.h"
#include "ashlar/utilities/options_util.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kDay = 24 * 60 * 60;

class SettledOptions : public DbTest {
 protected:
  void Set(const std::unordered_map<std::string, std::string>& changes) {
    ASSERT_OK(db_->SetOptions(changes));
  }
  ColumnFamilyOptions InForce() { return db_->GetOptions(); }
  // The values in the newest OPTIONS file.
  ColumnFamilyOptions InFile() {
    ConfigOptions config;
    config.env = env_.get();
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    EXPECT_OK(LoadLatestOptions(config, "/db", &db_options, &families));
    return families.empty() ? ColumnFamilyOptions() : families[0].options;
  }
};

TEST_F(SettledOptions, TriggersComeBackWithTheOneThatMovedThem) {
  Open();
  for (int round = 0; round < 2; round++) {
    Set({{"level0_file_num_compaction_trigger", "1000000"}});
    EXPECT_EQ(InForce().level0_slowdown_writes_trigger, 1000000);
    EXPECT_EQ(InForce().level0_stop_writes_trigger, 1000000);
    Set({{"level0_file_num_compaction_trigger", "4"}});
    EXPECT_EQ(InForce().level0_slowdown_writes_trigger, options_.level0_slowdown_writes_trigger);
    EXPECT_EQ(InForce().level0_stop_writes_trigger, options_.level0_stop_writes_trigger);
  }
}

TEST_F(SettledOptions, TheSoftLimitComesBackWithTheHardOne) {
  options_.soft_pending_compaction_bytes_limit = 64 * kGiB;
  Open();
  Set({{"hard_pending_compaction_bytes_limit", "1G"}});
  EXPECT_EQ(InForce().soft_pending_compaction_bytes_limit, kGiB);
  Set({{"hard_pending_compaction_bytes_limit", "256G"}});
  EXPECT_EQ(InForce().soft_pending_compaction_bytes_limit, 64 * kGiB);
}

TEST_F(SettledOptions, MemTablesToMergeComeBackWithTheirNumber) {
  options_.max_write_buffer_number = 6;
  options_.min_write_buffer_number_to_merge = 4;
  Open();
  Set({{"max_write_buffer_number", "2"}});
  EXPECT_EQ(InForce().min_write_buffer_number_to_merge, 1);
  Set({{"max_write_buffer_number", "6"}});
  EXPECT_EQ(InForce().min_write_buffer_number_to_merge, 4);
}

TEST_F(SettledOptions, AutomaticValuesFollowWhatTheyComeFrom) {
  options_.write_buffer_size = 1 << 20;
  Open();
  EXPECT_EQ(InForce().arena_block_size, size_t{128} << 10);
  Set({{"write_buffer_size", "4M"}, {"target_file_size_base", "1M"}});
  EXPECT_EQ(InForce().arena_block_size, size_t{512} << 10);
  EXPECT_EQ(InForce().max_compaction_bytes, uint64_t{25} << 20);
}

// A later change of the period may not drop data that the program keeps for longer.
TEST_F(SettledOptions, APeriodLeavesTheAgeOfFifoAlone) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 30 * kDay;
  Open();
  Set({{"periodic_compaction_seconds", "3600"}});
  EXPECT_EQ(InForce().ttl, 30 * kDay);
  EXPECT_EQ(InForce().periodic_compaction_seconds, 3600u);
}

TEST_F(SettledOptions, APeriodAtOpenLeavesTheAgeOfFifoAlone) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 0;
  options_.periodic_compaction_seconds = 3600;
  Open();
  EXPECT_EQ(InForce().ttl, 0u);
  Set({{"write_buffer_size", "1M"}});
  EXPECT_EQ(InForce().ttl, 0u);
  Set({{"ttl", "7200"}});
  EXPECT_EQ(InForce().ttl, 7200u);
}

TEST_F(SettledOptions, UniversalPeriodsMayBeTurnedOff) {
  options_.compaction_style = kCompactionStyleUniversal;
  Open();
  EXPECT_EQ(InForce().periodic_compaction_seconds, 30 * kDay);
  Set({{"periodic_compaction_seconds", "0"}});
  EXPECT_EQ(InForce().periodic_compaction_seconds, 0u);
  Set({{"write_buffer_size", "1M"}});
  EXPECT_EQ(InForce().periodic_compaction_seconds, 0u);
}

TEST_F(SettledOptions, FamiliesThatAreMadeHaveThemToo) {
  ColumnFamilyOptions given;
  given.level0_slowdown_writes_trigger = 7;
  static_cast<ColumnFamilyOptions&>(options_) = given;
  Open({"default", "at_open"});
  CreateFamily("later");
  for (ColumnFamilyHandle* handle : handles_) {
    ASSERT_OK(db_->SetOptions(handle, {{"level0_file_num_compaction_trigger", "50"}}));
    EXPECT_EQ(db_->GetOptions(handle).level0_slowdown_writes_trigger, 50);
    ASSERT_OK(db_->SetOptions(handle, {{"level0_file_num_compaction_trigger", "4"}}));
    EXPECT_EQ(db_->GetOptions(handle).level0_slowdown_writes_trigger, 7) << handle->GetName();
  }
}

TEST_F(SettledOptions, TheFileAndAReopeningHaveWhatIsInForce) {
  Open();
  Set({{"level0_file_num_compaction_trigger", "1000000"}});
  EXPECT_EQ(InFile().level0_slowdown_writes_trigger, 1000000);
  Set({{"level0_file_num_compaction_trigger", "4"}});
  const ColumnFamilyOptions in_file = InFile();
  EXPECT_EQ(in_file.level0_slowdown_writes_trigger, options_.level0_slowdown_writes_trigger);
  Close();
  static_cast<ColumnFamilyOptions&>(options_) = in_file;
  Open();
  EXPECT_EQ(InForce().level0_file_num_compaction_trigger, 4);
  EXPECT_EQ(InForce().level0_slowdown_writes_trigger, in_file.level0_slowdown_writes_trigger);
}

// The objects that replace nullptr are created once.
TEST_F(SettledOptions, ObjectsStayThroughChanges) {
  options_.memtable_factory = nullptr;
  Open();
  const ColumnFamilyOptions before = InForce();
  Set({{"write_buffer_size", "1M"}});
  EXPECT_NE(before.memtable_factory, nullptr);
  EXPECT_EQ(InForce().memtable_factory, before.memtable_factory);
  EXPECT_EQ(InForce().table_factory, before.table_factory);
}

}  // namespace
}  // namespace ashlar
