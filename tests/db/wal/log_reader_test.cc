// SPDX-License-Identifier: Apache-2.0
//
// What the reader makes of damage and of unfinished ends, in the four recovery modes.
#include "db/wal/log_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "db/wal/wal_compression.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr auto kTolerate = WALRecoveryMode::kTolerateCorruptedTailRecords;
constexpr auto kAbsolute = WALRecoveryMode::kAbsoluteConsistency;
constexpr auto kPointInTime = WALRecoveryMode::kPointInTimeRecovery;
constexpr auto kSkipAny = WALRecoveryMode::kSkipAnyCorruptedRecords;

std::string Filler(size_t size) { return std::string(size, 'f'); }

TEST(LogReader, ReadsAnEmptyFile) { EXPECT_EQ(ShowAllModes(""), Modes(4, "")); }

TEST(LogReader, TakesZerosForTheEnd) {
  LogImage log;
  log.Add("A");
  log.Add("B");
  for (const size_t zeros : {size_t{1}, size_t{6}, size_t{7}, size_t{8}, size_t{5000},
                             2 * kLogBlockBytes, 5 * kLogBlockBytes + 3}) {
    const std::string bytes = log.bytes + std::string(zeros, '\0');
    const Modes expected =
        zeros < kLogHeaderBytes ? Modes{"A B", "A B !", "A B !", "A B"} : Modes(4, "A B");
    EXPECT_EQ(ShowAllModes(bytes), expected) << zeros;
  }
  EXPECT_EQ(ShowAllModes(std::string(100000, '\0')), Modes(4, ""));
}

TEST(LogReader, DropsARecordThatIsCutInHeaderOrBody) {
  LogImage log;
  log.Add("A");
  const size_t end_of_a = log.bytes.size();
  log.Add("Bbbbbb");
  for (size_t size = end_of_a + 1; size < log.bytes.size(); ++size) {
    EXPECT_EQ(ShowAllModes(Slice(log.bytes.data(), size)), (Modes{"A", "A !", "A !", "A"})) << size;
  }
}

TEST(LogReader, TellsHowMuchOfATornTailItDropped) {
  LogImage log;
  log.Add("A");
  log.Add("Bbbbbb");
  const LogContents contents = ReadLog(Slice(log.bytes.data(), log.bytes.size() - 2), kTolerate);
  EXPECT_EQ(contents.torn_tail_bytes, 7 + 4u);
}

TEST(LogReader, StopsAtABadChecksum) {
  LogImage log;
  log.Add("A");
  const size_t at_b = log.bytes.size();
  log.Add("B");
  log.Add("C");  // in the same block
  log.bytes[at_b + 7] ^= 1;
  // The length of the damaged record is intact, so the place of the next one is known.
  EXPECT_EQ(ShowAllModes(log.bytes), (Modes{"A !", "A !", "A !", "A C !"}));
  const LogContents contents = ReadLog(log.bytes, kPointInTime);
  ASSERT_EQ(contents.damages.size(), 1u);
  EXPECT_EQ(contents.damages[0].offset, at_b);
  EXPECT_EQ(contents.damages[0].good_record_behind, at_b + 8);
  EXPECT_TRUE(contents.damages[0].reason.IsCorruption());
}

TEST(LogReader, SkipsToTheNextBlockAfterDamageOnlyInSkipMode) {
  LogImage log;
  log.Add("A");
  const size_t at_b = log.bytes.size();
  log.Add("B");
  log.Add(Filler(kLogBlockBytes));
  log.Add("D");
  log.bytes[at_b + 4] ^= 1;  // its length
  // The rest of the big record is a continuation of nothing.
  EXPECT_EQ(ShowAllModes(log.bytes), (Modes{"A !", "A !", "A !", "A D ! !"}));
}

