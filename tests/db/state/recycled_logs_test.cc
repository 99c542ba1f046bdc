// SPDX-License-Identifier: Apache-2.0
//
// recycle_log_file_num: new logs are written over obsolete ones, and what those held never comes
// back. With either kind of log.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/utilities/checkpoint.h"
#include "env/env_adaptors.h"
#include "env/file_util.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

enum class LogKind { kBuffered, kMapped };

class RecycledLogs : public testing::TestWithParam<LogKind> {
 protected:
  RecycledLogs() {
    sim_->OfferMappedLogs(GetParam() == LogKind::kMapped);
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.recycle_log_file_num = 2;
    options_.avoid_flush_during_shutdown = true;
    sync_.sync = true;
  }
  void SetUp() override { ASSERT_OK(opened_.Open(options_, dir_)); }

  DB* db() { return opened_.db(); }
  ColumnFamilyHandle* family(size_t i) { return opened_.handles().at(i); }
  void Reopen() {
    ASSERT_OK(opened_.Close());
    ASSERT_OK(opened_.Open(options_, dir_));
  }
  // What the machine could have after a crash at this moment becomes what there is.
  void Crash(CrashPolicy policy, uint64_t seed = 1) {
    sim_->ObserveStores();
    const std::shared_ptr<SimFS> after = sim_->CrashImage(sim_->CallCount(), policy, seed);
    IgnoreError(db()->ContinueBackgroundWork(), "nobody may have paused it");
    IgnoreError(opened_.Close(), "of the machine that is no more");
    sim_ = after;
    env_ = NewCompositeEnv(sim_);
    options_.env = env_.get();
    ASSERT_OK(opened_.Open(options_, dir_));
  }
  void Put(const std::string& key, const std::string& value, bool is_synced = false) {
    ASSERT_OK(db()->Put(is_synced ? sync_ : WriteOptions(), key, value));
    rows_[key] = value;
  }
  // And waits for the job that did it to clean up.
  void Flush(size_t i = 0) {
    ASSERT_OK(db()->Flush(FlushOptions(), family(i)));
    ASSERT_OK(db()->WaitForCompact(WaitForCompactOptions()));
  }
  // A log with records of `bytes` together, which is obsolete then.
  void FillAndFlush(const std::string& prefix, int records = 30) {
    for (int i = 0; i < records; ++i) {
      ASSERT_NO_FATAL_FAILURE(Put(StrCat(prefix, i), std::string(200, 'v')));
    }
    ASSERT_NO_FATAL_FAILURE(Flush());
  }
  // The second log from here on is written over another.
  void MakeOldLogs() {
    for (const char* prefix : {"a", "b", "c"}) ASSERT_NO_FATAL_FAILURE(FillAndFlush(prefix));
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
  void ExpectRows() {
    Contents contents;
    ASSERT_OK(opened_.ReadAll(&contents));
    EXPECT_EQ(contents["default"], rows_);
  }

  std::shared_ptr<SimFS> sim_ = SimFS::Create();
  std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  Options options_;
  WriteOptions sync_;
  std::string dir_ = "/db";
  OpenedDb opened_;
  Rows rows_;
};

INSTANTIATE_TEST_SUITE_P(Logs, RecycledLogs, testing::Values(LogKind::kBuffered, LogKind::kMapped),
                         [](const auto& kind) {
                           return kind.param == LogKind::kMapped ? "mapped" : "buffered";
                         });

TEST_P(RecycledLogs, ANewLogIsAnObsoleteOneWithAnotherName) {
  ASSERT_NO_FATAL_FAILURE(FillAndFlush("a"));
  const std::vector<std::string> before = LogsThere();
  ASSERT_EQ(before.size(), 2u);  // the one that is kept, and the current one
  ASSERT_NO_FATAL_FAILURE(FillAndFlush("b"));
  EXPECT_EQ(Reuses(), 1u);
  const std::vector<std::string> after = LogsThere();
  ASSERT_EQ(after.size(), 2u);
  EXPECT_EQ(after.front(), before.back());  // kept now
  EXPECT_EQ(Calls(CallKind::kUnlink), 0u);
  for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(FillAndFlush(StrCat("c", i)));
  EXPECT_EQ(Reuses(), 11u);
  EXPECT_EQ(LogsThere().size(), 2u);
}

TEST_P(RecycledLogs, NoMoreAreKeptThanAskedFor) {
  ASSERT_OK(opened_.CreateFamily(options_, "other"));
  for (int i = 0; i < 6; ++i) {  // the other family needs them all
    ASSERT_OK(db()->Put(WriteOptions(), family(1), StrCat(i), "v"));
    ASSERT_NO_FATAL_FAILURE(FillAndFlush(StrCat(i)));
  }
  EXPECT_GE(LogsThere().size(), 6u);
  ASSERT_NO_FATAL_FAILURE(Flush(1));
  EXPECT_LE(LogsThere().size(), 3u);
}

TEST_P(RecycledLogs, CloseCutsTheLogAndLeavesNoOther) {
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  ASSERT_NO_FATAL_FAILURE(Put("last", "unflushed"));
  ASSERT_OK(opened_.Close());
  ASSERT_EQ(LogsThere().size(), 1u);
  uint64_t bytes = 0;
  ASSERT_OK(env_->GetFileSize("/db/" + LogsThere().front(), &bytes));
  EXPECT_LT(bytes, 200u);
  // Nothing is left that a mode could mind.
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  ASSERT_OK(opened_.Open(options_, dir_));
  ExpectRows();
}

TEST_P(RecycledLogs, WhatAnOlderLifeHeldNeverComesBack) {
  Random64 random(11);
  for (int round = 0; round < 60; ++round) {
    const auto puts = static_cast<int>(random.Uniform(40));
    for (int i = 0; i < puts; ++i) {
      const std::string key = StrCat("k", random.Uniform(20));
      if (random.OneIn(3)) {
        ASSERT_OK(db()->Delete(WriteOptions(), key));
        rows_.erase(key);
      } else {
        // Of sizes that repeat, so that old records often begin where new ones end.
        const std::string value(random.OneIn(20) ? 40'000 : 10 * random.Uniform(20), 'v');
        ASSERT_NO_FATAL_FAILURE(Put(key, StrCat(round, value), random.OneIn(5)));
      }
    }
    switch (random.Uniform(5)) {
      case 0: ASSERT_NO_FATAL_FAILURE(Reopen()); break;
      case 1: ASSERT_NO_FATAL_FAILURE(Crash(CrashPolicy::kAll)); break;
      default: ASSERT_NO_FATAL_FAILURE(Flush()); break;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectRows()) << round;
    ASSERT_FALSE(HasFailure()) << round;
  }
  ASSERT_GE(Reuses(), 1u);
}

TEST_P(RecycledLogs, WhatWasSyncedSurvivesWhatWasNotIsNoMoreThanAPrefix) {
  for (const CrashPolicy policy : kAllCrashPolicies) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
      for (int i = 0; i < 8; ++i) ASSERT_NO_FATAL_FAILURE(Put(StrCat("s", i), "x"));
      ASSERT_NO_FATAL_FAILURE(Put("synced", StrCat(seed), /*is_synced=*/true));
      Rows least = rows_;
      for (int i = 0; i < 8; ++i) ASSERT_NO_FATAL_FAILURE(Put(StrCat("u", i), StrCat(seed)));
      ASSERT_NO_FATAL_FAILURE(Crash(policy, seed));
      Contents contents;
      ASSERT_OK(opened_.ReadAll(&contents));
      Rows& found = contents["default"];
      for (int i = 0; i < 8 && found[StrCat("u", i)] == StrCat(seed); ++i) {
        least[StrCat("u", i)] = StrCat(seed);
      }
      std::erase_if(found, [](const auto& row) { return row.second.empty(); });
      EXPECT_EQ(found, least) << NameOf(policy) << " " << seed;
      rows_ = found;
      for (int i = 0; i < 8; ++i) {
        ASSERT_OK(db()->Delete(WriteOptions(), StrCat("u", i)));
        rows_.erase(StrCat("u", i));
      }
    }
  }
}

