// SPDX-License-Identifier: Apache-2.0
//
// Crashes around an open: synced writes are there after it, whichever call was the last one.
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class OpeningCrashTest : public DbTest {
 protected:
  OpeningCrashTest() : DbTest(TestFiles::kSim) { options_.disable_auto_compactions = true; }

  std::string KeysIn(const std::shared_ptr<SimFS>& disk) {
    TestDb opened(disk, options_);
    opened.OpenAll();
    if (opened.db() == nullptr) return "not opened";
    Contents contents = opened.ReadAll();
    std::string keys;
    for (const auto& [key, value] : contents["default"]) keys += key;
    return keys;
  }
};

TEST_F(OpeningCrashTest, ASyncedWriteToALogBehindAFlushIsThere) {
  Open();
  ASSERT_OK(db_->Put(Synced(), "a", "value"));
  Flush();
  ASSERT_OK(db_->Put(Synced(), "b", "value"));
  EXPECT_EQ(KeysIn(CrashImage(CrashPolicy::kStrict)), "ab");
}

// The end of a kept log may not be lost before a synced write to the new log: that would be a hole.
TEST_F(OpeningCrashTest, LogsThatARecoveryKeepsAreDurable) {
  options_.avoid_flush_during_recovery = true;
  Open();
  Put("a", "value");
  Reopen();
  ASSERT_OK(db_->Put(Synced(), "b", "value"));
  EXPECT_EQ(KeysIn(CrashImage(CrashPolicy::kStrict)), "ab");
}

TEST_F(OpeningCrashTest, EveryCallOfAnOpenMayBeTheLast) {
  Open();
  ASSERT_OK(db_->Put(Synced(), "a", "value"));
  Close();
  const uint64_t begin = sim_->CallCount();
  Open();
  Close();
  const uint64_t end = sim_->CallCount();
  ASSERT_GT(end, begin + 10);
  for (uint64_t call = begin; call <= end; ++call) {
    for (const CrashPolicy policy : kAllCrashPolicies) {
      for (uint64_t seed = 0; seed < (UsesSeed(policy) ? 4 : 1); ++seed) {
        ASSERT_EQ(KeysIn(sim_->CrashImage(call, policy, seed)), "a")
            << "call " << call << ", " << NameOf(policy) << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
