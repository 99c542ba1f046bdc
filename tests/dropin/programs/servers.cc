// SPDX-License-Identifier: Apache-2.0
//
// Servers of keys and values: Apache Kvrocks, Pika, Pegasus.
#include <atomic>
#include <limits>

#include "rocksdb/cache.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/ldb_tool.h"
#include "rocksdb/listener.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/ldb_cmd.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "tests/dropin/programs/program.h"

namespace programs {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

const std::vector<std::string> kKvrocksFamilies = {"default", "metadata", "zset_score", "stream"};

// Subkeys of a dead collection are dropped by compactions; the metadata is read while one runs.
class DropDead : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "programs.DropDead"; }
  bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    return key.starts_with("dead/");
  }
};
class DropDeadFactory : public rocksdb::CompactionFilterFactory {
 public:
  const char* Name() const override { return "programs.DropDeadFactory"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::unique_ptr<rocksdb::CompactionFilter>(new DropDead);
  }
};

// Counts the entries of each table; its property is read for tables that are worth a compaction.
class CountEntries : public rocksdb::TablePropertiesCollector {
 public:
  const char* Name() const override { return "programs.CountEntries"; }
  Status AddUserKey(const Slice&, const Slice&, rocksdb::EntryType, rocksdb::SequenceNumber,
                    uint64_t) override {
    ++entries_;
    return Status::OK();
  }
  Status Finish(rocksdb::UserCollectedProperties* properties) override {
    properties->insert({"programs.entries", std::to_string(entries_)});
    return Status::OK();
  }
  rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  uint64_t entries_ = 0;
};
class CountEntriesFactory : public rocksdb::TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return "programs.CountEntriesFactory"; }
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new CountEntries;
  }
};

class CountJobs : public rocksdb::EventListener {
 public:
  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { ++begun; }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& info) override {
    REQUIRE(!info.cf_name.empty());
    ++flushes;
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    REQUIRE_OK(info.status);
    ++compactions;
  }
  std::atomic<int> begun{0}, flushes{0}, compactions{0};
};

// Turns a batch of the log into the commands for a replica.
class Extractor : public rocksdb::WriteBatch::Handler {
 public:
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    commands +=
        "put " + std::to_string(family) + " " + key.ToString() + " " + value.ToString() + ";";
    return Status::OK();
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    commands += "delete " + std::to_string(family) + " " + key.ToString() + ";";
    return Status::OK();
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    commands +=
        "range " + std::to_string(family) + " " + begin.ToString() + " " + end.ToString() + ";";
    return Status::OK();
  }
  void LogData(const Slice& blob) override { commands += "log " + blob.ToString() + ";"; }
  std::string commands;
};

rocksdb::Options KvrocksOptions(const std::shared_ptr<CountJobs>& jobs) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.compression = rocksdb::kNoCompression;
  options.max_background_jobs = 2;
  options.max_open_files = 500;
  options.WAL_ttl_seconds = 3 * 60 * 60;
  options.WAL_size_limit_MB = 64;
  options.max_total_wal_size = 64 << 20;
  options.statistics = rocksdb::CreateDBStatistics();
  options.rate_limiter.reset(rocksdb::NewGenericRateLimiter(
      int64_t{1} << 30, 100 * 1000, 10, rocksdb::RateLimiter::Mode::kWritesOnly, true));
  options.sst_file_manager.reset(rocksdb::NewSstFileManager(rocksdb::Env::Default()));
  options.sst_file_manager->SetMaxAllowedSpaceUsage(0);
  options.listeners.push_back(jobs);
  options.compaction_filter_factory = std::make_shared<DropDeadFactory>();
  options.table_properties_collector_factories.push_back(std::make_shared<CountEntriesFactory>());
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table.partition_filters = true;
  table.optimize_filters_for_memory = true;
  table.metadata_block_size = 4096;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.block_cache = rocksdb::NewLRUCache(8 << 20, -1, false, 0.75);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

void OpenKvrocks(const rocksdb::Options& options, const std::string& path,
                 Opened<rocksdb::DB>* opened) {
  REQUIRE_OK(rocksdb::DB::Open(options, path, Families(kKvrocksFamilies, options), &opened->handles,
                               &opened->db));
}

