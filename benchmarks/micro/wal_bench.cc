// SPDX-License-Identifier: Apache-2.0
//
// Appending a record to a log file without sync: the buffered sink, which makes a system call, and
// the mapped one, which makes none.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "db/wal/wal_sink.h"

namespace ashlar {
namespace {

std::string BenchPath() {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/ashlar_wal_bench.log";
}

// A new file every 64 MiB, as in a database that switches memtables.
void Append(benchmark::State& state, bool allow_mapped) {
  constexpr uint64_t kFileBytes = 64 << 20;
  const std::string payload(static_cast<size_t>(state.range(0)), 'r');
  std::unique_ptr<WalSink> sink;
  WalSinkOptions options;
  options.fs = FileSystem::Default().get();
  options.path = BenchPath();
  options.allow_mapped = allow_mapped;
  options.env = Env::Default();
  for (auto _ : state) {
    if (sink == nullptr || sink->size() > kFileBytes) {
      state.PauseTiming();
      if (sink != nullptr && !sink->Close().ok()) std::abort();
      auto opened = OpenWalSink(options);
      if (!opened.ok()) std::abort();
      sink = opened.Take();
      state.ResumeTiming();
    }
    if (!sink->Append(payload).ok()) std::abort();
  }
  state.SetLabel(sink->is_mapped() ? "mapped" : "buffered");
  state.SetBytesProcessed(state.iterations() * state.range(0));
  if (!sink->Close().ok()) std::abort();
  if (!options.fs->DeleteFile(options.path, IOOptions(), nullptr).ok()) std::abort();
}

void BM_WalAppendBuffered(benchmark::State& state) { Append(state, /*allow_mapped=*/false); }
void BM_WalAppendMapped(benchmark::State& state) { Append(state, /*allow_mapped=*/true); }
BENCHMARK(BM_WalAppendBuffered)->Arg(150)->Arg(4096);
BENCHMARK(BM_WalAppendMapped)->Arg(150)->Arg(4096);

}  // namespace
}  // namespace ashlar
