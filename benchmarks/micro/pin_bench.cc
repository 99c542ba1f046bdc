// SPDX-License-Identifier: Apache-2.0
//
// The cost for a point read to return a value of some size: either a copy into the caller's string,
// or a counted reference on the block, taken and released. The caller reads the value in both
// cases. Measured with random blocks and with one block that all threads read: there the reference
// count is a cache line that moves between cores, which a copy avoids. `kCopiedValueBytes` is
// chosen by these figures:
//
// Nanoseconds of CPU, one thread, -O2, medians of five on a loaded machine with two cores:
//
//   bytes             100  256  512  1024  2048  4096  8192  16384
//   one block, copy     6    6    8    17    22    71   126    238
//   one block, pin     13   14   14    15    17    25    42    100
//   random, copy       38   30   27    36    58   146   229    463
//   random, pin        55   60   49    24    32    61   100    222
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "benchmarks/micro/workload.h"
#include "table/sst/read/table_objects.h"

namespace ashlar {
namespace {

constexpr size_t kBlockBytes = 32 * 1024;
constexpr size_t kBlocks = 256;  // 8 MiB: more than the private cache of a core

class Blocks {
 public:
  Blocks() {
    for (size_t i = 0; i < kBlocks; ++i) {
      DataBlock* const block = DataBlock::Allocate(kBlockBytes);
      std::memset(block->bytes(), static_cast<int>(i), kBlockBytes);
      blocks_.push_back(ObjectRef<DataBlock>::Own(block));
    }
  }
  DataBlock* at(size_t i) const { return blocks_[i].get(); }

 private:
  std::vector<ObjectRef<DataBlock>> blocks_;
};

const Blocks& SharedBlocks() {
  static const Blocks* const blocks = new Blocks;
  return *blocks;
}

// The least that a reader does: it touches each cache line of the value.
uint64_t Use(const Slice& value) {
  uint64_t sum = 0;
  for (size_t i = 0; i < value.size(); i += 64) sum += static_cast<unsigned char>(value[i]);
  return sum;
}

void Unpin(void* block, void* /*unused*/) { static_cast<DataBlock*>(block)->Unref(); }

// range(0): bytes of the value; range(1): 1 if all threads read the same block.
template <bool kPins>
void HandOut(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0));
  const bool is_one_block = state.range(1) != 0;
  const Blocks& blocks = SharedBlocks();
  PinnableSlice value;
  uint64_t number = static_cast<uint64_t>(state.thread_index()) << 32, sum = 0;
  for (auto _ : state) {
    const uint64_t random = Mix64(number++);
    DataBlock* const block = blocks.at(is_one_block ? 0 : random % kBlocks);
    const Slice stored(block->bytes() + (random >> 32) % (kBlockBytes - bytes), bytes);
    if constexpr (kPins) {
      if (!block->TryRef()) std::abort();
      value.PinSlice(stored, &Unpin, block, nullptr);
    } else {
      value.PinSelf(stored);
    }
    sum += Use(value);
    value.Reset();
  }
  benchmark::DoNotOptimize(sum);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int one_block : {0, 1}) {
    for (const int bytes : {100, 256, 512, 1024, 2048, 4096, 8192, 16384}) {
      benchmark->Args({bytes, one_block});
    }
  }
  benchmark->ArgNames({"bytes", "one_block"})->Threads(1)->Threads(2)->UseRealTime();
}

BENCHMARK(HandOut<false>)->Name("copy")->Apply(Sizes);
BENCHMARK(HandOut<true>)->Name("pin")->Apply(Sizes);

}  // namespace
}  // namespace ashlar
