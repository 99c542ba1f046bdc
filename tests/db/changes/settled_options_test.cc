// SPDX-License-Identifier: Apache-2.0
//
// SetOptions() changes what the program gave, not what became of it: a value that was moved because
// of another one is back when that one is.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/memtablerep.h"
#include "ashlar/table.h"
#include "ashlar/utilities/options_util.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kDay = 24 * 60 * 60;

class SettledOptions : public testing::Test {
 protected:
  SettledOptions() {
    options_.env = env_.get();
    options_.create_if_missing = true;
  }

  void Open() {
    db_.reset();
    ASSERT_OK(DB::Open(options_, "/db", &db_));
  }
  void Set(const std::unordered_map<std::string, std::string>& changes) {
    ASSERT_OK(db_->SetOptions(changes));
  }
  ColumnFamilyOptions InForce() { return db_->GetOptions(); }
  // What the newest OPTIONS file says.
  ColumnFamilyOptions InFile() {
    ConfigOptions config;
    config.env = env_.get();
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    EXPECT_OK(LoadLatestOptions(config, "/db", &db_options, &families));
    return families.empty() ? ColumnFamilyOptions() : families[0].options;
  }

  std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
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

// A period that is asked for later may not drop data that the program wants to keep for longer.
TEST_F(SettledOptions, APeriodLeavesTheAgeOfFifoAlone) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 30 * kDay;
  Open();
  Set({{"periodic_compaction_seconds", "3600"}});
  EXPECT_EQ(InForce().ttl, 30 * kDay);
  EXPECT_EQ(InForce().periodic_compaction_seconds, 3600u);
}

TEST_F(SettledOptions, WhatAPeriodSaysOfFifoAtOpenStaysUntilItIsChanged) {
  options_.compaction_style = kCompactionStyleFIFO;
  options_.ttl = 30 * kDay;
  options_.periodic_compaction_seconds = 3600;
  Open();
  EXPECT_EQ(InForce().ttl, 3600u);
  Set({{"write_buffer_size", "1M"}});
  EXPECT_EQ(InForce().ttl, 3600u);
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
  options_.create_missing_column_families = true;
  ColumnFamilyOptions given;
  given.level0_slowdown_writes_trigger = 7;
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(DB::Open(options_, "/db", {{"default", given}, {"at_open", given}}, &handles, &db_));
  handles.push_back(nullptr);
  ASSERT_OK(db_->CreateColumnFamily(given, "later", &handles.back()));
  for (ColumnFamilyHandle* handle : handles) {
    ASSERT_OK(db_->SetOptions(handle, {{"level0_file_num_compaction_trigger", "50"}}));
    EXPECT_EQ(db_->GetOptions(handle).level0_slowdown_writes_trigger, 50);
    ASSERT_OK(db_->SetOptions(handle, {{"level0_file_num_compaction_trigger", "4"}}));
    EXPECT_EQ(db_->GetOptions(handle).level0_slowdown_writes_trigger, 7) << handle->GetName();
    ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
  }
}

TEST_F(SettledOptions, TheFileAndAReopeningHaveWhatIsInForce) {
  Open();
  Set({{"level0_file_num_compaction_trigger", "1000000"}});
  EXPECT_EQ(InFile().level0_slowdown_writes_trigger, 1000000);
  Set({{"level0_file_num_compaction_trigger", "4"}});
  const ColumnFamilyOptions in_file = InFile();
  EXPECT_EQ(in_file.level0_slowdown_writes_trigger, options_.level0_slowdown_writes_trigger);
  db_.reset();
  static_cast<ColumnFamilyOptions&>(options_) = in_file;
  Open();
  EXPECT_EQ(InForce().level0_file_num_compaction_trigger, 4);
  EXPECT_EQ(InForce().level0_slowdown_writes_trigger, in_file.level0_slowdown_writes_trigger);
}

// Objects that stood for nullptr are made once.
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
