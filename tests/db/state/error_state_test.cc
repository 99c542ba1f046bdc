// SPDX-License-Identifier: Apache-2.0
//
// The background error of a database, as a class without a database.
#include "db/state/error_state.h"

#include <gtest/gtest.h>

namespace ashlar {
namespace {

const Status kDisk = Status::IOError("disk");

}  // namespace

TEST(ErrorState, AFlushErrorBlocksWritesAndACompactionErrorDoesNot) {
  ErrorState errors;
  EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kCompaction));
  EXPECT_FALSE(errors.BlocksWrites());
  EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kFlush));
  EXPECT_TRUE(errors.BlocksWrites());
  EXPECT_FALSE(errors.Raise(kDisk, BackgroundErrorReason::kFlush))
      << "the error is recorded already";
  EXPECT_FALSE(errors.HasLogError());
  errors.Clear();
  EXPECT_FALSE(errors.BlocksWrites());
  EXPECT_TRUE(errors.Get().ok());
}

TEST(ErrorState, ACompactionErrorCanAwaitResumeAndEitherWayOutEndsThat) {
  ErrorState errors;
  const auto by_resume = ErrorState::Recovery::kByResume;
  EXPECT_TRUE(errors.WouldBeSoft(kDisk, BackgroundErrorReason::kCompaction));
  EXPECT_FALSE(errors.WouldBeSoft(kDisk, BackgroundErrorReason::kFlush));
  EXPECT_FALSE(errors.WouldBeSoft(Status::OK(), BackgroundErrorReason::kCompaction));
  EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kCompaction, by_resume));
  EXPECT_TRUE(errors.AwaitsResume());
  EXPECT_FALSE(errors.WouldBeSoft(kDisk, BackgroundErrorReason::kCompaction))
      << "the error is recorded already";
  EXPECT_EQ(errors.DebugString(), "error: IO error: disk\ncompactions wait for Resume\n");
  EXPECT_TRUE(errors.ClearSoft().IsIOError());
  EXPECT_TRUE(errors.ClearSoft().ok());
  EXPECT_FALSE(errors.AwaitsResume());
  EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kCompaction, by_resume));
  EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kFlush, by_resume));
  EXPECT_FALSE(errors.AwaitsResume()) << "it blocks writes";
  errors.RaiseForLog(kDisk, 7);
  EXPECT_EQ(errors.DebugString(),
            "error: IO error: disk\nof a log: IO error: disk\nlisteners are yet to be told\n"
            "writes are refused\n");
  errors.Clear();
  EXPECT_EQ(errors.DebugString(), "error: OK\nlisteners are yet to be told\n");
  const auto report = errors.TakeReport();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->error.IsIOError()) << "the recovery ended before the report was taken";
  EXPECT_EQ(errors.DebugString(), "error: OK\n");
}

TEST(ErrorState, AFlushErrorThatMayGoAwayHoldsOtherFlushesAndNoWrites) {
  IOStatus hitch = IOStatus::IOError("hitch");
  hitch.SetRetryable(true);
  for (const auto reason :
       {BackgroundErrorReason::kFlushNoWAL, BackgroundErrorReason::kManifestWriteNoWAL}) {
    ErrorState errors;
    EXPECT_TRUE(errors.WouldBeSoft(hitch, reason));
    EXPECT_FALSE(errors.WouldBeSoft(kDisk, reason)) << "the error is not retryable";
    EXPECT_TRUE(errors.Raise(hitch, BackgroundErrorReason::kCompaction));
    EXPECT_FALSE(errors.HoldsFlushes());
    EXPECT_TRUE(errors.Raise(hitch, reason)) << "replaces the error of the compaction";
    EXPECT_FALSE(errors.Raise(hitch, reason)) << "the error is recorded already";
    EXPECT_TRUE(errors.HoldsFlushes());
    EXPECT_FALSE(errors.BlocksWrites());
    EXPECT_TRUE(errors.ClearCompactionError().ok());
    EXPECT_TRUE(errors.HoldsFlushes()) << "a compaction has succeeded";
    EXPECT_EQ(errors.DebugString(), "error: IO error: hitch\nflushes wait\n");
    errors.LeaveFlushToResume();
    EXPECT_TRUE(errors.AwaitsResume());
    EXPECT_TRUE(errors.ClearSoft().IsIOError());
    EXPECT_FALSE(errors.HoldsFlushes() || errors.AwaitsResume());
    errors.LeaveFlushToResume();
    EXPECT_FALSE(errors.AwaitsResume()) << "there is no error";
  }
  for (const auto reason : {BackgroundErrorReason::kFlush, BackgroundErrorReason::kManifestWrite}) {
    EXPECT_FALSE(ErrorState().WouldBeSoft(hitch, reason)) << "the logs may have failed too";
  }
  IOStatus full = IOStatus::NoSpace("disk");
  full.SetRetryable(true);
  EXPECT_FALSE(ErrorState().WouldBeSoft(full, BackgroundErrorReason::kFlushNoWAL));
}

