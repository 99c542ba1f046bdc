// SPDX-License-Identifier: Apache-2.0
//
// A change of the primary whose write has failed, although its record is in the MANIFEST: a
// secondary reads it. Then the primary begins a new MANIFEST without it.
#include <string>
#include <vector>

#include "tests/db/following/secondary_db.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class TakenBackChanges : public DbTest {
 protected:
  TakenBackChanges() : DbTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;  // only Resume() repeats a flush
    options_.disable_auto_compactions = true;
  }
  void OpenBoth(const std::vector<std::string>& families) {
    Open(families);
    secondary_.Open(options_, dir_, families);
  }
  // The records are there all the same.
  void FailSyncsOfTheManifest(FaultMode mode) {
    Fail(CallKind::kSync, "MANIFEST", mode, FaultError::kInterrupted, FaultEffect::kFull);
  }
  void ExpectTakenBack() {
    const Status status = secondary_->TryCatchUpWithPrimary();
    EXPECT_TRUE(status.IsTryAgain()) << status.ToString();
    EXPECT_NE(status.ToString().find("taken back"), std::string::npos) << status.ToString();
  }
  void TearDown() override {
    secondary_.Close();
    DbTest::TearDown();
  }

  SecondaryDb secondary_;
};

// The memtables of the log that the flush made superfluous are gone in the secondary.
TEST_F(TakenBackChanges, AFlushIsFollowedAgainWhenItHasBeenRepeated) {
  OpenBoth({kDefaultColumnFamilyName});
  Put("a", "1");
  secondary_.CatchUp();
  FailSyncsOfTheManifest(FaultMode::kOnce);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("a"), "1");
  CreateFamily("begins a new MANIFEST");
  Put("b", "2");
  ExpectTakenBack();
  EXPECT_EQ(secondary_.Get("a"), "1") << "the state is the one before";
  ASSERT_OK(db_->Resume());
  Put("c", "3");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
}

TEST_F(TakenBackChanges, ADropIsFollowedAgainWhenItHasBeenRepeated) {
  OpenBoth({kDefaultColumnFamilyName, "other"});
  Put(Family("other"), "a", "1");
  secondary_.CatchUp();
  FailSyncsOfTheManifest(FaultMode::kSticky);
  EXPECT_TRUE(db_->DropColumnFamily(Family("other")).IsIOError());
  secondary_.CatchUp();
  sim_->ClearFaults();
  EXPECT_OK(db_->Resume());
  CreateFamily("begins a new MANIFEST");
  Put("b", "2");
  ExpectTakenBack();
  EXPECT_EQ(secondary_.Get("a", 1), "1") << "through the handle, as of every dropped family";
  ASSERT_OK(db_->DropColumnFamily(Family("other")));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"b", "2"}}));
}

}  // namespace
}  // namespace ashlar