// A log that is not the last ends in what its file held before, and the sequence numbers do not go
// on behind it: an ingested file has one. The MANIFEST has not heard of its end yet.
TEST_P(RecycledLogs, TheNextLogCountsThoughItsNumbersDoNotGoOn) {
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  ASSERT_NO_FATAL_FAILURE(Put("first", "v"));
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/ingested.sst"));
  ASSERT_OK(writer.Put("a0", "ingested"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db()->IngestExternalFile({"/ingested.sst"}, IngestExternalFileOptions()));
  rows_["a0"] = "ingested";
  ASSERT_OK(db()->PauseBackgroundWork());
  FlushOptions later;
  later.wait = false;
  ASSERT_OK(db()->Flush(later));  // another log takes over
  ASSERT_NO_FATAL_FAILURE(Put("last", "v"));
  ASSERT_NO_FATAL_FAILURE(Crash(CrashPolicy::kAll));
  ExpectRows();
}

// The other family's log is the last that a crash leaves, and the tables of the first are newer.
TEST_P(RecycledLogs, AnEndThatTheManifestKnowsIsNoDamage) {
  ASSERT_OK(opened_.Close());
  options_.wal_dir = "/logs";
  dir_ = "/db2";
  ASSERT_OK(opened_.Open(options_, dir_));
  ASSERT_OK(opened_.CreateFamily(options_, "other"));
  for (const char* prefix : {"a", "b", "c"}) ASSERT_NO_FATAL_FAILURE(FillAndFlush(prefix));
  ASSERT_OK(db()->Put(sync_, family(1), "other", "v"));
  ASSERT_NO_FATAL_FAILURE(Put("first", "v"));
  ASSERT_NO_FATAL_FAILURE(Flush());
  for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
    ASSERT_NO_FATAL_FAILURE(Crash(policy));
    ExpectRows();
    Contents contents;
    ASSERT_OK(opened_.ReadAll(&contents));
    EXPECT_EQ(contents["other"], (Rows{{"other", "v"}}));
  }
}

