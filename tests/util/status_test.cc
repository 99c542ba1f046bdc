// SPDX-License-Identifier: Apache-2.0
//
// Status: codes, texts that programs compare, copies and moves.
#include "ashlar/status.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace ashlar {

TEST(Status, DefaultIsOk) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.ToString(), "OK");
  EXPECT_EQ(status.getState(), nullptr);
}

TEST(Status, IsNoLargerThanTwoWords) { EXPECT_LE(sizeof(Status), 2 * sizeof(void*)); }

TEST(Status, MovesWithoutThrowing) {
  EXPECT_TRUE(std::is_nothrow_move_constructible_v<Status>);
  EXPECT_TRUE(std::is_nothrow_move_assignable_v<Status>);
}

TEST(Status, NamesEveryCode) {
  struct Case {
    Status status;
    const char* text;
  };
  const Case cases[] = {
      {Status::NotFound("m"), "NotFound: m"},
      {Status::Corruption("m"), "Corruption: m"},
      {Status::NotSupported("m"), "Not implemented: m"},
      {Status::InvalidArgument("m"), "Invalid argument: m"},
      {Status::IOError("m"), "IO error: m"},
      {Status::MergeInProgress("m"), "Merge in progress: m"},
      {Status::Incomplete("m"), "Result incomplete: m"},
      {Status::ShutdownInProgress("m"), "Shutdown in progress: m"},
      {Status::TimedOut("m"), "Operation timed out: m"},
      {Status::Aborted("m"), "Operation aborted: m"},
      {Status::Busy("m"), "Resource busy: m"},
      {Status::Expired("m"), "Operation expired: m"},
      {Status::TryAgain("m"), "Operation failed. Try again.: m"},
      {Status::CompactionTooLarge("m"), "Compaction too large: m"},
      {Status::ColumnFamilyDropped("m"), "Column family dropped: m"},
  };
  unsigned code = 1;
  for (const Case& c : cases) {
    EXPECT_EQ(c.status.ToString(), c.text);
    EXPECT_EQ(static_cast<unsigned>(c.status.code()), code++);
  }
}

TEST(Status, JoinsTwoMessages) {
  EXPECT_EQ(Status::IOError("000007.sst", "gone").ToString(), "IO error: 000007.sst: gone");
}

TEST(Status, PutsSubcodeBeforeMessage) {
  EXPECT_EQ(Status::NoSpace().ToString(), "IO error: No space left on device");
  EXPECT_EQ(Status::NoSpace("LOG").ToString(), "IO error: No space left on device: LOG");
}

TEST(Status, SubcodeQuestionsNeedTheirCode) {
  EXPECT_TRUE(Status::NoSpace().IsNoSpace());
  EXPECT_TRUE(Status::MemoryLimit("x").IsMemoryLimit());
  EXPECT_TRUE(Status::PathNotFound("x").IsPathNotFound());
  EXPECT_TRUE(Status::NotFound(Status::kPathNotFound).IsPathNotFound());
  EXPECT_TRUE(Status::TxnNotPrepared().IsTxnNotPrepared());
  EXPECT_TRUE(Status::Busy(Status::kDeadlock).IsDeadlock());
  EXPECT_FALSE(Status::Aborted(Status::kDeadlock).IsDeadlock());
  EXPECT_TRUE(Status::Incomplete(Status::kManualCompactionPaused).IsManualCompactionPaused());
  EXPECT_TRUE(Status::OkOverwritten().IsOkOverwritten());
  EXPECT_TRUE(Status::OkOverwritten().ok());
}

TEST(Status, CopyKeepsEverythingAndIsIndependent) {
  Status original(Status::kIOError, Status::kNoSpace, Status::kHardError, "text");
  const Status copy(original);
  original = Status::OK();
  EXPECT_TRUE(copy.IsNoSpace());
  EXPECT_EQ(copy.severity(), Status::kHardError);
  EXPECT_STREQ(copy.getState(), "text");
}

TEST(Status, MovedFromIsOk) {
  Status source = Status::Corruption("x");
  const Status target = std::move(source);
  EXPECT_TRUE(target.IsCorruption());
  EXPECT_TRUE(source.ok());  // NOLINT: the promise under test
}

TEST(Status, SelfAssignmentKeepsText) {
  Status status = Status::Corruption("x");
  const Status& same = status;
  status = same;
  EXPECT_EQ(status.ToString(), "Corruption: x");
}

TEST(Status, EqualityComparesCodesOnly) {
  EXPECT_EQ(Status::NotFound("a"), Status::NotFound("b"));
  EXPECT_NE(Status::NotFound("a"), Status::Busy("a"));
}

TEST(Status, UpdateIfOkKeepsFirstError) {
  Status status;
  status.UpdateIfOk(Status::OK());
  status.UpdateIfOk(Status::Corruption("first"));
  status.UpdateIfOk(Status::IOError("second"));
  EXPECT_EQ(status.ToString(), "Corruption: first");
}

TEST(Status, CopyAppendMessageAddsToText) {
  const Status status = Status::CopyAppendMessage(Status::Corruption("a"), " in ", "b");
  EXPECT_EQ(status.ToString(), "Corruption: a in b");
  EXPECT_EQ(Status::CopyAppendMessage(Status::Busy(), ": ", "b").ToString(), "Resource busy: : b");
}

TEST(Status, CopyWithSeverityChangesNothingElse) {
  const Status status(Status::Corruption("a"), Status::kFatalError);
  EXPECT_EQ(status.severity(), Status::kFatalError);
  EXPECT_EQ(status.ToString(), "Corruption: a");
}

}  // namespace ashlar
