// SPDX-License-Identifier: Apache-2.0
//
// Pairs of options that RocksDB's headers or checks call incompatible, or of which they say that
// one is ignored because of the other (7.8 and 11.9): each is refused here, with a message that
// names both, or works. The two tables say which; those of calls
// are in call_pairs_test.cc. Where RocksDB refuses and we do not, and the
// other way round, docs/compatibility.md says so.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/write_buffer_manager.h"
#include "db/options/options_check.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Table = BlockBasedTableOptions;

// Options with which every option of the tables may be set alone.
struct Setting {
  Setting() {
    options.create_if_missing = true;
    options.allow_concurrent_memtable_write = false;  // excludes updates in place
    options.compression = kNoCompression;             // excludes aligned blocks
    options.prefix_extractor.reset(NewFixedPrefixTransform(1));
    options.write_buffer_size = 64 << 10;
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator));
  }
  Options Build() const {
    Options built = options;
    built.table_factory.reset(NewBlockBasedTableFactory(table));
    return built;
  }

  Options options;
  Table table;
};

using Set = void (*)(Setting*);

struct RefusedPair {
  const char* first;
  Set set_first;
  const char* second;
  Set set_second;
};

// "Refused" is InvalidArgument or NotSupported, before anything has been touched.
const RefusedPair kRefused[] = {
    {"allow_mmap_reads", [](Setting* s) { s->options.allow_mmap_reads = true; }, "use_direct_reads",
     [](Setting* s) { s->options.use_direct_reads = true; }},
    {"use_direct_io_for_flush_and_compaction",
     [](Setting* s) { s->options.use_direct_io_for_flush_and_compaction = true; },
     "writable_file_max_buffer_size",
     [](Setting* s) { s->options.writable_file_max_buffer_size = 0; }},
    {"unordered_write",
     [](Setting* s) {
       s->options.unordered_write = s->options.allow_concurrent_memtable_write = true;
     },
     "allow_concurrent_memtable_write",
     [](Setting* s) { s->options.allow_concurrent_memtable_write = false; }},
    {"unordered_write",
     [](Setting* s) {
       s->options.unordered_write = s->options.allow_concurrent_memtable_write = true;
     },
     "enable_pipelined_write", [](Setting* s) { s->options.enable_pipelined_write = true; }},
    {"inplace_update_support", [](Setting* s) { s->options.inplace_update_support = true; },
     "allow_concurrent_memtable_write",
     [](Setting* s) { s->options.allow_concurrent_memtable_write = true; }},
    {"track_and_verify_wals", [](Setting* s) { s->options.track_and_verify_wals = true; },
     "write_compatible_with", [](Setting* s) { s->options.write_compatible_with = "7.8"; }},
    {"cf_paths",
     [](Setting* s) {
       s->options.cf_paths = {{"/a", 1}, {"/b", 1}};
     },
     "compaction_style", [](Setting* s) { s->options.compaction_style = kCompactionStyleFIFO; }},
    {"compaction_options_universal.max_read_amp",
     [](Setting* s) {
       s->options.compaction_style = kCompactionStyleUniversal;
       s->options.compaction_options_universal.max_read_amp = 6;
     },
     "level0_file_num_compaction_trigger",
     [](Setting* s) { s->options.level0_file_num_compaction_trigger = 8; }},
    {"compaction_options_universal.max_merge_width",
     [](Setting* s) {
       s->options.compaction_style = kCompactionStyleUniversal;
       s->options.compaction_options_universal.max_merge_width = 4;
     },
     "min_merge_width",
     [](Setting* s) { s->options.compaction_options_universal.min_merge_width = 5; }},
    {"index_type", [](Setting* s) { s->table.index_type = Table::kHashSearch; }, "prefix_extractor",
     [](Setting* s) { s->options.prefix_extractor = nullptr; }},
    {"no_block_cache", [](Setting* s) { s->table.no_block_cache = true; },
     "cache_index_and_filter_blocks",
     [](Setting* s) { s->table.cache_index_and_filter_blocks = true; }},
    {"no_block_cache", [](Setting* s) { s->table.no_block_cache = true; },
     "pin_l0_filter_and_index_blocks_in_cache",
     [](Setting* s) { s->table.pin_l0_filter_and_index_blocks_in_cache = true; }},
    {"no_block_cache", [](Setting* s) { s->table.no_block_cache = true; }, "cache_usage_options",
     [](Setting* s) {
       s->table.cache_usage_options.options.charged = CacheEntryRoleOptions::Decision::kEnabled;
     }},
    {"block_align", [](Setting* s) { s->table.block_align = true; }, "compression",
     [](Setting* s) { s->options.compression = kZSTD; }},
    {"block_align", [](Setting* s) { s->table.block_align = true; }, "block_size",
     [](Setting* s) { s->table.block_size = 5000; }},
    {"data_block_index_type",
     [](Setting* s) { s->table.data_block_index_type = Table::kDataBlockBinaryAndHash; },
     "data_block_hash_table_util_ratio",
     [](Setting* s) { s->table.data_block_hash_table_util_ratio = 0; }},
};

