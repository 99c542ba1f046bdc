// SPDX-License-Identifier: Apache-2.0
//
// recycle_log_file_num: new logs are written over obsolete ones, and the records of those never
// come back. With both kinds of logs.
#include <algorithm>

#include "ashlar/sst_file_writer.h"
#include "ashlar/utilities/checkpoint.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

enum class LogKind { kBuffered, kMapped };

class RecycledLogs : public DbTestWith<LogKind> {
 protected:
  RecycledLogs() : DbTestWith(TestFiles::kSim) {
    sim_->OfferMappedLogs(GetParam() == LogKind::kMapped);
    options_.recycle_log_file_num = 2;
    options_.avoid_flush_during_shutdown = true;
    Open();
  }

  // Continues on the files that a crash at this moment could leave.
  void Crash(CrashPolicy policy, uint64_t seed = 1) {
    sim_->ObserveStores();
    const std::shared_ptr<SimFS> after = CrashImage(policy, seed);
    IgnoreError(db_->ContinueBackgroundWork(), "the test may not have paused it");
    Drop();
    UseSim(after);
    OpenAll();
  }
  void Put(const std::string& key, const std::string& value, bool is_synced = false) {
    ASSERT_OK(db_->Put(is_synced ? Synced() : WriteOptions(), key, value));
    rows_[key] = value;
  }
  // Also waits until the obsolete logs are handled.
  void Flush(size_t i = 0) {
    DbTest::Flush(handles_.empty() ? nullptr : handles_.at(i));
    WaitForJobs();
  }
  // A log with this number of records, which is obsolete at the end.
  void FillAndFlush(const std::string& prefix, int records = 30) {
    for (int i = 0; i < records; ++i) {
      Put(StrCat(prefix, i), std::string(200, 'v'));
    }
    Flush();
  }
  // The second log that is created after this call is written over an obsolete one.
  void MakeOldLogs() {
    for (const char* prefix : {"a", "b", "c"}) FillAndFlush(prefix);
    ASSERT_GE(Reuses(), 1u);
  }
  size_t Calls(CallKind kind, const std::string& suffix = ".log") {
    size_t count = 0;
    for (const FileCall& call : sim_->MutatingCalls()) {
      count += call.kind == kind && call.path.ends_with(suffix);
    }
    return count;
  }
  size_t Reuses() { return Calls(CallKind::kReuse); }
  std::vector<std::string> LogsThere() {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/db", &names));
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
    std::sort(names.begin(), names.end());
    return names;
  }
  void ExpectRows() { EXPECT_EQ(ReadAll()["default"], rows_); }

  Rows rows_;
};

INSTANTIATE_TEST_SUITE_P(Logs, RecycledLogs, testing::Values(LogKind::kBuffered, LogKind::kMapped),
                         [](const auto& kind) {
                           return kind.param == LogKind::kMapped ? "mapped" : "buffered";
                         });

TEST_P(RecycledLogs, ANewLogIsAnObsoleteOneWithAnotherName) {
  FillAndFlush("a");
  const std::vector<std::string> before = LogsThere();
  ASSERT_EQ(before.size(), 2u);  // a kept log and the current one
  FillAndFlush("b");
  EXPECT_EQ(Reuses(), 1u);
  const std::vector<std::string> after = LogsThere();
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after.front(), before.back());  // kept now
  EXPECT_EQ(Calls(CallKind::kUnlink), 0u);
  for (int i = 0; i < 10; ++i) FillAndFlush(StrCat("c", i));
  EXPECT_EQ(Reuses(), 11u);
  EXPECT_EQ(LogsThere().size(), 2u);
}

TEST_P(RecycledLogs, NoMoreAreKeptThanAskedFor) {
  Open({"default", "other"});
  for (int i = 0; i < 6; ++i) {  // the other family needs all logs
    DbTest::Put(handles_[1], StrCat(i), "v");
    FillAndFlush(StrCat(i));
  }
  EXPECT_GE(LogsThere().size(), 6u);
  Flush(1);
  EXPECT_LE(LogsThere().size(), 3u);
}

TEST_P(RecycledLogs, CloseCutsTheLogAndLeavesNoOther) {
  MakeOldLogs();
  Put("last", "unflushed");
  Close();
  ASSERT_EQ(LogsThere().size(), 1u);
  uint64_t bytes = 0;
  ASSERT_OK(env_->GetFileSize("/db/" + LogsThere().front(), &bytes));
  EXPECT_LT(bytes, 200u);
  // No recovery mode finds an error.
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  Open();
  ExpectRows();
}

