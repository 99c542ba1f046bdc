// SPDX-License-Identifier: Apache-2.0
//
// DB::GetUpdatesSince, and the archive that keeps logs for it.
#include <atomic>
#include <functional>
#include <thread>

#include "ashlar/file_system_wrapper.h"
#include "ashlar/sst_file_writer.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// With a clock that the test moves.
class UpdatesTest : public DbTest {
 protected:
  UpdatesTest() : DbTest(TestFiles::kSim) {
    UseSim(SimFS::Create(clock_));
    UseFiles(sim_, clock_);
    options_.WAL_ttl_seconds = 3600;
  }

  // Also waits until the obsolete logs are archived.
  void Flush() {
    if (handles_.empty()) {
      DbTest::Flush();
    } else {
      DbTest::Flush(handles_);
    }
    WaitForJobs();
  }
  std::unique_ptr<WalIterator> Since(SequenceNumber seqno) {
    std::unique_ptr<WalIterator> updates;
    status_ = db_->GetUpdatesSince(seqno, &updates);
    return updates;
  }
  // Applies the rest of the batches and returns the sequence number of the first one.
  SequenceNumber ApplyTo(DB* replica, WalIterator* updates) {
    SequenceNumber first = 0;
    for (; updates->Valid(); updates->Next()) {
      BatchResult batch = updates->GetBatch();
      if (first == 0) first = batch.sequence;
      EXPECT_OK(replica->Write(WriteOptions(), batch.writeBatchPtr.get()));
    }
    return first;
  }
  std::vector<std::string> Logs() {
    VectorWalPtr logs;
    EXPECT_OK(db_->GetSortedWalFiles(logs));
    std::vector<std::string> names;
    for (const auto& log : logs) {
      names.push_back(StrCat(log->PathName(), log->Type() == kAliveLogFile ? "" : "!", "@",
                             log->StartSequence()));
    }
    return names;
  }
  size_t ArchivedCount() {
    size_t count = 0;
    for (const std::string& log : Logs()) count += log.find('!') != std::string::npos;
    return count;
  }

  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
  Status status_;
};

// Calls a function before a log is moved to the archive.
class ArchiveWatch final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "ArchiveWatch"; }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    if (to.find("/archive/") != std::string::npos) before_archiving();
    return FileSystemWrapper::RenameFile(from, to, options, dbg);
  }
  std::function<void()> before_archiving = [] {};
};

// The log is obsolete, and not in the archive yet.
TEST_F(UpdatesTest, ALogOnItsWayToTheArchiveIsNotMissed) {
  const auto watch = std::make_shared<ArchiveWatch>(sim_);
  UseFiles(watch, clock_);
  Open();
  Put("a");
  std::vector<std::string> logs;
  SequenceNumber first = 0;
  watch->before_archiving = [&] {
    logs = Logs();
    const auto updates = Since(1);
    if (status_.ok()) first = updates->GetBatch().sequence;
  };
  Flush();
  ASSERT_FALSE(logs.empty());
  EXPECT_TRUE(logs[0].ends_with("@1")) << logs[0];
  EXPECT_EQ(first, 1u);
  EXPECT_EQ(ArchivedCount(), 1u);
}

TEST_F(UpdatesTest, LogsThatHoldNothingAreNotListed) {
  Open();
  EXPECT_TRUE(Logs().empty());
  Put("a");
  EXPECT_EQ(Logs().size(), 1u);
}

TEST_F(UpdatesTest, RebuildAnotherDatabase) {
  Open({"default", "other"});
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 20; i++) {
      WriteBatch batch;
      ASSERT_OK(batch.Put(handles_[0], StrCat("k", i), StrCat("v", round)));
      ASSERT_OK(batch.Put(handles_[1], StrCat("k", i), StrCat("w", round)));
      if (i % 5 == 0) {
        ASSERT_OK(batch.DeleteRange(handles_[1], "k1", "k11"));
      }
      Write(&batch);
    }
    if (round < 3) Flush();
  }
  EXPECT_EQ(ArchivedCount(), 3u);
  TestDb replica(sim_, options_);
  replica.dir() = "/replica";
  replica.Open({"default", "other"});
  const std::unique_ptr<WalIterator> updates = Since(1);
  ASSERT_OK(status_);
  EXPECT_EQ(ApplyTo(replica.db(), updates.get()), 1u);
  EXPECT_OK(updates->status());
  EXPECT_EQ(replica.db()->GetLatestSequenceNumber(), db_->GetLatestSequenceNumber());
  EXPECT_EQ(replica.ReadAll(), ReadAll());
}

