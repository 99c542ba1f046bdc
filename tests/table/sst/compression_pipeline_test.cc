// SPDX-License-Identifier: Apache-2.0
//
// Several threads compress the blocks of one table: order, limits, and every way to fail.
#include "table/sst/write/compression_pipeline.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/table.h"
#include "env/file_writer.h"
#include "table/sst/write/block_writer.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/memory_writer.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Returns "compressed" for each block, after calling the function of the test.
class FakeCompressor final : public Compressor {
 public:
  using Action = std::function<void(const Slice& raw)>;
  explicit FakeCompressor(Action action) : Compressor(kZlibCompression), action_(action) {}
  bool Compress(const Slice& raw, size_t /*limit*/, PageString* output) override {
    if (action_ != nullptr) action_(raw);
    *output = "compressed " + raw.ToString();
    return true;
  }

 private:
  const Action action_;
};

std::unique_ptr<CompressionPipeline> MakePipeline(size_t threads, FakeCompressor::Action action,
                                                  bool is_verified = false) {
  std::vector<std::unique_ptr<BlockCompressor>> compressors;
  for (size_t i = 0; i < threads; ++i) {
    compressors.push_back(std::make_unique<BlockCompressor>(
        BlockCompression{.type = kZlibCompression, .is_verified = is_verified},
        std::make_unique<FakeCompressor>(action)));
  }
  return std::make_unique<CompressionPipeline>(std::move(compressors));
}

std::string Name(uint64_t i) { return StrCat("block", i); }

void AddBlock(CompressionPipeline* pipeline, uint64_t i, bool is_last = false) {
  const std::string next = "first" + std::to_string(i + 1);
  const Slice next_key(next);
  pipeline->Add(Name(i), "last" + std::to_string(i), is_last ? nullptr : &next_key);
}

void ExpectBlock(CompressionPipeline* pipeline, uint64_t i) {
  const CompressionPipeline::Block& block = pipeline->TakeOldest();
  EXPECT_EQ(block.raw.contents, Name(i));
  EXPECT_EQ(block.raw.last_key, StrCat("last", i));
  EXPECT_EQ(block.stored.bytes.ToString(), "compressed " + Name(i));
  EXPECT_EQ(block.stored.raw_bytes, Name(i).size());
  EXPECT_EQ(block.stored.type, kZlibCompression);
}

TEST(CompressionPipeline, BlocksComeOutInTheOrderTheyWentIn) {
  for (const size_t threads : {2, 3, 8}) {
    const auto pipeline = MakePipeline(threads, nullptr);
    uint64_t added = 0, taken = 0;
    for (; added < 1000; AddBlock(pipeline.get(), added++)) {
      while (pipeline->IsFull()) ExpectBlock(pipeline.get(), taken++);
    }
    EXPECT_EQ(added - taken, 8 * threads);  // not fewer because some are done
    while (!pipeline->empty()) ExpectBlock(pipeline.get(), taken++);
    EXPECT_EQ(taken, added);
    EXPECT_EQ(pipeline->raw_bytes(), 0u);
  }
}

TEST(CompressionPipeline, TheLastBlockHasNoNextKey) {
  const auto pipeline = MakePipeline(2, nullptr);
  AddBlock(pipeline.get(), 0);
  AddBlock(pipeline.get(), 1, /*is_last=*/true);
  const RawDataBlock& first = pipeline->TakeOldest().raw;
  EXPECT_FALSE(first.is_last);
  EXPECT_EQ(first.next_key, "first1");
  EXPECT_TRUE(pipeline->TakeOldest().raw.is_last);
}

// Blocks that are already compressed need no work, wherever they are among the others: at first
// more of them than the ring has slots, then every n-th block.
TEST(CompressionPipeline, BlocksThatComeCompressedComeOutAsTheyAre) {
  for (const uint64_t every : {1, 2, 7}) {
    const auto is_known = [every](uint64_t i) { return i < 100 || i % every == 0; };
    const auto pipeline = MakePipeline(3, [is_known](const Slice& raw) {
      EXPECT_FALSE(is_known(std::stoull(raw.ToString().substr(5))));
    });
    const auto take = [&](uint64_t i) {
      if (!is_known(i)) return ExpectBlock(pipeline.get(), i);
      const CompressionPipeline::Block& block = pipeline->TakeOldest();
      EXPECT_EQ(block.raw.contents, Name(i));
      EXPECT_EQ(block.stored.bytes.ToString(), StrCat("known ", i));
      EXPECT_EQ(block.stored.type, kZSTD);
    };
    uint64_t added = 0, taken = 0;
    for (; added < 500; ++added) {
      while (pipeline->IsFull()) take(taken++);
      if (!is_known(added)) {
        AddBlock(pipeline.get(), added);
        continue;
      }
      const std::string bytes = StrCat("known ", added);
      const StoredBlock stored{.bytes = bytes, .raw_bytes = Name(added).size(), .type = kZSTD};
      pipeline->Add(Name(added), "last", nullptr, &stored);
    }
    while (!pipeline->empty()) take(taken++);
    EXPECT_EQ(taken, added);
  }
}