TEST_P(RecycledLogs, LostSyncedRecordsAreNoticed) {
  ASSERT_OK(opened_.CreateFamily(options_, "other"));
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  ASSERT_OK(db()->Put(sync_, family(1), "other", "v"));
  ASSERT_OK(db()->Put(sync_, family(1), "another", "v"));
  ASSERT_NO_FATAL_FAILURE(FillAndFlush("d"));  // the MANIFEST says now what was synced
  VectorWalPtr logs;
  ASSERT_OK(db()->GetSortedWalFiles(logs));
  const std::string path = "/db" + logs.front()->PathName();
  auto content = ReadWholeFile(sim_.get(), path);
  ASSERT_OK(content);
  // What its last record was looks as if the file had never been written there.
  const size_t at = content->rfind("another");
  ASSERT_NE(at, std::string::npos);
  constexpr size_t kHeaders = 11 + 12 + 3;  // of the record, the batch and the key
  std::string damaged = content->substr(0, at - kHeaders);
  damaged.resize(content->size(), '\xee');
  ASSERT_OK(opened_.Close());
  sim_->memory()->PutFile(path, damaged);
  const Status status = opened_.Open(options_, dir_);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("were synced"), std::string::npos) << status.ToString();
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  ASSERT_OK(opened_.Open(options_, dir_));
}

TEST_P(RecycledLogs, AReaderOfUpdatesKeepsItsLog) {
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  const SequenceNumber since = db()->GetLatestSequenceNumber() + 1;
  for (int i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(Put(StrCat("u", i), std::string(500, 'u')));
  std::unique_ptr<WalIterator> updates;
  ASSERT_OK(db()->GetUpdatesSince(since, &updates));
  constexpr int kMore = 1000;  // all of the log that is read would be written over
  for (int i = 0; i < 5; ++i) ASSERT_NO_FATAL_FAILURE(FillAndFlush(StrCat("f", i), kMore));
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(updates->Valid()) << i << updates->status().ToString();
    EXPECT_EQ(updates->GetBatch().sequence, since + static_cast<uint64_t>(i));
    updates->Next();
  }
  // Of what came next some is in logs that were written over: it is missed.
  SequenceNumber next = since + 300;
  for (; updates->Valid(); updates->Next()) EXPECT_EQ(updates->GetBatch().sequence, next++);
  EXPECT_LT(next, since + 300 + 5 * kMore);
  EXPECT_FALSE(updates->status().ok());
}