TEST_F(UpdatesTest, BeginWithTheBatchThatHoldsTheNumber) {
  Open();
  Put("first");
  WriteBatch batch;
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(batch.Put(key, "v"));
  Write(&batch);
  Put("last");
  for (const auto& [since, begin] : {std::pair{1, 1}, {2, 2}, {3, 2}, {4, 2}, {5, 5}}) {
    const auto updates = Since(static_cast<SequenceNumber>(since));
    ASSERT_OK(status_);
    EXPECT_EQ(updates->GetBatch().sequence, static_cast<SequenceNumber>(begin)) << since;
  }
  EXPECT_EQ(Since(6), nullptr);
  EXPECT_TRUE(status_.IsNotFound()) << "not written yet";
}

TEST_F(UpdatesTest, OfAnEmptyDatabaseBeginAtTheirEndAndGoOn) {
  Open();
  const auto updates = Since(0);
  ASSERT_OK(status_);
  EXPECT_FALSE(updates->Valid());
  Put("a");
  updates->Next();
  ASSERT_TRUE(updates->Valid());
  EXPECT_EQ(updates->GetBatch().sequence, 1u);
}

TEST_F(UpdatesTest, GoOnWhileTheDatabaseWrites) {
  Open();
  Put("a");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  SequenceNumber expected = 1;
  for (int i = 0; i < 6; i++) {
    ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, expected++);
    updates->Next();
    EXPECT_FALSE(updates->Valid());
    EXPECT_OK(updates->status());
    if (i % 2 == 0) Flush();  // begins another log, and this one goes to the archive
    Put("b");
    updates->Next();
  }
}

TEST_F(UpdatesTest, BeginBehindWhatIsGone) {
  options_.WAL_ttl_seconds = 0;
  Open();
  Put("gone");
  Flush();
  Put("here");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  EXPECT_EQ(updates->GetBatch().sequence, 2u);
  EXPECT_EQ(Logs().size(), 1u);
  Flush();
  EXPECT_EQ(Since(1), nullptr);
  EXPECT_TRUE(status_.IsNotFound());
  EXPECT_NE(status_.ToString().find("WAL_ttl_seconds"), std::string::npos);
}

TEST_F(UpdatesTest, EndWhereTheLogsHaveAHole) {
  Open();
  Put("a");
  ASSERT_OK(db_->Put(Unlogged(), "b", "v"));
  Put("c");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  updates->Next();
  EXPECT_FALSE(updates->Valid());
  EXPECT_TRUE(updates->status().IsNotFound());
  EXPECT_NE(updates->status().ToString().find("expected 2, found 3"), std::string::npos)
      << updates->status().ToString();
  EXPECT_EQ(Since(2)->GetBatch().sequence, 3u) << "an iterator may begin behind the hole";
}

