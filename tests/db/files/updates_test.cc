// SPDX-License-Identifier: Apache-2.0
//
// DB::GetUpdatesSince, and the archive that keeps logs for it.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/sst_file_writer.h"
#include "env/env_adaptors.h"
#include "env/sim/sim_fs.h"
#include "tests/support/moved_clock.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// In what a machine could have after a crash; the clock is moved by hand.
class UpdatesTest : public testing::Test {
 protected:
  UpdatesTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.WAL_ttl_seconds = 3600;
    no_log_.disableWAL = true;
  }

  void Open() { ASSERT_OK(opened_.Open(options_, "/db")); }
  void Reopen() {
    ASSERT_OK(opened_.Close());
    Open();
  }
  DB* db() { return opened_.db(); }
  void Put(const std::string& key, const std::string& value = "v") {
    ASSERT_OK(db()->Put(WriteOptions(), key, value));
  }
  // And waits for the job that did it to clean up.
  void Flush() {
    ASSERT_OK(db()->Flush(FlushOptions(), opened_.handles()));
    ASSERT_OK(db()->WaitForCompact(WaitForCompactOptions()));
  }
  std::unique_ptr<WalIterator> Since(SequenceNumber seqno) {
    std::unique_ptr<WalIterator> updates;
    status_ = db()->GetUpdatesSince(seqno, &updates);
    return updates;
  }
  // Applies batches until there are no more; the sequence number of the first of them.
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
    EXPECT_OK(db()->GetSortedWalFiles(logs));
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
  const std::shared_ptr<SimFS> sim_ = SimFS::Create(clock_);
  const std::unique_ptr<Env> env_ = NewCompositeEnvOver(Env::Default(), sim_, clock_);
  Options options_;
  WriteOptions no_log_;
  OpenedDb opened_;
  Status status_;
};

// Calls back before a log goes to the archive.
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

// It is needed no more, and not in the archive yet.
TEST_F(UpdatesTest, ALogOnItsWayToTheArchiveIsNotMissed) {
  const auto watch = std::make_shared<ArchiveWatch>(sim_);
  const std::unique_ptr<Env> env = NewCompositeEnvOver(Env::Default(), watch, clock_);
  options_.env = env.get();
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
  ASSERT_OK(opened_.Close());
}

TEST_F(UpdatesTest, LogsThatHoldNothingAreNotListed) {
  Open();
  EXPECT_TRUE(Logs().empty());
  Put("a");
  EXPECT_EQ(Logs().size(), 1u);
}

TEST_F(UpdatesTest, RebuildAnotherDatabase) {
  Open();
  ASSERT_OK(opened_.CreateFamily(options_, "other"));
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 20; i++) {
      WriteBatch batch;
      ASSERT_OK(batch.Put(opened_.handles()[0], StrCat("k", i), StrCat("v", round)));
      ASSERT_OK(batch.Put(opened_.handles()[1], StrCat("k", i), StrCat("w", round)));
      if (i % 5 == 0) {
        ASSERT_OK(batch.DeleteRange(opened_.handles()[1], "k1", "k11"));
      }
      ASSERT_OK(db()->Write(WriteOptions(), &batch));
    }
    if (round < 3) Flush();
  }
  EXPECT_EQ(ArchivedCount(), 3u);
  OpenedDb replica;
  ASSERT_OK(replica.Open(options_, "/replica"));
  ASSERT_OK(replica.CreateFamily(options_, "other"));
  const std::unique_ptr<WalIterator> updates = Since(1);
  ASSERT_OK(status_);
  EXPECT_EQ(ApplyTo(replica.db(), updates.get()), 1u);
  EXPECT_OK(updates->status());
  EXPECT_EQ(replica.db()->GetLatestSequenceNumber(), db()->GetLatestSequenceNumber());
  Contents expected, found;
  ASSERT_OK(opened_.ReadAll(&expected));
  ASSERT_OK(replica.ReadAll(&found));
  EXPECT_EQ(found, expected);
}

TEST_F(UpdatesTest, BeginWithTheBatchThatHoldsTheNumber) {
  Open();
  Put("first");
  WriteBatch batch;
  for (const char* key : {"a", "b", "c"}) ASSERT_OK(batch.Put(key, "v"));
  ASSERT_OK(db()->Write(WriteOptions(), &batch));
  Put("last");
  for (const auto& [since, begin] : {std::pair{1, 1}, {2, 2}, {3, 2}, {4, 2}, {5, 5}}) {
    const auto updates = Since(static_cast<SequenceNumber>(since));
    ASSERT_OK(status_);
    EXPECT_EQ(updates->GetBatch().sequence, static_cast<SequenceNumber>(begin)) << since;
  }
  EXPECT_EQ(Since(6), nullptr);
  EXPECT_TRUE(status_.IsNotFound()) << "not written yet";
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
    if (i % 2 == 0) Flush();  // another log, and this one goes to the archive
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
  ASSERT_OK(db()->Put(no_log_, "b", "v"));
  Put("c");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  updates->Next();
  EXPECT_FALSE(updates->Valid());
  EXPECT_TRUE(updates->status().IsNotFound());
  EXPECT_NE(updates->status().ToString().find("expected 2, found 3"), std::string::npos)
      << updates->status().ToString();
  EXPECT_EQ(Since(2)->GetBatch().sequence, 3u) << "but may begin behind it";
}

