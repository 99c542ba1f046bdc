// SPDX-License-Identifier: Apache-2.0
//
// Crashes around an open: what was synced before is there after it, whichever call was the last.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/options.h"
#include "tests/support/database_on_disk.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class OpeningCrashTest : public testing::Test {
 protected:
  OpeningCrashTest() {
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
  }

  static void Put(DatabaseOnDisk* life, const std::string& key, bool is_synced) {
    WriteOptions write;
    write.sync = is_synced;
    EXPECT_OK(life->opened.db()->Put(write, key, "value"));
  }
  std::string Keys(const std::shared_ptr<SimFS>& disk) {
    const std::unique_ptr<DatabaseOnDisk> life = OpenDatabaseOnDisk(disk, &options_);
    if (life->opened.db() == nullptr) return "not opened";
    Contents contents;
    EXPECT_OK(life->opened.ReadAll(&contents));
    std::string keys;
    for (const auto& [key, value] : contents["default"]) keys += key;
    return keys;
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  Options options_;
};

TEST_F(OpeningCrashTest, ASyncedWriteToALogBehindAFlushIsThere) {
  const std::unique_ptr<DatabaseOnDisk> life = OpenDatabaseOnDisk(sim_, &options_);
  Put(life.get(), "a", /*is_synced=*/true);
  EXPECT_OK(life->opened.db()->Flush(FlushOptions()));
  Put(life.get(), "b", /*is_synced=*/true);
  EXPECT_EQ(Keys(sim_->CrashImage(sim_->CallCount(), CrashPolicy::kStrict)), "ab");
}

// Their tails may not be lost behind a synced write to the new log: that would be a hole.
TEST_F(OpeningCrashTest, LogsThatARecoveryKeepsAreDurable) {
  options_.avoid_flush_during_recovery = true;
  Put(OpenDatabaseOnDisk(sim_, &options_).get(), "a", /*is_synced=*/false);
  const std::unique_ptr<DatabaseOnDisk> life = OpenDatabaseOnDisk(sim_, &options_);
  Put(life.get(), "b", /*is_synced=*/true);
  EXPECT_EQ(Keys(sim_->CrashImage(sim_->CallCount(), CrashPolicy::kStrict)), "ab");
}

TEST_F(OpeningCrashTest, EveryCallOfAnOpenMayBeTheLast) {
  Put(OpenDatabaseOnDisk(sim_, &options_).get(), "a", /*is_synced=*/true);
  const uint64_t begin = sim_->CallCount();
  OpenDatabaseOnDisk(sim_, &options_);
  const uint64_t end = sim_->CallCount();
  ASSERT_GT(end, begin + 10);
  for (uint64_t call = begin; call <= end; ++call) {
    for (const CrashPolicy policy : kAllCrashPolicies) {
      for (uint64_t seed = 0; seed < (UsesSeed(policy) ? 4 : 1); ++seed) {
        ASSERT_EQ(Keys(sim_->CrashImage(call, policy, seed)), "a")
            << "call " << call << ", " << NameOf(policy) << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