TEST_F(UpdatesTest, EndWhereATableWasIngested) {
  Open();
  Put("a");
  SstFileWriter writer{EnvOptions(), options_};
  ASSERT_OK(writer.Open("/table"));
  ASSERT_OK(writer.Put("a", "w"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({"/table"}, IngestExternalFileOptions()));
  Put("c");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  updates->Next();
  EXPECT_FALSE(updates->Valid());
  EXPECT_TRUE(updates->status().IsNotFound()) << updates->status().ToString();
}

TEST_F(UpdatesTest, AFailedCallLeavesTheIteratorOfTheCaller) {
  Open();
  Put("a");
  std::unique_ptr<WalIterator> updates = Since(1);
  ASSERT_OK(status_);
  const WalIterator* const before = updates.get();
  EXPECT_TRUE(db_->GetUpdatesSince(100, &updates).IsNotFound());
  ASSERT_EQ(updates.get(), before);
  EXPECT_EQ(updates->GetBatch().sequence, 1u);
}

TEST_F(UpdatesTest, ShowWhatWasFlushedOfAManualLog) {
  options_.manual_wal_flush = true;
  Open();
  Put("a");
  EXPECT_EQ(Since(1), nullptr) << "the log is in memory only";
  ASSERT_OK(db_->FlushWAL(false));
  const auto updates = Since(1);
  ASSERT_OK(status_);
  EXPECT_EQ(updates->GetBatch().sequence, 1u);
}

TEST_F(UpdatesTest, AreKeptOverRestartsAndKills) {
  Open();
  Put("a");
  Flush();
  Put("b");
  Reopen();  // b goes to a table, its log to the archive
  EXPECT_EQ(ArchivedCount(), 2u);
  Put("c");
  Kill();
  Open();
  Put("d");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  for (SequenceNumber expected = 1; expected <= 4; expected++, updates->Next()) {
    ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, expected);
  }
  EXPECT_FALSE(updates->Valid());
  EXPECT_OK(updates->status());
}

// The records that a failed write left in its log are not shown.
TEST_F(UpdatesTest, DoNotShowWritesThatFailed) {
  Open();
  Put("a");
  const std::string path = "/db" + Logs().back().substr(0, Logs().back().find('@'));
  Fail(CallKind::kSync, path);
  EXPECT_FALSE(db_->Put(Synced(), "failed", "v").ok());
  sim_->ClearFaults();
  ASSERT_OK(db_->Resume());
  Put("b");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  for (; updates->Valid(); updates->Next()) {
    EXPECT_EQ(updates->GetBatch().writeBatchPtr->Data().find("failed"), std::string::npos);
  }
  EXPECT_EQ(ArchivedCount(), 0u);
}

// The log before it is an ordinary obsolete one.
TEST_F(UpdatesTest, ShowTheLogBeforeTheOneThatFailed) {
  Open({"default", "cold"});
  Put(handles_[0], "a", "v");
  Put(handles_[1], "b", "v");
  DbTest::Flush(handles_[0]);  // "cold" keeps the log
  EXPECT_EQ(ArchivedCount(), 0u);
  Put(handles_[0], "c", "v");
  ASSERT_EQ(Logs().size(), 2u);
  const std::string path = "/db" + Logs().back().substr(0, Logs().back().find('@'));
  Fail(CallKind::kSync, path);
  EXPECT_FALSE(db_->Put(Synced(), "failed", "v").ok());
  sim_->ClearFaults();
  ASSERT_OK(db_->Resume());
  WaitForJobs();
  EXPECT_EQ(ArchivedCount(), 1u);
  const auto updates = Since(1);
  ASSERT_OK(status_);
  for (const SequenceNumber expected : {1, 2}) {
    ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, expected);
    updates->Next();
  }
  EXPECT_FALSE(updates->Valid()) << "the log behind it may hold writes that were refused";
}

// An iterator that is in that log already does not show them either: the bytes are in the file, but
// the write returned an error.
TEST_F(UpdatesTest, DoNotGoOnToWritesThatFailed) {
  for (const bool is_released : {false, true}) {
    Open();
    Put("a");
    std::unique_ptr<WalIterator> updates = Since(db_->GetLatestSequenceNumber());
    ASSERT_OK(status_);
    ASSERT_TRUE(updates->Valid());
    updates->Next();
    ASSERT_FALSE(updates->Valid());
    Fail(CallKind::kAppend, ".log", FaultMode::kOnce, FaultError::kIO, FaultEffect::kFull);
    EXPECT_FALSE(db_->Put(WriteOptions(), "failed", "v").ok());
    sim_->ClearFaults();
    if (is_released) {
      ASSERT_OK(db_->Resume());
    }
    updates->Next();
    EXPECT_FALSE(updates->Valid());
    if (!is_released) {
      ASSERT_OK(db_->Resume());
    }
    updates->Next();
    EXPECT_FALSE(updates->Valid());
    EXPECT_EQ(Get("failed"), "(none)");
    updates.reset();
    Close();
  }
}

