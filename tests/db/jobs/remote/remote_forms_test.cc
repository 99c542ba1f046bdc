// SPDX-License-Identifier: Apache-2.0
//
// What goes to a worker and comes back, and what is made of bytes that are neither.
#include "db/jobs/remote/remote_forms.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/text_tree.h"
#include "util/hash/crc32c.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

RemoteInput SampleInput() {
  RemoteInput input;
  input.db_id = "an id";
  input.family = "family";
  input.options_file = FileNumber{17};
  input.inputs = {{1, {FileNumber{1}, FileNumber{2}}}, {2, {FileNumber{3}}}};
  input.snapshots = {5, 900};
  input.undecided = {{.first = 6, .last = 7}, {.first = 9, .last = 9}};
  input.fails_on_merge = true;
  input.output_level = 2;
  input.base_level = 1;
  input.target_file_bytes = 1000;
  input.max_grandparent_bytes = UINT64_MAX;
  input.is_bottommost = true;
  input.is_manual = true;
  input.compression = kLZ4Compression;
  input.reason = CompactionReason::kManualCompaction;
  input.temperature = Temperature::kCold;
  input.young_range = {.smallest = "b", .largest = "c", .largest_is_exclusive = true};
  input.now_seconds = 123456;
  input.write_times = "not looked at";
  return input;
}

RemoteResult SampleResult() {
  RemoteResult result;
  result.output_dir = "/out";
  FileMetadata meta;
  meta.number = FileNumber{4};
  meta.file_size = 1234;
  meta.smallest = MakeInternalKey("a", 9, kTypeValue);
  meta.largest = MakeInternalKey("f", 0, kTypeValue);
  meta.smallest_seqno = 0;
  meta.largest_seqno = 9;
  meta.epoch_number = 3;
  result.tables = {{.meta = meta}};
  result.input_entries = 10;
  result.output_entries = 7;
  result.hidden_dropped = 3;
  result.cpu_micros = 44;
  return result;
}

TEST(RemoteForms, AnInputComesBackAsItWas) {
  const RemoteInput input = SampleInput();
  const std::string bytes = input.Encode();
  Result<RemoteInput> read = RemoteInput::Decode(bytes);
  ASSERT_OK(read.status());
  EXPECT_EQ(read->Encode(), bytes);
  EXPECT_EQ(read->family, "family");
  EXPECT_EQ(read->inputs[0].files[1], FileNumber{2});
  EXPECT_EQ(read->snapshots, input.snapshots);
  ASSERT_EQ(read->undecided.size(), 2u);
  EXPECT_EQ(read->undecided[0].first, 6u);
  EXPECT_EQ(read->undecided[0].last, 7u);
  EXPECT_EQ(read->undecided[1].first, 9u);
  EXPECT_EQ(read->compression, kLZ4Compression);
  EXPECT_TRUE(read->is_bottommost && !read->is_open_below);
  EXPECT_EQ(read->temperature, Temperature::kCold);
  ASSERT_TRUE(read->young_range.has_value());
  EXPECT_EQ(read->young_range->smallest + read->young_range->largest, "bc");
  EXPECT_TRUE(read->young_range->largest_is_exclusive);
  EXPECT_EQ(read->now_seconds, 123456u);
  EXPECT_EQ(read->write_times, "not looked at");
}

TEST(RemoteForms, AYoungRangeHasALevelAboveTheLastOne) {
  RemoteInput input = SampleInput();
  input.output_level = 1;
  EXPECT_TRUE(RemoteInput::Decode(input.Encode()).status().IsCorruption());
  input.young_range.reset();
  EXPECT_OK(RemoteInput::Decode(input.Encode()).status());
}

TEST(RemoteForms, UndecidedRangesAscend) {
  for (const SeqnoRanges& ranges :
       {SeqnoRanges{{.first = 8, .last = 7}},
        SeqnoRanges{{.first = 6, .last = 7}, {.first = 7, .last = 9}}}) {
    RemoteInput input = SampleInput();
    input.undecided = ranges;
    EXPECT_TRUE(RemoteInput::Decode(input.Encode()).status().IsCorruption());
  }
}

TEST(RemoteForms, AResultComesBackAsItWas) {
  const RemoteResult result = SampleResult();
  const std::string bytes = result.Encode();
  Result<RemoteResult> read = RemoteResult::Decode(bytes);
  ASSERT_OK(read.status());
  ASSERT_OK(read->status);
  EXPECT_EQ(read->Encode(), bytes);
  ASSERT_EQ(read->tables.size(), 1u);
  EXPECT_EQ(read->tables[0].meta.largest, result.tables[0].meta.largest);
  EXPECT_EQ(read->hidden_dropped, 3u);
}

