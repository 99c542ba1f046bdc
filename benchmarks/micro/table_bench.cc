// SPDX-License-Identifier: Apache-2.0
//
// One table with its blocks in the cache: random lookups, scans and seeks, for three kinds of keys,
// with blocks as stored in the file and with hot blocks decoded.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "benchmarks/micro/workload.h"
#include "cache/block_cache.h"
#include "env/file_writer.h"
#include "env/memory/memory_file_system.h"
#include "table/iterator/point_lookup.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

constexpr uint64_t kEntries = 400'000;
constexpr size_t kValueBytes = 100;

enum KeyKind { kCounter, kPath, kHexHash };

std::string KeyOf(KeyKind kind, uint64_t number) {
  char text[64];
  switch (kind) {
    case kCounter: return BenchKey(number);
    case kPath:
      std::snprintf(text, sizeof(text), "table/users/%010llu/profile",
                    static_cast<unsigned long long>(number));
      return text;
    case kHexHash: break;
  }
  // Keys in the order of their numbers, with digits that do not repeat.
  const uint64_t spread = number * (UINT64_MAX / kEntries);
  std::snprintf(text, sizeof(text), "%016llx%08x", static_cast<unsigned long long>(spread),
                static_cast<uint32_t>(Mix64(number)));
  return text;
}

void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

class WarmTable {
 public:
  WarmTable(KeyKind kind, bool decoded) : kind_(kind), icmp_(BytewiseComparator()) {
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    auto writer = FileWriter::Create(&fs_, "/t.sst", FileOptions());
    Check(writer.status());
    TableBuilderOptions options;
    options.icmp = &icmp_;
    options.table = &table;
    TableBuilder builder(options, writer->get());
    const std::string value(kValueBytes, 'v');
    for (uint64_t i = 0; i < kEntries; ++i) {
      Check(builder.Add(MakeInternalKey(KeyOf(kind, i), 1, kTypeValue), value));
    }
    Check(builder.Finish());
    Check((*writer)->Close());
    auto file = RandomReader::Open(&fs_, "/t.sst", FileOptions());
    Check(file.status());
    TableReaderOptions read;
    read.icmp = &icmp_;
    read.block_cache = &cache_;
    read.decode_hot_blocks = decoded;
    auto reader = TableReader::Open(file.Take(), read);
    Check(reader.status());
    reader_ = reader.Take();
    for (int round = 0; round < 4; ++round) Scan();
  }
  ~WarmTable() {
    reader_.reset();
    EpochDrain();
  }

  uint64_t Scan() {
    std::unique_ptr<InternalIterator> iterator(reader_->NewIterator(ReadOptions(), nullptr));
    uint64_t bytes = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      bytes += iterator->key().size() + iterator->value().size();
    }
    Check(iterator->status());
    return bytes;
  }
  std::vector<std::string> RandomKeys(uint64_t seed) const {
    Random64 random(seed);
    std::vector<std::string> keys;
    for (int i = 0; i < 1 << 16; ++i) keys.push_back(KeyOf(kind_, random.Uniform(kEntries)));
    return keys;
  }
  const InternalKeyComparator& icmp() const { return icmp_; }
  const TableReader& reader() const { return *reader_; }
  size_t cache_bytes() const { return cache_.cache()->GetUsage(); }

 private:
  const KeyKind kind_;
  const InternalKeyComparator icmp_;
  MemoryFileSystem fs_;
  BlockCacheView cache_{NewLRUCache(512 << 20)};
  std::unique_ptr<TableReader> reader_;
};

// Arguments: kind of keys, decoded or not.
WarmTable& TableOf(const benchmark::State& state) {
  static std::unique_ptr<WarmTable> tables[3][2];
  auto& table = tables[state.range(0)][state.range(1)];
  if (table == nullptr) {
    table = std::make_unique<WarmTable>(static_cast<KeyKind>(state.range(0)), state.range(1) != 0);
  }
  return *table;
}

void Shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"keys", "decoded"})->ArgsProduct({{kCounter, kPath, kHexHash}, {0, 1}});
}

void BM_TableGet(benchmark::State& state) {
  WarmTable& table = TableOf(state);
  const auto keys = table.RandomKeys(1);
  PinnableSlice value;
  size_t i = 0, found = 0;
  for (auto _ : state) {
    const EpochGuard guard;
    value.Reset();
    const LookupKey key(keys[i++ & 0xffff], kMaxSequenceNumber, KeyOrder::kBytewise);
    PointLookup lookup(key, &value);
    if (!table.reader().GetInEpoch(&lookup)) std::abort();  // everything is in memory
    found += lookup.decided();
  }
  if (found != i) std::abort();
  state.counters["cache_mb"] = static_cast<double>(table.cache_bytes()) / (1 << 20);
}
BENCHMARK(BM_TableGet)->Apply(Shapes);

void BM_TableScan(benchmark::State& state) {
  WarmTable& table = TableOf(state);
  for (auto _ : state) benchmark::DoNotOptimize(table.Scan());
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kEntries));
}
BENCHMARK(BM_TableScan)->Apply(Shapes)->Unit(benchmark::kMillisecond);

void BM_TableSeekNext10(benchmark::State& state) {
  WarmTable& table = TableOf(state);
  const auto keys = table.RandomKeys(2);
  std::unique_ptr<InternalIterator> iterator(table.reader().NewIterator(ReadOptions(), nullptr));
  size_t i = 0, bytes = 0;
  for (auto _ : state) {
    iterator->Seek(MakeInternalKey(keys[i++ & 0xffff], kMaxSequenceNumber, kValueTypeForSeek));
    for (int step = 0; step < 10 && iterator->Valid(); ++step) {
      bytes += iterator->key().size();
      iterator->Next();
    }
  }
  benchmark::DoNotOptimize(bytes);
}
BENCHMARK(BM_TableSeekNext10)->Apply(Shapes);

}  // namespace
}  // namespace ashlar