// Each of the two blocks waits until the other one has begun.
TEST(CompressionPipeline, TwoBlocksAreCompressedAtOnce) {
  std::atomic<bool> has_begun[2] = {false, false};
  const auto pipeline = MakePipeline(2, [&](const Slice& raw) {
    if (raw != Slice("block0") && raw != Slice("block1")) return;
    const bool is_second = raw == Slice("block1");
    has_begun[is_second] = true;
    has_begun[is_second].notify_all();
    has_begun[!is_second].wait(false);
  });
  uint64_t added = 0;
  for (; !pipeline->IsFull(); ++added) AddBlock(pipeline.get(), added);
  for (uint64_t i = 0; i < added; ++i) ExpectBlock(pipeline.get(), i);
}

TEST(CompressionPipeline, LargeBlocksFillIt) {
  const auto pipeline = MakePipeline(8, nullptr);
  const std::string large(9 << 20, 'x');
  pipeline->Add(large, "a", nullptr);
  EXPECT_FALSE(pipeline->IsFull());
  pipeline->Add(large, "b", nullptr);
  EXPECT_TRUE(pipeline->IsFull());
  EXPECT_EQ(pipeline->raw_bytes(), 2 * large.size());
  EXPECT_EQ(pipeline->TakeOldest().raw.last_key, "a");
  EXPECT_FALSE(pipeline->IsFull());
}

// In any thread: the caller's or another one.
TEST(CompressionPipeline, WhatABlockThrowsIsThrownWhenItIsTaken) {
  for (const uint64_t bad : {0, 3, 7}) {
    const auto pipeline = MakePipeline(2, [bad](const Slice& raw) {
      if (raw == Slice(Name(bad))) throw std::bad_alloc();
    });
    for (uint64_t i = 0; !pipeline->IsFull(); ++i) AddBlock(pipeline.get(), i);
    for (uint64_t i = 0; i < bad; ++i) ExpectBlock(pipeline.get(), i);
    EXPECT_THROW(pipeline->TakeOldest(), std::bad_alloc);
    if (bad < 7) ExpectBlock(pipeline.get(), bad + 1);
  }
}

TEST(CompressionPipeline, ABlockThatDoesNotReadBackSaysSo) {
  const auto pipeline = MakePipeline(2, nullptr, /*is_verified=*/true);
  AddBlock(pipeline.get(), 0);
  EXPECT_TRUE(pipeline->TakeOldest().stored.status.IsCorruption());
}

TEST(CompressionPipeline, EndsWithBlocksUnderWay) {
  std::atomic<int> begun{0};
  {
    const auto pipeline = MakePipeline(3, [&](const Slice&) { ++begun; });
    for (uint64_t i = 0; !pipeline->IsFull(); ++i) AddBlock(pipeline.get(), i);
  }
  EXPECT_LE(begun, 24);
}

TEST(CompressionPipeline, RefusesWhatTheBuildLacks) {
  EXPECT_TRUE(CompressionPipeline::Create({.type = kXpressCompression}, Slice(), 2)
                  .status()
                  .IsNotSupported());
}

// The error names the place of the block, which the compressing thread does not know.
TEST(CompressionPipeline, ABadBlockIsNotWritten) {
  std::string contents;
  const std::unique_ptr<FileWriter> file = WriterIntoString(&contents);
  BlockWriter writer({}, file.get());
  ASSERT_OK(writer.Open());
  BlockHandle handle;
  ASSERT_OK(writer.Write("block", Packing::kData, &handle));
  StoredBlock bad = StoredBlock::AsItIs("bad");
  bad.status = Status::Corruption("it decompresses to other bytes");
  const Status status = writer.WriteData(bad, &handle);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_NE(status.ToString().find("offset 10: "), std::string::npos) << status.ToString();
  EXPECT_EQ(contents.size(), 10u);
}

