// SPDX-License-Identifier: Apache-2.0
//
// Tables of options and their possible values. A value that is listed twice is drawn twice as
// often.
#include "tools/db_stress/option_draw.h"

#include <cassert>
#include <initializer_list>

#include "ashlar/cache.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/convenience.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "tools/db_stress/stress_value.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

struct Choice {
  // The name of an option, as an OPTIONS file has it, and the texts that may be drawn for it.
  const char* name;
  std::initializer_list<const char*> values;
};

// A killed process must lose nothing that was acknowledged. So options with which it may lose
// writes (manual_wal_flush), or that move files elsewhere (wal_dir), are not in this table.
const Choice kDbChoices[] = {
    {"max_background_jobs", {"2", "2", "1", "4"}},
    {"max_subcompactions", {"1", "1", "3"}},
    {"max_open_files", {"-1", "-1", "20"}},
    {"max_total_wal_size", {"0", "0", "200000"}},
    {"avoid_flush_during_recovery", {"false", "true"}},
    {"avoid_flush_during_shutdown", {"false", "true"}},
    {"bytes_per_sync", {"0", "65536"}},
    {"wal_bytes_per_sync", {"0", "0", "65536"}},
    {"use_fsync", {"false", "true"}},
    {"paranoid_checks", {"true", "false"}},
    {"max_manifest_file_size", {"1073741824", "4096"}},
    {"allow_mmap_reads", {"false", "false", "true"}},
    {"compaction_readahead_size", {"2097152", "0", "16384"}},
    {"db_write_buffer_size", {"0", "0", "1000000"}},
    {"wal_recovery_mode", {"kPointInTimeRecovery", "kTolerateCorruptedTailRecords"}},
    {"WAL_ttl_seconds", {"0", "0", "5"}},
    {"WAL_size_limit_MB", {"0", "0", "1"}},
    {"enable_pipelined_write", {"false", "true"}},
    {"write_dbid_to_manifest", {"true", "false"}},
    {"open_files_async", {"false", "true"}},
};

// Small sizes, so that flushes and compactions happen often.
const Choice kFamilyChoices[] = {
    {"write_buffer_size", {"65536", "262144", "1048576"}},
    {"max_write_buffer_number", {"2", "3", "5"}},
    {"arena_block_size", {"0", "4096"}},
    {"compression", {"kNoCompression", "kSnappyCompression", "kLZ4Compression", "kZSTD"}},
    {"bottommost_compression", {"kDisableCompressionOption", "kZSTD", "kNoCompression"}},
    {"compression_opts",
     {"{max_dict_bytes=0}", "{max_dict_bytes=0}", "{max_dict_bytes=4096;parallel_threads=2}"}},
    {"compaction_style",
     {"kCompactionStyleLevel", "kCompactionStyleLevel", "kCompactionStyleUniversal"}},
    {"compaction_options_universal",
     {"{size_ratio=1}", "{size_ratio=20;min_merge_width=3;max_size_amplification_percent=50}",
      "{incremental=true;max_size_amplification_percent=30}",
      "{allow_trivial_move=true;compression_size_percent=50}"}},
    {"compaction_pri",
     {"kMinOverlappingRatio", "kByCompensatedSize", "kOldestLargestSeqFirst", "kRoundRobin"}},
    {"level0_file_num_compaction_trigger", {"4", "2", "8"}},
    {"target_file_size_base", {"32768", "262144"}},
    {"max_bytes_for_level_base", {"131072", "1048576"}},
    {"max_bytes_for_level_multiplier", {"10", "3"}},
    {"level_compaction_dynamic_level_bytes", {"true", "false"}},
    {"max_compaction_bytes", {"0", "0", "500000"}},
    {"enable_blob_files", {"false", "true"}},
    {"min_blob_size", {"0", "80", "300"}},
    {"blob_file_size", {"1048576", "20000"}},
    {"blob_compression_type", {"kNoCompression", "kLZ4Compression"}},
    {"enable_blob_garbage_collection", {"false", "true", "true"}},
    {"blob_garbage_collection_age_cutoff", {"0.25", "0.5", "1.0"}},
    {"blob_garbage_collection_force_threshold", {"1.0", "0.3"}},
    {"blob_file_starting_level", {"0", "0", "1"}},
    {"prefix_extractor",
     {"nullptr", "rocksdb.FixedPrefix.7", "rocksdb.FixedPrefix.6", "rocksdb.CappedPrefix.8"}},
    {"memtable_prefix_bloom_size_ratio", {"0", "0.1"}},
    {"memtable_whole_key_filtering", {"false", "true"}},
    {"max_successive_merges", {"0", "0", "3"}},
    {"max_sequential_skip_in_iterations", {"8", "1"}},
    {"optimize_filters_for_hits", {"false", "false", "true"}},
    {"periodic_compaction_seconds", {"0", "0", "2"}},
    {"min_tombstones_for_range_conversion", {"0", "0", "4"}},
    {"memtable_max_range_deletions", {"0", "0", "20"}},
};

