// SPDX-License-Identifier: Apache-2.0
//
// Records of a log that are torn in front of zeros, as a machine that dies leaves them in a file
// that was allocated ahead: what is an unfinished end, and what is damage.
#include <gtest/gtest.h>

#include <string>

#include "db/wal/log_reader.h"
#include "tests/db/wal/log_test_util.h"

namespace ashlar {
namespace {

// A batch without zeros but in the last byte of its sequence number.
std::string Batch(char letter, size_t size = 13) {
  return std::string(size - 8, letter).insert(0, std::string(7, '\1') + '\0');
}

// "A!" for a batch of letter A and then a report, by mode.
Modes ShowBatches(const Slice& bytes, FileNumber log_number) {
  Modes shown;
  for (const WALRecoveryMode mode : kAllRecoveryModes) {
    LogReader::Options options;
    options.mode = mode;
    options.is_wal = true;
    options.log_number = log_number;
    const LogContents contents = ReadLog(bytes, options);
    shown.emplace_back();
    for (const std::string& record : contents.records) shown.back() += record[8];
    shown.back() += std::string(contents.damages.size(), '!');
  }
  return shown;
}

// What a machine leaves that dies while the last record is written to a file of zeros. In a file
// that is used again it may be of an older life, which by default is an end like any other.
TEST(TornRecord, TakesARecordThatIsTornBeforeZerosForAnUnfinishedEnd) {
  const FileNumber number{0x0102};
  for (const bool is_recyclable : {false, true}) {
    LogImage log(number, is_recyclable);
    log.Add(Batch('A'));
    const size_t at_b = log.bytes.size(), header_end = at_b + log.framing.header_bytes();
    log.Add(Batch('B', 2000));
    const Modes torn = {"A", "A!", "A!", "A"}, torn_or_old = {"A", "A!", "A", "A"};
    for (size_t cut = at_b + 1; cut < log.bytes.size(); ++cut) {
      // Of what follows the header a disk writes whole sectors.
      if (cut > header_end && cut % 512 != 0) continue;
      const bool has_number = cut >= at_b + kRecyclableLogHeaderBytes - 2;  // two zeros end it
      for (const size_t zeros : {size_t{4096}, 3 * kLogBlockBytes}) {
        std::string bytes = log.bytes.substr(0, cut) + std::string(zeros, '\0');
        EXPECT_EQ(ShowBatches(bytes, number), is_recyclable && !has_number ? torn_or_old : torn)
            << cut << " zeros " << zeros;
        LogImage behind(number, is_recyclable);
        behind.bytes = bytes;
        // A later block begins with a record if it has one.
        const bool is_later = zeros > kLogBlockBytes;
        if (is_later) behind.bytes.resize(4 * kLogBlockBytes);
        behind.Add(Batch('C'));
        Modes shown = ShowBatches(behind.bytes, number);
        // The record may be one damaged place, and the zeros behind its block another.
        if (shown[3] == "AC!!") shown[3] = "AC!";
        EXPECT_EQ(shown, Modes({"A!", "A!", "A!", is_later ? "AC!" : "A!"}))
            << cut << " zeros " << zeros << ": it is not the end";
      }
    }
  }
}

// An intact record of the file's older life stays one, whatever it ends in.
TEST(TornRecord, TakesNoOldRecordForATornOne) {
  LogImage log(FileNumber{7}, /*is_recyclable=*/true), old(FileNumber{5}, /*is_recyclable=*/true);
  log.Add(Batch('A'));
  old.bytes = log.bytes;
  old.Add(Batch('O', 100) + std::string(2000, '\0'));
  EXPECT_EQ(ShowBatches(old.bytes + std::string(5000, '\0'), FileNumber{7}), Modes(4, "A"));
}

// Where the file ends with the record, or the zeros are fewer than a sector, it was written.
TEST(TornRecord, TakesOtherDamageOfTheLastRecordForDamage) {
  LogImage log;
  log.Add(Batch('A'));
  const size_t at_b = log.bytes.size();
  log.Add(Batch('B', 1000) + std::string(600, '\0'));
  log.bytes[at_b + 50] ^= 1;
  const Modes damage = {"A!", "A!", "A!", "A!"};
  EXPECT_EQ(ShowBatches(log.bytes, {}), damage);
  LogImage open;
  open.Add(Batch('A'));
  open.Add(Batch('B', 1000) + std::string(10, '\0'));
  open.bytes[at_b + 50] ^= 1;
  EXPECT_EQ(ShowBatches(open.bytes + std::string(100000, '\0'), {}), damage);
}

}  // namespace
}  // namespace ashlar