TEST(LogReader, ContinuesAfterReportsWhenTheCallerOnlyLogsThem) {
  LogImage log;
  log.Add("A");
  log.Add(Filler(kLogBlockBytes));
  log.Add("C");
  log.bytes[7] ^= 1;
  for (const WALRecoveryMode mode : {kTolerate, kAbsolute, kPointInTime}) {
    LogReader::Options options;
    options.mode = mode;
    options.continue_after_report = true;
    EXPECT_EQ(ReadLog(log.bytes, options).Show(), "C ! !");
  }
}

TEST(LogReader, DropsABigRecordThatIsCutAtABlockEnd) {
  LogImage log;
  log.Add("A");
  log.Add(Filler(2 * kLogBlockBytes));
  const Slice cut(log.bytes.data(), kLogBlockBytes);
  EXPECT_EQ(ShowAllModes(cut), (Modes{"A", "A !", "A !", "A"}));
}

TEST(LogReader, NeverJoinsAContinuationToADroppedBeginning) {
  LogImage log;
  log.Add(Filler(3 * kLogBlockBytes));
  log.Add("Z");
  log.bytes[kLogBlockBytes + 100] ^= 1;  // in the second of four fragments
  EXPECT_EQ(ReadLog(log.bytes, kSkipAny).records, std::vector<std::string>{"Z"});
  EXPECT_TRUE(ReadLog(log.bytes, kPointInTime).records.empty());
}

// A bad length may hide good records: then it is damage also where the file ends.
TEST(LogReader, FindsIntactRecordsBehindABadLength) {
  LogImage log;
  log.Add("A");
  const size_t at_b = log.bytes.size();
  log.Add("B");
  log.Add("C");
  log.bytes[at_b + 5] = '\x70';
  EXPECT_EQ(ShowAllModes(log.bytes), (Modes{"A !", "A !", "A !", "A !"}));
  const LogContents contents = ReadLog(log.bytes, kTolerate);
  EXPECT_EQ(contents.damages[0].good_record_behind, at_b + 8);
}

TEST(LogReader, ReportsABadLengthInAnEarlierBlock) {
  LogImage log;
  log.Add("A");
  const size_t at_b = log.bytes.size();
  log.Add("B");
  log.Add(Filler(kLogBlockBytes - log.bytes.size() - 7));
  log.Add("D");
  log.bytes[at_b + 5] = '\x7f';
  log.bytes[at_b + 4] = '\xff';
  EXPECT_EQ(ShowAllModes(log.bytes), (Modes{"A !", "A !", "A !", "A D !"}));
}

TEST(LogReader, TakesZerosBeforeIntactRecordsForDamage) {
  LogImage log;
  for (const char* record : {"A", "B", "C"}) log.Add(record);
  std::string same_block = log.bytes;
  std::fill_n(same_block.begin() + 8, 8, '\0');
  EXPECT_EQ(ShowAllModes(same_block), (Modes{"A !", "A !", "A !", "A !"}));

  log.Add(Filler(kLogBlockBytes - log.bytes.size() - 7));
  log.Add("D");
  std::string later_block = log.bytes;
  std::fill(later_block.begin() + 8, later_block.begin() + kLogBlockBytes, '\0');
  EXPECT_EQ(ShowAllModes(later_block), (Modes{"A !", "A !", "A !", "A D !"}));
}

// What a process leaves that died while it wrote through a mapping: no header, some payload, zeros.
TEST(LogReader, TakesAPayloadWithoutHeaderForAnUnfinishedEnd) {
  LogImage log;
  log.Add("A");
  const std::string bytes =
      log.bytes + std::string(7, '\0') + "payload" + std::string(3 * kLogBlockBytes, '\0');
  EXPECT_EQ(ShowAllModes(bytes), (Modes{"A", "A !", "A !", "A"}));
  EXPECT_FALSE(ReadLog(bytes, kPointInTime).damages[0].good_record_behind.has_value());
}

