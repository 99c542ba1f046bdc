// SPDX-License-Identifier: Apache-2.0
//
// Which logs stay because of prepare sections, and when they go.
#include "tests/db/two_phase/two_phase_writer.h"

namespace ashlar {
namespace {

class TwoPhaseLogsTest : public TwoPhaseTest {
 protected:
  // The first log that the MANIFEST asks the next opening to read.
  uint64_t FirstLogNeeded() { return Number("rocksdb.min-log-number-to-keep"); }
  // Puts a key into the default family and flushes it, which begins a new log.
  void NextLog() {
    Put("next");
    Flush();
  }
};

TEST_F(TwoPhaseLogsTest, TheLogOfAnUndecidedSectionStays) {
  OpenTwoPhase();
  const uint64_t first = LogNumbers().back();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  for (int i = 0; i < 3; i++) NextLog();
  EXPECT_EQ(FirstLogNeeded(), first);
  EXPECT_EQ(LogNumbers().front(), first);
  EXPECT_EQ(LogNumbers().size(), 4u) << "logs between it and the current one stay too";
}

TEST_F(TwoPhaseLogsTest, ARollbackFreesIt) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  NextLog();
  ASSERT_OK(writer().Rollback("xa"));
  NextLog();
  EXPECT_EQ(FirstLogNeeded(), LogNumbers().back());
  EXPECT_EQ(LogNumbers().size(), 1u);
}

// The data of the commit is only in the memtable: the marker in the newer log does not have it.
TEST_F(TwoPhaseLogsTest, AfterACommitItStaysUntilTheMemTableIsFlushed) {
  OpenTwoPhase({"default", "f"});
  const uint64_t first = LogNumbers().back();
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put(handles_[1], "a", "1"));
  ASSERT_OK(writer().Prepare("xa"));
  NextLog();
  ASSERT_OK(writer().Commit("xa"));
  NextLog();  // of another family
  EXPECT_EQ(FirstLogNeeded(), first);
  EXPECT_EQ(LogNumbers().front(), first);
  Flush(handles_[1]);
  EXPECT_EQ(FirstLogNeeded(), LogNumbers().back());
  EXPECT_EQ(LogNumbers().size(), 1u);
}

TEST_F(TwoPhaseLogsTest, TheOldestOfSeveralCounts) {
  OpenTwoPhase();
  std::vector<uint64_t> logs;
  for (const std::string xid : {"xa", "xb", "xc"}) {
    logs.push_back(LogNumbers().back());
    ASSERT_OK(writer().PreparePuts(xid, {xid}));
    NextLog();
  }
  ASSERT_OK(writer().Rollback("xb"));
  NextLog();
  EXPECT_EQ(FirstLogNeeded(), logs[0]);
  ASSERT_OK(writer().Commit("xa"));
  EXPECT_EQ(FirstLogNeeded(), logs[0]);
  Flush();
  EXPECT_EQ(FirstLogNeeded(), logs[2]);
}

TEST_F(TwoPhaseLogsTest, AFlushFreesTheLogsOfTheSectionsInItsMemTablesOnly) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  NextLog();
  const uint64_t second = LogNumbers().back();
  ASSERT_OK(writer().PreparePuts("xb", {"b"}));
  ASSERT_OK(writer().Commit("xa"));
  Flush();
  EXPECT_EQ(FirstLogNeeded(), second);
  ASSERT_OK(writer().Commit("xb"));
  EXPECT_EQ(FirstLogNeeded(), second);
  Flush();
  EXPECT_EQ(FirstLogNeeded(), LogNumbers().back());
}

TEST_F(TwoPhaseLogsTest, ADroppedFamilyNeedsNone) {
  OpenTwoPhase({"default", "f"});
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put(handles_[1], "a", "1"));
  ASSERT_OK(writer().Prepare("xa"));
  NextLog();
  ASSERT_OK(writer().Commit("xa"));
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_EQ(FirstLogNeeded(), LogNumbers().back());
}

