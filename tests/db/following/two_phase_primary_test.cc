// SPDX-License-Identifier: Apache-2.0
//
// Secondaries of a primary with two-phase commit.
#include "db/options/stock_merge_operators.h"
#include "tests/db/following/secondary_db.h"
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

class TwoPhasePrimaryTest : public TwoPhaseTest {
 protected:
  TwoPhasePrimaryTest() { options_.merge_operator = NewStringAppendOperator(","); }
  void TearDown() override {
    secondary_.Close();
    TwoPhaseTest::TearDown();
  }
  void OpenBoth() {
    OpenTwoPhase();
    secondary_.Open(options_, dir_);
  }
  Rows Followed() {
    secondary_.CatchUp();
    return secondary_.ReadRows();
  }
  void PrepareMerge(const std::string& xid) {
    ASSERT_OK(writer().Begin(xid)->Merge("k", xid));
    ASSERT_OK(writer().Prepare(xid));
  }

  SecondaryDb secondary_;
};

TEST_F(TwoPhasePrimaryTest, PreparedUpdatesAreSeenOnceTheyAreCommitted) {
  OpenBoth();
  PrepareMerge("xa");
  PrepareMerge("xb");
  Put("l", "1");
  EXPECT_EQ(Followed(), (Rows{{"l", "1"}}));
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Followed(), (Rows{{"k", "xa"}, {"l", "1"}}));
  ASSERT_OK(writer().Rollback("xb"));
  EXPECT_EQ(Followed(), (Rows{{"k", "xa"}, {"l", "1"}}));
}

TEST_F(TwoPhasePrimaryTest, ASectionInAnOlderLogThanItsCommitCountsOnce) {
  OpenBoth();
  PrepareMerge("xa");
  Put("l", "1");
  Flush();  // the next log begins
  EXPECT_EQ(Followed(), (Rows{{"l", "1"}}));
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Followed(), (Rows{{"k", "xa"}, {"l", "1"}}));
  Flush();
  EXPECT_EQ(Followed(), (Rows{{"k", "xa"}, {"l", "1"}}));
  Merge("k", "y");
  EXPECT_EQ(Followed(), (Rows{{"k", "xa,y"}, {"l", "1"}}));
}

TEST_F(TwoPhasePrimaryTest, ASecondaryThatOpensLaterFindsTheSections) {
  OpenTwoPhase();
  PrepareMerge("xa");
  Put("l", "1");
  Flush();
  secondary_.Open(options_, dir_);
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Followed(), (Rows{{"k", "xa"}, {"l", "1"}}));
}

// The opening logs undecided sections again.
TEST_F(TwoPhasePrimaryTest, SectionsSurviveAReopeningOfThePrimary) {
  OpenBoth();
  PrepareMerge("xa");
  Put("l", "1");
  EXPECT_EQ(Followed(), (Rows{{"l", "1"}}));
  for (int i = 0; i < 2; i++) {
    ReopenTwoPhase();
    EXPECT_EQ(Followed(), (Rows{{"l", "1"}}));
  }
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Followed(), (Rows{{"k", "xa"}, {"l", "1"}}));
}

}  // namespace
}  // namespace ashlar
