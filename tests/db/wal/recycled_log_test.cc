// SPDX-License-Identifier: Apache-2.0
//
// What the reader makes of logs that were written over older ones.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/wal/log_reader.h"
#include "tests/db/wal/log_test_util.h"

namespace ashlar {
namespace {

constexpr auto kRecycledAbsolute = WALRecoveryMode::kAbsoluteConsistency;
constexpr auto kRecycledPointInTime = WALRecoveryMode::kPointInTimeRecovery;

LogImage Recycled(const std::vector<std::string>& ours, const std::vector<std::string>& old) {
  LogImage before(10, true);
  for (const std::string& record : old) before.Add(record);
  LogImage log(14, true);
  for (const std::string& record : ours) log.Add(record);
  if (before.bytes.size() > log.bytes.size()) log.bytes += before.bytes.substr(log.bytes.size());
  return log;
}

TEST(RecycledLog, EndsAtAnOldRecord) {
  const LogImage log = Recycled({"A", "B"}, {"1", "2", "3", "4"});
  EXPECT_EQ(ShowAllModes(log.bytes, 14), Modes(4, "A B"));
  EXPECT_TRUE(ReadLog(log.bytes, kRecycledPointInTime, 14).ended_at_old_record);
  EXPECT_FALSE(ReadLog(log.bytes, kRecycledAbsolute, 14).ended_at_old_record);
}

TEST(RecycledLog, IsEmptyBeforeItsFirstRecord) {
  const LogImage log = Recycled({}, {"1", "2"});
  EXPECT_EQ(ShowAllModes(log.bytes, 14), Modes(4, ""));
}

TEST(RecycledLog, EndsInTheMiddleOfAnOldRecord) {
  const LogImage log = Recycled({"A", "Bb"}, {"1", "2", "3", "4"});
  const Modes shown = ShowAllModes(log.bytes, 14);
  EXPECT_EQ(shown, (Modes{"A Bb", "A Bb !", "A Bb", "A Bb"}));
  EXPECT_TRUE(ReadLog(log.bytes, kRecycledPointInTime, 14).ended_at_old_record);
}

// Wherever in it the new records end.
TEST(RecycledLog, EndsAnywhereInOldRecords) {
  std::vector<std::string> old(300, std::string(200, 'o'));
  old[100] = std::string(70'000, '\0');
  for (size_t bytes = 1; bytes < 700; bytes += 3) {
    const std::string ours(bytes % 2 == 0 ? bytes : bytes + 20'000, 'n');
    const LogImage log = Recycled({"A", ours}, old);
    for (const WALRecoveryMode mode :
         {kRecycledPointInTime, WALRecoveryMode::kTolerateCorruptedTailRecords,
          WALRecoveryMode::kSkipAnyCorruptedRecords}) {
      const LogContents contents = ReadLog(log.bytes, mode, 14);
      EXPECT_EQ(contents.records, (std::vector<std::string>{"A", ours})) << bytes;
      EXPECT_TRUE(contents.damages.empty()) << bytes;
    }
  }
}

// A value that somebody stored may be a piece of a log.
TEST(RecycledLog, TakesNoPlainRecordOfAnOldValue) {
  LogImage value(10, false);
  value.Add("forged");
  LogImage log(14, true);
  log.Add("A");
  log.bytes += value.bytes;
  EXPECT_EQ(ShowAllModes(log.bytes, 14), (Modes{"A", "A !", "A", "A"}));
}

// What was torn names this log: more than an end.
TEST(RecycledLog, ReportsATornRecordOfItsOwn) {
  for (const size_t kept : {size_t{11}, size_t{12}, size_t{50}}) {
    LogImage log(14, true);
    log.Add("A");
    const size_t begin = log.bytes.size();
    log.Add(std::string(100, 'n'));
    log.bytes.resize(begin + kept);
    log.bytes += std::string(400, 'o');
    EXPECT_EQ(ShowAllModes(log.bytes, 14), (Modes{"A", "A !", "A !", "A !"})) << kept;
  }
}

// Of the last record, too: all that is wrong with it is its number.
TEST(RecycledLog, NoticesADamagedLogNumberAtTheEnd) {
  LogImage log(14, true);
  for (const char* record : {"A", "B"}) log.Add(record);
  log.bytes[12 + 7] ^= 0x20;
  EXPECT_EQ(ReadLog(log.bytes, kRecycledPointInTime, 14).Show(), "A !");
  EXPECT_EQ(ReadLog(log.bytes, kRecycledAbsolute, 14).Show(), "A !");
}

TEST(RecycledLog, DropsARecordCutByAnOldOne) {
  LogImage log(14, true);
  log.Add("A");
  log.AddPhysical(6, "begin");
  LogImage old(10, true);
  old.Add("old");
  log.bytes += old.bytes;
  EXPECT_EQ(ShowAllModes(log.bytes, 14), (Modes{"A", "A !", "A !", "A"}));
}

// A flipped bit in the number must not pass for the end of the log.
TEST(RecycledLog, NoticesADamagedLogNumber) {
  for (const size_t at : {size_t{0}, size_t{12}}) {
    LogImage log(14, true);
    for (const char* record : {"A", "B", "C"}) log.Add(record);
    log.bytes[at + 7] ^= 0x20;
    const std::string before = at == 0 ? "" : "A ", behind = at == 0 ? "B C " : "C ";
    EXPECT_EQ(ShowAllModes(log.bytes, 14),
              (Modes{before + "!", before + "!", before + "!", before + behind + "!"}))
        << at;
  }
}

TEST(RecycledLog, NoticesAKindFlippedToRecyclable) {
  LogImage log(14, false);
  for (const char* record : {"A", "B", "C"}) log.Add(record);
  for (const size_t at : {size_t{0}, size_t{8}}) {
    std::string bytes = log.bytes;
    bytes[at + 6] ^= 4;  // Full to recyclable Full
    EXPECT_EQ(ShowAllModes(bytes, 14), Modes(4, at == 0 ? "!" : "A !")) << at;
  }
}

}  // namespace
}  // namespace ashlar