Status Check(const Setting& setting) {
  const Options options = setting.Build();
  return CheckOptionsSupported(options, options);
}

TEST(OptionPairs, AreRefusedByNameAndTakenApart) {
  for (const RefusedPair& pair : kRefused) {
    SCOPED_TRACE(StrCat(pair.first, " and ", pair.second));
    Setting first, second, both;
    pair.set_first(&first);
    EXPECT_OK(Check(first));
    pair.set_second(&second);
    EXPECT_OK(Check(second));
    pair.set_first(&both);
    pair.set_second(&both);
    const Status status = Check(both);
    EXPECT_TRUE(status.IsInvalidArgument() || status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find(pair.first), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(pair.second), std::string::npos) << status.ToString();
  }
}

enum class RocksDb : uint8_t {
  kRefuses,
  kIgnoresOne,  // by its headers, or by a change of the option at open
  kHasNone,     // an option of ours
};

struct WorkingPair {
  const char* name;
  RocksDb rocksdb;
  Set set;
};

const WorkingPair kWorking[] = {
    {"unordered_write and max_successive_merges", RocksDb::kRefuses,
     [](Setting* s) {
       s->options.unordered_write = s->options.allow_concurrent_memtable_write = true;
       s->options.max_successive_merges = 2;
     }},
    {"atomic_flush and enable_pipelined_write", RocksDb::kRefuses,
     [](Setting* s) { s->options.atomic_flush = s->options.enable_pipelined_write = true; }},
    {"two_write_queues and enable_pipelined_write", RocksDb::kRefuses,
     [](Setting* s) { s->options.two_write_queues = s->options.enable_pipelined_write = true; }},
    {"atomic_flush and best_efforts_recovery", RocksDb::kRefuses,
     [](Setting* s) { s->options.atomic_flush = s->options.best_efforts_recovery = true; }},
    {"compaction_style FIFO with ttl and max_open_files", RocksDb::kRefuses,
     [](Setting* s) {
       s->options.compaction_style = kCompactionStyleFIFO;
       s->options.ttl = 1000000;
       s->options.max_open_files = 30;
     }},
    {"memtable_factory vector and allow_concurrent_memtable_write", RocksDb::kRefuses,
     [](Setting* s) {
       s->options.memtable_factory = std::make_shared<VectorRepFactory>();
       s->options.allow_concurrent_memtable_write = true;
     }},
    {"memtable_factory hash linklist and allow_concurrent_memtable_write", RocksDb::kRefuses,
     [](Setting* s) {
       s->options.memtable_factory.reset(NewHashLinkListRepFactory());
       s->options.allow_concurrent_memtable_write = true;
     }},
    {"memtable_factory hash skiplist without prefix_extractor", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.memtable_factory.reset(NewHashSkipListRepFactory());
       s->options.prefix_extractor = nullptr;
     }},
    {"memtable_insert_with_hint_prefix_extractor and allow_concurrent_memtable_write",
     RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.memtable_insert_with_hint_prefix_extractor.reset(NewFixedPrefixTransform(1));
       s->options.allow_concurrent_memtable_write = true;
     }},
    {"row_cache and DeleteRange", RocksDb::kRefuses,
     [](Setting* s) { s->options.row_cache = NewLRUCache(1 << 20); }},
    {"write_dbid_to_manifest and write_identity_file both off", RocksDb::kRefuses,
     [](Setting* s) {
       s->options.write_dbid_to_manifest = s->options.write_identity_file = false;
     }},
    {"inplace_update_support and Merge, DeleteRange", RocksDb::kIgnoresOne,
     [](Setting* s) { s->options.inplace_update_support = true; }},
    {"level_compaction_dynamic_level_bytes and cf_paths", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.level_compaction_dynamic_level_bytes = true;
       s->options.cf_paths = {{"/one", 10000}, {"/two", 1 << 30}};
     }},
    {"level_compaction_dynamic_level_bytes and max_bytes_for_level_multiplier_additional",
     RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.level_compaction_dynamic_level_bytes = true;
       s->options.max_bytes_for_level_multiplier_additional = {2, 3, 4};
     }},
    {"min_write_buffer_number_to_merge and atomic_flush", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.min_write_buffer_number_to_merge = 3;
       s->options.max_write_buffer_number = 5;
       s->options.atomic_flush = true;
     }},
    {"min_write_buffer_number_to_merge above max_write_buffer_number", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.min_write_buffer_number_to_merge = 7;
       s->options.max_write_buffer_number = 2;
     }},
    {"recycle_log_file_num and wal_recovery_mode kTolerateCorruptedTailRecords",
     RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.recycle_log_file_num = 2;
       s->options.wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
     }},
    {"recycle_log_file_num and wal_recovery_mode kAbsoluteConsistency", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.recycle_log_file_num = 2;
       s->options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
     }},
    {"recycle_log_file_num and WAL_ttl_seconds", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.recycle_log_file_num = 2;
       s->options.WAL_ttl_seconds = 1000;
     }},
    {"wal_compression other than zstd", RocksDb::kIgnoresOne,
     [](Setting* s) { s->options.wal_compression = kLZ4Compression; }},
    {"best_efforts_recovery and logs", RocksDb::kIgnoresOne,
     [](Setting* s) { s->options.best_efforts_recovery = true; }},
    {"write_buffer_manager and db_write_buffer_size", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.write_buffer_manager = std::make_shared<WriteBufferManager>(1 << 20);
       s->options.db_write_buffer_size = 1000;
     }},
    {"allow_ingest_behind and num_levels below 3", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.allow_ingest_behind = true;
       s->options.num_levels = 2;
     }},
    {"soft_pending_compaction_bytes_limit above hard_pending_compaction_bytes_limit",
     RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.soft_pending_compaction_bytes_limit = 2 << 20;
       s->options.hard_pending_compaction_bytes_limit = 1 << 20;
     }},
    {"level0_slowdown_writes_trigger below level0_file_num_compaction_trigger",
     RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.level0_file_num_compaction_trigger = 6;
       s->options.level0_slowdown_writes_trigger = 3;
       s->options.level0_stop_writes_trigger = 2;
     }},
    {"blob_garbage_collection_force_threshold and compaction_style universal", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.enable_blob_files = s->options.enable_blob_garbage_collection = true;
       s->options.blob_garbage_collection_force_threshold = 0.1;
       s->options.compaction_style = kCompactionStyleUniversal;
     }},
    {"enable_blob_files and compaction_style FIFO", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.enable_blob_files = true;
       s->options.compaction_style = kCompactionStyleFIFO;
     }},
    {"enable_blob_garbage_collection without enable_blob_files", RocksDb::kIgnoresOne,
     [](Setting* s) { s->options.enable_blob_garbage_collection = true; }},
    {"max_dict_buffer_bytes without max_dict_bytes", RocksDb::kIgnoresOne,
     [](Setting* s) { s->options.compression_opts.max_dict_buffer_bytes = 1000; }},
    {"ttl and periodic_compaction_seconds with compaction_style universal", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.compaction_style = kCompactionStyleUniversal;
       s->options.ttl = 1000;
       s->options.periodic_compaction_seconds = 2000;
     }},
    {"no_block_cache and block_cache", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->table.no_block_cache = true;
       s->table.block_cache = NewLRUCache(1 << 20);
     }},
    {"index_type kHashSearch and index_block_restart_interval", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->table.index_type = Table::kHashSearch;
       s->table.index_block_restart_interval = 8;
     }},
    {"partition_filters without index_type kTwoLevelIndexSearch", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->table.filter_policy.reset(NewBloomFilterPolicy(10));
       s->table.partition_filters = true;
     }},
    {"decouple_partitioned_filters without partition_filters", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->table.filter_policy.reset(NewBloomFilterPolicy(10));
       s->table.decouple_partitioned_filters = true;
     }},
    {"cache_index_and_filter_blocks_with_high_priority and both pins without "
     "cache_index_and_filter_blocks",
     RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->table.cache_index_and_filter_blocks = false;
       s->table.cache_index_and_filter_blocks_with_high_priority = true;
       s->table.pin_l0_filter_and_index_blocks_in_cache = true;
       s->table.pin_top_level_index_and_filter = true;
     }},
    {"filter_policy Ribbon and optimize_filters_for_memory with format_version below 5",
     RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->table.filter_policy.reset(NewRibbonFilterPolicy(10));
       s->table.optimize_filters_for_memory = true;
       s->table.format_version = 4;
     }},
    {"data_block_index_type with hash and another comparator", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->table.data_block_index_type = Table::kDataBlockBinaryAndHash;
       s->options.comparator = ReverseBytewiseComparator();
     }},
    {"min_tombstones_for_range_conversion and allow_ingest_behind", RocksDb::kIgnoresOne,
     [](Setting* s) {
       s->options.min_tombstones_for_range_conversion = 2;
       s->options.allow_ingest_behind = true;
     }},
    {"separate_key_value_in_data_block and write_compatible_with", RocksDb::kHasNone,
     [](Setting* s) {
       s->table.separate_key_value_in_data_block = true;
       s->options.write_compatible_with = "7.8";
     }},
};