TEST(ErrorState, FlushesAwaitResumeOnceAnErrorThatBlocksThemIsLeftToIt) {
  ErrorState errors;
  EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kCompaction));
  errors.LeaveFlushToResume();
  EXPECT_FALSE(errors.AwaitsResume()) << "it blocks no flush";
  EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kFlush));
  EXPECT_FALSE(errors.FlushesAwaitResume()) << "an attempt may follow";
  errors.LeaveFlushToResume();
  EXPECT_TRUE(errors.FlushesAwaitResume());
  errors.Clear();
  EXPECT_FALSE(errors.FlushesAwaitResume());
  IOStatus hitch = IOStatus::IOError("hitch");
  hitch.SetRetryable(true);
  EXPECT_TRUE(errors.Raise(hitch, BackgroundErrorReason::kFlushNoWAL));
  errors.LeaveFlushToResume();
  EXPECT_TRUE(errors.FlushesAwaitResume());
  errors.RaiseForLog(kDisk, 7);
  EXPECT_FALSE(errors.FlushesAwaitResume()) << "it is not known yet who recovers from it";
}

TEST(ErrorState, AWorseErrorTakesThePlaceOfAFlushs) {
  IOStatus hitch = IOStatus::IOError("hitch");
  hitch.SetRetryable(true);
  for (const bool is_of_log : {false, true}) {
    ErrorState errors;
    EXPECT_TRUE(errors.Raise(hitch, BackgroundErrorReason::kFlushNoWAL));
    if (is_of_log) {
      errors.RaiseForLog(kDisk, 7);
    } else {
      EXPECT_TRUE(errors.Raise(kDisk, BackgroundErrorReason::kFlushNoWAL));
    }
    EXPECT_TRUE(errors.BlocksWrites());
    EXPECT_FALSE(errors.HoldsFlushes()) << "the recovery flushes all";
    EXPECT_TRUE(errors.ClearSoft().ok());
    EXPECT_EQ(errors.Get().ToString(), kDisk.ToString());
  }
}

TEST(ErrorState, AnErrorOfALogIsReportedOnce) {
  ErrorState errors;
  errors.RaiseForLog(kDisk, 7);
  errors.RaiseForLog(Status::IOError("the same again"), 7);
  EXPECT_TRUE(errors.BlocksWrites());
  EXPECT_TRUE(errors.HasLogError());
  const auto report = errors.TakeReport();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->reason, BackgroundErrorReason::kWriteCallback);
  EXPECT_EQ(report->error.ToString(), kDisk.ToString());
  EXPECT_FALSE(errors.TakeReport().has_value());
}

TEST(ErrorState, AnErrorOfALogIsReportedBesideAnotherThatStands) {
  ErrorState errors;
  EXPECT_TRUE(errors.Raise(Status::IOError("flush"), BackgroundErrorReason::kFlush));
  errors.RaiseForLog(kDisk, 7);
  EXPECT_EQ(errors.Get().ToString(), Status::IOError("flush").ToString());
  const auto report = errors.TakeReport();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->error.ToString(), kDisk.ToString());
}

TEST(ErrorState, ALogThatWasReplacedCannotFailAnyMore) {
  ErrorState errors;
  errors.RaiseForLog(kDisk, 7);
  errors.ForgetLogsBefore(9);
  errors.RaiseForLog(kDisk, 8);
  errors.Clear();
  errors.RaiseForLog(kDisk, 8);
  EXPECT_TRUE(errors.Get().ok());
  EXPECT_FALSE(errors.BlocksWrites());
  errors.RaiseForLog(kDisk, 9);
  EXPECT_TRUE(errors.BlocksWrites());
}

TEST(ErrorState, AFatalErrorIsReportedAndStays) {
  ErrorState errors;
  errors.RaiseFatal(Status::MemoryLimit());
  EXPECT_TRUE(errors.IsFatal());
  const auto report = errors.TakeReport();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->error.severity(), Status::kFatalError);
}

}  // namespace ashlar