TEST_F(UpdatesTest, EndWhereATableWasIngested) {
  Open();
  Put("a");
  SstFileWriter writer{EnvOptions(), options_};
  ASSERT_OK(writer.Open("/table"));
  ASSERT_OK(writer.Put("a", "w"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db()->IngestExternalFile({"/table"}, IngestExternalFileOptions()));
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
  EXPECT_TRUE(db()->GetUpdatesSince(100, &updates).IsNotFound());
  ASSERT_EQ(updates.get(), before);
  EXPECT_EQ(updates->GetBatch().sequence, 1u);
}

TEST_F(UpdatesTest, ShowWhatWasFlushedOfAManualLog) {
  options_.manual_wal_flush = true;
  Open();
  Put("a");
  EXPECT_EQ(Since(1), nullptr) << "it is still in memory";
  ASSERT_OK(db()->FlushWAL(false));
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
  const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kAll);
  const std::unique_ptr<Env> env = NewCompositeEnv(image);
  options_.env = env.get();
  OpenedDb killed;
  ASSERT_OK(killed.Open(options_, "/db"));
  ASSERT_OK(killed.db()->Put(WriteOptions(), "d", "v"));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(killed.db()->GetUpdatesSince(1, &updates));
  for (SequenceNumber expected = 1; expected <= 4; expected++, updates->Next()) {
    ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, expected);
  }
  EXPECT_FALSE(updates->Valid());
  EXPECT_OK(updates->status());
  updates.reset();
  ASSERT_OK(killed.Close());
}

// What a failed write left in its log never happened.
TEST_F(UpdatesTest, DoNotShowWritesThatFailed) {
  Open();
  Put("a");
  const std::string path = "/db" + Logs().back().substr(0, Logs().back().find('@'));
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  plan.path_part = path;
  plan.first_call = sim_->CallCount();
  sim_->AddFault(plan);
  WriteOptions sync;
  sync.sync = true;
  EXPECT_FALSE(db()->Put(sync, "failed", "v").ok());
  sim_->ClearFaults();
  ASSERT_OK(db()->Resume());
  Put("b");
  const auto updates = Since(1);
  ASSERT_OK(status_);
  for (; updates->Valid(); updates->Next()) {
    EXPECT_EQ(updates->GetBatch().writeBatchPtr->Data().find("failed"), std::string::npos);
  }
  EXPECT_EQ(ArchivedCount(), 0u);
}

// Nor for whoever stands in that log already: the bytes are there, but the write was refused.
TEST_F(UpdatesTest, DoNotGoOnToWritesThatFailed) {
  for (const bool is_released : {false, true}) {
    Open();
    Put("a");
    std::unique_ptr<WalIterator> updates = Since(db()->GetLatestSequenceNumber());
    ASSERT_OK(status_);
    ASSERT_TRUE(updates->Valid());
    updates->Next();
    ASSERT_FALSE(updates->Valid());
    FaultPlan plan;
    plan.kinds = KindBit(CallKind::kAppend);
    plan.path_part = ".log";
    plan.effect = FaultEffect::kFull;
    plan.first_call = sim_->CallCount();
    sim_->AddFault(plan);
    EXPECT_FALSE(db()->Put(WriteOptions(), "failed", "v").ok());
    sim_->ClearFaults();
    if (is_released) {
      ASSERT_OK(db()->Resume());
    }
    updates->Next();
    EXPECT_FALSE(updates->Valid());
    if (!is_released) {
      ASSERT_OK(db()->Resume());
    }
    updates->Next();
    EXPECT_FALSE(updates->Valid());
    std::string value;
    EXPECT_TRUE(db()->Get(ReadOptions(), "failed", &value).IsNotFound());
    updates.reset();
    ASSERT_OK(opened_.Close());
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
  ASSERT_OK(db()->DisableFileDeletions());
  const std::string value(700 << 10, 'v');
  for (int i = 0; i < 4; i++) {
    Put(StrCat("k", i), value);
    Flush();
  }
  EXPECT_EQ(Logs().size(), 4u);  // nothing is written to the fifth
  ASSERT_OK(db()->EnableFileDeletions());
  EXPECT_EQ(ArchivedCount(), 1u);
}

TEST_F(UpdatesTest, ADestroyedDatabaseLeavesNoArchive) {
  Open();
  Put("a");
  Flush();
  ASSERT_OK(opened_.Close());
  ASSERT_OK(DestroyDB("/db", options_));
  EXPECT_TRUE(sim_->FileExists("/db", IOOptions(), nullptr).IsNotFound());
}

// RocksDB's contract says nothing of the order, and its iterators may go last.
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
    ASSERT_OK(opened_.Close());
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
        failures += !db()->Put(WriteOptions(), key, value).ok();
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
