// SPDX-License-Identifier: Apache-2.0
//
// Times of sequence numbers: what samples say, what is left of them in a table, and their bytes,
// which are those of RocksDB.
#include "db/output/seqno_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/random.h"

namespace ashlar {
namespace {

using Samples = std::vector<SeqnoTimes::Sample>;

SeqnoTimes Of(const Samples& samples) {
  SeqnoTimes times;
  for (const SeqnoTimes::Sample& sample : samples) times.Add(sample.seqno, sample.seconds);
  return times;
}

Samples Decoded(const std::string& encoded) {
  SeqnoTimes times;
  EXPECT_OK(times.MergeEncoded(encoded));
  return times.samples();
}

TEST(SeqnoTimes, AnswersAreFromTheLastSampleThatIsOldEnough) {
  const SeqnoTimes times = Of({{10, 1000}, {20, 2000}, {30, 3000}});
  EXPECT_EQ(times.LastWrittenBy(999), 0u);
  EXPECT_EQ(times.LastWrittenBy(1000), 10u);
  EXPECT_EQ(times.LastWrittenBy(2999), 20u);
  EXPECT_EQ(times.LastWrittenBy(UINT64_MAX), 30u);
}

TEST(SeqnoTimes, OfWhichNothingIsKnownIsYoung) {
  EXPECT_EQ(SeqnoTimes().FirstYoung(5000, 100), 1u);
  const SeqnoTimes times = Of({{10, 1000}, {20, 2000}});
  EXPECT_EQ(times.FirstYoung(2000, 1000), 11u);
  EXPECT_EQ(times.FirstYoung(1999, 1000), 1u);
  EXPECT_EQ(times.FirstYoung(500, 1000), 1u);  // the period began before 1970
  EXPECT_EQ(times.FirstYoung(UINT64_MAX, 0), 21u);
}

TEST(SeqnoTimes, ASampleThatSaysNothingNewIsIgnored) {
  SeqnoTimes times;
  times.Add(0, 500);
  times.Add(5, 0);
  EXPECT_TRUE(times.empty());
  times.Add(10, 1000);
  times.Add(10, 2000);  // nothing was written meanwhile: the data gets older
  times.Add(9, 3000);
  EXPECT_EQ(times.samples(), (Samples{{10, 1000}}));
}

TEST(SeqnoTimes, IfTheClockIsSetBackTheLaterTimeCounts) {
  const SeqnoTimes times = Of({{10, 1000}, {20, 400}, {30, 1000}, {40, 1100}});
  EXPECT_EQ(times.samples(), (Samples{{30, 1000}, {40, 1100}}));
}

TEST(SeqnoTimes, MergingKeepsWhatBothListsSay) {
  SeqnoTimes times = Of({{10, 1000}, {30, 3000}});
  times.Merge(Of({{5, 500}, {10, 900}, {20, 2000}, {40, 4000}}));
  EXPECT_EQ(times.samples(), (Samples{{5, 500}, {10, 900}, {20, 2000}, {30, 3000}, {40, 4000}}));
  times.Merge(Of({{25, 3500}}));  // contradicts 30 by 3000
  EXPECT_EQ(times.samples(), (Samples{{5, 500}, {10, 900}, {20, 2000}, {30, 3500}, {40, 4000}}));
}

TEST(SeqnoTimes, ForgettingKeepsTheAnswersAboutLaterTimes) {
  SeqnoTimes times = Of({{10, 1000}, {20, 2000}, {30, 3000}});
  times.ForgetBefore(2500);
  EXPECT_EQ(times.samples(), (Samples{{20, 2000}, {30, 3000}}));
  times.ForgetBefore(100);
  EXPECT_EQ(times.samples().size(), 2u);
  times.ForgetBefore(9999);
  EXPECT_EQ(times.samples(), (Samples{{30, 3000}}));
}

TEST(SeqnoTimes, ThinningLeavesSamplesAtEqualDistances) {
  SeqnoTimes times;
  for (uint64_t i = 1; i <= 1000; i++) times.Add(i, 100 + i);
  times.Thin(2000);
  EXPECT_EQ(times.samples().size(), 1000u);
  times.Thin(11);
  ASSERT_EQ(times.samples().size(), 11u);
  EXPECT_EQ(times.samples().front(), (SeqnoTimes::Sample{1, 101}));
  EXPECT_EQ(times.samples().back(), (SeqnoTimes::Sample{1000, 1100}));
  for (size_t i = 1; i < 10; i++) {
    EXPECT_EQ(times.samples()[i].seconds - times.samples()[i - 1].seconds, 100u);
  }
  times.Thin(2);
  EXPECT_EQ(times.samples(), (Samples{{1, 101}, {1000, 1100}}));
}

TEST(SeqnoTimes, ATableGetsTheSamplesAroundItsNumbers) {
  const SeqnoTimes times = Of({{10, 1000}, {20, 2000}, {30, 3000}, {40, 4000}});
  EXPECT_EQ(Decoded(times.EncodeFor(21, 29)), (Samples{{20, 2000}, {30, 3000}}));
  EXPECT_EQ(Decoded(times.EncodeFor(20, 30)), (Samples{{10, 1000}, {20, 2000}, {30, 3000}}));
  EXPECT_EQ(Decoded(times.EncodeFor(0, 5)), (Samples{{10, 1000}}));
  EXPECT_EQ(Decoded(times.EncodeFor(50, 60)), (Samples{{40, 4000}}));
  EXPECT_EQ(times.EncodeFor(0, 0), "");  // all entries have lost their numbers
  EXPECT_EQ(SeqnoTimes().EncodeFor(1, 2), "");
}

TEST(SeqnoTimes, ATableGetsAHundredSamplesAtMost) {
  SeqnoTimes times;
  for (uint64_t i = 1; i <= 1000; i++) times.Add(i, 100 + i);
  const size_t count = Decoded(times.EncodeFor(1, 1000)).size();
  EXPECT_LE(count, SeqnoTimes::kMaxSamplesOfTable);
  EXPECT_GT(count, SeqnoTimes::kMaxSamplesOfTable * 9 / 10);
}

// Written by RocksDB 7.8.3 with preserve_internal_time_seconds = 200 for numbers 1 to 80.
TEST(SeqnoTimes, TheBytesAreThoseOfRocksDb) {
  const std::string written("\x04\x14\xeb\xee\xb0\xd8\x06\x14\x02\x0a\x02\x14\x02", 13);
  const Samples samples = Decoded(written);
  const uint64_t start = 1795962731;
  EXPECT_EQ(samples, (Samples{{20, start}, {40, start + 2}, {50, start + 4}, {70, start + 6}}));
  EXPECT_EQ(Of(samples).EncodeFor(1, 80), written);
}

TEST(SeqnoTimes, DamagedBytesAreCorruptionAndAddNothing) {
  const std::string whole = Of({{10, 1000}, {300, 200000}}).EncodeFor(1, 300);
  for (size_t size = 1; size < whole.size(); size++) {
    SeqnoTimes times = Of({{1, 1}});
    const Status status = times.MergeEncoded(Slice(whole).ToString().substr(0, size));
    EXPECT_TRUE(status.IsCorruption()) << size;
    EXPECT_NE(status.ToString().find("times of sequence numbers: byte "), std::string::npos);
    EXPECT_EQ(times.samples(), (Samples{{1, 1}}));
  }
  std::string many, number, time;
  PutVarint64(&many, UINT64_MAX);
  PutVarint64Varint64(&number, 1, kMaxSequenceNumber + 1);
  PutVarint64(&number, 1);
  PutVarint64Varint64(&time, 2, 1);
  PutVarint64Varint64(&time, UINT64_MAX, 1);
  PutVarint64(&time, 1);
  for (const std::string& bytes : {whole + '\0', many, many + "xxxx", number, time}) {
    SeqnoTimes times;
    EXPECT_TRUE(times.MergeEncoded(bytes).IsCorruption()) << Slice(bytes).ToString(true);
    EXPECT_TRUE(times.empty());
  }
}

TEST(SeqnoTimes, AnEncodedListAnswersLikeTheWholeOne) {
  Random64 random(5);
  for (int round = 0; round < 200; round++) {
    SeqnoTimes times;
    SequenceNumber seqno = 0;
    uint64_t seconds = 1000;
    for (int i = 0; i < 50; i++) {
      times.Add(seqno += random.Uniform(20), seconds += random.Uniform(30));
    }
    const SequenceNumber smallest = 1 + random.Uniform(300);
    const SequenceNumber largest = smallest + random.Uniform(200);
    const SeqnoTimes part = Of(Decoded(times.EncodeFor(smallest, largest)));
    for (uint64_t at = 990; at < seconds + 10; at++) {
      // Numbers outside of the table's do not matter.
      const auto seen = [&](const SeqnoTimes& list) {
        const SequenceNumber last = list.LastWrittenBy(at);
        return last < smallest ? smallest - 1 : std::min(last, largest);
      };
      ASSERT_EQ(seen(part), seen(times)) << times.DebugString() << "; " << part.DebugString();
    }
  }
}

}  // namespace
}  // namespace ashlar
