// SPDX-License-Identifier: Apache-2.0
//
// Functions and classes beside DB, objects that are given as options, and arguments of calls. A
// function that gives an object answers NotSupported here when it gives nullptr.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/compaction_filter.h"
#include "ashlar/comparator.h"
#include "ashlar/concurrent_task_limiter.h"
#include "ashlar/convenience.h"
#include "ashlar/db_dump_tool.h"
#include "ashlar/env_encryption.h"
#include "ashlar/explain.h"
#include "ashlar/file_checksum.h"
#include "ashlar/filter_policy.h"
#include "ashlar/flush_block_policy.h"
#include "ashlar/listener.h"
#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "ashlar/persistent_cache.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_manager.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/sst_partitioner.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/utilities/cache_dump_load.h"
#include "ashlar/utilities/db_ttl.h"
#include "ashlar/utilities/debug.h"
#include "ashlar/utilities/info_log_finder.h"
#include "ashlar/utilities/leveldb_options.h"
#include "ashlar/utilities/memory_util.h"
#include "ashlar/utilities/optimistic_transaction_db.h"
#include "ashlar/utilities/option_change_migration.h"
#include "ashlar/utilities/options_util.h"
#include "ashlar/utilities/sim_cache.h"
#include "ashlar/utilities/table_properties_collectors.h"
#include "ashlar/utilities/transaction_db.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/wal_filter.h"
#include "ashlar/write_buffer_manager.h"
#include "tests/docs/call_probes.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"