// A replica asks for the log from the number that it has, and applies the batches as they are.
void Replicate(rocksdb::DB* from, rocksdb::DB* to) {
  std::unique_ptr<rocksdb::TransactionLogIterator> log;
  REQUIRE_OK(from->GetUpdatesSince(to->GetLatestSequenceNumber() + 1, &log));
  std::string commands;
  for (; log->Valid(); log->Next()) {
    rocksdb::BatchResult batch = log->GetBatch();
    REQUIRE(batch.sequence == to->GetLatestSequenceNumber() + 1);
    Extractor extractor;
    REQUIRE_OK(batch.writeBatchPtr->Iterate(&extractor));
    commands += extractor.commands;
    rocksdb::WriteBatch received(batch.writeBatchPtr->Data());
    REQUIRE_OK(to->Write(WriteOptions(), &received));
  }
  REQUIRE_OK(log->status());
  REQUIRE(commands ==
          "log set;put 1 a meta;put 0 a/1 one;put 1 b meta;put 0 dead/1 x;delete 0 a/1;range 2 m n;"
          "put 0 a/2 two;");
  REQUIRE(to->GetLatestSequenceNumber() == from->GetLatestSequenceNumber());
}

// MULTI: the commands of a transaction see what earlier ones wrote, before it is written.
void Multi(const Opened<rocksdb::DB>& opened) {
  rocksdb::WriteBatchWithIndex multi(rocksdb::BytewiseComparator(), 0, true, 0);
  rocksdb::ColumnFamilyHandle* const subkeys = opened.handles[0];
  REQUIRE_OK(multi.Put(subkeys, "a/3", "three"));
  REQUIRE_OK(multi.Delete(subkeys, "a/2"));
  std::string value;
  REQUIRE_OK(multi.GetFromBatchAndDB(opened.db, ReadOptions(), subkeys, "a/3", &value));
  REQUIRE(value == "three");
  REQUIRE(multi.GetFromBatchAndDB(opened.db, ReadOptions(), subkeys, "a/2", &value).IsNotFound());
  const Contents seen =
      All(multi.NewIteratorWithBase(subkeys, opened.db->NewIterator(ReadOptions(), subkeys)));
  REQUIRE((seen == Contents{{"a/3", "three"}, {"dead/1", "x"}}));
  REQUIRE_OK(opened.db->Write(WriteOptions(), multi.GetWriteBatch()));
}

}  // namespace