TEST_P(RecycledLogs, ALogWithASecondNameIsNotWrittenOver) {
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  ASSERT_NO_FATAL_FAILURE(Put("linked", "v"));
  const std::string live = "/db/" + LogsThere().back();
  ASSERT_OK(env_->LinkFile(live, "/copy.log"));
  ASSERT_NO_FATAL_FAILURE(Flush());
  auto before = ReadWholeFile(sim_.get(), "/copy.log");
  for (int i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(FillAndFlush(StrCat("f", i)));
  auto after = ReadWholeFile(sim_.get(), "/copy.log");
  ASSERT_OK(before);
  ASSERT_OK(after);
  EXPECT_EQ(*before, *after);
}

TEST_P(RecycledLogs, ACheckpointHasWhatItWasMadeOf) {
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  ASSERT_NO_FATAL_FAILURE(Put("last", "unflushed"));
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy", /*log_size_for_flush=*/1 << 30));
  const Rows expected = rows_;
  for (int i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(FillAndFlush(StrCat("f", i)));
  OpenedDb copy;
  ASSERT_OK(copy.Open(options_, "/copy"));
  Contents contents;
  ASSERT_OK(copy.ReadAll(&contents));
  EXPECT_EQ(contents["default"], expected);
}

// Neither its size changes nor is space taken, which is what the option is for.
TEST_P(RecycledLogs, SyncedWritesIntoOldSpaceTakeNone) {
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  const std::string path = "/db/" + LogsThere().back();
  uint64_t bytes = 0, bytes_after = 0;
  ASSERT_OK(env_->GetFileSize(path, &bytes));
  const auto resizes = [this] {
    return Calls(CallKind::kTruncate) + Calls(CallKind::kGrow) + Calls(CallKind::kAllocate);
  };
  const size_t before = resizes();
  for (int i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(Put(StrCat("s", i), "v", true));
  EXPECT_EQ(resizes(), before);
  ASSERT_OK(env_->GetFileSize(path, &bytes_after));
  EXPECT_EQ(bytes, bytes_after);
}

TEST_P(RecycledLogs, CompressedLogsAreRecycledToo) {
  ASSERT_OK(opened_.Close());
  options_.wal_compression = kZSTD;
  ASSERT_OK(opened_.Open(options_, dir_));
  ASSERT_NO_FATAL_FAILURE(MakeOldLogs());
  ASSERT_NO_FATAL_FAILURE(Put("last", "unflushed"));
  ASSERT_NO_FATAL_FAILURE(Crash(CrashPolicy::kAll));
  ExpectRows();
}

TEST_P(RecycledLogs, AWriteWithoutALogIsRefused) {
  WriteOptions no_log;
  no_log.disableWAL = true;
  EXPECT_TRUE(db()->Put(no_log, "k", "v").IsInvalidArgument());
  ASSERT_OK(opened_.Close());
  options_.recycle_log_file_num = 0;
  ASSERT_OK(opened_.Open(options_, dir_));
  EXPECT_OK(db()->Put(no_log, "k", "v"));
}

TEST_P(RecycledLogs, IsOffForOptionsThatExcludeIt) {
  std::vector<Options> all(4, options_);
  all[0].wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  all[1].wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  all[2].WAL_ttl_seconds = 1000;
  all[3].WAL_size_limit_MB = 1;
  for (const Options& options : all) {
    ASSERT_OK(opened_.Close());
    ASSERT_OK(opened_.Open(options, "/db"));
    EXPECT_EQ(db()->GetDBOptions().recycle_log_file_num, 0u);
    for (const char* prefix : {"a", "b", "c"}) ASSERT_NO_FATAL_FAILURE(FillAndFlush(prefix));
    EXPECT_EQ(Reuses(), 0u);
  }
}

}  // namespace
}  // namespace ashlar