TEST_F(TwoPhaseLogsTest, AFamilyIsDroppedWhileASectionForItIsUndecided) {
  OpenTwoPhase({"default", "f"});
  const uint64_t first = LogNumbers().back();
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put(handles_[1], "a", "1"));
  ASSERT_OK(batch->Put("b", "1"));
  ASSERT_OK(writer().Prepare("xa"));
  NextLog();
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  NextLog();
  EXPECT_EQ(FirstLogNeeded(), first);
  DestroyHandles();
  ASSERT_OK(db_->Close());
  db_.reset();
  OpenTwoPhase();
  EXPECT_EQ(writer().Undecided(), "xa");
  ASSERT_OK(writer().Commit("xa")) << "the section was accepted when the family was there";
  EXPECT_EQ(Get("b"), "1");
}

TEST_F(TwoPhaseLogsTest, AnAtomicFlushCountsSectionsOfAllItsFamilies) {
  options_.atomic_flush = true;
  OpenTwoPhase({"default", "f"});
  const uint64_t first = LogNumbers().back();
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put("a", "1"));
  ASSERT_OK(batch->Put(handles_[1], "a", "1"));
  ASSERT_OK(writer().Prepare("xa"));
  ASSERT_OK(writer().PreparePuts("xb", {"b"}));
  NextLog();
  ASSERT_OK(writer().Commit("xa"));
  Flush(handles_);
  EXPECT_EQ(FirstLogNeeded(), first) << "xb is undecided";
  ASSERT_OK(writer().Rollback("xb"));
  Put("k");
  Put(handles_[1], "k", "v");
  Flush(handles_);
  EXPECT_EQ(FirstLogNeeded(), LogNumbers().back());
}

// max_total_wal_size flushes the family whose memtable keeps the log of a section.
TEST_F(TwoPhaseLogsTest, TooMuchLogBehindACommittedSectionIsFlushed) {
  options_.max_total_wal_size = 100 << 10;
  OpenTwoPhase({"default", "f"});
  WriteBatch* const batch = writer().Begin("xa");
  ASSERT_OK(batch->Put(handles_[1], "a", "1"));
  ASSERT_OK(writer().Prepare("xa"));
  const uint64_t first = LogNumbers().back();
  NextLog();
  ASSERT_OK(writer().Commit("xa"));
  for (int i = 0; i < 40; i++) Put("k", std::string(10 << 10, 'v'));
  WaitForJobs();
  EXPECT_GT(FirstLogNeeded(), first);
  EXPECT_GT(TableCount(0, handles_[1]), 0);
}

// What is undecided cannot be flushed: more flushes would not help.
TEST_F(TwoPhaseLogsTest, AnUndecidedSectionDoesNotFlushAgainAndAgain) {
  options_.max_total_wal_size = 100 << 10;
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  for (int i = 0; i < 100; i++) {
    Put("k", std::string(10 << 10, 'v'));
    WaitForJobs();  // so that no flush takes two memtables
  }
  EXPECT_EQ(Property("ashlar.prepared-sections").find("1 undecided; the oldest is 7861 (hex)"), 0u);
  ASSERT_OK(writer().Rollback("xa"));
  EXPECT_EQ(Property("ashlar.prepared-sections"), "");
  EXPECT_LE(TableCount(0), 11);
  EXPECT_GT(TableCount(0), 5);
}

TEST_F(TwoPhaseLogsTest, ListsOfLiveFilesHaveTheLogsOfUndecidedSections) {
  OpenTwoPhase();
  ASSERT_OK(writer().PreparePuts("xa", {"a"}));
  NextLog();
  Put("unflushed");
  LiveFilesStorageInfoOptions options;
  options.wal_size_for_flush = UINT64_MAX;
  std::vector<LiveFileStorageInfo> files;
  ASSERT_OK(db_->GetLiveFilesStorageInfo(options, &files));
  std::vector<uint64_t> logs;
  for (const LiveFileStorageInfo& file : files) {
    if (file.file_type == kWalFile) logs.push_back(file.file_number);
  }
  EXPECT_EQ(logs, LogNumbers());
  EXPECT_EQ(TableCount(0), 2) << "what was not flushed is, whatever its size";
}

}  // namespace
}  // namespace ashlar
