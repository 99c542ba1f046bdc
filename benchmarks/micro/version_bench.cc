// SPDX-License-Identifier: Apache-2.0
//
// The cost of versions by their number of tables (the argument): the edit of a flush, the edit of a
// compaction, computing compaction needs, and finding the table of a key.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version_builder.h"
#include "env/memory/memory_file_system.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kLevels = 7;

FileMetadata Table(uint64_t number) {
  char key[20];
  std::snprintf(key, sizeof(key), "%012llu", static_cast<unsigned long long>(number));
  FileMetadata meta;
  meta.number = FileNumber{number};
  meta.file_size = 1000;
  meta.smallest = MakeInternalKey(StrCat(key, "a"), number, kTypeValue);
  meta.largest = MakeInternalKey(StrCat(key, "z"), number, kTypeValue);
  meta.smallest_seqno = meta.largest_seqno = meta.epoch_number = number;
  return meta;
}

// `tables` tables with even numbers: one in eight on level 0, the others on the last level.
class Tree {
 public:
  explicit Tree(uint64_t tables) {
    TableCacheOptions options(comparator_);
    options.fs = &fs_;
    options.paths = {"/db"};
    cache_ = std::make_unique<TableCache>(options);
    VersionEdit edit;
    for (uint64_t i = 1; i <= tables; i++) {
      edit.AddFile(Level{i % 8 == 0 ? 0 : kLevels - 1}, Table(2 * i));
    }
    built_ = Next(edit, nullptr);
  }
  BuiltVersion Next(const VersionEdit& edit, const Version* base) const {
    VersionBuilder builder(comparator_, cache_.get(), base, kLevels);
    BuiltVersion built;
    if (!builder.Apply(edit).ok() || !builder.Build(&built).ok()) std::abort();
    return built;
  }
  const Version& version() const { return *built_.version; }

 private:
  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::unique_ptr<TableCache> cache_;
  BuiltVersion built_;
};

void BM_FlushEdit(benchmark::State& state) {
  const auto tables = static_cast<uint64_t>(state.range(0));
  const Tree tree(tables);
  VersionEdit edit;
  edit.AddFile(0, Table(2 * tables + 1));
  for (auto _ : state) benchmark::DoNotOptimize(tree.Next(edit, &tree.version()));
}
BENCHMARK(BM_FlushEdit)->Arg(8)->Arg(1000)->Arg(8000)->Arg(64000);

// One table of level 0 and ten of the last level are replaced by ten others.
void BM_CompactionEdit(benchmark::State& state) {
  const Tree tree(static_cast<uint64_t>(state.range(0)));
  const auto& level0 = tree.version().files(0);
  const auto& last = tree.version().files(kLevels - 1);
  VersionEdit edit;
  edit.DeleteFile(0, level0.back()->meta.number);
  for (size_t i = last.size() / 2; i < last.size() / 2 + 10; i++) {
    edit.DeleteFile(kLevels - 1, last[i]->meta.number);
    edit.AddFile(kLevels - 1, Table(last[i]->meta.number.value() + 1));
  }
  for (auto _ : state) benchmark::DoNotOptimize(tree.Next(edit, &tree.version()));
}
BENCHMARK(BM_CompactionEdit)->Arg(64)->Arg(1000)->Arg(8000)->Arg(64000);

void BM_AssessCompaction(benchmark::State& state) NO_THREAD_SAFETY_ANALYSIS {
  const Tree tree(static_cast<uint64_t>(state.range(0)));
  const ColumnFamilyOptions options;
  const CompactionClaims claims;
  for (auto _ : state) {
    benchmark::DoNotOptimize(AssessCompaction(tree.version(), options, claims));
  }
}
BENCHMARK(BM_AssessCompaction)->Arg(8)->Arg(8000);

void BM_FindTable(benchmark::State& state) {
  const auto tables = static_cast<uint64_t>(state.range(0));
  const Tree tree(tables);
  const LevelTables& level = *tree.version().levels().back();
  std::mt19937_64 random(1);
  std::vector<std::string> keys;
  for (int i = 0; i < 1024; i++) {
    keys.push_back(Table(random() % (2 * tables)).largest_user_key().ToString());
  }
  size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(level.largest.LowerBound(keys[next++ % 1024]));
}
BENCHMARK(BM_FindTable)->Arg(64)->Arg(8000);

}  // namespace
}  // namespace ashlar