TEST_P(RecycledLogs, WhatAnOlderLifeHeldNeverComesBack) {
  Random64 random(11);
  for (int round = 0; round < 60; ++round) {
    const auto puts = static_cast<int>(random.Uniform(40));
    for (int i = 0; i < puts; ++i) {
      const std::string key = StrCat("k", random.Uniform(20));
      if (random.OneIn(3)) {
        Delete(key);
        rows_.erase(key);
      } else {
        // Few different sizes, so that old records often begin where new ones end.
        const std::string value(random.OneIn(20) ? 40'000 : 10 * random.Uniform(20), 'v');
        Put(key, StrCat(round, value), random.OneIn(5));
      }
    }
    switch (random.Uniform(5)) {
      case 0: Reopen(); break;
      case 1: Crash(CrashPolicy::kAll); break;
      default: Flush(); break;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectRows()) << round;
    ASSERT_FALSE(HasFailure()) << round;
  }
  ASSERT_GE(Reuses(), 1u);
}

TEST_P(RecycledLogs, WhatWasSyncedSurvivesWhatWasNotIsNoMoreThanAPrefix) {
  for (const CrashPolicy policy : kAllCrashPolicies) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      MakeOldLogs();
      for (int i = 0; i < 8; ++i) Put(StrCat("s", i), "x");
      Put("synced", StrCat(seed), /*is_synced=*/true);
      Rows least = rows_;
      for (int i = 0; i < 8; ++i) Put(StrCat("u", i), StrCat(seed));
      Crash(policy, seed);
      Contents contents = ReadAll();
      Rows& found = contents["default"];
      for (int i = 0; i < 8 && found[StrCat("u", i)] == StrCat(seed); ++i) {
        least[StrCat("u", i)] = StrCat(seed);
      }
      std::erase_if(found, [](const auto& row) { return row.second.empty(); });
      EXPECT_EQ(found, least) << NameOf(policy) << " " << seed;
      rows_ = found;
      for (int i = 0; i < 8; ++i) {
        Delete(StrCat("u", i));
        rows_.erase(StrCat("u", i));
      }
    }
  }
}

// A log that is not the last one ends with old records of its file, and the next log does not begin
// with the next sequence number, which an ingested file has. The MANIFEST does not have the size of
// the log yet.
TEST_P(RecycledLogs, TheNextLogCountsThoughItsNumbersDoNotGoOn) {
  MakeOldLogs();
  Put("first", "v");
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/ingested.sst"));
  ASSERT_OK(writer.Put("a0", "ingested"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({"/ingested.sst"}, IngestExternalFileOptions()));
  rows_["a0"] = "ingested";
  ASSERT_OK(db_->PauseBackgroundWork());
  FlushOptions later;
  later.wait = false;
  ASSERT_OK(db_->Flush(later));  // switches the log
  Put("last", "v");
  Crash(CrashPolicy::kAll);
  ExpectRows();
}

// The log of the other family is the last one that a crash leaves, and the tables of the first
// family are newer.
TEST_P(RecycledLogs, AnEndThatTheManifestKnowsIsNoDamage) {
  options_.wal_dir = "/logs";
  dir_ = "/db2";
  Open({"default", "other"});
  for (const char* prefix : {"a", "b", "c"}) FillAndFlush(prefix);
  ASSERT_OK(db_->Put(Synced(), handles_[1], "other", "v"));
  Put("first", "v");
  Flush();
  for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
    Crash(policy);
    ExpectRows();
    EXPECT_EQ(ReadAll()["other"], (Rows{{"other", "v"}}));
  }
}

TEST_P(RecycledLogs, LostSyncedRecordsAreNoticed) {
  Open({"default", "other"});
  MakeOldLogs();
  ASSERT_OK(db_->Put(Synced(), handles_[1], "other", "v"));
  ASSERT_OK(db_->Put(Synced(), handles_[1], "another", "v"));
  FillAndFlush("d");  // the MANIFEST now has the synced size
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  const std::string path = "/db" + logs.front()->PathName();
  auto content = ReadWholeFile(sim_.get(), path);
  ASSERT_OK(content);
  // The place of the last record looks as if it had never been written.
  const size_t at = content->rfind("another");
  ASSERT_NE(at, std::string::npos);
  constexpr size_t kHeaders = 11 + 12 + 3;  // of the record, the batch and the key
  std::string damaged = content->substr(0, at - kHeaders);
  damaged.resize(content->size(), '\xee');
  Close();
  sim_->memory()->PutFile(path, damaged);
  const Status status = TryOpenAll();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("were synced"), std::string::npos) << status.ToString();
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  OpenAll();
}

