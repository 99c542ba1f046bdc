// SPDX-License-Identifier: Apache-2.0
//
// Framing: sizes known in advance, block ends, the bytes that the reference engine writes.
#include "db/wal/log_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/db/wal/log_test_util.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr auto kFormatAbsolute = WALRecoveryMode::kAbsoluteConsistency;

// Every number of bytes left in a block from 0 to 30, times payloads around what fits.
TEST(LogFraming, TakesTheSizeThatWasForetold) {
  for (const int kind : {0, 1, 2, 3}) {
    const LogFraming framing(77, /*is_recyclable=*/kind % 2 == 1, /*is_compressed=*/kind >= 2);
    const size_t header = framing.header_bytes();
    for (uint64_t left = 0; left <= 30; ++left) {
      for (const uint64_t size :
           {uint64_t{0}, uint64_t{1}, left, left + 1, kLogBlockBytes - header,
            kLogBlockBytes - header + 1, 2 * (kLogBlockBytes - header) + left - header,
            uint64_t{100000}}) {
        const uint64_t offset = 3 * kLogBlockBytes - left;
        if (size > 200000) continue;  // wrapped around
        std::string bytes;
        AppendFramedRecord(framing, offset, std::string(size, 'x'), &bytes);
        ASSERT_EQ(bytes.size(), FramedBytes(framing, offset, size)) << left << " " << size;
      }
    }
  }
}

// The places in their blocks at which the fragments of the last record begin. Checks that the log
// is read back.
std::vector<size_t> PlacesOfLast(LogImage* log, const std::string& payload) {
  const size_t offset = log->bytes.size();
  log->bytes.resize(offset + FramedBytes(log->framing, offset, payload.size()));
  std::vector<size_t> places;
  FrameRecord(
      log->framing, offset, Slice(), payload, [log](uint64_t at) { return log->bytes.data() + at; },
      [&](const LogHeaderStore& store) {
        places.push_back(static_cast<size_t>(store.at - log->bytes.data()) % kLogBlockBytes);
        store.Commit();
      });
  const FileNumber number{uint64_t{log->framing.log_number()}};
  LogContents contents = ReadLog(log->bytes, kFormatAbsolute, number);
  EXPECT_EQ(contents.damages.size(), 0u) << payload.size();
  contents.records.emplace(contents.records.begin());  // so that there is one
  EXPECT_TRUE(contents.records.back() == payload) << payload.size();
  return places;
}

// The reader of RocksDB 7.8 takes a fragment at the address of the one before it for that one.
TEST(LogFraming, BeginsNoTwoFragmentsOfACompressedRecordAtOnePlace) {
  for (const bool is_recyclable : {false, true}) {
    const size_t header = LogFraming(1, is_recyclable).header_bytes();
    for (const size_t before : {size_t{0}, header, kLogBlockBytes / 2, kLogBlockBytes - 2 * header,
                                kLogBlockBytes - header, kLogBlockBytes - 3}) {
      for (size_t size = 1; size < 5 * kLogBlockBytes; size += 4093) {
        LogImage log(5, is_recyclable, /*is_compressed=*/true);
        if (before > 0) log.Add(std::string(before - header, 'a'));
        ASSERT_EQ(log.bytes.size(), before);
        const std::vector<size_t> places = PlacesOfLast(&log, std::string(size, 'x'));
        for (size_t i = 1; i < places.size(); ++i) ASSERT_NE(places[i - 1], places[i]) << size;
      }
    }
  }
}

TEST(LogFraming, ReadsBackWhatWasFramedAtEveryBlockEnd) {
  for (const bool is_recyclable : {false, true}) {
    for (size_t left = 0; left <= 30; ++left) {
      LogImage log(5, is_recyclable);
      const size_t header = log.framing.header_bytes();
      const std::string first(kLogBlockBytes - header - left, 'a');
      const std::string second = "second record, a little longer than a header";
      const std::string third(70000, 'c');
      for (const std::string& record : {first, second, std::string(), third}) log.Add(record);
      const LogContents contents = ReadLog(log.bytes, kFormatAbsolute, 5);
      ASSERT_EQ(contents.damages.size(), 0u) << left;
      ASSERT_EQ(contents.records, (std::vector<std::string>{first, second, "", third})) << left;
    }
  }
}

