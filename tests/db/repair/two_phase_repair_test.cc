// SPDX-License-Identifier: Apache-2.0
//
// RepairDB() of databases with two-phase commit.
#include <algorithm>
#include <string>
#include <vector>

#include "db/options/stock_merge_operators.h"
#include "db/repair/repair_db.h"
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

class TwoPhaseRepairTest : public TwoPhaseTest {
 protected:
  // Kills the database; the next opening is of what repair has made.
  void RepairWithoutManifest() {
    LoseManifest();
    Options options = options_;
    options.allow_2pc = false;  // sections are kept whatever it is
    report_.clear();
    ASSERT_OK(
        RepairWithReport(dir_, options, {{kDefaultColumnFamilyName, options}}, options, &report_));
    OpenAll();
    TakeWriter();
  }
  void LoseManifest() {
    Drop();
    writer_.reset();
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      if (path.find("MANIFEST") == std::string::npos) continue;
      ASSERT_OK(memory_->DeleteFile(path, IOOptions(), nullptr));
    }
  }
  std::string OldestLog() { return LogFileName(dir_, FileNumber{LogNumbers().front()}); }
  // A bit of the only occurrence of `text` in the oldest log.
  void FlipInOldestLog(const std::string& text) {
    std::string bytes = memory_->AllFiles().at(OldestLog());
    const size_t at = bytes.find(text);
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    memory_->PutFile(OldestLog(), bytes);
  }
  size_t Reported(const std::string& part) {
    return static_cast<size_t>(std::count_if(
        report_.begin(), report_.end(),
        [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }

  std::vector<std::string> report_;
};

TEST_F(TwoPhaseRepairTest, ACommitWhoseSectionIsInAnOlderLogIsKept) {
  OpenTwoPhase({"default", "f"});
  WriteBatch* const batch = writer().Begin("xa");
  for (const char* const key : {"a", "b", "c"}) ASSERT_OK(batch->Put(handles_[1], key, "xa"));
  ASSERT_OK(writer().Prepare("xa"));
  Put("d", "1");
  Put(handles_[1], "e", "1");
  Flush({handles_[0], handles_[1]});  // the next log begins
  ASSERT_OK(writer().Commit("xa"));
  const Contents before = ReadAll();
  RepairWithoutManifest();
  EXPECT_EQ(ReadAll(), before);
  EXPECT_EQ(Get(Family("f"), "c"), "xa");
  EXPECT_EQ(writer().Undecided(), "");
}

// The section takes no sequence number: what is written next has the ones that its updates would
// have, and is flushed.
TEST_F(TwoPhaseRepairTest, ASectionIsNotFlushedBecauseItsNumbersAre) {
  OpenTwoPhase();
  Put("a", "1");
  ASSERT_OK(writer().PreparePuts("xa", {"b", "c"}));
  Put("d", "1");
  Put("e", "1");
  Flush();
  Put("f", "1");
  ASSERT_OK(writer().Commit("xa"));
  const Contents before = ReadAll();
  RepairWithoutManifest();
  EXPECT_EQ(ReadAll(), before);
}

TEST_F(TwoPhaseRepairTest, UndecidedSectionsCanBeDecidedAfterwards) {
  OpenTwoPhase({"default", "f"});
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put(handles_[1], "a", "xa"));
  ASSERT_OK(writer().Prepare("xa"));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}));
  Put("c", "1");
  Flush();
  RepairWithoutManifest();
  EXPECT_EQ(Scan(), "c=1");
  EXPECT_EQ(writer().Undecided(), "xa xb");
  ASSERT_OK(writer().Commit("xa"));
  ASSERT_OK(writer().Rollback("xb"));
  EXPECT_EQ(Get(Family("f"), "a"), "xa");
  Close();
  OpenAll();
  EXPECT_EQ(Get(Family("f"), "a"), "xa");
  EXPECT_EQ(Scan(), "c=1");
}

TEST_F(TwoPhaseRepairTest, RolledBackSectionsStayAway) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  ASSERT_OK(writer().Rollback("xa"));
  Put("b", "1");
  RepairWithoutManifest();
  EXPECT_EQ(Scan(), "b=1");
  EXPECT_EQ(writer().Undecided(), "");
}

