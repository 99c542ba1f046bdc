// SPDX-License-Identifier: Apache-2.0
//
// The table of options, and their conversion into Options.
#include "tests/support/option_set.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <sstream>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "db/options/stock_merge_operators.h"
#include "util/random.h"

namespace ashlar {
namespace {

// An option with the values to draw from; the first value is the default.
struct Choice {
  const char* name;
  std::vector<uint64_t> values;
  bool is_risky = false;  // changes what a crash may leave, or the directories of files
};

std::vector<Choice> FileChoices() {
  std::vector<Choice> choices{
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
      {"vector_memtable", {0, 0, 0, 0, 0, 0, 0, 1}},
      {"bottommost", {kDisableCompressionOption, kDisableCompressionOption, 0, 4, 7}},
      {"per_level", {0, 0, 1}},
      {"level_factor", {10, 2, 4, 10}},
      {"file_factor", {1, 1, 2}},
      {"max_compaction", {0, 0, 30000}},
      {"compaction_pri", {3, 0, 1, 2, 3, 4}},
      {"slowdown", {20, 1, 4, 20}},
      {"stop", {36, 2, 8, 36}},
      {"soft_debt", {0, 0, 20000}},
      {"hard_debt", {0, 0, 200000}},
      {"hash_percent", {75, 10, 75, 100}},
      {"block_deviation", {10, 0, 10, 50}},
      {"whole_key", {1, 0, 1}},
      {"index_shortening", {1, 0, 1, 2}},
      {"index_compression", {1, 0, 1}},
      {"verify_compression", {0, 0, 1}},
      {"detect_bad_filter", {0, 0, 1}},
      {"paranoid", {1, 0, 1}},
      {"fsync", {0, 0, 1}},
      {"manifest_bytes", {1 << 30, 500, 20000}},
      {"file_buffer", {1 << 20, 512, 65536}},
      {"bytes_per_sync", {0, 0, 4096}},
      {"compaction_readahead", {2 << 20, 0, 4096}},
      {"readahead_start", {8192, 0, 512}},
      {"db_id_in_manifest", {1, 0, 1}},
  };
  return choices;
}

std::vector<Choice> OtherChoices() {
  return {
      // Reads.
      {"row_cache", {0, 0, 4096, 1 << 20}},
      {"memtable_bloom_percent", {0, 0, 2, 20}},
      {"memtable_whole_key", {0, 0, 1}},
      {"skipped_versions", {8, 0, 1, 8}},
      {"filters_for_hits", {0, 0, 1}},
      {"capped_prefix", {0, 0, 1}},
      // What a crash leaves, and where.
      {"recovery_mode", {2, 0, 1, 2, 3}, /*is_risky=*/true},
      {"manual_wal_flush", {0, 0, 0, 1}, /*is_risky=*/true},
      {"no_flush_at_close", {0, 0, 1}, /*is_risky=*/true},
      {"wal_dir", {0, 0, 0, 1}, /*is_risky=*/true},
  };
}

// More options of the table format. New options are added at the end, so that a seed draws the same
// values for the options before them.
std::vector<Choice> LayoutChoices() {
  return {
      {"index_type", {0, 0, 1, 2, 2, 3}},
      {"partition_bytes", {4096, 64, 300}},
      {"filter_partitions", {0, 0, 1, 1}},
      {"decoupled_filters", {1, 0, 1}},
      {"ribbon", {0, 0, 1}},
      {"dictionary", {0, 0, 100, 4000}},
      {"dictionary_training", {0, 0, 20'000}},
      {"dictionary_buffer", {0, 0, 2000}},
      {"separate_values", {0, 0, 0, 1}},
      {"uniform_index", {0, 0, 1}},
      {"super_block", {0, 0, 0, 512}},
      {"page_align", {0, 0, 0, 0, 1}},
      {"compression_threads", {1, 1, 1, 3}},
  };
}

// The shape of the tree.
std::vector<Choice> TreeChoices() {
  return {
      {"style", {kCompactionStyleLevel, kCompactionStyleLevel, kCompactionStyleUniversal}},
      {"run_ratio", {1, 1, 0, 100}},
      {"run_widths", {2, 2, 3}},
      {"run_space", {200, 0, 25, 200}},
      {"runs_compressed", {101, 101, 0, 50}},  // percent; 101: all
      {"runs_move", {0, 0, 1}},
  };
}

// Blob files.
std::vector<Choice> BlobChoices() {
  return {
      {"blobs", {0, 0, 1}},
      {"blob_least", {0, 1, 20, 300}},
      {"blob_file", {1 << 20, 1, 500, 5000}},
      {"blob_compression", {0, 0, 1, 4, 7}},
      {"blob_collection", {0, 1, 1}},
      {"blob_cutoff_percent", {25, 0, 50, 100}},
      {"blob_force_percent", {100, 10, 50}},
      {"blob_readahead", {0, 0, 4096}},
      {"blob_level", {0, 0, 1, 2}},
      {"blob_cache", {0, 0, 4096, 1 << 20}},
      {"blob_prepopulation", {0, 0, 1}},
  };
}

// The log.
std::vector<Choice> LogChoices() {
  return {
      {"compressed_log", {0, 0, 1}},
  };
}

// When memtables are flushed, and how many are kept.
std::vector<Choice> MemtableChoices() {
  return {
      {"merged_buffers", {1, 1, 2, 4}}, {"kept_memtables", {0, 0, 1, 100'000}},
      {"atomic_flush", {0, 0, 1}},      {"memtable_checksums", {0, 0, 1, 8}},
      {"memtable_order", {0, 0, 0, 1}}, {"block_checksums", {0, 0, 0, 2}},
      {"read_back", {0, 0, 1}},         {"hash_memtable", {0, 0, 0, 1, 2}},
  };
}

// The directories of files.
std::vector<Choice> PlaceChoices() { return {{"paths", {0, 0, 0, 1}, /*is_risky=*/true}}; }

// Recycled logs; a suite that writes without a log sets it to 0.
std::vector<Choice> RecycledChoices() { return {{"recycled_logs", {0, 0, 2}}}; }

// Incremental universal compaction.
std::vector<Choice> PartChoices() { return {{"run_parts", {0, 1}}}; }

const std::vector<Choice>& Choices() {
  static const auto* const choices = [] {
    auto* const all = new std::vector<Choice>(FileChoices());
    for (const Choice& choice : OtherChoices()) all->push_back(choice);
    for (const Choice& choice : LayoutChoices()) all->push_back(choice);
    for (const Choice& choice : TreeChoices()) all->push_back(choice);
    for (const Choice& choice : BlobChoices()) all->push_back(choice);
    for (const Choice& choice : LogChoices()) all->push_back(choice);
    for (const Choice& choice : MemtableChoices()) all->push_back(choice);
    for (const Choice& choice : PlaceChoices()) all->push_back(choice);
    for (const Choice& choice : RecycledChoices()) all->push_back(choice);
    for (const Choice& choice : PartChoices()) all->push_back(choice);
    return all;
  }();
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

// Like "stringappend", but reads of an operand that begins with "!" fail.
class FailingAppend final : public MergeOperator {
 public:
  const char* Name() const override { return "test.FailingAppend"; }
  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    if (std::any_of(input.operand_list.begin(), input.operand_list.end(), Fails)) {
      output->op_failure_scope = OpFailureScope::kMustMerge;
      return false;
    }
    return append_->FullMergeV2(input, output);
  }
  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operands, std::string* result,
                         Logger* logger) const override {
    if (std::any_of(operands.begin(), operands.end(), Fails)) return false;
    return append_->PartialMergeMulti(key, operands, result, logger);
  }

 private:
  static bool Fails(const Slice& operand) { return operand.starts_with("!"); }

  const std::shared_ptr<MergeOperator> append_ = NewStockMergeOperator("stringappend");
};

CompressionType CompressionOf(uint64_t number) {
  const auto type = static_cast<CompressionType>(number);
  const std::vector<CompressionType> supported = GetSupportedCompressions();
  const bool is_there = std::find(supported.begin(), supported.end(), type) != supported.end();
  return is_there ? type : kNoCompression;
}

}  // namespace

OptionSet OptionSet::Draw(uint64_t seed, bool also_risky) {
  Random64 random(seed);
  OptionSet set;
  for (const Choice& choice : Choices()) {
    const uint64_t value = choice.values[random.Uniform(choice.values.size())];
    if (also_risky || !choice.is_risky) set.values_[choice.name] = value;
  }
  return set;
}

OptionSet OptionSet::Parse(const std::string& text) {
  OptionSet set;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    set.values_[word.substr(0, equals)] = std::strtoull(word.c_str() + equals + 1, nullptr, 10);
  }
  return set;
}

std::vector<std::string> OptionSet::ChangedNames() const {
  std::vector<std::string> names;
  for (const Choice& choice : Choices()) {
    if (Get(choice.name) != choice.values.front()) names.push_back(choice.name);
  }
  return names;
}

uint64_t OptionSet::Get(const std::string& name) const {
  const auto it = values_.find(name);
  return it != values_.end() ? it->second : Plain(name);
}

uint64_t OptionSet::Plain(const std::string& name) {
  for (const Choice& choice : Choices()) {
    if (name == choice.name) return choice.values.front();
  }
  return 0;
}

std::string OptionSet::ToString() const {
  std::string text;
  for (const std::string& name : ChangedNames()) {
    text += std::string(text.empty() ? "" : " ") + name + "=" + std::to_string(Get(name));
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
  options.max_bgerror_resume_count = 0;  // tests resume the database themselves
  options.comparator = comparator();
  options.info_log_level = InfoLogLevel::FATAL_LEVEL;
  SetDbOptions(&options);
  SetFamilyOptions(&options);
  SetMemtableOptions(&options);
  SetBlobOptions(&options);
  options.table_factory.reset(NewBlockBasedTableFactory(TableOptions()));
  options.merge_operator = std::make_shared<FailingAppend>();
  // Independent options that are drawn with one number.
  options.max_successive_merges = Get("buffers") - 2;
  options.strict_max_successive_merges = Get("jobs") == 2;
  return options;
}

void OptionSet::SetDbOptions(Options* options) const {
  options->atomic_flush = Get("atomic_flush") != 0;
  options->max_open_files = Get("open_files") == 0 ? -1 : static_cast<int>(Get("open_files"));
  options->avoid_flush_during_recovery = Get("recover_no_flush") != 0;
  options->avoid_flush_during_shutdown = Get("no_flush_at_close") != 0;
  options->max_background_jobs = static_cast<int>(Get("jobs"));
  options->max_subcompactions = static_cast<uint32_t>(Get("subcompactions"));
  options->max_total_wal_size = Get("max_wal");
  options->paranoid_checks = Get("paranoid") != 0;
  options->use_fsync = Get("fsync") != 0;
  options->max_manifest_file_size = Get("manifest_bytes");
  options->writable_file_max_buffer_size = Get("file_buffer");
  options->bytes_per_sync = options->wal_bytes_per_sync = Get("bytes_per_sync");
  options->compaction_readahead_size = Get("compaction_readahead");
  options->write_dbid_to_manifest = Get("db_id_in_manifest") != 0;
  options->wal_recovery_mode = static_cast<WALRecoveryMode>(Get("recovery_mode"));
  options->manual_wal_flush = Get("manual_wal_flush") != 0;
  if (Get("compressed_log") != 0) options->wal_compression = kZSTD;
  options->recycle_log_file_num = Get("recycled_logs");
  if (Get("wal_dir") != 0) options->wal_dir = "/logs";
  if (Get("paths") != 0) options->db_paths = {{"/fast", 100'000}, {"/slow", uint64_t{1} << 40}};
  if (Get("row_cache") != 0) options->row_cache = NewLRUCache(Get("row_cache"), 0);
}

void OptionSet::SetFamilyOptions(Options* options) const {
  options->block_protection_bytes_per_key = static_cast<uint8_t>(Get("block_checksums"));
  options->paranoid_file_checks = Get("read_back") != 0;
  options->verify_output_flags =
      Get("read_back") != 0 ? VerifyOutputFlags::kVerifyAll : VerifyOutputFlags::kVerifyNone;
  options->num_levels = static_cast<int>(Get("levels"));
  options->target_file_size_base = Get("file");
  options->target_file_size_multiplier = static_cast<int>(Get("file_factor"));
  options->max_bytes_for_level_base = Get("level_base");
  options->max_bytes_for_level_multiplier = static_cast<double>(Get("level_factor"));
  options->level0_file_num_compaction_trigger = static_cast<int>(Get("l0_trigger"));
  options->level0_slowdown_writes_trigger =
      static_cast<int>(std::max(Get("slowdown"), Get("l0_trigger")));
  options->level0_stop_writes_trigger =
      std::max(static_cast<int>(Get("stop")), options->level0_slowdown_writes_trigger);
  options->soft_pending_compaction_bytes_limit = Get("soft_debt");
  options->hard_pending_compaction_bytes_limit = Get("hard_debt");
  options->max_compaction_bytes = Get("max_compaction");
  options->compaction_pri = static_cast<CompactionPri>(Get("compaction_pri"));
  options->level_compaction_dynamic_level_bytes = Get("dynamic_levels") != 0;
  options->compaction_style = static_cast<CompactionStyle>(Get("style"));
  CompactionOptionsUniversal& universal = options->compaction_options_universal;
  universal.size_ratio = static_cast<unsigned>(Get("run_ratio"));
  universal.min_merge_width = static_cast<unsigned>(Get("run_widths"));
  universal.max_size_amplification_percent = static_cast<unsigned>(Get("run_space"));
  universal.compression_size_percent =
      Get("runs_compressed") > 100 ? -1 : static_cast<int>(Get("runs_compressed"));
  universal.allow_trivial_move = Get("runs_move") != 0;
  universal.incremental = Get("run_parts") != 0;
  options->disable_auto_compactions = Get("manual_compaction_only") != 0;
  options->compression = CompressionOf(Get("compression"));
  options->compression_opts.max_dict_bytes = static_cast<uint32_t>(Get("dictionary"));
  options->compression_opts.zstd_max_train_bytes =
      static_cast<uint32_t>(Get("dictionary_training"));
  options->compression_opts.max_dict_buffer_bytes = Get("dictionary_buffer");
  options->compression_opts.parallel_threads = static_cast<uint32_t>(Get("compression_threads"));
  options->bottommost_compression = Get("bottommost") == kDisableCompressionOption
                                        ? kDisableCompressionOption
                                        : CompressionOf(Get("bottommost"));
  if (Get("per_level") != 0) {
    options->compression_per_level = {kNoCompression, kNoCompression, options->compression};
  }
  if (Get("prefix") != 0) {
    options->prefix_extractor.reset(Get("capped_prefix") != 0
                                        ? NewCappedPrefixTransform(Get("prefix"))
                                        : NewFixedPrefixTransform(Get("prefix")));
  }
  options->max_sequential_skip_in_iterations = Get("skipped_versions");
  options->optimize_filters_for_hits = Get("filters_for_hits") != 0;
}

void OptionSet::SetMemtableOptions(Options* options) const {
  options->write_buffer_size = Get("memtable");
  options->max_write_buffer_number = static_cast<int>(Get("buffers"));
  options->min_write_buffer_number_to_merge = static_cast<int>(Get("merged_buffers"));
  options->max_write_buffer_size_to_maintain = static_cast<int64_t>(Get("kept_memtables"));
  options->memtable_protection_bytes_per_key = static_cast<uint32_t>(Get("memtable_checksums"));
  options->paranoid_memory_checks = Get("memtable_order") != 0;
  options->arena_block_size = Get("arena_block");
  options->memtable_prefix_bloom_size_ratio =
      static_cast<double>(Get("memtable_bloom_percent")) / 100;
  options->memtable_whole_key_filtering = Get("memtable_whole_key") != 0;
  if (Get("vector_memtable") != 0) {
    options->memtable_factory = std::make_shared<VectorRepFactory>();
  } else if (Get("hash_memtable") != 0) {  // needs the prefix
    options->memtable_factory.reset(Get("hash_memtable") == 1
                                        ? NewHashSkipListRepFactory(7)
                                        : NewHashLinkListRepFactory(100, 0, 4096, true, 3));
    options->allow_concurrent_memtable_write =
        false;  // RocksDB requires it, and it may open the database, too
  }
}

void OptionSet::SetBlobOptions(Options* options) const {
  options->enable_blob_files = Get("blobs") != 0;
  options->min_blob_size = Get("blob_least");
  options->blob_file_size = Get("blob_file");
  options->blob_compression_type = CompressionOf(Get("blob_compression"));
  options->enable_blob_garbage_collection = Get("blob_collection") != 0;
  options->blob_garbage_collection_age_cutoff =
      static_cast<double>(Get("blob_cutoff_percent")) / 100;
  options->blob_garbage_collection_force_threshold =
      static_cast<double>(Get("blob_force_percent")) / 100;
  options->blob_compaction_readahead_size = Get("blob_readahead");
  options->blob_file_starting_level = static_cast<int>(Get("blob_level"));
  if (Get("blob_cache") != 0) options->blob_cache = NewLRUCache(Get("blob_cache"), 0);
  if (Get("blob_prepopulation") != 0) {
    options->prepopulate_blob_cache = PrepopulateBlobCache::kFlushOnly;
  }
}

BlockBasedTableOptions OptionSet::TableOptions() const {
  BlockBasedTableOptions table;
  table.block_size = Get("block");
  table.block_size_deviation = static_cast<int>(Get("block_deviation"));
  table.block_restart_interval = static_cast<int>(Get("restart"));
  table.index_block_restart_interval = static_cast<int>(Get("index_restart"));
  table.format_version = static_cast<uint32_t>(Get("format"));
  table.checksum = static_cast<ChecksumType>(Get("checksum"));
  table.use_delta_encoding = Get("delta_encoding") != 0;
  table.optimize_filters_for_memory = Get("optimize_filters") != 0;
  table.cache_index_and_filter_blocks = Get("cache_index") != 0;
  table.data_block_index_type = Get("hash_index") != 0
                                    ? BlockBasedTableOptions::kDataBlockBinaryAndHash
                                    : BlockBasedTableOptions::kDataBlockBinarySearch;
  table.data_block_hash_table_util_ratio = static_cast<double>(Get("hash_percent")) / 100;
  table.index_shortening =
      static_cast<BlockBasedTableOptions::IndexShorteningMode>(Get("index_shortening"));
  table.enable_index_compression = Get("index_compression") != 0;
  table.verify_compression = Get("verify_compression") != 0;
  table.index_type = static_cast<BlockBasedTableOptions::IndexType>(Get("index_type"));
  if (table.index_type == BlockBasedTableOptions::kHashSearch && Get("prefix") == 0) {
    table.index_type = BlockBasedTableOptions::kBinarySearch;
  }
  table.metadata_block_size = Get("partition_bytes");
  table.partition_filters = Get("filter_partitions") != 0;
  table.decouple_partitioned_filters = Get("decoupled_filters") != 0;
  table.separate_key_value_in_data_block = Get("separate_values") != 0;
  table.uniform_cv_threshold = Get("uniform_index") != 0 ? 0.5 : -1;
  table.super_block_alignment_size = Get("super_block");
  const bool is_compressed = Get("compression") != 0 || Get("bottommost") != Plain("bottommost");
  table.block_align = Get("page_align") != 0 && !is_compressed;
  table.initial_auto_readahead_size = Get("readahead_start");
  if (Get("bloom") != 0) {
    const auto bits_per_key = static_cast<double>(Get("bloom"));
    table.filter_policy.reset(NewBloomFilterPolicy(bits_per_key));
    if (Get("ribbon") != 0) table.filter_policy.reset(NewRibbonFilterPolicy(bits_per_key));
    // Tables without any filter are tested by `bloom` = 0.
    table.whole_key_filtering = Get("whole_key") != 0 || Get("prefix") == 0;
    table.detect_filter_construct_corruption = Get("detect_bad_filter") != 0;
  }
  if (Get("cache") == 0)
    table.no_block_cache = true;
  else
    table.block_cache = NewLRUCache(Get("cache"), 0);
  // Without a block cache the index cannot be cached.
  if (table.no_block_cache) table.cache_index_and_filter_blocks = false;
  return table;
}

}  // namespace ashlar
