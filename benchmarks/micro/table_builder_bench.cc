// SPDX-License-Identifier: Apache-2.0
//
// How fast a table is built from sorted entries: 16-byte keys, 100-byte values, into a file that
// discards its contents.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/file_system.h"
#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "benchmarks/micro/workload.h"
#include "env/file_writer.h"
#include "table/block/block_builder.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/internal_key.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr int kEntryCount = 100'000;
constexpr size_t kValueBytes = 100;

std::vector<std::string> Keys() {
  std::vector<std::string> keys;
  keys.reserve(kEntryCount);
  for (uint64_t i = 0; i < kEntryCount; ++i) keys.push_back(BenchInternalKey(i * 7, 1));
  return keys;
}

// Half of the value repeats, so that compression has an effect.
std::string Value() {
  Random64 random(301);
  std::string value(kValueBytes, 'x');
  for (size_t i = 0; i < kValueBytes / 2; ++i) value[i] = static_cast<char>(random.Next());
  return value;
}

class NullFile final : public FSWritableFile {
 public:
  using FSWritableFile::Append;
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return 0; }
};

enum class Filter { kNone, kBloom, kRibbon };

struct Form {
  CompressionType compression = kNoCompression;
  Filter filter = Filter::kBloom;
  uint32_t dictionary_bytes = 0;
  uint32_t threads = 1;
  bool separates_values = false;
};

void BuildTable(benchmark::State& state, const Form& form) {
  const std::vector<std::string> keys = Keys();
  const std::string value = Value();
  const InternalKeyComparator icmp(BytewiseComparator());
  BlockBasedTableOptions table;
  table.separate_key_value_in_data_block = form.separates_values;
  if (form.filter == Filter::kBloom) table.filter_policy.reset(NewBloomFilterPolicy(10));
  if (form.filter == Filter::kRibbon) table.filter_policy.reset(NewRibbonFilterPolicy(10, -1));
  for (auto _ : state) {
    const std::unique_ptr<FileWriter> writer =
        FileWriter::Wrap(std::make_unique<NullFile>(), "null.sst", /*size=*/0);
    TableBuilderOptions options;
    options.icmp = &icmp;
    options.table = &table;
    options.compression = form.compression;
    options.compression_opts.max_dict_bytes = form.dictionary_bytes;
    options.compression_opts.parallel_threads = form.threads;
    TableBuilder builder(options, writer.get());
    for (const std::string& key : keys) {
      if (!builder.Add(key, value).ok()) state.SkipWithError("Add");
    }
    if (!builder.Finish().ok()) state.SkipWithError("Finish");
  }
  state.SetItemsProcessed(state.iterations() * kEntryCount);
  state.SetBytesProcessed(state.iterations() * kEntryCount *
                          static_cast<int64_t>(keys[0].size() + kValueBytes));
}
BENCHMARK_CAPTURE(BuildTable, raw, Form{.filter = Filter::kNone})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, raw_bloom, Form{})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, raw_ribbon, Form{.filter = Filter::kRibbon})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, raw_separate, Form{.separates_values = true})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, lz4, Form{kLZ4Compression})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, lz4_2_threads, Form{kLZ4Compression, Filter::kBloom, 0, 2})
    ->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, snappy, Form{kSnappyCompression})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, zstd, Form{kZSTD})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, zstd_2_threads, Form{kZSTD, Filter::kBloom, 0, 2})->UseRealTime();
BENCHMARK_CAPTURE(BuildTable, zstd_dictionary, Form{kZSTD, Filter::kBloom, 16384})->UseRealTime();

void BuildBlocks(benchmark::State& state) {
  const std::vector<std::string> keys = Keys();
  const std::string value = Value();
  BlockBuilder builder({.hash_util_ratio = state.range(0) != 0 ? 0.75 : 0});
  for (auto _ : state) {
    for (const std::string& key : keys) {
      if (builder.CurrentBytes() > 4000) {
        benchmark::DoNotOptimize(builder.Finish().data());
        builder.Reset();
      }
      builder.Add(key, value);
    }
  }
  state.SetItemsProcessed(state.iterations() * kEntryCount);
}
BENCHMARK(BuildBlocks)->ArgName("hash_index")->Arg(0)->Arg(1);

}  // namespace
}  // namespace ashlar