TEST_F(UpdatesTest, ArchivedLogsGoWhenTheyAreOld) {
  Open();
  Put("a");
  Flush();
  EXPECT_EQ(ArchivedCount(), 1u);
  clock_->moved_by_seconds = 3000;
  Put("b");
  Flush();
  EXPECT_EQ(ArchivedCount(), 2u);
  clock_->moved_by_seconds = 5000;
  Put("c");
  Flush();
  EXPECT_EQ(ArchivedCount(), 2u) << "the first is gone";
  EXPECT_EQ(Since(1)->GetBatch().sequence, 2u);
}

TEST_F(UpdatesTest, ArchivedLogsGoWhenTheyAreTooMuch) {
  options_.WAL_ttl_seconds = 0;
  options_.WAL_size_limit_MB = 1;
  Open();
  const std::string value(300 << 10, 'v');
  for (int i = 0; i < 8; i++) {
    Put(StrCat("k", i), value);
    Flush();
  }
  EXPECT_EQ(ArchivedCount(), 3u);
  EXPECT_EQ(Since(1)->GetBatch().sequence, 6u);
}

TEST_F(UpdatesTest, NothingGoesWhileDeletionsAreDisabled) {
  options_.WAL_ttl_seconds = 0;
  options_.WAL_size_limit_MB = 1;
  Open();
  ASSERT_OK(db_->DisableFileDeletions());
  const std::string value(700 << 10, 'v');
  for (int i = 0; i < 4; i++) {
    Put(StrCat("k", i), value);
    Flush();
  }
  EXPECT_EQ(Logs().size(), 4u);  // nothing is written to the fifth
  ASSERT_OK(db_->EnableFileDeletions());
  EXPECT_EQ(ArchivedCount(), 1u);
}

TEST_F(UpdatesTest, ADestroyedDatabaseLeavesNoArchive) {
  Open();
  Put("a");
  Flush();
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  EXPECT_TRUE(sim_->FileExists("/db", IOOptions(), nullptr).IsNotFound());
}

// RocksDB's contract does not name an order, and its iterators may be deleted after the database.
TEST_F(UpdatesTest, AnIteratorMayBeDeletedAfterTheDatabase) {
  for (const size_t kept_logs : {0, 2}) {
    SCOPED_TRACE(kept_logs);
    options_.WAL_ttl_seconds = kept_logs == 0 ? 3600 : 0;  // with an archive no log is recycled
    options_.recycle_log_file_num = kept_logs;
    Open();
    Put("a");
    auto updates = Since(1);
    ASSERT_OK(status_);
    EXPECT_TRUE(updates->Valid());
    Close();
    updates.reset();
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_F(UpdatesTest, ReadersInAnotherThreadMissNothing) {
  constexpr int kWriters = 2, kPuts = 2000;
  options_.write_buffer_size = 64 << 10;
  Open();
  Put("first");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  std::vector<std::thread> writers;
  std::atomic<int> failures{0};
  for (int writer = 0; writer < kWriters; writer++) {
    writers.emplace_back([this, writer, &failures] {
      const std::string value(100, 'v');
      for (int i = 0; i < kPuts; i++) {
        const std::string key = StrCat(writer, "_", i);
        failures += !db_->Put(WriteOptions(), key, value).ok();
      }
    });
  }
  SequenceNumber expected = 1;
  while (expected <= kWriters * kPuts + 1 && updates->status().ok()) {
    for (; updates->Valid(); updates->Next()) {
      ASSERT_EQ(updates->GetBatch().sequence, expected++);
    }
    std::this_thread::yield();
    updates->Next();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_OK(updates->status());
  EXPECT_EQ(failures.load(), 0);
}

}  // namespace
}  // namespace ashlar