// Values of table options from which a run draws. A value that occurs twice is drawn twice as
// often.
const Choice kTableChoices[] = {
    {"filter_policy",
     {"nullptr", "bloomfilter:10:false", "ribbonfilter:10", "bloomfilter:4:false"}},
    {"whole_key_filtering", {"true", "true", "false"}},
    {"partition_filters", {"false", "true"}},
    {"index_type", {"kBinarySearch", "kTwoLevelIndexSearch", "kBinarySearchWithFirstKey"}},
    {"metadata_block_size", {"4096", "256"}},
    {"block_size", {"4096", "512", "16384"}},
    {"block_restart_interval", {"16", "1", "4"}},
    {"index_block_restart_interval", {"1", "4"}},
    {"data_block_index_type", {"kDataBlockBinarySearch", "kDataBlockBinaryAndHash"}},
    {"format_version", {"6", "5", "4", "7"}},
    {"checksum", {"kXXH3", "kCRC32c", "kxxHash64"}},
    {"cache_index_and_filter_blocks", {"false", "true"}},
    {"pin_l0_filter_and_index_blocks_in_cache", {"false", "true"}},
    {"verify_compression", {"false", "true"}},
    {"optimize_filters_for_memory", {"true", "false"}},
};

// Changes by SetOptions() and SetDBOptions().
const Choice kFamilyChanges[] = {
    {"write_buffer_size", {"65536", "131072", "1048576"}},
    {"level0_file_num_compaction_trigger", {"2", "4", "8"}},
    {"target_file_size_base", {"32768", "100000", "262144"}},
    {"max_bytes_for_level_base", {"131072", "1048576"}},
    {"compression", {"kNoCompression", "kLZ4Compression", "kZSTD"}},
    {"prefix_extractor", {"nullptr", "rocksdb.FixedPrefix.7", "rocksdb.FixedPrefix.6"}},
    {"enable_blob_files", {"false", "true"}},
    {"min_blob_size", {"0", "100", "500"}},
    {"enable_blob_garbage_collection", {"false", "true"}},
    {"max_successive_merges", {"0", "3"}},
    {"max_compaction_bytes", {"0", "300000"}},
    {"memtable_whole_key_filtering", {"false", "true"}},
    {"block_based_table_factory",
     {"{block_size=1024}", "{block_size=4096}", "{block_restart_interval=4}"}},
};
const Choice kDbChanges[] = {
    {"max_background_jobs", {"1", "2", "4"}},
    {"max_subcompactions", {"1", "3"}},
    {"max_total_wal_size", {"0", "100000", "1000000"}},
    {"bytes_per_sync", {"0", "65536"}},
    {"wal_bytes_per_sync", {"0", "65536"}},
    {"max_open_files", {"-1", "20"}},
    {"avoid_flush_during_shutdown", {"false", "true"}},
};

// All values of an option are equally likely.
const char* Pick(const Choice& choice, Random64* random) {
  assert(random != nullptr && choice.values.size() > 0);
  return choice.values.begin()[random->Uniform(choice.values.size())];
}

// A value for each option, as a text that can be printed and given to a later run.
template <size_t n>
std::string DrawText(const Choice (&choices)[n], Random64* random) {
  assert(random != nullptr);
  std::string text;
  for (const Choice& choice : choices) {
    StrAppend(&text, choice.name, "=", Pick(choice, random), ";");
  }
  return text;
}

// One changed option. Several together could be refused because of their combination.
template <size_t n>
OptionChange DrawChange(const Choice (&choices)[n], Random64* random) {
  assert(random != nullptr);
  const Choice& choice = choices[random->Uniform(n)];
  return {choice.name, Pick(choice, random)};
}

// A file system without mapped logs, so that the other kind of log is tested.
class WithoutMappedLogs final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "db_stress.WithoutMappedLogs"; }
};

// Replaces some values by equal ones.
// It changes nothing that a reader sees, so a compaction with this filter can be checked like any
// other.
class RewritingFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "db_stress.RewritingFilter"; }
  Decision FilterV2(int, const Slice& key, ValueType type, const Slice& value, std::string* written,
                    std::string*) const override {
    if (type != ValueType::kValue || key.empty() || key[key.size() - 1] % 4 != 0) {
      return Decision::kKeep;
    }
    written->assign(value.data(), value.size());
    return Decision::kChangeValue;
  }
};

// The engine borrows the filter, so it lives until the process ends.
const CompactionFilter* TheFilter() {
  static const RewritingFilter filter;
  return &filter;
}