void Kvrocks(const std::string& folder) {
  const auto jobs = std::make_shared<CountJobs>();
  const rocksdb::Options options = KvrocksOptions(jobs);
  Opened<rocksdb::DB> primary, replica;
  OpenKvrocks(options, folder + "/db", &primary);
  rocksdb::DB* const db = primary.db;
  rocksdb::WriteBatch set;
  REQUIRE_OK(set.PutLogData("set"));
  REQUIRE_OK(set.Put(primary.handles[1], "a", "meta"));
  REQUIRE_OK(set.Put(primary.handles[0], "a/1", "one"));
  REQUIRE_OK(db->Write(WriteOptions(), &set));
  REQUIRE_OK(db->Put(WriteOptions(), primary.handles[1], "b", "meta"));
  REQUIRE_OK(db->Put(WriteOptions(), primary.handles[0], "dead/1", "x"));
  REQUIRE_OK(db->Delete(WriteOptions(), primary.handles[0], "a/1"));
  REQUIRE_OK(db->DeleteRange(WriteOptions(), primary.handles[2], "m", "n"));
  REQUIRE_OK(db->Put(WriteOptions(), primary.handles[0], "a/2", "two"));

  OpenKvrocks(KvrocksOptions(std::make_shared<CountJobs>()), folder + "/replica", &replica);
  Replicate(db, replica.db);
  Multi(primary);

  REQUIRE_OK(db->SetOptions(primary.handles[0], {{"write_buffer_size", "8388608"},
                                                 {"disable_auto_compactions", "false"}}));
  REQUIRE_OK(db->SetDBOptions({{"max_background_jobs", "4"}, {"stats_dump_period_sec", "0"}}));
  REQUIRE_OK(db->Flush(rocksdb::FlushOptions(), primary.handles));
  rocksdb::TablePropertiesCollection tables;
  REQUIRE_OK(db->GetPropertiesOfAllTables(primary.handles[1], &tables));
  REQUIRE(tables.size() == 1);
  REQUIRE(tables.begin()->second->user_collected_properties.at("programs.entries") == "2");
  rocksdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  REQUIRE_OK(db->CompactRange(compact, primary.handles[0], nullptr, nullptr));
  REQUIRE((All(db->NewIterator(ReadOptions(), primary.handles[0])) == Contents{{"a/3", "three"}}));

  // A replica that is too far behind gets the files of a checkpoint.
  rocksdb::Checkpoint* checkpoint = nullptr;
  REQUIRE_OK(rocksdb::Checkpoint::Create(db, &checkpoint));
  REQUIRE_OK(checkpoint->CreateCheckpoint(folder + "/checkpoint", 0));
  delete checkpoint;
  Opened<rocksdb::DB> copy;
  REQUIRE_OK(rocksdb::DB::OpenForReadOnly(options, folder + "/checkpoint",
                                          Families(kKvrocksFamilies, options), &copy.handles,
                                          &copy.db));
  REQUIRE((All(copy.db->NewIterator(ReadOptions(), copy.handles[1])) ==
           Contents{{"a", "meta"}, {"b", "meta"}}));
  REQUIRE(copy.db->Put(WriteOptions(), "x", "y").IsNotSupported());
  // A listener may hear of the end of a flush after Flush() has returned, but before the end of the
  // database.
  primary.Close();
  REQUIRE(jobs->begun.load() == jobs->flushes.load() && jobs->flushes.load() >= 2);
}

void Pika(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.enable_blob_files = true;
  options.min_blob_size = 100;
  options.blob_garbage_collection_age_cutoff = 0.25;
  options.blob_cache = rocksdb::NewLRUCache(1 << 20);
  options.enable_blob_garbage_collection = true;
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(rocksdb::DB::Open(options, folder, &opened.db));
  rocksdb::DB* const db = opened.db;
  for (const char* name : {"data", "scores"}) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    REQUIRE_OK(db->CreateColumnFamily(options, name, &handle));
    opened.handles.push_back(handle);
  }
  const std::string large(5000, 'p');
  REQUIRE_OK(db->Put(WriteOptions(), opened.handles[0], "k", large));
  REQUIRE_OK(db->Flush(rocksdb::FlushOptions(), opened.handles[0]));
  REQUIRE(ValueOf(db, opened.handles[0], "k") == large);

  // What INFO shows.
  uint64_t number = 0;
  for (const char* property :
       {"rocksdb.num-blob-files", "rocksdb.total-blob-file-size", "rocksdb.live-blob-file-size",
        "rocksdb.blob-cache-capacity", "rocksdb.blob-cache-usage"}) {
    REQUIRE(db->GetIntProperty(opened.handles[0], property, &number));
    REQUIRE(number > 0);
  }
  for (const char* property : {"rocksdb.blob-cache-pinned-usage", "rocksdb.num-immutable-mem-table",
                               "rocksdb.compaction-pending", "rocksdb.background-errors"}) {
    REQUIRE(db->GetIntProperty(opened.handles[0], property, &number));
    REQUIRE(number == 0);
  }
  // Flush() may return before the job has ended, and one job may be looking for something to
  // compact.
  for (const char* property : {"rocksdb.num-running-flushes", "rocksdb.num-running-compactions"}) {
    REQUIRE(db->GetIntProperty(opened.handles[0], property, &number));
    REQUIRE(number <= 1);
  }
  for (const char* property :
       {"rocksdb.cur-size-all-mem-tables", "rocksdb.estimate-table-readers-mem",
        "rocksdb.num-live-versions", "rocksdb.current-super-version-number",
        "rocksdb.estimate-live-data-size", "rocksdb.total-sst-files-size",
        "rocksdb.block-cache-capacity"}) {
    REQUIRE(db->GetIntProperty(opened.handles[0], property, &number));
    REQUIRE(number > 0);
  }
  std::string text;
  REQUIRE(db->GetProperty("rocksdb.blob-stats", &text));
  REQUIRE(db->GetAggregatedIntProperty("rocksdb.estimate-num-keys", &number));
  REQUIRE(number == 1);

  // Its copy for a new replica: files are listed while none may be deleted, then linked by hand.
  REQUIRE_OK(db->DisableFileDeletions());
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  REQUIRE_OK(db->GetLiveFiles(files, &manifest_bytes, true));
  REQUIRE_OK(
      db->Put(WriteOptions(), opened.handles[1], "k", "1"));  // logs without records are not listed
  REQUIRE(manifest_bytes > 0 && files.size() >= 4);
  rocksdb::VectorLogPtr logs;
  REQUIRE_OK(db->GetSortedWalFiles(logs));
  REQUIRE(!logs.empty());
  REQUIRE(logs.back()->Type() == rocksdb::kAliveLogFile);
  REQUIRE_OK(db->EnableFileDeletions());
}

