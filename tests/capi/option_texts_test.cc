// SPDX-License-Identifier: Apache-2.0
//
// What C programs set is what the engine sees: the values of all setters, in the text that the
// option tables print; the irregular setters, in the structs; and the values of the constants.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_map>

#include "ashlar/c.h"
#include "ashlar/convenience.h"
#include "ashlar/perf_level.h"
#include "ashlar/statistics.h"
#include "ashlar/transaction_log.h"
#include "ashlar/utilities/transaction_db.h"
#include "capi/option_handles.h"
#include "db/options/option_table.h"
#include "tests/capi/option_members.h"

namespace ashlar {
namespace {

// Gives each member its own value, and compares the values with the text of the option tables.
class TextCheck {
 public:
  // All options of a table, as text.
  TextCheck(OptionTable table, const void* options) { Add(table, options); }
  void Add(OptionTable table, const void* options) {
    std::string text;
    std::unordered_map<std::string, std::string> texts;
    PrintOptions(table, PrintContext{.newest = Since::kAshlar}, options, &text);
    EXPECT_TRUE(StringToMap(text, &texts).ok()) << text;
    texts_.merge(texts);
  }

  static int NumberOf(unsigned index) { return static_cast<int>(1000 + index); }
  static double RealOf(unsigned index) { return index + 0.5; }
  static std::string TextOf(unsigned index) { return "text" + std::to_string(index); }

  void Compare(const std::string& setter, const std::string& expected) {
    const std::string* text = Find(setter);
    if (text != nullptr) {
      EXPECT_EQ(*text, expected) << setter;
    }
  }
  void HasOption(const std::string& setter) { Find(setter); }
  void CompareReal(const std::string& setter, double expected) {
    const std::string* text = Find(setter);
    if (text != nullptr) {
      EXPECT_EQ(std::strtod(text->c_str(), nullptr), expected) << setter;
    }
  }
  // Setters that are named like no option.
  const std::set<std::string>& without_option() const { return without_option_; }

 private:
  // The text of the option that a setter is named after, or null.
  const std::string* Find(const std::string& setter) {
    const auto place = texts_.find(setter.substr(setter.find("_set_") + 5));
    if (place != texts_.end()) return &place->second;
    without_option_.insert(setter);
    return nullptr;
  }