TEST(LogFraming, WritesAnEmptyFragmentIntoAnExactHeaderOfSpace) {
  LogImage log;
  log.Add(std::string(kLogBlockBytes - 2 * kLogHeaderBytes, 'a'));
  log.Add("payload");
  const std::string expected = {0, 0, 2};  // length 0, type First
  EXPECT_EQ(log.bytes.substr(kLogBlockBytes - 3, 3), expected);
  EXPECT_EQ(log.bytes.size(), kLogBlockBytes + kLogHeaderBytes + 7);
  EXPECT_EQ(log.bytes[kLogBlockBytes + 6], 4);
}

TEST(LogFraming, JoinsHeadAndBodyLikeOnePayload) {
  Random64 random(1);
  for (int i = 0; i < 300; ++i) {
    const LogFraming framing(9, random.OneIn(2));
    const uint64_t offset = random.Uniform(3 * kLogBlockBytes);
    const std::string payload = random.Bytes(random.Skewed(17));
    const size_t cut = std::min<size_t>(payload.size(), 12);
    std::string whole, parts(FramedBytes(framing, offset, payload.size()), '\xee');
    AppendFramedRecord(framing, offset, payload, &whole);
    FrameRecord(
        framing, offset, Slice(payload.data(), cut),
        Slice(payload).size() > cut ? Slice(payload.data() + cut, payload.size() - cut) : Slice(),
        [&](uint64_t at) { return parts.data() + (at - offset); },
        [](const LogHeaderStore& header) { header.Commit(); });
    ASSERT_EQ(whole, parts);
  }
}

TEST(LogFraming, StoresNothingInTheFirstSevenBytesUntilCommit) {
  const LogFraming framing(1, false);
  std::string memory(200, '\0');
  std::vector<LogHeaderStore> headers;
  FrameRecord(
      framing, 0, "head", "body", [&](uint64_t at) { return memory.data() + at; },
      [&](const LogHeaderStore& header) { headers.push_back(header); });
  EXPECT_EQ(memory.substr(0, 7), std::string(7, '\0'));
  EXPECT_EQ(memory.substr(7, 8), "headbody");
  ASSERT_EQ(headers.size(), 1u);
  headers[0].Commit();
  EXPECT_EQ(ReadLog(Slice(memory.data(), 15), kFormatAbsolute).Show(), "headbody");
}

TEST(LogFraming, TouchesNoByteBehindAnEmptyRecord) {
  std::string memory(20, '\xee');
  FrameRecord(
      LogFraming(1, false), 0, "", "", [&](uint64_t at) { return memory.data() + at; },
      [](const LogHeaderStore& header) { header.Commit(); });
  EXPECT_EQ(memory.substr(7), std::string(13, '\xee'));
  EXPECT_EQ(ReadLog(Slice(memory.data(), 7), kFormatAbsolute).records.size(), 1u);
}

TEST(LogFraming, NeverCutsSpecialRecords) {
  PredecessorWalInfo info{3, 1000, 17};
  for (size_t left = 0; left < 60; ++left) {
    LogImage log(8, left % 2 == 0);
    log.Add(std::string(kLogBlockBytes - log.framing.header_bytes() - left, 'a'));
    log.AddSpecial(LogRecordType::kPredecessorInfo, EncodePredecessorInfo(info));
    log.Add("end");
    const LogContents contents = ReadLog(log.bytes, kFormatAbsolute, 8);
    ASSERT_EQ(contents.damages.size(), 0u) << left;
    ASSERT_EQ(contents.records.size(), 2u) << left;
    ASSERT_EQ(contents.records[1], "end");
  }
}

TEST(LogFraming, CodesWhatLogsSayAboutThemselves) {
  PredecessorWalInfo info;
  ASSERT_TRUE(DecodePredecessorInfo(EncodePredecessorInfo({1, 2, 3}), &info));
  EXPECT_EQ(info.log_number.value(), 1u);
  EXPECT_EQ(info.size_bytes, 2u);
  EXPECT_EQ(info.last_seqno, 3u);
  EXPECT_FALSE(DecodePredecessorInfo("short", &info));
  std::vector<TimestampSize> sizes;
  ASSERT_TRUE(DecodeTimestampSizes(EncodeTimestampSizes({{1, 8}, {9, 4}}), &sizes));
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[1].column_family, 9u);
  EXPECT_EQ(sizes[1].bytes, 4);
  EXPECT_FALSE(DecodeTimestampSizes("1234567", &sizes));
}

}  // namespace
}  // namespace ashlar