// Its flush did not end, so its entries are in a complete log as well, and count once.
TEST_F(TwoPhaseRepairTest, ATableOfACommitThatIsInTheLogsIsNotNeeded) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenTwoPhase();
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Merge("a", "1"));
  ASSERT_OK(writer().Prepare("xa"));
  ASSERT_OK(writer().Commit("xa"));
  const std::string log = LogFileName(dir_, FileNumber{LogNumbers().back()});
  const std::string bytes = memory_->AllFiles().at(log);
  Flush();
  Drop();
  memory_->PutFile(log, bytes);
  RepairWithoutManifest();
  EXPECT_EQ(Scan(), "a=1");
}

// Sections whose data took its sequence numbers where they were prepared.
class WrittenSectionRepairTest : public TwoPhaseRepairTest,
                                 public testing::WithParamInterface<TwoPhaseWriter::Policy> {
 protected:
  WrittenSectionRepairTest() { policy_ = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Policies, WrittenSectionRepairTest,
                         testing::Values(TwoPhaseWriter::Policy::kWritePrepared,
                                         TwoPhaseWriter::Policy::kWriteUnprepared));

// The log with the section must be applied, although the decision is in the next one.
TEST_P(WrittenSectionRepairTest, DataThatALaterLogCommitsIsNotLost) {
  OpenTwoPhase({"default", "f"});
  WriteBatch* const batch = writer().Begin("xa");
  for (const char* const key : {"a", "b", "c"}) ASSERT_OK(batch->Put(handles_[1], key, "xa"));
  ASSERT_OK(writer().Prepare("xa"));
  Put("d", "1");
  Flush(handles_[0]);  // the next log begins, and "f" is not flushed
  ASSERT_OK(writer().Commit("xa"));
  const Contents before = ReadAll();
  RepairWithoutManifest();
  EXPECT_EQ(ReadAll(), before);
  EXPECT_EQ(Get(Family("f"), "a"), "xa");
  EXPECT_EQ(writer().Undecided(), "");
}

// The numbers of a section do not move to its decision: else the log of the decision would seem to
// be newer than a table, and old values that it has would be applied as the newest.
TEST_P(WrittenSectionRepairTest, WhatIsFlushedStaysNewerThanTheLogs) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenTwoPhase();
  WriteBatch* const batch = writer().Begin("xa");
  for (const char* const key : {"a", "b", "c", "d", "e"}) ASSERT_OK(batch->Put(key, "xa"));
  ASSERT_OK(writer().Prepare("xa"));
  Flush();
  ASSERT_OK(db_->Merge(WriteOptions(), "z", "1"));
  ASSERT_OK(writer().Commit("xa"));
  const uint64_t number = LogNumbers().back();
  const std::string log = LogFileName(dir_, FileNumber{number});
  const std::string bytes = memory_->AllFiles().at(log);
  Flush();
  const Contents before = ReadAll();
  LoseManifest();
  // Only this log was not deleted before the crash.
  memory_->PutFile(log, bytes);
  for (const uint64_t older : LogNumbers()) {
    if (older >= number) continue;
    ASSERT_OK(memory_->DeleteFile(LogFileName(dir_, FileNumber{older}), IOOptions(), nullptr));
  }
  RepairWithoutManifest();
  EXPECT_EQ(ReadAll(), before);
}

TEST_P(WrittenSectionRepairTest, UndecidedDataCanBeDecidedAfterwards) {
  OpenTwoPhase();
  Put("a", "old");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "b"}));
  Put("c", "1");
  RepairWithoutManifest();
  EXPECT_EQ(Scan(), "a=old c=1");
  EXPECT_EQ(writer().Undecided(), "xa");
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Scan(), "a=xa b=xa c=1");
}

