// SPDX-License-Identifier: Apache-2.0
//
// Logs that an earlier process kept: in the archive, because deletions were disabled when it
// closed, or because a MANIFEST could not be written. After the next opening they are listed, read,
// aged and deleted like the logs of that opening. The test moves the clock.
#include "env/file_util.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The log that is open when a database closes is kept too, even if its only record is that it
// follows another log. With the parameter true, the logs are in a separate directory.
class KeptLogsTest : public DbTestWith<bool> {
 protected:
  KeptLogsTest() : DbTestWith(TestFiles::kSim) {
    UseSim(SimFS::Create(clock_));
    UseFiles(sim_, clock_);
    options_.WAL_ttl_seconds = 3600;
    if (GetParam()) options_.wal_dir = "/logs";
  }
  std::string LogDir() const { return GetParam() ? "/logs" : "/db"; }

  void PutAndFlush(const std::string& key, size_t bytes = 1) {
    Put(key, std::string(bytes, 'v'));
    Flush();
    WaitForJobs();
  }
  // Keys of all updates, beginning with the oldest one that exists.
  std::string Updates(SequenceNumber since = 1) {
    std::unique_ptr<WalIterator> updates;
    const Status status = db_->GetUpdatesSince(since, &updates);
    if (!status.ok()) return status.IsNotFound() ? "none" : status.ToString();
    struct Keys final : WriteBatch::Handler {
      void Put(const Slice& key, const Slice&) override { keys += key.ToString(); }
      std::string keys;
    } keys;
    for (; updates->Valid(); updates->Next()) {
      EXPECT_OK(updates->GetBatch().writeBatchPtr->Iterate(&keys));
    }
    EXPECT_OK(updates->status());
    return keys.keys;
  }
  struct Listed {
    size_t archived = 0;
    size_t alive = 0;
    friend bool operator==(const Listed&, const Listed&) = default;
  };
  // The logs that GetSortedWalFiles() lists, whose files must exist.
  Listed Logs() {
    VectorWalPtr logs;
    EXPECT_OK(db_->GetSortedWalFiles(logs));
    Listed listed;
    for (const auto& log : logs) {
      ++(log->Type() == kArchivedLogFile ? listed.archived : listed.alive);
      EXPECT_OK(sim_->FileExists(LogDir() + log->PathName(), IOOptions(), nullptr));
    }
    return listed;
  }
  size_t FilesIn(const std::string& dir) {
    size_t count = 0;
    auto names = ListDirectory(sim_.get(), dir);
    if (!names.ok()) return 0;
    for (const std::string& name : *names) count += name.ends_with(".log");
    return count;
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
};

TEST_P(KeptLogsTest, OfTheArchiveAreListedAndReadAgain) {
  Open();
  for (const char* key : {"a", "b", "c"}) PutAndFlush(key);
  Reopen();
  EXPECT_EQ(Logs().archived, 3u + 1);
  Put("d");
  EXPECT_EQ(Logs(), (Listed{.archived = 3 + 1, .alive = 1}));
  EXPECT_EQ(Updates(), "abcd");
}

TEST_P(KeptLogsTest, AreAsOldAsTheyAre) {
  Open();
  PutAndFlush("a");
  clock_->moved_by_seconds = 3000;
  PutAndFlush("b");
  Close();
  clock_->moved_by_seconds = 5000;  // one log becomes too old while the database is closed
  Open();
  EXPECT_EQ(Logs().archived, 1u + 1);
  EXPECT_EQ(Updates(), "b");
  clock_->moved_by_seconds = 9000;
  PutAndFlush("c");
  EXPECT_EQ(Updates(), "c");
}

TEST_P(KeptLogsTest, FitIntoTheLimitOfThisProcess) {
  Open();
  for (const char* key : {"a", "b", "c", "d", "e"}) PutAndFlush(key, 400 << 10);
  options_.WAL_size_limit_MB = 1;
  Reopen();
  EXPECT_EQ(Logs().archived, 2u + 1);
  EXPECT_EQ(Updates(), "de");
}

// As in RocksDB, a process without limits lists the archive and does not delete logs there.
TEST_P(KeptLogsTest, StayWhereNobodyAsksForAnArchive) {
  Open();
  for (const char* key : {"a", "b"}) PutAndFlush(key);
  options_.WAL_ttl_seconds = 0;
  Reopen();
  EXPECT_EQ(Logs().archived, 2u);
  EXPECT_EQ(Updates(), "ab");
  PutAndFlush("c");  // its log is deleted
  EXPECT_EQ(Logs().archived, 2u);
  options_.WAL_ttl_seconds = 1000;
  clock_->moved_by_seconds = 2000;
  Reopen();
  EXPECT_EQ(Logs().archived, 1u) << "the log that was open before";
  EXPECT_EQ(FilesIn(LogDir() + "/archive"), 1u);
}

TEST_P(KeptLogsTest, OfAProcessThatClosedWithDeletionsDisabled) {
  for (const bool has_archive : {true, false}) {
    options_.WAL_ttl_seconds = has_archive ? 3600 : 0;
    Open();
    ASSERT_OK(db_->DisableFileDeletions());
    for (const char* key : {"a", "b", "c"}) PutAndFlush(key);
    EXPECT_EQ(Logs().alive, 3u);
    EXPECT_EQ(Updates(), "abc");
    Reopen();
    // The log that was open then is kept too.
    EXPECT_EQ(Logs(), (Listed{.archived = has_archive ? 4u : 0u, .alive = 0}));
    EXPECT_EQ(Updates(), has_archive ? "abc" : "none");
    EXPECT_LE(FilesIn(LogDir()), 2u) << "the log of this process, and the next one";
    EXPECT_EQ(FilesIn(LogDir() + "/archive"), has_archive ? 4u : 0u);
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

// The MANIFEST does not name the tables, so the logs are needed until the next flush.
TEST_P(KeptLogsTest, OfAProcessThatCouldNotWriteItsManifest) {
  for (const CallKind kind : {CallKind::kAppend, CallKind::kSync}) {
    Open();
    PutAndFlush("a");
    Fail(kind, "MANIFEST", FaultMode::kSticky);
    Put("b");
    EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
    Drop();
    sim_->ClearFaults();
    Open();
    EXPECT_EQ(Updates(), "ab");
    Put("c");
    EXPECT_EQ(Updates(), "abc");
    PutAndFlush("d");
    EXPECT_EQ(Updates(), "abcd");
    EXPECT_LE(FilesIn(LogDir()), 2u);
    for (const char* key : {"a", "b", "c", "d"}) EXPECT_EQ(Get(key), "v") << key;
    Close();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_P(KeptLogsTest, AreFoundAfterAKill) {
  Open();
  ASSERT_OK(db_->DisableFileDeletions());
  for (const char* key : {"a", "b"}) PutAndFlush(key);
  ASSERT_OK(db_->EnableFileDeletions());
  PutAndFlush("c");
  Kill();
  UseFiles(sim_, clock_);
  Open();
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(1, &updates));
  for (SequenceNumber seqno = 1; seqno <= 3; ++seqno, updates->Next()) {
    ASSERT_TRUE(updates->Valid()) << seqno << ": " << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, seqno);
  }
}

INSTANTIATE_TEST_SUITE_P(Places, KeptLogsTest, testing::Bool());

}  // namespace
}  // namespace ashlar