class ParallelTableTest : public testing::Test {
 protected:
  ParallelTableTest() {
    options_.icmp = &icmp_;
    options_.table = &table_;
    options_.db_session_id = "ABCDEFGHIJKLMNOPQRST";
    options_.file_number = FileNumber{7};
    options_.compression = kZSTD;
    table_.block_size = 300;
    Random64 random(17);
    for (int i = 0; i < 600; ++i) {
      char key[16];
      std::snprintf(key, sizeof(key), "key%06d", i);
      entries_.emplace_back(MakeInternalKey(key, 5, kTypeValue),
                            random.Letters(20) + std::string(random.Uniform(60), 'v'));
    }
  }

  Status Build(uint32_t threads, uint64_t capacity = UINT64_MAX) {
    options_.compression_opts.parallel_threads = threads;
    contents_.clear();
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&contents_, capacity);
    TableBuilder builder(options_, writer.get());
    sizes_.clear();
    Status status;
    for (const auto& [key, value] : entries_) {
      status = builder.Add(key, value);
      if (!status.ok()) break;
      sizes_.push_back(builder.FileSize());
    }
    if (!status.ok()) {
      EXPECT_EQ(builder.Finish(), status);  // the first error stays
      return status;
    }
    return builder.Finish();
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  BlockBasedTableOptions table_;
  TableBuilderOptions options_;
  std::vector<std::pair<std::string, std::string>> entries_;
  std::string contents_;
  std::vector<uint64_t> sizes_;  // after each entry
};

TEST_F(ParallelTableTest, TheBytesDoNotDependOnTheThreads) {
  if (!IsCompressionSupported(kZSTD)) return SkipAsMissing("zstd");
  ASSERT_OK(Build(1));
  const std::string serial = contents_;
  for (const uint32_t threads : {2u, 3u, 100u}) {
    ASSERT_OK(Build(threads));
    EXPECT_TRUE(contents_ == serial) << threads;
  }
}

// Files that are cut by their size must always be cut at the same place.
TEST_F(ParallelTableTest, TheSizeOnTheWayIsAlwaysTheSameAndNearTheTruth) {
  if (!IsCompressionSupported(kZSTD)) return SkipAsMissing("zstd");
  ASSERT_OK(Build(1));
  const std::vector<uint64_t> serial = sizes_;
  ASSERT_OK(Build(3));
  const std::vector<uint64_t> parallel = sizes_;
  ASSERT_EQ(parallel.size(), serial.size());
  for (size_t i = 200; i < serial.size(); ++i) {
    EXPECT_LT(parallel[i], serial[i] + serial[i] / 5) << i;
    EXPECT_GT(parallel[i] + serial[i] / 5, serial[i]) << i;
  }
  for (int run = 0; run < 20; ++run) {
    ASSERT_OK(Build(3));
    ASSERT_EQ(sizes_, parallel);
  }
}

TEST_F(ParallelTableTest, EveryFailedWriteIsReported) {
  if (!IsCompressionSupported(kZSTD)) return SkipAsMissing("zstd");
  ASSERT_OK(Build(3));
  const uint64_t whole = contents_.size();
  for (uint64_t capacity = 0; capacity < whole; capacity += 97) {
    EXPECT_TRUE(Build(3, capacity).IsIOError()) << capacity;
    EXPECT_LE(contents_.size(), capacity);
  }
  EXPECT_OK(Build(3, whole));
}

TEST_F(ParallelTableTest, ABuilderMayBeGivenUpAtAnyBlock) {
  if (!IsCompressionSupported(kZSTD)) return SkipAsMissing("zstd");
  options_.compression_opts.parallel_threads = 3;
  for (size_t count = 0; count < entries_.size(); count += 37) {
    std::string contents;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&contents);
    TableBuilder builder(options_, writer.get());
    for (size_t i = 0; i < count; ++i)
      ASSERT_OK(builder.Add(entries_[i].first, entries_[i].second));
    builder.Abandon();
  }
}

TEST_F(ParallelTableTest, WithoutCompressionThereIsNothingToDoInParallel) {
  options_.compression = kNoCompression;
  ASSERT_OK(Build(1));
  const std::string serial = contents_;
  ASSERT_OK(Build(4));
  EXPECT_TRUE(contents_ == serial);
}

}  // namespace
}  // namespace ashlar