// Sections are in a log whose numbers the next log does not continue, though no log is missing.
// The log that has the commit is older than what the MANIFEST needs, and the one that has the
// section is older still.
TEST_F(TwoPhaseRepairTest, AMissingTableComesBackFromLogsThatWereKept) {
  OpenTwoPhase();
  ASSERT_OK(db_->DisableFileDeletions());
  Put("a", "1");
  ASSERT_OK(writer().PreparePuts("xa", {"b"}));
  Flush();
  ASSERT_OK(writer().Commit("xa"));
  Put("c", "1");
  Flush();
  const Contents before = ReadAll();
  Drop();
  writer_.reset();
  std::string table;
  for (const auto& [path, bytes] : memory_->AllFiles()) {
    if (path.ends_with(".sst")) table = path;
  }
  ASSERT_OK(memory_->DeleteFile(table, IOOptions(), nullptr));
  ASSERT_OK(
      RepairWithReport(dir_, options_, {{kDefaultColumnFamilyName, options_}}, options_, &report_));
  OpenAll();
  TakeWriter();
  EXPECT_EQ(ReadAll(), before);
  EXPECT_EQ(writer().Undecided(), "");
}

class GapRepairTest : public TwoPhaseRepairTest {
 protected:
  void PrepareTwo() {
    OpenTwoPhase();
    ASSERT_OK(writer().PreparePuts("xa", {"a"}));
    ASSERT_OK(writer().PreparePuts("xb", {"b"}));
    Put("c", "1");
  }
  // In the next log.
  void CommitOne() {
    Flush();
    ASSERT_OK(writer().Commit("xa"));
    Put("z", "1");
  }
  void CheckBoth() {
    EXPECT_EQ(Get("a"), "xa");
    EXPECT_EQ(Get("z"), "1");
    EXPECT_EQ(writer().Undecided(), "xb");
    EXPECT_EQ(Reported("transaction"), 0u);
  }
};

TEST_F(GapRepairTest, ADamagedPutAtTheEndOfALogForgetsNoSections) {
  PrepareTwo();
  Put("last", "last value in the log");
  CommitOne();
  LoseManifest();
  FlipInOldestLog("last value");
  RepairWithoutManifest();
  CheckBoth();
}

TEST_F(GapRepairTest, AWriteWithoutALogForgetsNoSections) {
  PrepareTwo();
  WriteOptions no_log;
  no_log.disableWAL = true;
  ASSERT_OK(db_->Put(no_log, "no_log", "1"));
  CommitOne();
  RepairWithoutManifest();
  CheckBoth();
}

// A log in between is lost, which may have decided them.
TEST_F(GapRepairTest, SectionsBeforeALostLogStayPrepared) {
  PrepareTwo();
  Flush();
  Put("lost", "1");
  const std::string lost = LogFileName(dir_, FileNumber{LogNumbers().back()});
  Flush();
  ASSERT_OK(writer().Commit("xa"));
  LoseManifest();
  IgnoreError(memory_->DeleteFile(lost, IOOptions(), nullptr), "it may be released already");
  RepairWithoutManifest();
  EXPECT_EQ(Get("a"), "xa");
  EXPECT_EQ(writer().Undecided(), "xb");
  EXPECT_EQ(Reported("a log may be missing"), 1u);
}

// The lost log has decided the first transaction with the name.
TEST_F(GapRepairTest, ANameMayBeUsedAgainBehindALostLog) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  Put("c", "1");
  Flush();
  ASSERT_OK(writer().Rollback("xa"));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}));  // keeps the log
  Put("lost", "1");
  const std::string lost = LogFileName(dir_, FileNumber{LogNumbers().back()});
  const std::string first_bytes = memory_->AllFiles().at(OldestLog());
  const std::string first = OldestLog();
  Flush();
  Put("d", "1");
  ASSERT_OK(writer().PreparePuts("xa", {"a", "again"}));
  LoseManifest();
  memory_->PutFile(first, first_bytes);
  ASSERT_OK(memory_->DeleteFile(lost, IOOptions(), nullptr));
  RepairWithoutManifest();
  EXPECT_EQ(writer().Undecided(), "xa");
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(Get("again"), "xa");
}

TEST_F(GapRepairTest, ACommitWithoutItsSectionIsReported) {
  PrepareTwo();
  CommitOne();
  LoseManifest();
  ASSERT_OK(memory_->DeleteFile(OldestLog(), IOOptions(), nullptr));
  RepairWithoutManifest();
  EXPECT_EQ(Get("a"), "(none)");
  EXPECT_EQ(Reported("decides a transaction whose prepare section is in no log"), 1u);
}

}  // namespace
}  // namespace ashlar
