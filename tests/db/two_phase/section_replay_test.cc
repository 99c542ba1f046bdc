// SPDX-License-Identifier: Apache-2.0
//
// Which sections a replay hands out when logs are missing.
#include "db/opening/section_replay.h"

#include <gtest/gtest.h>

#include <string>

#include "db/column_family/family_set.h"
#include "db/write/write_batch_internal.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class SectionReplayTest : public testing::Test {
 protected:
  using Policy = WriteBatchInternal::PreparePolicy;

  void Apply(const Slice& batch, FileNumber log) {
    replay_.NumbersOf(batch);
    ASSERT_OK(replay_.Apply(batch, {.number = log, .path = "log"}, /*offset=*/0));
  }
  void Commit(const std::string& xid, FileNumber log) {
    WriteBatch batch;
    ASSERT_OK(WriteBatchInternal::MarkCommit(&batch, xid));
    Apply(WriteBatchInternal::Contents(batch), log);
  }
  // A section without updates, whose number is that of its marker.
  void Prepare(const std::string& xid, FileNumber log, Policy policy, SequenceNumber seqno) {
    WriteBatch batch;
    ASSERT_OK(WriteBatchInternal::InsertNoop(&batch));
    ASSERT_OK(WriteBatchInternal::MarkEndPrepare(&batch, xid, policy));
    WriteBatchInternal::SetSequence(&batch, seqno);
    Apply(WriteBatchInternal::Contents(batch), log);
  }
  // As a recovery does at the beginning of a log.
  void LogAgain(const std::string& xid, FileNumber log, Policy policy = Policy::kWriteCommitted) {
    WriteBatch batch;
    ASSERT_OK(WriteBatchInternal::InsertNoop(&batch));
    ASSERT_OK(batch.Put("key", xid));
    ASSERT_OK(WriteBatchInternal::MarkEndPrepare(&batch, xid, policy));
    WriteBatchInternal::SetSequence(&batch, 5);
    std::string bytes = WriteBatchInternal::Contents(batch).ToString();
    bytes.insert(kWriteBatchHeaderBytes, LoggedAgainRecord());
    Apply(bytes, log);
  }
  size_t Undecided() { return replay_.TakeUndecided().size(); }

  FamilySet families_;
  UndecidedTable undecided_;
  SectionReplay replay_{/*is_allowed=*/true, nullptr, &undecided_, &families_};
};

// The marker was appended by a write that failed, and the log with it replaced.
TEST_F(SectionReplayTest, ASectionThatIsLoggedAgainBehindItsDecisionIsDecided) {
  Commit("xa", FileNumber{2});
  replay_.ForgetSectionsBefore(FileNumber{2});
  LogAgain("xa", FileNumber{3});
  EXPECT_EQ(Undecided(), 0u);
}

// The decision is that of an earlier transaction with the name.
TEST_F(SectionReplayTest, DecisionsInLogsBeforeAGapAreForgotten) {
  Commit("xa", FileNumber{2});
  replay_.ForgetSections();
  LogAgain("xa", FileNumber{8});
  EXPECT_EQ(Undecided(), 1u);
}

TEST_F(SectionReplayTest, DecisionsBeforeLogsThatMayBeMissingAreForgotten) {
  Commit("xa", FileNumber{2});
  EXPECT_FALSE(replay_.NoteMissingLogs());
  LogAgain("xa", FileNumber{8});
  EXPECT_EQ(Undecided(), 1u);
}

// A log that may be missing has decided the first transaction with the name, whose policy was
// another one.
TEST_F(SectionReplayTest, NamesAreFreeBehindLogsThatMayBeMissingWhateverThePolicy) {
  LogAgain("xa", FileNumber{2});
  LogAgain("xb", FileNumber{2}, Policy::kWritePrepared);
  EXPECT_EQ(undecided_.count(), 1u);
  EXPECT_TRUE(replay_.NoteMissingLogs());
  Prepare("xa", FileNumber{8}, Policy::kWritePrepared, 20);
  LogAgain("xb", FileNumber{8});
  EXPECT_EQ(Undecided(), 2u);
  EXPECT_EQ(undecided_.count(), 2u);
  undecided_.Trim(/*visible=*/100, {});
  EXPECT_EQ(undecided_.count(), 1u) << "the data of the first xb counts as undecided for ever";
}

TEST_F(SectionReplayTest, OneNameWithTwoPoliciesIsCorruption) {
  LogAgain("xa", FileNumber{2});
  WriteBatch batch;
  ASSERT_OK(WriteBatchInternal::InsertNoop(&batch));
  ASSERT_OK(WriteBatchInternal::MarkEndPrepare(&batch, "xa", Policy::kWritePrepared));
  WriteBatchInternal::SetSequence(&batch, 20);
  std::string bytes = WriteBatchInternal::Contents(batch).ToString();
  bytes.insert(kWriteBatchHeaderBytes, LoggedAgainRecord());
  replay_.NumbersOf(bytes);
  EXPECT_TRUE(
      replay_.Apply(bytes, {.number = FileNumber{3}, .path = "log"}, /*offset=*/0).IsCorruption());
}

TEST_F(SectionReplayTest, DecisionsInLogsThatAreNotNeededAreForgotten) {
  Commit("xa", FileNumber{2});
  Commit("xb", FileNumber{5});
  replay_.ForgetSectionsBefore(FileNumber{5});
  LogAgain("xa", FileNumber{8});
  LogAgain("xb", FileNumber{8});
  EXPECT_EQ(Undecided(), 1u);
}

}  // namespace
}  // namespace ashlar