TEST_P(RecycledLogs, AReaderOfUpdatesKeepsItsLog) {
  MakeOldLogs();
  const SequenceNumber since = db_->GetLatestSequenceNumber() + 1;
  for (int i = 0; i < 300; ++i) Put(StrCat("u", i), std::string(500, 'u'));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(since, &updates));
  constexpr int kMore = 1000;  // enough to overwrite the whole log that is being read
  for (int i = 0; i < 5; ++i) FillAndFlush(StrCat("f", i), kMore);
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(updates->Valid()) << i << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, since + static_cast<uint64_t>(i));
    updates->Next();
  }
  // Some of the later updates were in logs that are overwritten: the iterator reports them missing.
  SequenceNumber next = since + 300;
  for (; updates->Valid(); updates->Next()) EXPECT_EQ(updates->GetBatch().sequence, next++);
  EXPECT_LT(next, since + 300 + 5 * kMore);
  EXPECT_FALSE(updates->status().ok());
}

TEST_P(RecycledLogs, ALogWithASecondNameIsNotWrittenOver) {
  MakeOldLogs();
  Put("linked", "v");
  const std::string live = "/db/" + LogsThere().back();
  ASSERT_OK(env_->LinkFile(live, "/copy.log"));
  Flush();
  auto before = ReadWholeFile(sim_.get(), "/copy.log");
  for (int i = 0; i < 4; ++i) FillAndFlush(StrCat("f", i));
  auto after = ReadWholeFile(sim_.get(), "/copy.log");
  ASSERT_OK(before);
  ASSERT_OK(after);
  EXPECT_EQ(*before, *after);
}

TEST_P(RecycledLogs, ACheckpointHasWhatItWasMadeOf) {
  MakeOldLogs();
  Put("last", "unflushed");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy", /*log_size_for_flush=*/1 << 30));
  const Rows expected = rows_;
  for (int i = 0; i < 4; ++i) FillAndFlush(StrCat("f", i));
  TestDb copy(sim_, options_);
  copy.dir() = "/copy";
  copy.Open();
  EXPECT_EQ(copy.ReadAll()["default"], expected);
}

// Neither the size of the log changes nor is space allocated: the purpose of the option.
TEST_P(RecycledLogs, SyncedWritesIntoOldSpaceTakeNone) {
  MakeOldLogs();
  const std::string path = "/db/" + LogsThere().back();
  uint64_t bytes = 0, bytes_after = 0;
  ASSERT_OK(env_->GetFileSize(path, &bytes));
  const auto resizes = [this] {
    return Calls(CallKind::kTruncate) + Calls(CallKind::kGrow) + Calls(CallKind::kAllocate);
  };
  const size_t before = resizes();
  for (int i = 0; i < 10; ++i) Put(StrCat("s", i), "v", true);
  EXPECT_EQ(resizes(), before);
  ASSERT_OK(env_->GetFileSize(path, &bytes_after));
  EXPECT_EQ(bytes, bytes_after);
}

TEST_P(RecycledLogs, CompressedLogsAreRecycledToo) {
  options_.wal_compression = kZSTD;
  Open();
  MakeOldLogs();
  Put("last", "unflushed");
  Crash(CrashPolicy::kAll);
  ExpectRows();
}

TEST_P(RecycledLogs, AWriteWithoutALogIsRefused) {
  EXPECT_TRUE(db_->Put(Unlogged(), "k", "v").IsInvalidArgument());
  options_.recycle_log_file_num = 0;
  Open();
  EXPECT_OK(db_->Put(Unlogged(), "k", "v"));
}

TEST_P(RecycledLogs, IsOffForOptionsThatExcludeIt) {
  std::vector<Options> all(4, options_);
  all[0].wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  all[1].wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  all[2].WAL_ttl_seconds = 1000;
  all[3].WAL_size_limit_MB = 1;
  for (const Options& options : all) {
    options_ = options;
    Open();
    EXPECT_EQ(db_->GetDBOptions().recycle_log_file_num, 0u);
    for (const char* prefix : {"a", "b", "c"}) FillAndFlush(prefix);
    EXPECT_EQ(Reuses(), 0u);
  }
}

}  // namespace
}  // namespace ashlar
