// SPDX-License-Identifier: Apache-2.0
//
// Frames whose head is filled in last, compressors lent to threads, and sinks of compressed logs.
#include "db/wal/wal_compression.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "db/wal/wal_sink.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string HeadOf(uint64_t seqno, uint32_t count) {
  std::string head;
  PutFixed64(&head, seqno);
  PutFixed32(&head, count);
  return head;
}

std::string Random(size_t bytes, uint64_t seed) {
  Random64 random(seed);
  std::string text;
  while (text.size() < bytes) text.push_back(static_cast<char>(random.Next()));
  return text;
}

void InThreads(size_t count, const std::function<void(size_t)>& work) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; i++) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

std::vector<std::string> Bodies() {
  std::string repeated;
  for (int i = 0; i < 40000; i++) repeated += StrCat("key", i % 700, "value", i % 13);
  return {"",
          "x",
          std::string(12, '\0'),
          HeadOf(7, 1),  // as the head in front of it
          std::string(100, 'a'),
          Random(1000, 1),
          std::string(200000, 'b'),
          Random(300000, 2),
          repeated,
          repeated + Random(5000, 3) + repeated};
}

class OpenFrameTest : public testing::Test {
 protected:
  OpenFrameTest() {
    auto compressor = WalCompressor::Create();
    EXPECT_OK(compressor);
    compressor_ = compressor.Take();
    auto decompressor = WalDecompressor::Create();
    EXPECT_OK(decompressor);
    decompressor_ = decompressor.Take();
  }
  bool Decompress(const Slice& frame) { return decompressor_->Decompress(frame, &record_); }

  std::unique_ptr<WalCompressor> compressor_;
  std::unique_ptr<WalDecompressor> decompressor_;
  std::string record_;
};

TEST_F(OpenFrameTest, HoldsItsHeadAndItsBody) {
  for (const std::string& body : Bodies()) {
    OpenFrame frame;
    ASSERT_OK(compressor_->CompressBody(body, &frame));
    const size_t size = frame.size();
    for (const uint64_t seqno : {uint64_t{7}, uint64_t{1} << 55, uint64_t{0}}) {
      const std::string head = HeadOf(seqno, 1);
      frame.Close(head, body);
      EXPECT_EQ(frame.size(), size);
      ASSERT_TRUE(Decompress(frame.bytes())) << body.size() << " bytes";
      EXPECT_TRUE(record_ == head + body) << body.size() << " bytes";
    }
  }
}

TEST_F(OpenFrameTest, IsNotWholeBeforeItIsClosed) {
  OpenFrame frame;
  ASSERT_OK(compressor_->CompressBody("body", &frame));
  EXPECT_FALSE(Decompress(frame.bytes()));
}

TEST_F(OpenFrameTest, MakesNothingOfADamagedFrame) {
  OpenFrame frame;
  const std::string body = std::string(50, 'a') + Random(30, 4);
  ASSERT_OK(compressor_->CompressBody(body, &frame));
  frame.Close(HeadOf(9, 2), body);
  const std::string whole = frame.bytes().ToString();
  for (size_t size = 0; size < whole.size(); size++) {
    EXPECT_FALSE(size > 0 && Decompress(Slice(whole.data(), size))) << size;
  }
  for (size_t bit = 0; bit < whole.size() * 8; bit++) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    // A window may be larger than it need be.
    EXPECT_TRUE(!Decompress(damaged) || record_ == HeadOf(9, 2) + body) << bit;
  }
}

TEST_F(OpenFrameTest, CompressesWhatRepeats) {
  OpenFrame frame;
  ASSERT_OK(compressor_->CompressBody(std::string(100000, 'x'), &frame));
  EXPECT_LT(frame.size(), 200u);
}

TEST_F(OpenFrameTest, IsMadeByWholeRecordsToo) {
  std::string frame;
  OpenFrame open;
  ASSERT_OK(compressor_->CompressBody("first", &open));
  ASSERT_OK(compressor_->Compress("whole record", &frame));  // with the same context
  EXPECT_TRUE(Decompress(frame));
  EXPECT_EQ(record_, "whole record");
}

TEST(WalCompressors, AreLentToManyThreads) {
  WalCompressors compressors;
  InThreads(8, [&](size_t thread) {
    auto decompressor = WalDecompressor::Create();
    ASSERT_OK(decompressor);
    for (uint64_t i = 0; i < 50; i++) {
      const std::string body = StrCat(std::string(i * 7, 'z'), thread, Random(i, i));
      OpenFrame frame;
      ASSERT_OK(compressors.CompressBody(body, &frame));
      frame.Close(HeadOf(i, 1), body);
      std::string record;
      ASSERT_TRUE((*decompressor)->Decompress(frame.bytes(), &record));
      EXPECT_EQ(record, HeadOf(i, 1) + body);
    }
  });
}

// ---- Sinks

class CompressedSinkTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    is_mapped_ = GetParam();
    fs_ = is_mapped_ ? FileSystem::Default() : std::make_shared<MemoryFileSystem>();
    const std::string dir = is_mapped_ ? FreshMappableDir("compressed_sink") : "/logs";
    if (dir.empty()) return SkipAsMissing(kMappableFileSystem);
    ASSERT_OK(CreateDirectories(fs_.get(), dir));
    options_.fs = fs_.get();
    options_.path = dir + "/000007.log";
    options_.log_number = 7;
    options_.allow_mapped = is_mapped_;
    options_.compressors = &compressors_;
  }
  LogContents Read() {
    auto bytes = ReadWholeFile(fs_.get(), options_.path);
    EXPECT_OK(bytes);
    file_bytes_ = bytes->size();
    return ReadLog(*bytes, WALRecoveryMode::kTolerateCorruptedTailRecords, 7);
  }

  bool is_mapped_ = false;
  std::shared_ptr<FileSystem> fs_;
  WalCompressors compressors_;
  WalSinkOptions options_;
  size_t file_bytes_ = 0;
};

TEST_P(CompressedSinkTest, BeginsWithWhatSaysSo) {
  auto sink = OpenWalSink(options_);
  ASSERT_OK(sink);
  EXPECT_EQ((*sink)->is_mapped(), is_mapped_);
  EXPECT_EQ((*sink)->size(), 11u);
  ASSERT_OK((*sink)->Close());
  const LogContents contents = Read();
  EXPECT_EQ(contents.Show(), "");
  EXPECT_EQ(file_bytes_, 11u);
}

TEST_P(CompressedSinkTest, HoldsRecordsOfBothKinds) {
  auto opened = OpenWalSink(options_);
  ASSERT_OK(opened);
  const std::unique_ptr<WalSink> sink = opened.Take();
  std::vector<std::string> records;
  for (const std::string& body : Bodies()) {
    records.push_back(StrCat("whole record with ", body));
    ASSERT_OK(sink->Append(records.back()));
    OpenFrame frame;
    ASSERT_OK(compressors_.CompressBody(body, &frame));
    const WalSink::Range range = sink->Reserve(frame.size());
    frame.Close(HeadOf(5, 6), body);
    ASSERT_OK(sink->Stage(range, Slice(), frame.bytes()));
    records.push_back(HeadOf(5, 6) + body);
  }
  ASSERT_OK(sink->Flush(sink->size()));
  ASSERT_OK(sink->Close());
  EXPECT_TRUE(Read().records == records);
}

// For the reader of RocksDB 7.8 (log_format.h).
TEST_P(CompressedSinkTest, BeginsNoTwoFragmentsOfARecordAtOnePlaceOfTheirBlocks) {
  auto sink = OpenWalSink(options_);
  ASSERT_OK(sink);
  const std::string record = Random(5 * kLogBlockBytes, 1);
  ASSERT_OK((*sink)->Append(record));
  ASSERT_OK((*sink)->Close());
  EXPECT_TRUE(Read().records == std::vector<std::string>{record});
  auto bytes = ReadWholeFile(fs_.get(), options_.path);
  ASSERT_OK(bytes);
  size_t last = kLogBlockBytes, fragments = 0;
  for (size_t at = 0; at + kLogHeaderBytes <= bytes->size(); fragments++) {
    EXPECT_NE(at % kLogBlockBytes, last) << at;
    last = at % kLogBlockBytes;
    const auto low = static_cast<uint8_t>((*bytes)[at + 4]);
    const auto high = static_cast<uint8_t>((*bytes)[at + 5]);
    at += kLogHeaderBytes + low + (high << 8);
  }
  EXPECT_GT(fragments, 5u);
}

INSTANTIATE_TEST_SUITE_P(Both, CompressedSinkTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Mapped" : "Buffered"; });

// ---- The record that says so is damaged

TEST(CompressedLog, IsKnownByItsFramesWhenItsFirstRecordIsDamaged) {
  LogImage log;
  log.AddSpecial(LogRecordType::kSetCompression, Slice("\7\0\0\0", 4));
  auto compressor = WalCompressor::Create();
  ASSERT_OK(compressor);
  std::string frame;
  std::string big = Random(2 * kLogBlockBytes, 5);
  for (const std::string& record : {std::string("A"), big, std::string("B")}) {
    ASSERT_OK((*compressor)->Compress(record, &frame));
    log.Add(frame);
  }
  for (int i = 0; i < 3; i++) {
    ASSERT_OK((*compressor)->Compress(StrCat("C", i), &frame));
    log.Add(frame);
  }
  log.bytes[9] ^= 1;
  const LogContents contents = ReadLog(log.bytes, WALRecoveryMode::kSkipAnyCorruptedRecords);
  ASSERT_FALSE(contents.records.empty());
  EXPECT_EQ(contents.records.front(), "A");
  EXPECT_EQ(contents.records.size(), 6u);
  EXPECT_EQ(contents.records.back(), "C2");
}

}  // namespace
}  // namespace ashlar