void Pegasus(const std::string& folder) {
  const std::string path = folder + "/db";
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  REQUIRE_OK(rocksdb::EncryptionProvider::CreateFromString(rocksdb::ConfigOptions(), "CTR://test",
                                                           &provider));
  const std::unique_ptr<rocksdb::Env> env(
      rocksdb::NewEncryptedEnv(rocksdb::Env::Default(), provider));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.env = env.get();
  options.level0_file_num_compaction_trigger = 4;
  options.max_bytes_for_level_multiplier_additional = {1, 1, 10, 10, 10, 10, 10};
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(rocksdb::DB::Open(options, path, Families({"default", "pegasus_meta_cf"}, options),
                               &opened.handles, &opened.db));
  WriteOptions unlogged;
  unlogged.disableWAL = true;  // its own log replays
  rocksdb::WriteBatch batch;
  REQUIRE_OK(batch.Put(opened.handles[0], "hash/sort", "secret value"));
  REQUIRE_OK(batch.Put(opened.handles[1], "pegasus_last_flushed_decree", "7"));
  REQUIRE_OK(opened.db->Write(unlogged, &batch));
  // Before a bulk load, compactions are stopped; afterwards they go on.
  REQUIRE_OK(opened.db->SetOptions(opened.handles[0],
                                   {{"level0_file_num_compaction_trigger", "1000000000"},
                                    {"level0_slowdown_writes_trigger", "1000000000"},
                                    {"level0_stop_writes_trigger", "1000000000"},
                                    {"soft_pending_compaction_bytes_limit", "0"},
                                    {"disable_auto_compactions", "true"}}));
  REQUIRE_OK(opened.db->SetOptions(opened.handles[0], {{"disable_auto_compactions", "false"}}));
  uint64_t sequence = 0;
  rocksdb::Checkpoint* checkpoint = nullptr;
  REQUIRE_OK(rocksdb::Checkpoint::Create(opened.db, &checkpoint));
  REQUIRE_OK(checkpoint->CreateCheckpoint(folder + "/checkpoint.7", 0, &sequence));
  delete checkpoint;
  REQUIRE(sequence > 0);
  opened.Close();

  rocksdb::DBOptions loaded;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::ConfigOptions config;
  config.env = env.get();
  REQUIRE_OK(rocksdb::LoadLatestOptions(config, path, &loaded, &families));
  REQUIRE(families.size() == 2 && families[1].name == "pegasus_meta_cf");
  REQUIRE(families[0].options.level0_file_num_compaction_trigger == 1000000000);

  // Its shell passes commands to the tool, with its own options.
  const std::string flag = "--db=" + path;
  const char* const arguments[] = {"ldb", flag.c_str(), "get", "hash/sort"};
  REQUIRE(rocksdb::LDBCommandRunner::RunCommand(4, arguments, options, rocksdb::LDBOptions(),
                                                nullptr) == 0);
  const char* const missing[] = {"ldb", flag.c_str(), "get", "hash/none"};
  REQUIRE(rocksdb::LDBCommandRunner::RunCommand(4, missing, options, rocksdb::LDBOptions(),
                                                nullptr) != 0);
}

}  // namespace programs
