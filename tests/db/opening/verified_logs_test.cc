// SPDX-License-Identifier: Apache-2.0
//
// track_and_verify_wals and track_and_verify_wals_in_manifest: what is written for RocksDB to
// verify, and what we make of it.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "db/manifest/version_edit.h"
#include "db/wal/log_format.h"
#include "db/wal/log_reader.h"
#include "env/file_util.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class VerifiedLogsTest : public testing::Test {
 protected:
  VerifiedLogsTest() {
    options_.create_if_missing = true;
    options_.avoid_flush_during_shutdown = true;
    options_.track_and_verify_wals = true;
    options_.track_and_verify_wals_in_manifest = true;
    options_.env = env_.get();
  }

  // Three logs that the default family needs; the other one was flushed in between. Puts a1 to a6
  // and, behind the switch of logs that nothing was written to, nothing.
  void WriteLogs() {
    OpenedDb db;
    ASSERT_OK(db.Open(options_, "/db"));
    ASSERT_OK(db.CreateFamily(options_, "second"));
    for (int i = 1; i <= 6; i++) {
      ASSERT_OK(db.db()->Put(WriteOptions(), StrCat("a", i), "v"));
      if (i % 2 != 0) continue;
      ASSERT_OK(db.db()->Put(WriteOptions(), db.handles().back(), "s", "v"));
      if (i == 6) break;
      ASSERT_OK(db.db()->Flush(FlushOptions(), db.handles().back()));
    }
    VectorWalPtr logs;
    ASSERT_OK(db.db()->GetSortedWalFiles(logs));
    for (const auto& log : logs) paths_.push_back("/db" + log->PathName());
    ASSERT_EQ(paths_.size(), 3u);
    ASSERT_OK(db.Close());
    fs_ = fs_->CrashImage(fs_->CallCount(), CrashPolicy::kAll);
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
  }
  std::string Bytes(const std::string& path) {
    auto bytes = ReadWholeFile(fs_.get(), path);
    EXPECT_OK(bytes);
    return bytes.Take();
  }
  // The default family's keys, or what is wrong.
  std::string Open(WALRecoveryMode mode) {
    const std::shared_ptr<SimFS> fs = fs_->CrashImage(fs_->CallCount(), CrashPolicy::kAll);
    const std::unique_ptr<Env> env = NewCompositeEnv(fs);
    Options options = options_;
    options.env = env.get();
    options.wal_recovery_mode = mode;
    OpenedDb db;
    const Status status = db.Open(options, "/db");
    if (!status.ok()) return status.IsCorruption() ? "corruption" : status.ToString();
    Contents contents;
    EXPECT_OK(db.ReadAll(&contents));
    std::string keys;
    for (const auto& [key, value] : contents["default"]) keys += key;
    return keys;
  }

  std::shared_ptr<SimFS> fs_ = SimFS::Create();
  std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  std::vector<std::string> paths_;  // of the logs, oldest first
};

constexpr auto kTolerate = WALRecoveryMode::kTolerateCorruptedTailRecords;
constexpr auto kAbsolute = WALRecoveryMode::kAbsoluteConsistency;
constexpr auto kPointInTime = WALRecoveryMode::kPointInTimeRecovery;
constexpr auto kSkipAny = WALRecoveryMode::kSkipAnyCorruptedRecords;

struct LogSurvey {
  std::optional<PredecessorWalInfo> predecessor;
  uint64_t end = 0;
  SequenceNumber last_batch = 0;
};
LogSurvey Survey(const std::string& bytes, uint64_t number) {
  LogReader::Options options;
  options.log_number = FileNumber{number};
  options.is_wal = true;
  LogReader reader(NewMemoryLogSource(bytes, "log"), options, nullptr);
  LogSurvey survey;
  for (Slice record; reader.ReadRecord(&record);) {
    survey.end = reader.record_end();
    survey.last_batch = DecodeFixed64(record.data());
  }
  survey.predecessor = reader.predecessor();
  return survey;
}
uint64_t NumberOf(const std::string& path) { return std::stoull(path.substr(path.rfind('/') + 1)); }

TEST_F(VerifiedLogsTest, EachLogDescribesTheOneBeforeAsItIsRead) {
  for (const CompressionType compression : {kNoCompression, kZSTD}) {
    options_.wal_compression = compression;
    WriteLogs();
    EXPECT_FALSE(Survey(Bytes(paths_[0]), NumberOf(paths_[0])).predecessor.has_value());
    for (size_t i = 1; i < 3; i++) {
      const LogSurvey before = Survey(Bytes(paths_[i - 1]), NumberOf(paths_[i - 1]));
      const LogSurvey log = Survey(Bytes(paths_[i]), NumberOf(paths_[i]));
      ASSERT_TRUE(log.predecessor.has_value());
      EXPECT_EQ(log.predecessor->log_number, FileNumber{NumberOf(paths_[i - 1])});
      EXPECT_EQ(log.predecessor->size_bytes, before.end);
      EXPECT_EQ(log.predecessor->last_seqno, before.last_batch);
    }
    for (const auto mode : {kTolerate, kAbsolute, kPointInTime, kSkipAny}) {
      EXPECT_EQ(Open(mode), "a1a2a3a4a5a6");
    }
    fs_ = SimFS::Create();
    env_ = NewCompositeEnv(fs_);
    options_.env = env_.get();
    paths_.clear();
  }
}

