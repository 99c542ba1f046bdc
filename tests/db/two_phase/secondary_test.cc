// SPDX-License-Identifier: Apache-2.0
//
// A secondary of a database with two-phase commit: what it makes of sections and decisions that the
// primary could not log.
#include "tests/db/following/secondary_db.h"
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

class TwoPhaseSecondaryTest : public TwoPhaseTest {
 protected:
  TwoPhaseSecondaryTest() : TwoPhaseTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;
    OpenTwoPhase();
    secondary_.Open(options_, dir_);
  }
  ~TwoPhaseSecondaryTest() override { secondary_.Close(); }
  void Recover() {
    sim_->ClearFaults();
    ASSERT_OK(db_->Resume());
  }

  SecondaryDb secondary_;
};

TEST_F(TwoPhaseSecondaryTest, CommittedDataIsSeenAndPreparedDataIsNot) {
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), Rows{});
  ASSERT_OK(writer().Commit("xb"));
  ASSERT_OK(writer().Rollback("xa"));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"b", "xb"}}));
}

// The section of the failed prepare was in a log that the recovery of the primary has dropped.
TEST_F(TwoPhaseSecondaryTest, AFailedPrepareIsForgottenWithItsLog) {
  Fail(CallKind::kSync, ".log", FaultMode::kSticky, FaultError::kIO, FaultEffect::kFull);
  EXPECT_FALSE(writer().PreparePuts("xa", {"a"}, Synced()).ok());
  secondary_.CatchUp();
  Recover();
  ASSERT_OK(writer().PreparePuts("xa", {"b"}, Synced()));
  secondary_.CatchUp();
  ASSERT_OK(writer().Commit("xa", Synced()));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"b", "xa"}}));
}

// The secondary has read a decision that counts as not logged, because its append failed.
TEST_F(TwoPhaseSecondaryTest, TheSecondDecisionCounts) {
  for (const bool is_commit : {true, false}) {
    const std::string xid = is_commit ? "commit" : "rollback";
    ASSERT_OK(writer().PreparePuts(xid, {xid}, Synced()));
    Fail(CallKind::kAppend, ".log", FaultMode::kOnce, FaultError::kIO, FaultEffect::kFull);
    EXPECT_FALSE(writer().Commit(xid).ok());
    secondary_.CatchUp();
    Recover();
    secondary_.CatchUp();
    ASSERT_OK(is_commit ? writer().Commit(xid, Synced()) : writer().Rollback(xid, Synced()));
    secondary_.CatchUp();
    EXPECT_EQ(secondary_.ReadRows(), (Rows{{"commit", "commit"}}));
  }
}

}  // namespace
}  // namespace ashlar
