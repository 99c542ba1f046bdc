// SPDX-License-Identifier: Apache-2.0
//
// The memtable's skip list: inserting ascending and random keys, finding, walking.
#include "memtable/skip_list.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "benchmarks/micro/workload.h"
#include "util/arena.h"

namespace ashlar {
namespace {

constexpr uint64_t kKeyCount = 500000;  // about one default memtable of 16/100-byte pairs

class FilledList {
 public:
  explicit FilledList(const std::vector<std::string>& keys) : list_(comparator_, Slice(), &arena_) {
    const std::string value(100, 'v');
    SequenceNumber seqno = 1;
    for (const std::string& key : keys) {
      list_.Insert(list_.At(key, PackTrailer(seqno++, kTypeValue)), value, /*exclusive=*/true);
    }
  }
  const SkipList& list() const { return list_; }

 private:
  const InternalKeyComparator comparator_{BytewiseComparator()};
  ConcurrentArena arena_{Arena::kHugePageBytes};
  SkipList list_;
};

std::vector<std::string> AscendingKeys() {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < kKeyCount; ++i) keys.push_back(BenchKey(i));
  return keys;
}

void Insert(benchmark::State& state, const std::vector<std::string>& keys) {
  for (auto _ : state) {
    const auto filled = std::make_unique<FilledList>(keys);
    benchmark::DoNotOptimize(filled->list().First());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(keys.size()));
}

void BM_InsertAscending(benchmark::State& state) { Insert(state, AscendingKeys()); }
void BM_InsertRandom(benchmark::State& state) {
  Insert(state, RandomBenchKeys(kKeyCount, kKeyCount * 8, 1));
}
BENCHMARK(BM_InsertAscending)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_InsertRandom)->Unit(benchmark::kMillisecond);

void BM_Find(benchmark::State& state) {
  const std::vector<std::string> keys = RandomBenchKeys(kKeyCount, kKeyCount * 8, 1);
  const FilledList filled(keys);
  const uint64_t newest = PackTrailer(kMaxSequenceNumber, kValueTypeForSeek);
  Random64 random(2);
  for (auto _ : state) {
    const std::string& key = keys[random.Uniform(keys.size())];
    benchmark::DoNotOptimize(filled.list().Find(filled.list().At(key, newest)));
  }
}
BENCHMARK(BM_Find);

void BM_Walk(benchmark::State& state) {
  const FilledList filled(RandomBenchKeys(kKeyCount, kKeyCount * 8, 1));
  const SkipList::Node* node = nullptr;
  for (auto _ : state) {
    node = node == nullptr ? filled.list().First() : node->Next();
    benchmark::DoNotOptimize(node);
  }
}
BENCHMARK(BM_Walk);

}  // namespace
}  // namespace ashlar