  std::unordered_map<std::string, std::string> texts_;
  std::set<std::string> without_option_;
};

#define SET_flag(setter) setter(opt, flag)
#define SET_choice(setter) setter(opt, flag ? 1 : 0)
#define SET_number(setter) setter(opt, TextCheck::NumberOf(index))
#define SET_small(setter) setter(opt, static_cast<uint8_t>(TextCheck::NumberOf(index)))
#define SET_real(setter) setter(opt, TextCheck::RealOf(index))
#define SET_text(setter) setter(opt, TextCheck::TextOf(index).c_str())
#define SET_MEMBER(kind, setter, getter) SET_##kind(setter), ++index;
#define COMPARE_flag(setter) check.Compare(#setter, flag ? "true" : "false")
// Enumerations are printed by name.
#define COMPARE_choice(setter) check.HasOption(#setter)
#define COMPARE_number(setter) check.Compare(#setter, std::to_string(TextCheck::NumberOf(index)))
#define COMPARE_small(setter) \
  check.Compare(#setter, std::to_string(static_cast<uint8_t>(TextCheck::NumberOf(index))))
#define COMPARE_real(setter) check.CompareReal(#setter, TextCheck::RealOf(index))
#define COMPARE_text(setter) check.Compare(#setter, TextCheck::TextOf(index))
#define COMPARE_MEMBER(kind, setter, getter) COMPARE_##kind(setter), ++index;

TEST(COptionTexts, OptionsHaveTheValuesThatWereSet) {
  for (const bool flag : {false, true}) {
    unsigned index = 0;
    ashlar_options_t handle;
    ashlar_options_t* opt = &handle;
    MEMBERS_OF_options(SET_MEMBER);
    TextCheck check(DbOptionTable(), static_cast<DBOptions*>(&handle.rep));
    check.Add(ColumnFamilyOptionTable(), static_cast<ColumnFamilyOptions*>(&handle.rep));
    index = 0;
    MEMBERS_OF_options(COMPARE_MEMBER);
    EXPECT_EQ(
        check.without_option(),
        (std::set<std::string>{
            // Options with another name in C, and of structs inside; see the next test.
            "ashlar_options_compaction_readahead_size", "ashlar_options_set_enable_blob_gc",
            "ashlar_options_set_blob_gc_age_cutoff", "ashlar_options_set_blob_gc_force_threshold",
            "ashlar_options_set_compression_options_max_dict_buffer_bytes",
            "ashlar_options_set_compression_options_parallel_threads",
            "ashlar_options_set_compression_options_use_zstd_dict_trainer",
            "ashlar_options_set_compression_options_zstd_max_train_bytes",
            // Options of older releases, which have no effect.
            "ashlar_options_set_access_hint_on_compaction_start",
            "ashlar_options_set_max_write_buffer_number_to_maintain",
            "ashlar_options_set_skip_checking_sst_file_sizes_on_db_open"}));
  }
}

TEST(COptionValues, OptionsWithAnotherNameAreSet) {
  ashlar_options_t opt;
  ashlar_options_compaction_readahead_size(&opt, 1);
  EXPECT_EQ(opt.rep.compaction_readahead_size, 1u);
  ashlar_options_set_enable_blob_gc(&opt, 1);
  EXPECT_TRUE(opt.rep.enable_blob_garbage_collection);
  ashlar_options_set_blob_gc_age_cutoff(&opt, 0.5);
  EXPECT_EQ(opt.rep.blob_garbage_collection_age_cutoff, 0.5);
  ashlar_options_set_blob_gc_force_threshold(&opt, 0.75);
  EXPECT_EQ(opt.rep.blob_garbage_collection_force_threshold, 0.75);
  ashlar_options_set_compression_options_max_dict_buffer_bytes(&opt, 2);
  EXPECT_EQ(opt.rep.compression_opts.max_dict_buffer_bytes, 2u);
  ashlar_options_set_compression_options_parallel_threads(&opt, 3);
  EXPECT_EQ(opt.rep.compression_opts.parallel_threads, 3u);
  ashlar_options_set_compression_options_use_zstd_dict_trainer(&opt, 0);
  EXPECT_FALSE(opt.rep.compression_opts.use_zstd_dict_trainer);
  ashlar_options_set_compression_options_zstd_max_train_bytes(&opt, 4);
  EXPECT_EQ(opt.rep.compression_opts.zstd_max_train_bytes, 4u);
  ashlar_writeoptions_t write;
  ashlar_writeoptions_disable_WAL(&write, 1);
  EXPECT_TRUE(write.rep.disableWAL);
  ashlar_envoptions_t files;
  ashlar_envoptions_set_fd_cloexec(&files, 0);
  EXPECT_FALSE(files.rep.set_fd_cloexec);
}

TEST(COptionTexts, TableOptionsHaveTheValuesThatWereSet) {
  for (const bool flag : {false, true}) {
    unsigned index = 0;
    ashlar_block_based_table_options_t handle;
    ashlar_block_based_table_options_t* opt = &handle;
    MEMBERS_OF_block_based_options(SET_MEMBER);
    TextCheck check(BlockBasedOptionTable(), &handle.rep);
    index = 0;
    MEMBERS_OF_block_based_options(COMPARE_MEMBER);
    EXPECT_EQ(check.without_option(),
              (std::set<std::string>{"ashlar_block_based_options_set_top_level_index_pinning_tier",
                                     "ashlar_block_based_options_set_partition_pinning_tier",
                                     "ashlar_block_based_options_set_unpartitioned_pinning_tier"}));
    EXPECT_EQ(handle.rep.metadata_cache_options.top_level_index_pinning,
              static_cast<PinningTier>(flag));
    EXPECT_EQ(handle.rep.metadata_cache_options.partition_pinning, static_cast<PinningTier>(flag));
    EXPECT_EQ(handle.rep.metadata_cache_options.unpartitioned_pinning,
              static_cast<PinningTier>(flag));
  }
}

TEST(COptionValues, DefaultsAreThoseThatBindingsTestFor) {
  const std::vector<CompressionType> linked = GetSupportedCompressions();
  const bool has_snappy = std::count(linked.begin(), linked.end(), kSnappyCompression) > 0;
  ashlar_options_t* opt = ashlar_options_create();
  EXPECT_EQ(opt->rep.compression, has_snappy ? kSnappyCompression : Options().compression);
  EXPECT_EQ(opt->rep.info_log_level, INFO_LEVEL);
  ashlar_options_destroy(opt);
}

TEST(COptionValues, CompressionHasItsParameters) {
  ashlar_options_t opt;
  ashlar_options_set_compression_options(&opt, -13, 4, 2, 1000);
  EXPECT_EQ(opt.rep.compression_opts.window_bits, -13);
  EXPECT_EQ(opt.rep.compression_opts.level, 4);
  EXPECT_EQ(opt.rep.compression_opts.strategy, 2);
  EXPECT_EQ(opt.rep.compression_opts.max_dict_bytes, 1000u);
  EXPECT_FALSE(opt.rep.compression_opts.enabled);
  ashlar_options_set_bottommost_compression_options(&opt, -12, 5, 1, 2000, 1);
  EXPECT_EQ(opt.rep.bottommost_compression_opts.level, 5);
  EXPECT_TRUE(opt.rep.bottommost_compression_opts.enabled);
  ashlar_options_set_bottommost_compression_options_zstd_max_train_bytes(&opt, 3000, 0);
  EXPECT_EQ(opt.rep.bottommost_compression_opts.zstd_max_train_bytes, 3000u);
  EXPECT_FALSE(opt.rep.bottommost_compression_opts.enabled);
  ashlar_options_set_bottommost_compression_options_max_dict_buffer_bytes(&opt, 4000, 1);
  EXPECT_EQ(opt.rep.bottommost_compression_opts.max_dict_buffer_bytes, 4000u);
  ashlar_options_set_bottommost_compression_options_use_zstd_dict_trainer(&opt, 0, 1);
  EXPECT_FALSE(opt.rep.bottommost_compression_opts.use_zstd_dict_trainer);
}

TEST(COptionValues, LevelsBelowALevelAreCompressed) {
  using Types = std::vector<CompressionType>;
  ashlar_options_t opt;
  opt.rep.num_levels = 3;
  opt.rep.compression = kZSTD;
  ashlar_options_set_min_level_to_compress(&opt, 2);
  EXPECT_EQ(opt.rep.compression_per_level, (Types{kNoCompression, kNoCompression, kZSTD}));
  ashlar_options_set_min_level_to_compress(&opt, 7);
  EXPECT_EQ(opt.rep.compression_per_level, (Types{kNoCompression, kNoCompression, kNoCompression}));
  const int levels[] = {ashlar_snappy_compression, ashlar_lz4_compression};
  ashlar_options_set_compression_per_level(&opt, levels, 2);
  ashlar_options_set_min_level_to_compress(&opt, -1);
  EXPECT_EQ(opt.rep.compression_per_level, (Types{kSnappyCompression, kLZ4Compression}));
}

TEST(COptionValues, ListsAndStructsAreCopied) {
  ashlar_options_t opt;
  ashlar_dbpath_t one{DbPath("/one", 1)}, two{DbPath("/two", 2)};
  const ashlar_dbpath_t* paths[] = {&one, &two};
  ashlar_options_set_db_paths(&opt, paths, 2);
  ashlar_options_set_cf_paths(&opt, paths + 1, 1);
  ASSERT_EQ(opt.rep.db_paths.size(), 2u);
  EXPECT_EQ(opt.rep.db_paths[1].path, "/two");
  EXPECT_EQ(opt.rep.cf_paths[0].target_size, 2u);
  int factors[] = {2, 3};
  ashlar_options_set_max_bytes_for_level_multiplier_additional(&opt, factors, 2);
  EXPECT_EQ(opt.rep.max_bytes_for_level_multiplier_additional, (std::vector<int>{2, 3}));
  ashlar_universal_compaction_options_t universal;
  universal.rep.size_ratio = 17;
  ashlar_options_set_universal_compaction_options(&opt, &universal);
  EXPECT_EQ(opt.rep.compaction_options_universal.size_ratio, 17u);
  ashlar_fifo_compaction_options_t fifo;
  fifo.rep.max_table_files_size = 18;
  ashlar_options_set_fifo_compaction_options(&opt, &fifo);
  EXPECT_EQ(opt.rep.compaction_options_fifo.max_table_files_size, 18u);
}

TEST(COptionValues, LongTimesDoNotOverflow) {
  ashlar_readoptions_t read;
  ashlar_readoptions_set_deadline(&read, UINT64_MAX);
  EXPECT_EQ(read.rep.deadline, std::chrono::microseconds::max());
}

// The last constant of each enumeration.
template <typename Enum>
constexpr bool IsSame(int constant, Enum value) {
  return constant == static_cast<int>(value);
}

static_assert(IsSame(ashlar_wal_file_type_alive_log, kAliveLogFile));
static_assert(IsSame(ashlar_size_approximation_flags_include_files,
                     DB::SizeApproximationFlags::INCLUDE_FILES));
static_assert(IsSame(ashlar_block_based_table_index_type_two_level_index_search,
                     BlockBasedTableOptions::kTwoLevelIndexSearch));
static_assert(IsSame(ashlar_block_based_table_data_block_index_type_binary_search_and_hash,
                     BlockBasedTableOptions::kDataBlockBinaryAndHash));
static_assert(IsSame(ashlar_block_based_table_index_block_search_type_auto,
                     BlockBasedTableOptions::kAuto));
static_assert(IsSame(ashlar_block_based_k_all_pinning_tier, PinningTier::kAll));
static_assert(IsSame(ashlar_statistics_level_all, StatsLevel::kAll));
static_assert(IsSame(ashlar_prepopulate_blob_flush_only, PrepopulateBlobCache::kFlushOnly));
static_assert(IsSame(ashlar_skip_any_corrupted_records_recovery,
                     WALRecoveryMode::kSkipAnyCorruptedRecords));
static_assert(IsSame(ashlar_zstd_compression, kZSTD));
static_assert(IsSame(ashlar_fifo_compaction, kCompactionStyleFIFO));
static_assert(IsSame(ashlar_k_round_robin_compaction_pri, kRoundRobin));
static_assert(IsSame(ashlar_enable_count, PerfLevel::kEnableCount));
static_assert(IsSame(ashlar_trace_filter_multi_get, TraceFilterType::kTraceFilterMultiGet));
static_assert(IsSame(ashlar_total_size_compaction_stop_style, kCompactionStopStyleTotalSize));
static_assert(IsSame(ashlar_txndb_write_policy_write_unprepared,
                     TxnDBWritePolicy::WRITE_UNPREPARED));
static_assert(IsSame(ashlar_compactionservice_jobstatus_use_local,
                     CompactionServiceJobStatus::kUseLocal));

}  // namespace
}  // namespace ashlar