// The record about the last batch alone is wrong: only who verifies it sees that.
TEST_F(VerifiedLogsTest, AnotherLastBatchIsNoticedByWhoVerifies) {
  WriteLogs();
  std::string bytes = Bytes(paths_[1]);
  PredecessorWalInfo info = *Survey(bytes, NumberOf(paths_[1])).predecessor;
  info.last_seqno++;
  std::string record;
  AppendSpecialRecord(LogFraming(FileNumber{NumberOf(paths_[1])}, false), 0,
                      LogRecordType::kPredecessorInfo, EncodePredecessorInfo(info), &record);
  bytes.replace(0, record.size(), record);
  ASSERT_OK(WriteStringToFile(fs_.get(), bytes, paths_[1]));
  EXPECT_EQ(Open(kTolerate), "corruption");
  EXPECT_EQ(Open(kAbsolute), "corruption");
  // The other family's tables are newer than the point before the second log.
  EXPECT_EQ(Open(kPointInTime), "corruption");
  EXPECT_EQ(Open(kSkipAny), "a1a2a3a4a5a6");
  options_.track_and_verify_wals = false;
  EXPECT_EQ(Open(kTolerate), "a1a2a3a4a5a6");
}

// Whatever the MANIFEST says in its own and in RocksDB's way.
struct ManifestLogs {
  std::vector<WalAddition> additions;
  std::vector<FileNumber> deletions;
};
ManifestLogs LogsInManifest(FileSystem* fs) {
  auto current = ReadWholeFile(fs, "/db/CURRENT");
  EXPECT_OK(current);
  auto manifest = ReadWholeFile(fs, "/db/" + current->substr(0, current->size() - 1));
  EXPECT_OK(manifest);
  LogReader reader(NewMemoryLogSource(*manifest, "MANIFEST"), LogReader::Options(), nullptr);
  ManifestLogs logs;
  for (Slice record; reader.ReadRecord(&record);) {
    VersionEdit edit;
    EXPECT_OK(edit.DecodeFrom(record));
    for (const WalAddition& log : edit.wal_additions) logs.additions.push_back(log);
    if (edit.wal_deletion) logs.deletions.push_back(*edit.wal_deletion);
    if (!edit.wal_additions.empty() || edit.wal_deletion) {
      EXPECT_TRUE(edit.new_files.empty() && !edit.log_number) << "RocksDB would not read it";
    }
  }
  return logs;
}

TEST_F(VerifiedLogsTest, TheManifestNamesClosedLogsUntilTheyAreNotNeeded) {
  WriteLogs();
  ManifestLogs logs = LogsInManifest(fs_.get());
  ASSERT_GE(logs.additions.size(), 1u);
  EXPECT_EQ(logs.additions[0].log_number, FileNumber{NumberOf(paths_[0])});
  EXPECT_EQ(logs.additions[0].synced_bytes, Survey(Bytes(paths_[0]), NumberOf(paths_[0])).end);
  EXPECT_TRUE(logs.deletions.empty());
  OpenedDb db;
  ASSERT_OK(db.Open(options_, "/db"));
  EXPECT_TRUE(LogsInManifest(fs_.get()).additions.empty());  // all was flushed
}

TEST_F(VerifiedLogsTest, TheManifestTakesALogBackInTheChangeThatFreesIt) {
  OpenedDb db;
  ASSERT_OK(db.Open(options_, "/db"));
  ASSERT_OK(db.CreateFamily(options_, "second"));
  ASSERT_OK(db.db()->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db.db()->Put(WriteOptions(), db.handles().back(), "s", "v"));
  ASSERT_OK(db.db()->Flush(FlushOptions(), db.handles().back()));
  const ManifestLogs before = LogsInManifest(fs_.get());
  ASSERT_EQ(before.additions.size(), 1u);
  EXPECT_TRUE(before.deletions.empty());
  ASSERT_OK(db.db()->Flush(FlushOptions()));
  const ManifestLogs after = LogsInManifest(fs_.get());
  ASSERT_EQ(after.deletions.size(), 1u);
  EXPECT_GT(after.deletions[0], before.additions[0].log_number);
}

TEST_F(VerifiedLogsTest, TheManifestNamesNoneWithoutTheOption) {
  options_.track_and_verify_wals_in_manifest = false;
  WriteLogs();
  EXPECT_TRUE(LogsInManifest(fs_.get()).additions.empty());
}

TEST_F(VerifiedLogsTest, RocksDb78CannotReadTheRecords) {
  options_.write_compatible_with = "7.8";
  OpenedDb db;
  EXPECT_TRUE(db.Open(options_, "/db").IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
