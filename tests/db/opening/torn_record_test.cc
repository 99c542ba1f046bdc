// SPDX-License-Identifier: Apache-2.0
//
// Logs that end in a record which was not written to its end: the last log, and one before it.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/write_batch.h"
#include "db/manifest/version_edit.h"
#include "db/write/write_batch_internal.h"
#include "tests/db/opening/recovery_fixture.h"
#include "tests/db/wal/log_test_util.h"
#include "util/keys/coding.h"

namespace ashlar {

using TornRecordTest = RecoveryTest;

// The machine died while the last record was written to a log that had been allocated ahead.
TEST_F(TornRecordTest, ARecordThatIsTornBeforeZerosEndsTheLog) {
  for (const bool is_compressed : {false, true}) {
    for (const size_t recycled_logs : {0, 2}) {
      options_ = Options();
      options_.create_if_missing = true;
      options_.wal_compression = is_compressed ? kZSTD : kNoCompression;
      options_.recycle_log_file_num = recycled_logs;
      const Files files = FilesAfter([](OpenedDb* opened) {
        for (const char* key : {"a", "b", "c"}) Put(opened, key);
      });
      const std::string log = Newest(files, ".log");
      const std::vector<uint64_t> borders = Borders(files.at(log), NumberOf(log));
      ASSERT_GE(borders.size(), 4u);
      const size_t at_c = borders[borders.size() - 2];
      for (size_t bytes = 1; bytes <= (recycled_logs > 0 ? 11 : 7); ++bytes) {
        Files torn = files;
        torn[log].resize(at_c + bytes);
        torn[log].append(100000, '\0');
        for (const WALRecoveryMode mode : kEveryMode) {
          const bool is_refused = mode == WALRecoveryMode::kAbsoluteConsistency;
          EXPECT_EQ(Keys(torn, mode), is_refused ? "corruption" : "ab")
              << int(mode) << " with " << bytes << " bytes: " << message_;
          // In a file that is used again it may be of an older life: an end like any other.
          if (recycled_logs == 0) {
            EXPECT_NE(message_, "") << "it is reported";
          }
        }
      }
    }
  }
}

// A batch of one key.
std::string BatchOf(SequenceNumber seqno, const std::string& key) {
  WriteBatch batch;
  EXPECT_OK(batch.Put(key, "value"));
  std::string bytes = batch.Data();
  EncodeFixed64(bytes.data(), seqno);
  return bytes;
}

// Logs of RocksDB do not say where the log before them ends: only the sequence numbers do.
TEST_F(TornRecordTest, ATornRecordOfAnOlderLogIsAHoleUnlessTheNextLogGoesOn) {
  VersionEdit edit;
  edit.comparator = BytewiseComparator()->Name();
  edit.log_number = FileNumber{100};
  edit.next_file_number = FileNumber{102};
  edit.last_sequence = 0;
  std::string record;
  edit.EncodeTo(&record);
  LogImage manifest;
  manifest.Add(record);
  const auto with_logs = [&](SequenceNumber next_seqno, size_t torn_bytes) {
    Files files = {{"/db/CURRENT", "MANIFEST-000001\n"}, {"/db/MANIFEST-000001", manifest.bytes}};
    LogImage first;
    first.Add(BatchOf(1, "a"));
    const size_t end = first.bytes.size();
    first.Add(BatchOf(2, "b"));
    first.bytes.resize(end + torn_bytes);
    LogImage second;
    second.Add(BatchOf(next_seqno, "c"));
    files["/db/000100.log"] = first.bytes;
    files["/db/000101.log"] = second.bytes;
    return files;
  };
  for (const size_t torn_bytes : {5, 7, 20}) {
    const Files hole = with_logs(3, torn_bytes), goes_on = with_logs(2, torn_bytes);
    const std::map<WALRecoveryMode, std::pair<std::string, std::string>> expected = {
        {WALRecoveryMode::kTolerateCorruptedTailRecords, {"corruption", "ac"}},
        {WALRecoveryMode::kAbsoluteConsistency, {"corruption", "corruption"}},
        {WALRecoveryMode::kPointInTimeRecovery, {"a", "ac"}},
        {kSkipAny, {"ac", "ac"}}};
    for (const auto& [mode, keys] : expected) {
      EXPECT_EQ(Keys(hole, mode), keys.first) << int(mode) << ": " << message_;
      if (mode == WALRecoveryMode::kTolerateCorruptedTailRecords) {
        EXPECT_NE(message_.find("000100.log"), std::string::npos) << message_;
        EXPECT_NE(message_.find("101"), std::string::npos) << message_;
      }
      EXPECT_EQ(Keys(goes_on, mode), keys.second) << int(mode) << ": " << message_;
    }
    Files empty_behind = hole;
    empty_behind["/db/000101.log"] = "";
    EXPECT_EQ(Keys(empty_behind, WALRecoveryMode::kTolerateCorruptedTailRecords), "a");
  }
}

// A commit whose prepare section was released with older logs: the numbers that it took are not
// known, so the next log may begin with any number above.
TEST_F(TornRecordTest, BehindACommitOfAnUnknownSectionTheNextNumberIsUnknown) {
  options_.allow_2pc = true;
  VersionEdit edit;
  edit.comparator = BytewiseComparator()->Name();
  edit.log_number = FileNumber{100};
  edit.next_file_number = FileNumber{102};
  edit.last_sequence = 0;
  std::string record;
  edit.EncodeTo(&record);
  LogImage manifest;
  manifest.Add(record);
  WriteBatch commit;
  ASSERT_OK(WriteBatchInternal::MarkCommit(&commit, "flushed"));
  std::string marker = commit.Data();
  EncodeFixed64(marker.data(), 2);
  LogImage first;
  first.Add(BatchOf(1, "a"));
  first.Add(marker);
  first.Add(BatchOf(5, "b"));
  first.bytes.resize(first.bytes.size() - 1);
  LogImage second;
  second.Add(BatchOf(5, "c"));
  const Files files = {{"/db/CURRENT", "MANIFEST-000001\n"},
                       {"/db/MANIFEST-000001", manifest.bytes},
                       {"/db/000100.log", first.bytes},
                       {"/db/000101.log", second.bytes}};
  EXPECT_EQ(Keys(files, WALRecoveryMode::kTolerateCorruptedTailRecords), "ac") << message_;
}

}  // namespace ashlar