// Draws the options of the database. What was drawn is added to `drawn->text`, which is printed, so
// that a failed run can be understood.
Status DrawDb(Random64* random, DrawnOptions* drawn) {
  assert(random != nullptr && drawn != nullptr);
  std::string text = DrawText(kDbChoices, random);
  const DBOptions base = drawn->db;
  RETURN_IF_ERROR(GetDBOptionsFromString(ConfigOptions(), base, text, &drawn->db));
  if (random->OneIn(2)) {
    // A composite environment keeps the clock and the threads of the machine and replaces the file
    // system alone.
    drawn->env = NewCompositeEnv(std::make_shared<WithoutMappedLogs>(FileSystem::Default()));
    drawn->db.env = drawn->env.get();
    text += " (log not mapped)";
  }
  if (random->OneIn(3)) {
    drawn->db.row_cache = NewLRUCache(100'000);
    text += " (row cache)";
  }
  if (random->OneIn(2)) drawn->db.statistics = CreateDBStatistics();
  StrAppend(&drawn->text, "database: ", text, "\n");
  return Status::OK();
}

// Some combinations are not valid; these are corrected after the draw.
// All families share one block cache, as in most programs.
Status DrawFamily(Random64* random, const std::shared_ptr<Cache>& cache, DrawnOptions* drawn,
                  ColumnFamilyOptions* family) {
  assert(random != nullptr && drawn != nullptr && family != nullptr);
  std::string text = StrCat(DrawText(kFamilyChoices, random), "block_based_table_factory={",
                            DrawText(kTableChoices, random), "};");
  // Partitioned filters need a two-level index.
  if (text.find("partition_filters=true") != std::string::npos &&
      text.find("index_type=kTwoLevelIndexSearch") == std::string::npos) {
    text.replace(text.find("partition_filters=true"), 22, "partition_filters=false");
  }
  const ColumnFamilyOptions base = *family;
  RETURN_IF_ERROR(GetColumnFamilyOptionsFromString(ConfigOptions(), base, text, family));
  // The cache is no text, so it is set in a copy of the factory's options.
  auto table = *family->table_factory->GetOptions<BlockBasedTableOptions>();
  table.block_cache = cache;
  family->table_factory.reset(NewBlockBasedTableFactory(table));
  const bool no_partial_merges = random->OneIn(2);
  family->merge_operator = NewJoinRecords(no_partial_merges);
  if (random->OneIn(3)) {
    family->compaction_filter = TheFilter();
    text += " (compaction filter)";
  }
  if (random->OneIn(4)) {
    family->sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(7);
    text += " (partitioner)";
  }
  StrAppend(&drawn->text, "family ", drawn->families.size(), ": ", text,
            no_partial_merges ? " (no partial merges)\n" : "\n");
  return Status::OK();
}

}  // namespace

// The same draw gives the same options, so a failing run can be repeated.
Result<DrawnOptions> MakeOptions(const Settings& settings) {
  DrawnOptions drawn;
  // The seed is the draw itself.
  Random64 random(settings.draw);
  // Without a draw all options have their defaults, apart from the merge operator.
  const bool draws = settings.draw != 0;
  if (draws) RETURN_IF_ERROR(DrawDb(&random, &drawn));
  constexpr size_t kCacheBytes[] = {0, 100'000, 8 << 20};
  const std::shared_ptr<Cache> cache = NewLRUCache(kCacheBytes[random.Uniform(3)]);
  for (int i = 0; i < settings.families; i++) {
    ColumnFamilyOptions family;
    family.merge_operator = NewJoinRecords(/*no_partial_merges=*/false);
    if (draws) RETURN_IF_ERROR(DrawFamily(&random, cache, &drawn, &family));
    // Reads are refused with it while transactions write before their commit.
    if (settings.txn_write_policy != 0) family.min_tombstones_for_range_conversion = 0;
    const ColumnFamilyOptions base = family;
    // The options of the command line come last, so that they override what was drawn.
    RETURN_IF_ERROR(
        GetColumnFamilyOptionsFromString(ConfigOptions(), base, settings.family_options, &family));
    drawn.families.push_back(family);
  }
  const DBOptions base = drawn.db;
  RETURN_IF_ERROR(GetDBOptionsFromString(ConfigOptions(), base, settings.db_options, &drawn.db));
  // A killed run may have left the volatile family dropped.
  drawn.db.create_if_missing = drawn.db.create_missing_column_families = true;
  return drawn;
}

OptionChange DrawFamilyChange(Random64* random) { return DrawChange(kFamilyChanges, random); }
OptionChange DrawDbChange(Random64* random) { return DrawChange(kDbChanges, random); }

}  // namespace ashlar::stress
