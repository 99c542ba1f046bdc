// SPDX-License-Identifier: Apache-2.0
//
// Extreme settings on purpose.
#include "tests/support/option_set.h"

#include <algorithm>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "util/random.h"

namespace ashlar {
namespace {

// What is drawn from; the first value is that of the plain set.
struct Choice {
  const char* name;
  std::vector<uint64_t> values;
};

const std::vector<Choice>& Choices() {
  static const auto* const choices = new std::vector<Choice>{
      {"memtable", {16384, 4096, 16384, 65536, 1 << 20}},
      {"buffers", {2, 2, 3, 5}},
      {"arena_block", {0, 1024, 4096}},
      {"block", {512, 1, 64, 512, 4096}},
      {"restart", {16, 1, 2, 7, 16}},
      {"index_restart", {1, 1, 3, 16}},
      {"levels", {7, 2, 3, 7}},
      {"file", {16384, 1024, 4096, 65536}},
      {"level_base", {65536, 4096, 32768, 1 << 20}},
      {"l0_trigger", {4, 1, 2, 4}},
      {"dynamic_levels", {1, 0, 1}},
      {"compression", {0, 0, 1, 4, 7, 2, 5}},
      {"comparator", {0, 0, 0, 1, 2}},
      {"format", {5, 2, 3, 4, 5, 6, 7}},
      {"checksum", {4, 0, 1, 2, 3, 4}},
      {"hash_index", {0, 0, 1}},
      {"bloom", {0, 0, 1, 10, 20}},
      {"optimize_filters", {0, 0, 1}},
      {"cache", {8 << 20, 0, 65536, 8 << 20}},
      {"cache_index", {0, 0, 1}},
      {"open_files", {0, 0, 8}},
      {"prefix", {0, 0, 2}},
      {"recover_no_flush", {0, 0, 1}},
      {"manual_compaction_only", {0, 0, 0, 1}},
      {"delta_encoding", {1, 0, 1}},
      {"jobs", {2, 1, 2, 4}},
      {"subcompactions", {1, 1, 4}},
      {"max_wal", {0, 0, 20000}},
  };
  return *choices;
}

class ShorterFirst final : public Comparator {
 public:
  const char* Name() const override { return "test.ShorterFirst"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

CompressionType CompressionOf(uint64_t number) {
  const auto type = static_cast<CompressionType>(number);
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  const bool is_there = std::find(supported.begin(), supported.end(), type) != supported.end();
  return is_there ? type : kNoCompression;
}

}  // namespace

OptionSet OptionSet::Draw(uint64_t seed) {
  Random64 random(seed);
  OptionSet set;
  for (const Choice& choice : Choices()) {
    set.values_[choice.name] = choice.values[random.Uniform(choice.values.size())];
  }
  return set;
}

uint64_t OptionSet::Get(const std::string& name) const {
  const auto it = values_.find(name);
  if (it != values_.end()) return it->second;
  for (const Choice& choice : Choices()) {
    if (name == choice.name) return choice.values.front();
  }
  return 0;
}

std::string OptionSet::ToString() const {
  std::string text;
  for (const Choice& choice : Choices()) {
    text += std::string(text.empty() ? "" : " ") + choice.name + "=" +
            std::to_string(Get(choice.name));
  }
  return text;
}

const Comparator* OptionSet::comparator() const {
  static const ShorterFirst* const shorter_first = new ShorterFirst;
  switch (Get("comparator")) {
    case 1: return ReverseBytewiseComparator();
    case 2: return shorter_first;
    default: return BytewiseComparator();
  }
}

Options OptionSet::Build(Env* env) const {
  Options options;
  options.env = env;
  options.create_if_missing = true;
  options.comparator = comparator();
  options.write_buffer_size = Get("memtable");
  options.max_write_buffer_number = static_cast<int>(Get("buffers"));
  options.arena_block_size = Get("arena_block");
  options.num_levels = static_cast<int>(Get("levels"));
  options.target_file_size_base = Get("file");
  options.max_bytes_for_level_base = Get("level_base");
  options.level0_file_num_compaction_trigger = static_cast<int>(Get("l0_trigger"));
  options.level_compaction_dynamic_level_bytes = Get("dynamic_levels") != 0;
  options.compression = CompressionOf(Get("compression"));
  options.max_open_files = Get("open_files") == 0 ? -1 : static_cast<int>(Get("open_files"));
  options.avoid_flush_during_recovery = Get("recover_no_flush") != 0;
  options.disable_auto_compactions = Get("manual_compaction_only") != 0;
  options.max_background_jobs = static_cast<int>(Get("jobs"));
  options.max_subcompactions = static_cast<uint32_t>(Get("subcompactions"));
  options.max_total_wal_size = Get("max_wal");
  options.info_log_level = InfoLogLevel::FATAL_LEVEL;
  if (Get("prefix") != 0) options.prefix_extractor.reset(NewFixedPrefixTransform(Get("prefix")));
  BlockBasedTableOptions table;
  table.block_size = Get("block");
  table.block_restart_interval = static_cast<int>(Get("restart"));
  table.index_block_restart_interval = static_cast<int>(Get("index_restart"));
  table.format_version = static_cast<uint32_t>(Get("format"));
  table.checksum = static_cast<ChecksumType>(Get("checksum"));
  table.use_delta_encoding = Get("delta_encoding") != 0;
  table.optimize_filters_for_memory = Get("optimize_filters") != 0;
  table.cache_index_and_filter_blocks = Get("cache_index") != 0;
  if (Get("hash_index") != 0) {
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  }
  if (Get("bloom") != 0) {
    table.filter_policy.reset(NewBloomFilterPolicy(static_cast<double>(Get("bloom"))));
  }
  if (Get("cache") == 0) table.no_block_cache = true;
  else table.block_cache = NewLRUCache(Get("cache"), 0);
  // The index cannot live in a cache that is not there.
  if (table.no_block_cache) table.cache_index_and_filter_blocks = false;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace ashlar