TEST(LogReader, TakesAFirstFragmentBeforeZerosForAnUnfinishedEnd) {
  LogImage log;
  log.Add("A");
  log.Add(Filler(kLogBlockBytes));
  std::fill(log.bytes.begin() + kLogBlockBytes, log.bytes.end(), '\0');
  EXPECT_EQ(ShowAllModes(log.bytes), (Modes{"A", "A !", "A !", "A"}));
}

TEST(LogReader, ReportsFragmentsThatDoNotFit) {
  LogImage first_twice;
  first_twice.AddPhysical(2, "x");
  first_twice.AddPhysical(1, "A");
  EXPECT_EQ(ShowAllModes(first_twice.bytes), (Modes{"!", "!", "!", "A !"}));
  LogImage empty_first;  // leaves nothing to lose
  empty_first.AddPhysical(2, "");
  empty_first.AddPhysical(1, "A");
  EXPECT_EQ(ShowAllModes(empty_first.bytes), Modes(4, "A"));
  LogImage last_alone;
  last_alone.AddPhysical(4, "x");
  last_alone.AddPhysical(3, "y");
  last_alone.AddPhysical(1, "A");
  EXPECT_EQ(ShowAllModes(last_alone.bytes), (Modes{"!", "!", "!", "A ! !"}));
}

TEST(LogReader, IgnoresUnknownKindsThatSaySo) {
  LogImage log;
  log.AddPhysical(0x80 + 20, "whatever");
  log.Add("A");
  EXPECT_EQ(ShowAllModes(log.bytes), Modes(4, "A"));
  LogImage unknown;
  unknown.AddPhysical(20, "whatever");
  unknown.Add("A");
  EXPECT_EQ(ShowAllModes(unknown.bytes), (Modes{"!", "!", "!", "A !"}));
  LogImage zero_kind;
  zero_kind.AddPhysical(0, "whatever");
  zero_kind.Add("A");
  EXPECT_EQ(ReadLog(zero_kind.bytes, kSkipAny).Show(), "A !");
}

TEST(LogReader, ChecksTheBeginningOfBatches) {
  LogImage log;
  const std::string batch = std::string(12, '\0') + "records";
  log.Add(batch);
  log.Add("short");
  log.Add(batch);
  std::string too_new = batch;
  too_new[7] = 1;
  log.Add(too_new);
  log.Add(batch);
  const size_t expected_records[] = {1, 1, 1, 3};
  for (size_t mode = 0; mode < 4; ++mode) {
    LogReader::Options options;
    options.is_wal = true;
    options.mode = kAllRecoveryModes[mode];
    const LogContents contents = ReadLog(log.bytes, options);
    EXPECT_EQ(contents.records.size(), expected_records[mode]);
    EXPECT_EQ(contents.damages.size(), mode == 3 ? 0u : 1u);
  }
}

// ---- Compressed logs

TEST(CompressedLog, IsReadInPiecesOfAnySize) {
  auto compressor = WalCompressor::Create();
  if (!compressor.ok()) GTEST_SKIP() << compressor.status().ToString();
  Random64 random(4);
  LogImage log;
  log.AddSpecial(LogRecordType::kSetCompression, Slice("\7\0\0\0", 4));
  std::vector<std::string> records = {"A", "", Filler(1000000), random.Bytes(100000), "end"};
  for (const std::string& record : records) {
    std::string frame;
    ASSERT_OK((*compressor)->Compress(record, &frame));
    log.Add(frame);
  }
  // The reference engine may cut fragments anywhere.
  std::string frame;
  ASSERT_OK((*compressor)->Compress(records[0], &frame));
  log.AddPhysical(2, Slice(frame.data(), 3));
  log.AddPhysical(3, Slice(frame.data() + 3, 1));
  log.AddPhysical(4, Slice(frame.data() + 4, frame.size() - 4));
  records.push_back(records[0]);
  const LogContents contents = ReadLog(log.bytes, kAbsolute);
  EXPECT_EQ(contents.damages.size(), 0u);
  EXPECT_EQ(contents.records, records);
}