namespace ashlar {
namespace {

std::shared_ptr<Cache> TwoTiers() {
  ShardedCacheOptions first(1 << 20, 0, false);
  TieredCacheOptions options;
  options.cache_opts = &first;
  options.total_capacity = 1 << 20;
  options.compressed_secondary_ratio = 0.25;
  return NewTieredCache(options);
}

Status Given(bool is_there) { return is_there ? Status::OK() : Status::NotSupported("nullptr"); }

Status VerifyTable(Ground& g) {
  ColumnFamilyMetaData facts;
  g.db->GetColumnFamilyMetaData(&facts);
  return VerifySstFileChecksum(g.options, EnvOptions(), "/db" + facts.levels[0].files[0].name);
}

Status LoadLatest(Ground& g) {
  ConfigOptions config;
  config.env = g.env.get();
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  return LoadLatestOptions(config, "/db", &options, &families);
}

Status CheckLatest(Ground& g) {
  ConfigOptions config;
  config.env = g.env.get();
  return CheckOptionsCompatibility(config, "/db", g.options,
                                   {{kDefaultColumnFamilyName, g.options}, {"second", g.options}});
}

Status GetMemory(Ground& g) {
  std::map<MemoryUtil::UsageType, uint64_t> usage;
  return MemoryUtil::GetApproximateMemoryUsageByType(std::vector<DB*>{g.db.get()}, {}, &usage);
}

Status WriteTable(Ground& g) {
  SstFileWriter writer(EnvOptions(), g.options);
  Status status = writer.Open("/new.sst");
  if (status.ok()) status = writer.Put("k", "v");
  if (status.ok()) status = writer.Finish();
  return status;
}

Status ReadTable(Ground& g) {
  ColumnFamilyMetaData facts;
  g.db->GetColumnFamilyMetaData(&facts);
  SstFileReader reader(g.options);
  return reader.Open("/db" + facts.levels[0].files[0].name);
}

// What Open of a kind of database answers; closes and deletes what it gives.
template <typename Db, typename... Arguments>
Status OpenKind(const Ground& g, const Arguments&... arguments) {
  Db* db = nullptr;
  const Status status = Db::Open(g.options, arguments..., "/other", &db);
  delete db;
  return status;
}

const Probe kOthers[] = {
    {"DBWithTTL::Open",
     [](Ground& g) {
       DBWithTTL* db = nullptr;
       const Status status = DBWithTTL::Open(g.options, "/other", &db);
       delete db;
       return status;
     }},
    {"OptimisticTransactionDB::Open",
     [](Ground& g) { return OpenKind<OptimisticTransactionDB>(g); }},
    {"TransactionDB::Open",
     [](Ground& g) { return OpenKind<TransactionDB>(g, TransactionDBOptions()); }},
    {"WriteBatchWithIndex::Put", [](Ground&) { return WriteBatchWithIndex().Put("k", "v"); }},
    {"SstFileReader::Open", &ReadTable},
    {"SstFileWriter::Open", &WriteTable},
    {"RepairDB",
     [](Ground& g) {
       EXPECT_OK(g.db->DestroyColumnFamilyHandle(std::exchange(g.second, nullptr)));
       g.db.reset();
       return RepairDB("/db", g.options);
     }},
    {"DestroyDB",
     [](Ground& g) {
       EXPECT_OK(g.OpenWith(g.options));
       return DestroyDB("/other", g.options);
     }},
    {"OptionChangeMigration",
     [](Ground& g) { return OptionChangeMigration("/none", g.options, g.options); }},
    {"LoadLatestOptions", &LoadLatest},
    {"CheckOptionsCompatibility", &CheckLatest},
    {"GetLatestOptionsFileName",
     [](Ground& g) {
       std::string name;
       return GetLatestOptionsFileName("/db", g.env.get(), &name);
     }},
    {"GetAllKeyVersions",
     [](Ground& g) {
       std::vector<KeyVersion> versions;
       return GetAllKeyVersions(g.db.get(), {}, {}, 10, &versions);
     }},
    {"MemoryUtil::GetApproximateMemoryUsageByType", &GetMemory},
    {"CancelAllBackgroundWork",
     [](Ground& g) {
       CancelAllBackgroundWork(g.db.get(), /*wait=*/true);
       return Status::OK();
     }},
    {"DeleteFilesInRange",
     [](Ground& g) { return DeleteFilesInRange(g.db.get(), g.family, nullptr, nullptr); }},
    {"DeleteFilesInRanges",
     [](Ground& g) {
       const RangeOpt range;
       return DeleteFilesInRanges(g.db.get(), g.family, &range, 1);
     }},
    {"VerifySstFileChecksum", &VerifyTable},
    {"ExplainGet",
     [](Ground& g) {
       ReadExplanation told;
       return ExplainGet(g.db.get(), ReadOptions(), g.family, "a", &told);
     }},
    {"ExplainSeek",
     [](Ground& g) {
       ReadExplanation told;
       return ExplainSeek(g.db.get(), ReadOptions(), g.family, "a", &told);
     }},
    {"GetOptionsFromString",
     [](Ground& g) { return GetOptionsFromString(g.options, "num_levels=4", &g.options); }},
    {"GetStringFromDBOptions",
     [](Ground& g) {
       std::string text;
       return GetStringFromDBOptions(&text, g.options);
     }},
    {"ConvertOptions",
     [](Ground&) { return Given(ConvertOptions(LevelDBOptions()).env != nullptr); }},
    {"NewFileTraceWriter",
     [](Ground& g) {
       std::unique_ptr<TraceWriter> writer;
       return NewFileTraceWriter(g.env.get(), EnvOptions(), "/trace", &writer);
     }},
    {"NewFileTraceReader",
     [](Ground& g) {
       std::unique_ptr<TraceWriter> writer;
       RETURN_IF_ERROR(NewFileTraceWriter(g.env.get(), EnvOptions(), "/trace", &writer));
       RETURN_IF_ERROR(writer->Close());
       std::unique_ptr<TraceReader> reader;
       return NewFileTraceReader(g.env.get(), EnvOptions(), "/trace", &reader);
     }},
    {"NewCompressedSecondaryCache",
     [](Ground&) { return Given(NewCompressedSecondaryCache(1 << 20) != nullptr); }},
    {"NewTieredCache", [](Ground&) { return Given(TwoTiers() != nullptr); }},
    {"UpdateTieredCache", [](Ground&) { return UpdateTieredCache(TwoTiers(), 2 << 20); }},
    {"NewDefaultCacheDumper",
     [](Ground& g) {
       std::unique_ptr<CacheDumpWriter> writer;
       std::unique_ptr<CacheDumper> dumper;
       Status status =
           NewToFileCacheDumpWriter(g.env->GetFileSystem(), FileOptions(), "/cache_dump", &writer);
       const auto cache = NewLRUCache(1 << 20);
       if (status.ok()) status = NewDefaultCacheDumper({}, cache, std::move(writer), &dumper);
       return status.ok() ? Status(dumper->DumpCacheEntriesToWriter()) : status;
     }},
    {"NewRangeLockManager",
     [](Ground&) {
       const std::unique_ptr<RangeLockManagerHandle> made(NewRangeLockManager(nullptr));
       return Given(made != nullptr);
     }},
    {"Env::GetThreadList",
     [](Ground&) {
       std::vector<ThreadStatus> threads;
       return Env::Default()->GetThreadList(&threads);
     }},
    {"DbDumpTool::Run",
     [](Ground& g) {
       return Given(DbDumpTool().Run({"/db", "/dump"}, g.options));
     }},
    {"DbUndumpTool::Run",
     [](Ground& g) {
       const bool is_dumped = DbDumpTool().Run({"/db", "/dump"}, g.options);
       return Given(is_dumped && DbUndumpTool().Run({"/other", "/dump"}, g.options));
     }},
    {"NewEncryptedEnv",
     [](Ground& g) {
       const auto provider =
           EncryptionProvider::NewCTRProvider(BlockCipher::NewROT13Cipher(/*block_size=*/16));
       const std::unique_ptr<Env> env(NewEncryptedEnv(g.options.env, provider));
       return WriteStringToFile(env.get(), "text", "/encrypted");
     }},
    {"NewSimCache",
     [](Ground&) { return Given(NewSimCache(NewLRUCache(1000), 1000, 0) != nullptr); }},
    {"NewPersistentCache",
     [](Ground& g) {
       std::shared_ptr<PersistentCache> cache;
       return NewPersistentCache(g.options.env, "/cache", 1000, nullptr, false, &cache);
     }},
    {"GetInfoLogList",
     [](Ground& g) {
       std::vector<std::string> names;
       return GetInfoLogList(g.db.get(), &names);
     }},
};

class KeepsAll final : public CompactionFilter {
 public:
  const char* Name() const override { return "KeepsAll"; }
};

Status OpenWithTable(Ground& g, const BlockBasedTableOptions& table) {
  g.options.table_factory.reset(NewBlockBasedTableFactory(table));
  return g.OpenWith(g.options);
}

Status OpenWithFilter(Ground& g, const FilterPolicy* policy) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(policy);
  return OpenWithTable(g, table);
}

Status OpenWithBlockCache(Ground& g, std::shared_ptr<Cache> cache) {
  BlockBasedTableOptions table;
  table.block_cache = std::move(cache);
  return OpenWithTable(g, table);
}

Status OpenWithTables(Ground& g, TableFactory* factory) {
  g.options.table_factory.reset(factory);
  return g.OpenWith(g.options);
}

Status OpenWithMemtables(Ground& g, MemTableRepFactory* factory) {
  g.options.memtable_factory.reset(factory);
  return g.OpenWith(g.options);
}

const Probe kObjects[] = {
    {"BytewiseComparatorWithU64Ts",
     [](Ground& g) {
       g.options.comparator = BytewiseComparatorWithU64Ts();
       return g.OpenWith(g.options);
     }},
    {"ReverseBytewiseComparator",
     [](Ground& g) {
       g.options.comparator = ReverseBytewiseComparator();
       return g.OpenWith(g.options);
     }},
    {"CompactionFilter",
     [](Ground& g) {
       static const KeepsAll filter;
       g.options.compaction_filter = &filter;
       return g.OpenWith(g.options);
     }},
    {"CreateDBStatistics",
     [](Ground& g) {
       g.options.statistics = CreateDBStatistics();
       return g.OpenWith(g.options);
     }},
    {"EventListener",
     [](Ground& g) {
       g.options.listeners.push_back(std::make_shared<EventListener>());
       return g.OpenWith(g.options);
     }},
    {"GetFileChecksumGenCrc32cFactory",
     [](Ground& g) {
       g.options.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
       return g.OpenWith(g.options);
     }},
    {"HyperClockCacheOptions",
     [](Ground& g) {
       return OpenWithBlockCache(g, HyperClockCacheOptions(1 << 20).MakeSharedCache());
     }},
    {"NewLRUCache", [](Ground& g) { return OpenWithBlockCache(g, NewLRUCache(1 << 20)); }},
    {"NewBlockBasedTableFactory",
     [](Ground& g) { return OpenWithTables(g, NewBlockBasedTableFactory()); }},
    {"NewPlainTableFactory",
     [](Ground& g) {
       g.options.prefix_extractor.reset(NewFixedPrefixTransform(1));
       return OpenWithTables(g, NewPlainTableFactory());
     }},
    {"NewCuckooTableFactory", [](Ground& g) { return OpenWithTables(g, NewCuckooTableFactory()); }},
    {"NewAdaptiveTableFactory",
     [](Ground& g) { return OpenWithTables(g, NewAdaptiveTableFactory()); }},
    {"NewBloomFilterPolicy", [](Ground& g) { return OpenWithFilter(g, NewBloomFilterPolicy(10)); }},
    {"NewRibbonFilterPolicy",
     [](Ground& g) { return OpenWithFilter(g, NewRibbonFilterPolicy(10)); }},
    {"FlushBlockBySizePolicyFactory",
     [](Ground& g) {
       BlockBasedTableOptions table;
       table.flush_block_policy_factory = std::make_shared<FlushBlockBySizePolicyFactory>();
       return OpenWithTable(g, table);
     }},
    {"SkipListFactory", [](Ground& g) { return OpenWithMemtables(g, new SkipListFactory); }},
    {"VectorRepFactory", [](Ground& g) { return OpenWithMemtables(g, new VectorRepFactory); }},
    {"NewHashSkipListRepFactory",
     [](Ground& g) { return OpenWithMemtables(g, NewHashSkipListRepFactory()); }},
    {"NewHashLinkListRepFactory",
     [](Ground& g) { return OpenWithMemtables(g, NewHashLinkListRepFactory()); }},
    {"NewFixedPrefixTransform",
     [](Ground& g) {
       g.options.prefix_extractor.reset(NewFixedPrefixTransform(2));
       return g.OpenWith(g.options);
     }},
    {"MergeOperator",
     [](Ground& g) {
       return Given(g.options.merge_operator != nullptr && g.OpenWith(g.options).ok());
     }},
    {"NewGenericRateLimiter",
     [](Ground& g) {
       g.options.rate_limiter.reset(NewGenericRateLimiter(100 << 20));
       return g.OpenWith(g.options);
     }},
    {"NewSstFileManager",
     [](Ground& g) {
       g.options.sst_file_manager.reset(NewSstFileManager(g.env.get()));
       return g.OpenWith(g.options);
     }},
    {"NewSstPartitionerFixedPrefixFactory",
     [](Ground& g) {
       g.options.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(2);
       return g.OpenWith(g.options);
     }},
    {"NewConcurrentTaskLimiter",
     [](Ground& g) {
       g.options.compaction_thread_limiter.reset(NewConcurrentTaskLimiter("limit", 1));
       return g.OpenWith(g.options);
     }},
    {"NewCompactOnDeletionCollectorFactory",
     [](Ground& g) {
       g.options.table_properties_collector_factories.push_back(
           NewCompactOnDeletionCollectorFactory(100, 50));
       return g.OpenWith(g.options);
     }},
    {"WriteBufferManager",
     [](Ground& g) {
       g.options.write_buffer_manager = std::make_shared<WriteBufferManager>(1 << 20);
       return g.OpenWith(g.options);
     }},
    {"WalFilter",
     [](Ground& g) {
       class All final : public WalFilter {
        public:
         const char* Name() const override { return "All"; }
       };
       static All filter;
       g.options.wal_filter = &filter;
       return g.OpenWith(g.options);
     }},
};

template <typename Change>
Status Read(Ground& g, const Change& change) {
  ReadOptions options;
  change(&options);
  std::string value;
  return g.db->Get(options, "a", &value);
}

template <typename Change>
Status Write(Ground& g, const Change& change) {
  WriteOptions options;
  change(&options);
  return g.db->Put(options, "k", "v");
}

template <typename Change>
Status Compact(Ground& g, const Change& change) {
  CompactRangeOptions options;
  change(&options);
  return g.db->CompactRange(options, nullptr, nullptr);
}

constexpr char kStamp[8] = {};
const Slice kTimestamp(kStamp, sizeof(kStamp));

// Calls with timestamps need a database that has them.
Status OnStamped(Ground& g, const std::function<Status(DB*)>& call) {
  g.options.comparator = BytewiseComparatorWithU64Ts();
  std::unique_ptr<DB> db;
  const Status status = DB::Open(g.options, "/of_timestamps", &db);
  return status.ok() ? call(db.get()) : status;
}

Status ScanStamped(Ground& g, const Slice* start) {
  return OnStamped(g, [start](DB* db) {
    ReadOptions options;
    options.timestamp = &kTimestamp;
    options.iter_start_ts = start;
    const std::unique_ptr<Iterator> iterator(db->NewIterator(options));
    iterator->SeekToFirst();
    return iterator->status();
  });
}

const Probe kArguments[] = {
    {"ReadOptions::timestamp", [](Ground& g) { return ScanStamped(g, nullptr); }},
    {"ReadOptions::iter_start_ts", [](Ground& g) { return ScanStamped(g, &kTimestamp); }},
    {"ReadOptions::table_index_factory",
     [](Ground& g) {
       return Read(g, [](ReadOptions* o) {
         o->table_index_factory = reinterpret_cast<const UserDefinedIndexFactory*>(kStamp);
       });
     }},
    {"ReadOptions::read_scoped_block_buffer_provider",
     [](Ground& g) {
       return Read(g, [&g](ReadOptions* o) {
         o->read_scoped_block_buffer_provider =
             reinterpret_cast<ReadScopedBlockBufferProvider*>(&g);  // never followed
       });
     }},
    {"WriteOptions::rate_limiter_priority",
     [](Ground& g) {
       return Write(g, [](WriteOptions* o) { o->rate_limiter_priority = Env::IO_USER; });
     }},
    {"WriteOptions::protection_bytes_per_key",
     [](Ground& g) { return Write(g, [](WriteOptions* o) { o->protection_bytes_per_key = 8; }); }},
    {"FlushOptions::force_atomic_flush",
     [](Ground& g) {
       FlushOptions options;
       options.force_atomic_flush = true;
       return g.db->Flush(options);
     }},
    {"CompactRangeOptions::change_level",
     [](Ground& g) { return Compact(g, [](CompactRangeOptions* o) { o->change_level = true; }); }},
    {"CompactRangeOptions::target_path_id",
     [](Ground& g) {
       g.options.db_paths = {{"/one", 1}, {"/two", 1}};
       std::unique_ptr<DB> db;
       const Status status = DB::Open(g.options, "/of_two_paths", &db);
       if (!status.ok()) return status;
       CompactRangeOptions options;
       options.target_path_id = 1;
       return db->CompactRange(options, nullptr, nullptr);
     }},
    {"CompactRangeOptions::full_history_ts_low",
     [](Ground& g) {
       return OnStamped(g, [](DB* db) {
         CompactRangeOptions options;
         options.full_history_ts_low = &kTimestamp;
         return db->CompactRange(options, nullptr, nullptr);
       });
     }},
};

}  // namespace

std::span<const Probe> OtherProbes() { return kOthers; }
std::span<const Probe> ObjectProbes() { return kObjects; }
std::span<const Probe> ArgumentProbes() { return kArguments; }

}  // namespace ashlar