// Two families of which an oracle knows what is in them.
class Workload {
 public:
  explicit Workload(const Options& options) : options_(options) {}

  void Run() {
    ASSERT_OK(opened_.Open(options_, "/db"));
    ASSERT_OK(opened_.CreateFamily(options_, "other"));
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 150; ++i) ASSERT_NO_FATAL_FAILURE(Step());
      ASSERT_NO_FATAL_FAILURE(Compare());
      if (options_.best_efforts_recovery) {  // which may leave out what only the logs have
        ASSERT_OK(opened_.db()->Flush(FlushOptions(), opened_.handles()));
      }
      ASSERT_OK(opened_.Close());
      ASSERT_OK(opened_.Open(options_, "/db"));
      ASSERT_NO_FATAL_FAILURE(Compare());
    }
  }

 private:
  uint32_t Draw(uint32_t n) { return random_() % n; }
  std::string Key() { return StrCat(static_cast<char>('a' + Draw(4)), Draw(12)); }

  void Step() {
    DB* const db = opened_.db();
    ColumnFamilyHandle* const family = opened_.handles()[Draw(2)];
    Rows& rows = expected_[family->GetName()];
    const std::string key = Key(), value = StrCat(Draw(1000), std::string(Draw(600), 'v'));
    switch (Draw(20)) {
      case 0: ASSERT_OK(db->Flush(FlushOptions(), family)); return;
      case 1:
        if (Draw(4) != 0) return;
        ASSERT_OK(db->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
        return;
      case 2: {
        std::string end = key + "~";
        if (options_.comparator != BytewiseComparator()) return;
        ASSERT_OK(db->DeleteRange(WriteOptions(), family, key, end));
        rows.erase(rows.lower_bound(key), rows.lower_bound(end));
        return;
      }
      case 3:
      case 4:
      case 5: {
        ASSERT_OK(db->Merge(WriteOptions(), family, key, value));
        const auto [row, is_new] = rows.try_emplace(key, value);
        if (!is_new) row->second += "," + value;
        return;
      }
      case 6:
      case 7:
      case 8:
      case 9:
        ASSERT_OK(db->Delete(WriteOptions(), family, key));
        rows.erase(key);
        return;
      default: ASSERT_OK(db->Put(WriteOptions(), family, key, value)); rows[key] = value;
    }
  }

  void Compare() {
    Contents found;
    ASSERT_OK(opened_.ReadAll(&found));
    for (const auto& [family, rows] : expected_) EXPECT_EQ(found[family], rows) << family;
  }

  const Options options_;
  OpenedDb opened_;
  Contents expected_;
  std::mt19937 random_{3};
};

TEST(OptionPairs, WorkTogether) {
  for (const WorkingPair& pair : kWorking) {
    SCOPED_TRACE(pair.name);
    const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
    Setting setting;
    pair.set(&setting);
    Options options = setting.Build();
    options.env = env.get();
    Workload(options).Run();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ashlar