TEST(CompressedLog, ReportsWhatIsNoFrame) {
  LogImage log;
  log.AddSpecial(LogRecordType::kSetCompression, Slice("\7\0\0\0", 4));
  log.Add("plain");
  EXPECT_EQ(ShowAllModes(log.bytes), Modes(4, "!"));
  LogImage unknown;
  unknown.AddSpecial(LogRecordType::kSetCompression, Slice("\4\0\0\0", 4));
  EXPECT_EQ(ShowAllModes(unknown.bytes), Modes(4, "!"));
}

// ---- Any bytes at all

// 20 records over four blocks, numbered.
LogImage Sample(bool is_recyclable) {
  LogImage log(3, is_recyclable);
  Random64 random(8);
  for (int i = 0; i < 20; ++i) {
    log.Add(std::to_string(i) + ":" + random.Bytes(i % 5 == 3 ? 20000 : random.Uniform(60)));
  }
  return log;
}

bool IsPrefix(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}
bool IsSubsequence(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  size_t at = 0;
  for (const std::string& record : part) {
    while (at < whole.size() && whole[at] != record) ++at;
    if (at++ == whole.size()) return false;
  }
  return true;
}

TEST(DamagedLog, GivesAPrefixWhenCutAnywhere) {
  for (const bool is_recyclable : {false, true}) {
    const LogImage log = Sample(is_recyclable);
    const auto whole = ReadLog(log.bytes, kAbsolute, 3).records;
    ASSERT_EQ(whole.size(), 20u);
    for (size_t size = 0; size < log.bytes.size(); size += size % 997 < 40 ? 1 : 37) {
      for (const WALRecoveryMode mode : kAllRecoveryModes) {
        const LogContents contents = ReadLog(Slice(log.bytes.data(), size), mode, 3);
        ASSERT_TRUE(IsPrefix(contents.records, whole)) << size;
        ASSERT_TRUE(mode == kAbsolute || mode == kPointInTime || contents.damages.empty()) << size;
      }
    }
  }
}

// Offsets of all physical records of a whole log.
std::vector<size_t> HeaderOffsets(const LogImage& log) {
  std::vector<size_t> offsets;
  for (size_t at = 0; at + log.framing.header_bytes() <= log.bytes.size();) {
    if (kLogBlockBytes - at % kLogBlockBytes < log.framing.header_bytes()) {
      at += kLogBlockBytes - at % kLogBlockBytes;
      continue;
    }
    offsets.push_back(at);
    at += log.framing.header_bytes() + DecodeFixed16(log.bytes.data() + at + 4);
  }
  return offsets;
}

// One flipped bit: the modes that stop give a prefix and say so; no mode gives a wrong record.
void CheckFlippedBit(const LogImage& log, const std::vector<std::string>& whole, size_t bit) {
  std::string bytes = log.bytes;
  bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  for (const WALRecoveryMode mode : kAllRecoveryModes) {
    const LogContents contents = ReadLog(bytes, mode, 3);
    ASSERT_TRUE(mode == kSkipAny ? IsSubsequence(contents.records, whole)
                                 : IsPrefix(contents.records, whole))
        << bit;
    if (contents.records.size() == whole.size()) continue;  // padding at a block's end
    // Only damage in the last record can be mistaken for an unfinished end.
    const bool may_be_silent =
        (mode == kTolerate || mode == kSkipAny) && contents.records.size() + 1 == whole.size();
    ASSERT_TRUE(!contents.damages.empty() || may_be_silent)
        << bit << " mode " << int(mode) << ", " << contents.records.size() << " records";
  }
}

