// SPDX-License-Identifier: Apache-2.0
//
// fillseqdeterministic: a tree whose shape follows from the flags alone. The last level holds every
// key, each level above it as many times fewer as --max_bytes_for_level_multiplier says, spread
// evenly over all of them; level 0 is one such table more.
//
// Levels are filled from the last one up. While one is filled there is nothing above it, so its
// tables go down to it past no others.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/metadata.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

std::vector<std::string> TablesOfLevel0(DB* db) {
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  std::vector<std::string> names;
  for (const SstFileMetaData& file : family.levels[0].files) names.push_back(file.name);
  return names;
}

// By level, the last one first.
std::vector<int64_t> PairsByLevel(const Options& options) {
  const double fewer = std::max(options.max_bytes_for_level_multiplier, 2.0);
  std::vector<int64_t> pairs;
  auto left = static_cast<double>(WriteCount());
  for (int i = 0; i < options.num_levels; i++, left /= fewer) {
    pairs.push_back(static_cast<int64_t>(left));
  }
  return pairs;
}

void PrintShape(DB* db) {
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  for (const LevelMetaData& level : family.levels) {
    std::printf("Level[%d]: %zu files, %llu bytes\n", level.level, level.files.size(),
                static_cast<unsigned long long>(level.size));
  }
}

}  // namespace

void FillSequentialDeterministic(ThreadContext* thread) {
  DB* const db = thread->db;
  const Options options = db->GetOptions();
  const std::vector<int64_t> pairs = PairsByLevel(options);
  const bool keeps_shape =
      options.disable_auto_compactions && options.compaction_style == kCompactionStyleLevel;
  if (!keeps_shape) {
    RequireOk(Status::InvalidArgument("it needs --disable_auto_compactions and levels"),
              "fillseqdeterministic");
  }
  if (pairs.back() < 1) {
    RequireOk(Status::InvalidArgument("--num is too small to fill all levels"),
              "fillseqdeterministic");
  }
  const WriteOptions write_options = MakeWriteOptions(FLAGS_sync);
  ValueSource values(static_cast<uint64_t>(FLAGS_seed), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(ShapeOfKeys());
  int level = options.num_levels - 1;
  for (const int64_t count : pairs) {
    for (int64_t i = 0; i < count; i++) {
      const Slice value = values.Next();
      const auto number = static_cast<uint64_t>(i * (pairs[0] / count));
      thread->PaceWrites(static_cast<uint64_t>(FLAGS_key_size) + value.size());
      RequireOk(db->Put(write_options, key.Set(number), value), "put");
      thread->stats.Finished(Operation::kWrite, 1,
                             static_cast<uint64_t>(FLAGS_key_size) + value.size());
    }
    RequireOk(db->Flush(FlushOptions()), "flush");
    if (level > 0) {
      RequireOk(db->CompactFiles(CompactionOptions(), TablesOfLevel0(db), level), "compact");
    }
    level--;
  }
  PrintShape(db);
}

}  // namespace bench
}  // namespace ashlar
