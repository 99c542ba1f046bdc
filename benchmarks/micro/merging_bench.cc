// SPDX-License-Identifier: Apache-2.0
//
// Merging sorted runs: the cost of a step, by the number of runs and by how their keys interleave.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "benchmarks/micro/workload.h"
#include "table/block/block_builder.h"
#include "table/iterator/merging_iterator.h"

namespace ashlar {
namespace {

constexpr uint64_t kEntriesPerRun = 2000;

// A run of one large block.
class BlockRun final : public InternalIterator {
 public:
  explicit BlockRun(const std::vector<uint64_t>& numbers) : icmp_(BytewiseComparator()) {
    BlockBuilder builder(BlockBuilderOptions{});
    for (const uint64_t number : numbers) builder.Add(BenchInternalKey(number, 1), "value");
    bytes_ = builder.Finish().ToString();
    if (!Block::Parse(bytes_, &block_).ok()) std::abort();
    block_cursor_.Attach(&block_, BlockKeyFormat());
    cursor_ = &block_cursor_;
  }

  void SeekToFirst() override { valid_ = cursor_->First(&key_, &value_); }
  void SeekToLast() override { valid_ = cursor_->Last(&key_, &value_); }
  void Seek(const Slice& target) override {
    valid_ = cursor_->Seek(icmp_, SeekTarget(target), &key_, &value_);
  }
  void SeekForPrev(const Slice&) override { valid_ = false; }

 private:
  void NextSlow() override { valid_ = false; }
  void PrevSlow() override { valid_ = false; }

  const InternalKeyComparator icmp_;
  std::string bytes_;
  Block block_;
  BlockCursor block_cursor_;
};

// `clustered`: each run has stretches of 100 consecutive keys, like the levels of a tree.
std::unique_ptr<MergingIterator> MakeMerge(const InternalKeyComparator& icmp, size_t run_count,
                                           bool clustered) {
  std::vector<std::vector<uint64_t>> numbers(run_count);
  Random64 random(7);
  size_t run = 0;
  for (uint64_t i = 0; i < kEntriesPerRun * run_count; ++i) {
    if (!clustered || i % 100 == 0) run = random.Uniform(run_count);
    numbers[run].push_back(i);
  }
  std::vector<SortedRun> children;
  for (const auto& run_numbers : numbers) children.push_back(new BlockRun(run_numbers));
  return std::make_unique<MergingIterator>(&icmp, SortedRuns{.runs = std::move(children)});
}

void BM_MergeNext(benchmark::State& state) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const auto merged = MakeMerge(icmp, static_cast<size_t>(state.range(0)), state.range(1) != 0);
  merged->SeekToFirst();
  for (auto _ : state) {
    if (!merged->Valid()) merged->SeekToFirst();
    benchmark::DoNotOptimize(merged->key().data());
    merged->Next();
  }
}
BENCHMARK(BM_MergeNext)->ArgNames({"runs", "clustered"})->ArgsProduct({{1, 2, 4, 8, 16}, {0, 1}});

void BM_MergeSeek(benchmark::State& state) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const auto run_count = static_cast<size_t>(state.range(0));
  const auto merged = MakeMerge(icmp, run_count, false);
  Random64 random(3);
  for (auto _ : state) {
    merged->Seek(BenchInternalKey(random.Uniform(kEntriesPerRun * run_count), kMaxSequenceNumber));
    benchmark::DoNotOptimize(merged->Valid());
  }
}
BENCHMARK(BM_MergeSeek)->ArgName("runs")->Arg(1)->Arg(4)->Arg(8);

}  // namespace
}  // namespace ashlar
