// SPDX-License-Identifier: Apache-2.0
//
// track_and_verify_wals and track_and_verify_wals_in_manifest: the records that RocksDB verifies,
// and how the engine uses them.
#include <optional>

#include "db/manifest/version_edit.h"
#include "db/wal/log_format.h"
#include "db/wal/log_reader.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class VerifiedLogsTest : public DbTest {
 protected:
  VerifiedLogsTest() : DbTest(TestFiles::kSim) {
    options_.avoid_flush_during_shutdown = true;
    options_.track_and_verify_wals = true;
    options_.track_and_verify_wals_in_manifest = true;
  }

  // Three logs with the puts a1 to a6, all of which the default family needs, because only the
  // other family was flushed in between.
  void WriteLogs() {
    Open({"default", "second"});
    for (int i = 1; i <= 6; i++) {
      Put(StrCat("a", i), "v");
      if (i % 2 != 0) continue;
      Put(handles_[1], "s", "v");
      if (i == 6) break;
      Flush(handles_[1]);
    }
    VectorWalPtr logs;
    ASSERT_OK(db_->GetSortedWalFiles(logs));
    for (const auto& log : logs) paths_.push_back("/db" + log->PathName());
    ASSERT_EQ(paths_.size(), 3u);
    Kill();
  }
  std::string Bytes(const std::string& path) {
    auto bytes = ReadWholeFile(sim_.get(), path);
    EXPECT_OK(bytes);
    return bytes.Take();
  }
  // The keys of the default family, or the error of the open.
  std::string OpenCopy(WALRecoveryMode mode) {
    TestDb copy(CrashImage(CrashPolicy::kAll), options_);
    copy.options().wal_recovery_mode = mode;
    const Status status = copy.TryOpenAll();
    if (!status.ok()) return status.IsCorruption() ? "corruption" : status.ToString();
    std::string keys;
    Contents contents = copy.ReadAll();
    for (const auto& [key, value] : contents["default"]) keys += key;
    return keys;
  }

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
      EXPECT_EQ(OpenCopy(mode), "a1a2a3a4a5a6");
    }
    UseSim(SimFS::Create());
    paths_.clear();
  }
}

// Only the record of the last batch is wrong, which only a verification finds.
TEST_F(VerifiedLogsTest, AnotherLastBatchIsNoticedByWhoVerifies) {
  WriteLogs();
  std::string bytes = Bytes(paths_[1]);
  PredecessorWalInfo info = *Survey(bytes, NumberOf(paths_[1])).predecessor;
  info.last_seqno++;
  std::string record;
  AppendSpecialRecord(LogFraming(FileNumber{NumberOf(paths_[1])}, false), 0,
                      LogRecordType::kPredecessorInfo, EncodePredecessorInfo(info), &record);
  bytes.replace(0, record.size(), record);
  ASSERT_OK(WriteStringToFile(sim_.get(), bytes, paths_[1]));
  EXPECT_EQ(OpenCopy(kTolerate), "corruption");
  EXPECT_EQ(OpenCopy(kAbsolute), "corruption");
  // The tables of the other family are newer than the end of the first log.
  EXPECT_EQ(OpenCopy(kPointInTime), "corruption");
  EXPECT_EQ(OpenCopy(kSkipAny), "a1a2a3a4a5a6");
  options_.track_and_verify_wals = false;
  EXPECT_EQ(OpenCopy(kTolerate), "a1a2a3a4a5a6");
}

// The records of logs in the MANIFEST.
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
  ManifestLogs logs = LogsInManifest(sim_.get());
  ASSERT_GE(logs.additions.size(), 1u);
  EXPECT_EQ(logs.additions[0].log_number, FileNumber{NumberOf(paths_[0])});
  EXPECT_EQ(logs.additions[0].synced_bytes, Survey(Bytes(paths_[0]), NumberOf(paths_[0])).end);
  EXPECT_TRUE(logs.deletions.empty());
  OpenAll();
  EXPECT_TRUE(LogsInManifest(sim_.get()).additions.empty());  // the open has flushed all logs
}

TEST_F(VerifiedLogsTest, TheManifestTakesALogBackInTheChangeThatFreesIt) {
  Open({"default", "second"});
  Put("a", "v");
  Put(handles_[1], "s", "v");
  Flush(handles_[1]);
  const ManifestLogs before = LogsInManifest(sim_.get());
  ASSERT_EQ(before.additions.size(), 1u);
  EXPECT_TRUE(before.deletions.empty());
  Flush();
  const ManifestLogs after = LogsInManifest(sim_.get());
  ASSERT_EQ(after.deletions.size(), 1u);
  EXPECT_GT(after.deletions[0], before.additions[0].log_number);
}

TEST_F(VerifiedLogsTest, TheManifestNamesNoneWithoutTheOption) {
  options_.track_and_verify_wals_in_manifest = false;
  WriteLogs();
  EXPECT_TRUE(LogsInManifest(sim_.get()).additions.empty());
}

TEST_F(VerifiedLogsTest, RocksDb78CannotReadTheRecords) {
  options_.write_compatible_with = "7.8";
  EXPECT_TRUE(TryOpenAll().IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