TEST(RemoteForms, TheMarksOfATableComeBackApart) {
  RemoteResult result = SampleResult();
  result.tables.resize(8, result.tables[0]);
  for (size_t i = 0; i < 8; i++) {
    result.tables[i].meta.number = FileNumber{4 + i};
    result.tables[i].meta.marked_for_compaction = i % 2 != 0;
    result.tables[i].meta.keeps_for_snapshots = i / 2 % 2 != 0;
    result.tables[i].is_young = i / 4 != 0;
  }
  Result<RemoteResult> read = RemoteResult::Decode(result.Encode());
  ASSERT_OK(read.status());
  ASSERT_EQ(read->tables.size(), 8u);
  for (size_t i = 0; i < 8; i++) {
    EXPECT_EQ(read->tables[i].meta.marked_for_compaction, i % 2 != 0) << i;
    EXPECT_EQ(read->tables[i].meta.keeps_for_snapshots, i / 2 % 2 != 0) << i;
    EXPECT_EQ(read->tables[i].is_young, i / 4 != 0) << i;
  }
}

// Of a result with one table: its marks, a count and three flags, are exchanged for others. Behind
// them nine numbers follow, which are small, and the checksum.
std::string WithMarks(std::string bytes, const std::string& marks) {
  constexpr size_t kMarkBytes = 4, kNumberBytes = 9, kChecksumBytes = 4;
  bytes.resize(bytes.size() - kChecksumBytes);
  bytes.replace(bytes.size() - kNumberBytes - kMarkBytes, kMarkBytes, marks);
  PutFixed32(&bytes, crc32c::Mask(crc32c::Value(bytes.data(), bytes.size())));
  return bytes;
}

TEST(RemoteForms, EachTableHasItsMarks) {
  const std::string whole = SampleResult().Encode();
  ASSERT_EQ(WithMarks(whole, std::string("\1\0\0\0", 4)), whole);
  for (const std::string& marks : {std::string("\0", 1), std::string("\2\0\0\0\0\0\0", 7)}) {
    const Status status = RemoteResult::Decode(WithMarks(whole, marks)).status();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find("marks"), std::string::npos) << status.ToString();
  }
  EXPECT_TRUE(
      RemoteResult::Decode(WithMarks(whole, std::string("\1\2\1\0", 4))).status().IsCorruption());
}

TEST(RemoteForms, AFailureOfTheWorkerStaysOne) {
  RemoteResult failed;
  failed.status = Status::Corruption("a block");
  Result<RemoteResult> read = RemoteResult::Decode(failed.Encode());
  ASSERT_OK(read.status());
  EXPECT_TRUE(read->status.IsIncomplete());
  EXPECT_NE(read->status.ToString().find("a block"), std::string::npos);
}

TEST(RemoteForms, DamageIsTold) {
  for (const std::string& whole : {SampleInput().Encode(), SampleResult().Encode()}) {
    for (size_t i = 0; i < whole.size(); i++) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
      EXPECT_FALSE(RemoteInput::Decode(damaged).ok()) << i;
      EXPECT_FALSE(RemoteResult::Decode(damaged).ok()) << i;
      EXPECT_FALSE(RemoteInput::Decode(Slice(whole.data(), i)).ok()) << i;
      EXPECT_FALSE(RemoteResult::Decode(Slice(whole.data(), i)).ok()) << i;
    }
  }
  EXPECT_FALSE(RemoteInput::Decode(SampleResult().Encode()).ok());
}

TEST(RemoteForms, APlanIsMadeOfTablesThatAreWhereTheInputSays) {
  const RemoteInput input = SampleInput();
  const TextTree tree("L1: 1 a-b 10, 2 c-d 10\nL2: 3 a-d 10\nL3: 4 a-a 10, 5 z-z 10");
  RemoteInput limited = input;
  limited.max_grandparent_bytes = 100;
  ASSERT_TRUE(limited.young_range.has_value());
  Result<CompactionPlan> plan = PlanFromInput(limited, tree.version());
  ASSERT_OK(plan.status());
  EXPECT_EQ(plan->DebugString(), "merge L1[1 2] L2[3] -> L2 bottommost young above");
  EXPECT_EQ(plan->grandparents.size(), 1u);
  EXPECT_TRUE(plan->is_manual);
  EXPECT_EQ(plan->temperature, Temperature::kCold);
  ASSERT_TRUE(plan->young_range.has_value());
  EXPECT_EQ(plan->young_range->largest, "c");
  RemoteInput reversed = input;
  reversed.young_range->smallest = "d";
  EXPECT_FALSE(PlanFromInput(reversed, tree.version()).ok());
  EXPECT_FALSE(PlanFromInput(input, TextTree("L1: 1 a-b 10, 2 c-d 10").version()).ok());
  EXPECT_FALSE(
      PlanFromInput(input, TextTree("L1: 1 a-b 10\nL2: 3 a-d 10, 2 e-f 1").version()).ok());
  RemoteInput upwards = input;
  upwards.output_level = 1;
  EXPECT_FALSE(PlanFromInput(upwards, tree.version()).ok());
  upwards.output_level = 60;
  EXPECT_FALSE(PlanFromInput(upwards, tree.version()).ok());
}

}  // namespace
}  // namespace ashlar
