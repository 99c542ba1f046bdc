// SPDX-License-Identifier: Apache-2.0
//
// One data block of 4 KiB with 16/100-byte pairs: building it, searching it, iterating over it, and
// decoding it.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "benchmarks/micro/workload.h"
#include "table/block/block.h"
#include "table/block/block_builder.h"
#include "table/block/block_cursor.h"
#include "table/block/decoded_block.h"

namespace ashlar {
namespace {

constexpr size_t kBlockBytes = 4096;

// Fills the builder up to the size of a block; the keys are every second number.
uint64_t Fill(BlockBuilder* builder) {
  const std::string value(100, 'v');
  uint64_t count = 0;
  while (builder->CurrentBytes() < kBlockBytes) {
    builder->Add(BenchInternalKey(2 * count++, 1), value);
  }
  return count;
}

void BM_BlockBuild(benchmark::State& state) {
  BlockBuilder builder(BlockBuilderOptions{});
  uint64_t entries = 0;
  for (auto _ : state) {
    builder.Reset();
    entries += Fill(&builder);
    benchmark::DoNotOptimize(builder.Finish());
  }
  state.SetItemsProcessed(static_cast<int64_t>(entries));
}
BENCHMARK(BM_BlockBuild);

class BuiltBlock {
 public:
  BuiltBlock() {
    BlockBuilder builder(BlockBuilderOptions{});
    entry_count_ = Fill(&builder);
    contents_ = builder.Finish().ToString();
    if (!Block::Parse(contents_, &block_).ok()) std::abort();
  }
  const Block* block() const { return &block_; }
  uint64_t entry_count() const { return entry_count_; }

 private:
  std::string contents_;
  Block block_;
  uint64_t entry_count_ = 0;
};

void BM_BlockSeek(benchmark::State& state) {
  const BuiltBlock built;
  const InternalKeyComparator comparator(BytewiseComparator());
  BlockCursor cursor;
  cursor.Attach(built.block(), BlockKeyFormat());
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < built.entry_count(); ++i) keys.push_back(BenchKey(2 * i));
  Random64 random(1);
  Slice key, value;
  for (auto _ : state) {
    const SeekTarget target(keys[random.Uniform(keys.size())],
                            PackTrailer(kMaxSequenceNumber, kValueTypeForSeek));
    benchmark::DoNotOptimize(cursor.Seek(comparator, target, &key, &value));
  }
}
BENCHMARK(BM_BlockSeek);

void BM_BlockNext(benchmark::State& state) {
  const BuiltBlock built;
  BlockCursor cursor;
  cursor.Attach(built.block(), BlockKeyFormat());
  Slice key, value;
  bool is_valid = cursor.First(&key, &value);
  for (auto _ : state) {
    is_valid = is_valid ? cursor.Next(&key, &value) : cursor.First(&key, &value);
    benchmark::DoNotOptimize(key.data());
  }
}
BENCHMARK(BM_BlockNext);

void BM_BlockPrev(benchmark::State& state) {
  const BuiltBlock built;
  BlockCursor cursor;
  cursor.Attach(built.block(), BlockKeyFormat());
  Slice key, value;
  bool is_valid = cursor.Last(&key, &value);
  for (auto _ : state) {
    is_valid = is_valid ? cursor.Prev(&key, &value) : cursor.Last(&key, &value);
    benchmark::DoNotOptimize(key.data());
  }
}
BENCHMARK(BM_BlockPrev);

void BM_BlockDecode(benchmark::State& state) {
  const BuiltBlock built;
  std::vector<uint64_t> memory(2 * kBlockBytes / sizeof(uint64_t));
  for (auto _ : state) {
    const auto plan = DecodedBlock::Prepare(*built.block(), KeyOrder::kBytewise);
    DecodedBlock decoded;
    if (!DecodedBlock::Build(*built.block(), plan, KeyOrder::kBytewise,
                             reinterpret_cast<char*>(memory.data()), &decoded)) {
      std::abort();
    }
    benchmark::DoNotOptimize(decoded);
  }
}
BENCHMARK(BM_BlockDecode);

}  // namespace
}  // namespace ashlar