TEST(DamagedLog, NeverLosesARecordSilentlyToAFlippedBit) {
  for (const bool is_recyclable : {false, true}) {
    const LogImage log = Sample(is_recyclable);
    const auto whole = ReadLog(log.bytes, kAbsolute, 3).records;
    for (const size_t header : HeaderOffsets(log)) {
      for (size_t bit = 0; bit < 8 * log.framing.header_bytes(); ++bit) {
        ASSERT_NO_FATAL_FAILURE(CheckFlippedBit(log, whole, 8 * header + bit));
      }
    }
    for (size_t bit = 0; bit < 8 * log.bytes.size(); bit += 1009) {
      ASSERT_NO_FATAL_FAILURE(CheckFlippedBit(log, whole, bit));
    }
  }
}

TEST(DamagedLog, SurvivesRandomChanges) {
  const LogImage log = Sample(true);
  Random64 random(99);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = log.bytes;
    for (uint64_t n = 1 + random.Uniform(4); n > 0; --n) {
      const size_t at = random.Uniform(bytes.size());
      const size_t size = std::min<size_t>(random.Skewed(12), bytes.size() - at);
      switch (random.Uniform(4)) {
        case 0: bytes.replace(at, size, random.Bytes(size)); break;
        case 1: bytes.replace(at, size, std::string(size, '\0')); break;
        case 2: bytes.erase(at, size); break;
        case 3: bytes.insert(at, bytes.substr(random.Uniform(at + 1), size)); break;
      }
      if (bytes.empty()) bytes = "x";
    }
    for (const WALRecoveryMode mode : kAllRecoveryModes) {
      const LogContents contents = ReadLog(bytes, mode, 3);
      ASSERT_LE(contents.records.size(), 25u);
    }
  }
}

// ---- Logs that grow

TEST(TailingReader, WaitsForTheRestOfARecord) {
  LogImage log;
  log.Add("A");
  const std::string big = Filler(100000);
  log.Add(big);
  log.Add("C");
  LogReader::Options options;
  options.is_tailing = true;
  options.end_offset = 0;
  LogReader reader(NewMemoryLogSource(log.bytes, "live"), options, nullptr);
  std::vector<std::string> records;
  for (uint64_t end = 0; end <= log.bytes.size() + 1000; end += 997) {
    reader.SetEnd(std::min<uint64_t>(end, log.bytes.size()));
    Slice record;
    while (reader.ReadRecord(&record)) records.push_back(record.ToString());
  }
  EXPECT_EQ(records, (std::vector<std::string>{"A", big, "C"}));
  EXPECT_FALSE(reader.has_reported());
}

// Where a log without a batch ends.
TEST(LogReader, KnowsWhereTheLogSpeaksOfItselfLast) {
  LogImage log(FileNumber{5});
  log.AddSpecial(LogRecordType::kTimestampSizes, EncodeTimestampSizes({{1, 8}}));
  log.AddSpecial(LogRecordType::kPredecessorInfo, EncodePredecessorInfo({1, 2, 3}));
  const uint64_t end = log.bytes.size();
  for (const bool has_batch : {false, true}) {
    if (has_batch) log.Add("not of itself");
    LogReader::Options options;
    options.log_number = FileNumber{5};
    LogReader reader(NewMemoryLogSource(log.bytes, "log"), options, nullptr);
    Slice record;
    EXPECT_EQ(reader.ReadRecord(&record), has_batch);
    EXPECT_EQ(reader.special_end(), end);
  }
}

TEST(LogReader, HandsOnErrorsOfItsSource) {
  class BrokenSource : public LogSource {
   public:
    Status Read(size_t, char*, Slice*) override { return Status::IOError("broken"); }
    const std::string& name() const override { return name_; }

   private:
    std::string name_ = "broken";
  };
  LogReader reader(std::make_unique<BrokenSource>(), {}, nullptr);
  Slice record;
  EXPECT_FALSE(reader.ReadRecord(&record));
  EXPECT_TRUE(reader.status().IsIOError());
}

}  // namespace
}  // namespace ashlar
