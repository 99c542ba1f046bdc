// SPDX-License-Identifier: Apache-2.0
//
// Logs that an earlier process kept: in the archive, because deletions were disabled when it
// closed, or because a MANIFEST could not be written. After the next opening they are listed, read,
// aged and deleted like those of this one. The clock is moved by hand.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "env/env_adaptors.h"
#include "env/file_util.h"
#include "env/sim/sim_fs.h"
#include "tests/support/moved_clock.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The log that is open when a database closes is kept too, though nothing may be in it but that it
// follows another one. The parameter: logs in a directory of their own.
class KeptLogsTest : public testing::TestWithParam<bool> {
 protected:
  KeptLogsTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.WAL_ttl_seconds = 3600;
    if (GetParam()) options_.wal_dir = "/logs";
  }
  std::string LogDir() const { return GetParam() ? "/logs" : "/db"; }

  void Open() { ASSERT_OK(opened_.Open(options_, "/db")); }
  void Reopen() {
    ASSERT_OK(opened_.Close());
    Open();
  }
  void PutAndFlush(const std::string& key, size_t bytes = 1) {
    ASSERT_OK(opened_.db()->Put(WriteOptions(), key, std::string(bytes, 'v')));
    ASSERT_OK(opened_.db()->Flush(FlushOptions()));
    ASSERT_OK(opened_.db()->WaitForCompact(WaitForCompactOptions()));
  }
  // Keys of all updates from the first one on that is there.
  std::string Updates(SequenceNumber since = 1) {
    std::unique_ptr<WalIterator> updates;
    const Status status = opened_.db()->GetUpdatesSince(since, &updates);
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
  // As GetSortedWalFiles() lists them; the files are where it says.
  Listed Logs() {
    VectorWalPtr logs;
    EXPECT_OK(opened_.db()->GetSortedWalFiles(logs));
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
  const std::shared_ptr<SimFS> sim_ = SimFS::Create(clock_);
  const std::unique_ptr<Env> env_ = NewCompositeEnvOver(Env::Default(), sim_, clock_);
  Options options_;
  OpenedDb opened_;
};

TEST_P(KeptLogsTest, OfTheArchiveAreListedAndReadAgain) {
  Open();
  for (const char* key : {"a", "b", "c"}) PutAndFlush(key);
  Reopen();
  EXPECT_EQ(Logs().archived, 3u + 1);
  ASSERT_OK(opened_.db()->Put(WriteOptions(), "d", "v"));
  EXPECT_EQ(Logs(), (Listed{.archived = 3 + 1, .alive = 1}));
  EXPECT_EQ(Updates(), "abcd");
}

TEST_P(KeptLogsTest, AreAsOldAsTheyAre) {
  Open();
  PutAndFlush("a");
  clock_->moved_by_seconds = 3000;
  PutAndFlush("b");
  ASSERT_OK(opened_.Close());
  clock_->moved_by_seconds = 5000;  // one is too old, and nobody was there to see it
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

// As in RocksDB a process without limits leaves an archive alone, and shows it.
TEST_P(KeptLogsTest, StayWhereNobodyAsksForAnArchive) {
  Open();
  for (const char* key : {"a", "b"}) PutAndFlush(key);
  options_.WAL_ttl_seconds = 0;
  Reopen();
  EXPECT_EQ(Logs().archived, 2u);
  EXPECT_EQ(Updates(), "ab");
  PutAndFlush("c");  // whose log goes
  EXPECT_EQ(Logs().archived, 2u);
  options_.WAL_ttl_seconds = 1000;
  clock_->moved_by_seconds = 2000;
  Reopen();
  EXPECT_EQ(Logs().archived, 1u) << "the one that was open just now";
  EXPECT_EQ(FilesIn(LogDir() + "/archive"), 1u);
}

TEST_P(KeptLogsTest, OfAProcessThatClosedWithDeletionsDisabled) {
  for (const bool has_archive : {true, false}) {
    options_.WAL_ttl_seconds = has_archive ? 3600 : 0;
    Open();
    ASSERT_OK(opened_.db()->DisableFileDeletions());
    for (const char* key : {"a", "b", "c"}) PutAndFlush(key);
    EXPECT_EQ(Logs().alive, 3u);
    EXPECT_EQ(Updates(), "abc");
    Reopen();
    // The log that was open then goes with them.
    EXPECT_EQ(Logs(), (Listed{.archived = has_archive ? 4u : 0u, .alive = 0}));
    EXPECT_EQ(Updates(), has_archive ? "abc" : "none");
    EXPECT_LE(FilesIn(LogDir()), 2u) << "that of this process, and the next one";
    EXPECT_EQ(FilesIn(LogDir() + "/archive"), has_archive ? 4u : 0u);
    ASSERT_OK(opened_.Close());
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

// The tables are there, and the MANIFEST does not name them: the logs are needed, and then go.
TEST_P(KeptLogsTest, OfAProcessThatCouldNotWriteItsManifest) {
  for (const CallKind kind : {CallKind::kAppend, CallKind::kSync}) {
    Open();
    PutAndFlush("a");
    FaultPlan plan;
    plan.kinds = KindBit(kind);
    plan.path_part = "MANIFEST";
    plan.mode = FaultMode::kSticky;
    plan.first_call = sim_->CallCount();
    sim_->AddFault(plan);
    ASSERT_OK(opened_.db()->Put(WriteOptions(), "b", "v"));
    EXPECT_FALSE(opened_.db()->Flush(FlushOptions()).ok());
    IgnoreError(opened_.Close(), "the error stands");
    sim_->ClearFaults();
    Open();
    EXPECT_EQ(Updates(), "ab");
    ASSERT_OK(opened_.db()->Put(WriteOptions(), "c", "v"));
    EXPECT_EQ(Updates(), "abc");
    PutAndFlush("d");
    EXPECT_EQ(Updates(), "abcd");
    EXPECT_LE(FilesIn(LogDir()), 2u);
    std::string value;
    for (const char* key : {"a", "b", "c", "d"}) {
      EXPECT_OK(opened_.db()->Get(ReadOptions(), key, &value)) << key;
    }
    ASSERT_OK(opened_.Close());
    ASSERT_OK(DestroyDB("/db", options_));
  }
}

TEST_P(KeptLogsTest, AreFoundAfterAKill) {
  Open();
  ASSERT_OK(opened_.db()->DisableFileDeletions());
  for (const char* key : {"a", "b"}) PutAndFlush(key);
  ASSERT_OK(opened_.db()->EnableFileDeletions());
  PutAndFlush("c");
  const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kAll);
  const std::unique_ptr<Env> env = NewCompositeEnvOver(Env::Default(), image, clock_);
  options_.env = env.get();
  OpenedDb killed;
  ASSERT_OK(killed.Open(options_, "/db"));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(killed.db()->GetUpdatesSince(1, &updates));
  for (SequenceNumber seqno = 1; seqno <= 3; ++seqno, updates->Next()) {
    ASSERT_TRUE(updates->Valid()) << seqno << ": " << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, seqno);
  }
  updates.reset();
  ASSERT_OK(killed.Close());
}

INSTANTIATE_TEST_SUITE_P(Places, KeptLogsTest, testing::Bool());

}  // namespace
}  // namespace ashlar
