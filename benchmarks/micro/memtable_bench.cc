// SPDX-License-Identifier: Apache-2.0
//
// A memtable of one write buffer: filling it with ascending and random keys, single and batched
// point lookups, iteration. `bytes_per_entry` is the memory beyond key and value.
#include "memtable/memtable.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "benchmarks/micro/workload.h"
#include "table/iterator/internal_iterator.h"

namespace ashlar {
namespace {

constexpr uint64_t kKeyCount = 450000;  // pairs of 16/100 bytes that fill a buffer of 64 MB

std::vector<std::string> AscendingKeys() {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kKeyCount; ++i) keys.push_back(BenchKey(i));
  return keys;
}
std::vector<std::string> RandomKeys() { return RandomBenchKeys(kKeyCount, kKeyCount * 8, 1); }
// Decimal counters in random order: they share most of their first bytes.
std::vector<std::string> ShuffledCounters() {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kKeyCount; ++i) {
    std::string digits = std::to_string(i);
    keys.push_back("user" + std::string(12 - digits.size(), '0') + digits);
  }
  Random64 random(3);
  for (size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.Uniform(i)]);
  return keys;
}

class Filled {
 public:
  explicit Filled(const std::vector<std::string>& keys, const std::string& prefix = "") {
    MemTableOptions options;
    options.common_prefix = prefix;
    table_ = new MemTable(InternalKeyComparator(BytewiseComparator()), options, 1);
    const std::string value(100, 'v');
    InsertHint hint;
    SequenceNumber seqno = 1;
    for (const std::string& key : keys) {
      const Status added = table_->Add(seqno++, kTypeValue, key, value, &hint);
      if (!added.ok()) std::abort();
    }
    table_->AddCounters(&hint);
  }
  ~Filled() { table_->Unref(); }
  const MemTable& operator*() const { return *table_; }
  double OverheadPerEntry() const {
    const MemTableCounters counters = table_->counters();
    return static_cast<double>(table_->ApproximateMemoryUsage() - counters.raw_bytes) /
           static_cast<double>(counters.entries);
  }

 private:
  MemTable* table_;
};

void Fill(benchmark::State& state, const std::vector<std::string>& keys,
          const std::string& prefix = "") {
  double overhead = 0;
  for (auto _ : state) {
    const auto filled = std::make_unique<Filled>(keys, prefix);
    overhead = filled->OverheadPerEntry();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(keys.size()));
  state.counters["bytes_per_entry"] = overhead;
}

void BM_FillAscending(benchmark::State& state) { Fill(state, AscendingKeys()); }
void BM_FillRandom(benchmark::State& state) { Fill(state, RandomKeys()); }
void BM_FillCounters(benchmark::State& state) { Fill(state, ShuffledCounters(), "user"); }
BENCHMARK(BM_FillAscending)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FillRandom)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FillCounters)->Unit(benchmark::kMillisecond);

void BM_Get(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys();
  const Filled filled(keys);
  Random64 random(2);
  PinnableSlice value;
  uint64_t found = 0;
  for (auto _ : state) {
    const LookupKey key(keys[random.Uniform(keys.size())], kMaxSequenceNumber, KeyOrder::kBytewise);
    value.Reset();
    PointLookup lookup(key, &value);
    found += (*filled).Get(key, &lookup);
  }
  if (found != static_cast<uint64_t>(state.iterations())) state.SkipWithError("keys are missing");
}
BENCHMARK(BM_Get);

void BM_GetMissing(benchmark::State& state) {
  const Filled filled(RandomKeys());
  Random64 random(2);
  uint64_t found = 0;
  for (auto _ : state) {
    const std::string name = BenchKey(random.Uniform(kKeyCount * 8)) + "x";
    const LookupKey key(name, kMaxSequenceNumber, KeyOrder::kBytewise);
    PointLookup lookup(key, nullptr);
    found += (*filled).Get(key, &lookup);
  }
  if (found != 0) state.SkipWithError("keys from nowhere");
}
BENCHMARK(BM_GetMissing);

// 32 keys with a distance of `range(0)` between neighbours, in the order that MultiGet sorts them.
// 0: random keys.
void BM_GetMany(benchmark::State& state) {
  constexpr size_t kBatch = 32;
  std::vector<std::string> keys = RandomKeys();
  const Filled filled(keys);
  std::sort(keys.begin(), keys.end());
  const auto stride = static_cast<size_t>(state.range(0));
  Random64 random(2);
  std::vector<PinnableSlice> values(kBatch);
  uint64_t found = 0;
  for (auto _ : state) {
    std::deque<LookupKey> lookup_keys;
    std::deque<PointLookup> lookups;
    PointLookup* pointers[kBatch];
    size_t places[kBatch];
    for (size_t& place : places) place = random.Uniform(keys.size() - stride * kBatch);
    if (stride == 0) std::sort(places, places + kBatch);
    for (size_t i = 0; i < kBatch; ++i) {
      const size_t place = stride == 0 ? places[i] : places[0] + i * stride;
      lookup_keys.emplace_back(keys[place], kMaxSequenceNumber, KeyOrder::kBytewise);
      values[i].Reset();
      pointers[i] = &lookups.emplace_back(lookup_keys.back(), &values[i]);
    }
    (*filled).GetMany(pointers, kBatch);
    for (const PointLookup& lookup : lookups) found += lookup.decided();
  }
  if (found != kBatch * static_cast<uint64_t>(state.iterations())) {
    state.SkipWithError("keys are missing");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kBatch));
}
BENCHMARK(BM_GetMany)->Arg(0)->Arg(1)->Arg(16);

void Walk(benchmark::State& state, bool forward) {
  const Filled filled(RandomKeys());
  const std::unique_ptr<InternalIterator> it((*filled).NewIterator(nullptr));
  uint64_t bytes = 0;
  for (auto _ : state) {
    if (!it->Valid()) {
      forward ? it->SeekToFirst() : it->SeekToLast();
    } else {
      forward ? it->Next() : it->Prev();
    }
    if (it->Valid()) bytes += static_cast<unsigned char>(it->value()[0]);
  }
  benchmark::DoNotOptimize(bytes);
}
void BM_Next(benchmark::State& state) { Walk(state, true); }
void BM_Prev(benchmark::State& state) { Walk(state, false); }
BENCHMARK(BM_Next);
BENCHMARK(BM_Prev);

void BM_Seek(benchmark::State& state) {
  const std::vector<std::string> keys = RandomKeys();
  const Filled filled(keys);
  const std::unique_ptr<InternalIterator> it((*filled).NewIterator(nullptr));
  Random64 random(2);
  std::string target;
  for (auto _ : state) {
    target =
        MakeInternalKey(keys[random.Uniform(keys.size())], kMaxSequenceNumber, kValueTypeForSeek);
    it->Seek(target);
    benchmark::DoNotOptimize(it->Valid());
  }
}
BENCHMARK(BM_Seek);

}  // namespace
}  // namespace ashlar
