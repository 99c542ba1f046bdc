// SPDX-License-Identifier: Apache-2.0
//
// Stores inside of other systems: Ceph, FoundationDB, TON, osquery.
#include <algorithm>
#include <chrono>
#include <cstdarg>

#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/convenience.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "rocksdb/utilities/transaction.h"
#include "tests/dropin/programs/program.h"

namespace programs {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

// Ceph stores in its own file system; here the files of another Env, whose calls are counted.
class CountedFiles : public rocksdb::EnvWrapper {
 public:
  explicit CountedFiles(rocksdb::Env* base) : EnvWrapper(base) {}
  Status NewWritableFile(const std::string& name, std::unique_ptr<rocksdb::WritableFile>* file,
                         const rocksdb::EnvOptions& options) override {
    ++made;
    return target()->NewWritableFile(name, file, options);
  }
  Status DeleteFile(const std::string& name) override {
    ++deleted;
    return target()->DeleteFile(name);
  }
  std::atomic<int> made{0}, deleted{0};
};

// One operator for all prefixes of keys, which passes on to that of the prefix.
class MergeByPrefix : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "programs.MergeByPrefix"; }
  bool Merge(const Slice& key, const Slice* existing, const Slice& value, std::string* merged,
             rocksdb::Logger*) const override {
    if (!key.starts_with("T")) return false;
    const long before = existing == nullptr ? 0 : std::atol(existing->ToString().c_str());
    *merged = std::to_string(before + std::atol(value.ToString().c_str()));
    return true;
  }
};

// Prints what a batch would do, for its debug log.
class Describe : public rocksdb::WriteBatch::Handler {
 public:
  Status PutCF(uint32_t family, const Slice& key, const Slice&) override {
    return Say("Put", family, key);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override { return Say("Delete", family, key); }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    return Say("SingleDelete", family, key);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice&) override {
    return Say("Merge", family, key);
  }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice&) override {
    return Say("DeleteRange", family, begin);
  }
  std::string seen;

 private:
  Status Say(const char* what, uint32_t family, const Slice& key) {
    seen += what + std::to_string(family) + key.ToString() + " ";
    return Status::OK();
  }
};

rocksdb::Options CephOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  REQUIRE_OK(rocksdb::GetOptionsFromString(
      rocksdb::ConfigOptions(), options,
      "compression=kLZ4Compression;max_write_buffer_number=64;min_write_buffer_number_to_merge=6;"
      "compaction_style=kCompactionStyleLevel;write_buffer_size=16777216;max_background_jobs=4;"
      "level0_file_num_compaction_trigger=8;max_bytes_for_level_base=1073741824;"
      "max_bytes_for_level_multiplier=8;compaction_readahead_size=2MB;max_total_wal_size="
      "1073741824;"
      "writable_file_max_buffer_size=0",
      &options));
  REQUIRE(options.min_write_buffer_number_to_merge == 6 &&
          options.compaction_readahead_size == 2 << 20);
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.merge_operator = std::make_shared<MergeByPrefix>();
  options.statistics = rocksdb::CreateDBStatistics();
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(4 << 20, 4);
  table.cache_index_and_filter_blocks = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(20));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

void CephWrites(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* objects) {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableTimeExceptForMutex);
  rocksdb::get_perf_context()->Reset();
  rocksdb::WriteBatch batch;
  REQUIRE_OK(batch.Put(objects, "object1", "onode"));
  REQUIRE_OK(batch.Put(objects, "object2", "onode"));
  REQUIRE_OK(batch.Merge("Tbytes", "40"));
  REQUIRE_OK(batch.Merge("Tbytes", "2"));
  REQUIRE_OK(batch.SingleDelete(objects, "object1"));
  REQUIRE_OK(batch.DeleteRange(objects, "object3", "object9"));
  Describe describe;
  REQUIRE_OK(batch.Iterate(&describe));
  const std::string id = std::to_string(objects->GetID());
  REQUIRE(describe.seen == "Put" + id + "object1 Put" + id +
                               "object2 Merge0Tbytes Merge0Tbytes SingleDelete" + id +
                               "object1 DeleteRange" + id + "object3 ");
  WriteOptions synced;
  synced.sync = true;
  REQUIRE_OK(db->Write(synced, &batch));
  REQUIRE(rocksdb::get_perf_context()->write_memtable_time > 0);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

// FoundationDB's shards are families that move between servers as files.
void MoveShard(rocksdb::DB* from, rocksdb::ColumnFamilyHandle* shard, rocksdb::DB* to,
               const std::string& folder) {
  rocksdb::Checkpoint* checkpoint = nullptr;
  REQUIRE_OK(rocksdb::Checkpoint::Create(from, &checkpoint));
  rocksdb::ExportImportFilesMetaData* metadata = nullptr;
  REQUIRE_OK(checkpoint->ExportColumnFamily(shard, folder, &metadata));
  delete checkpoint;
  REQUIRE(metadata != nullptr && metadata->files.size() == 1);
  rocksdb::ImportColumnFamilyOptions import;
  import.move_files = true;
  rocksdb::ColumnFamilyHandle* received = nullptr;
  REQUIRE_OK(to->CreateColumnFamilyWithImport(rocksdb::ColumnFamilyOptions(), "received", import,
                                              *metadata, &received));
  delete metadata;
  REQUIRE(All(to->NewIterator(ReadOptions(), received)).size() == 100);
  REQUIRE_OK(to->DropColumnFamily(received));
  REQUIRE_OK(to->DestroyColumnFamilyHandle(received));
}

// What another server has sent as a table takes the place of a range.
void FetchTable(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* shard,
                const rocksdb::Options& options, const std::string& path) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  REQUIRE_OK(writer.Open(path));
  REQUIRE_OK(writer.DeleteRange("key100", "key200"));
  REQUIRE_OK(writer.Put("key120", "fetched"));
  REQUIRE_OK(writer.Finish());
  rocksdb::SstFileReader reader(options);
  REQUIRE_OK(reader.Open(path));
  REQUIRE_OK(reader.VerifyChecksum());
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.snapshot_consistency = true;
  REQUIRE_OK(db->IngestExternalFile(shard, {path}, ingest));
  REQUIRE(ValueOf(db, shard, "key120") == "fetched");
}

class OsqueryLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override { ++lines; }
  std::atomic<int> lines{0};
};

}  // namespace

void Ceph(const std::string& folder) {
  CountedFiles env(rocksdb::Env::Default());
  const rocksdb::Options options = CephOptions(&env);
  Opened<rocksdb::DB> opened;
  const std::string path = folder + "/db";
  REQUIRE_OK(rocksdb::DB::Open(options, path, Families({"default", "O-0", "O-1"}, options),
                               &opened.handles, &opened.db));
  CephWrites(opened.db, opened.handles[1]);
  REQUIRE(ValueOf(opened.db, opened.handles[0], "Tbytes") == "42");
  REQUIRE(env.made.load() > 2);
  const std::vector<rocksdb::ColumnFamilyHandle*> families = {opened.handles[1], opened.handles[1]};
  std::vector<std::string> values;
  const std::vector<Status> found =
      opened.db->MultiGet(ReadOptions(), families, {Slice("object1"), Slice("object2")}, &values);
  REQUIRE(found[0].IsNotFound() && found[1].ok() && values[1] == "onode");

  ReadOptions bounded;
  const std::string begin = "object2", end = "object3";
  const Slice lower(begin), upper(end);
  bounded.iterate_lower_bound = &lower;
  bounded.iterate_upper_bound = &upper;
  REQUIRE(All(opened.db->NewIterator(bounded, opened.handles[1])).size() == 1);

  REQUIRE_OK(opened.db->Flush(rocksdb::FlushOptions(), opened.handles));
  REQUIRE_OK(
      opened.db->CompactRange(rocksdb::CompactRangeOptions(), opened.handles[1], nullptr, nullptr));
  std::map<std::string, std::string> stats;
  REQUIRE(opened.db->GetMapProperty(opened.handles[1], "rocksdb.cfstats", &stats));
  REQUIRE(!stats.empty());
  std::string text;
  REQUIRE(opened.db->GetProperty(opened.handles[1], "rocksdb.stats", &text) && !text.empty());
  rocksdb::HistogramData writes;
  options.statistics->histogramData(rocksdb::DB_WRITE, &writes);
  REQUIRE(writes.count == 1);
  REQUIRE_OK(opened.db->FlushWAL(true));
  opened.Close();

  // ceph-kvstore-tool: repairs, then reads what is left.
  REQUIRE_OK(rocksdb::RepairDB(path, options));
  std::vector<std::string> names;
  REQUIRE_OK(rocksdb::DB::ListColumnFamilies(options, path, &names));
  std::sort(names.begin(), names.end());
  REQUIRE((names == std::vector<std::string>{"O-0", "default"}) || names.size() == 3);
  REQUIRE_OK(rocksdb::DB::OpenForReadOnly(options, path, Families(names, options), &opened.handles,
                                          &opened.db));
  REQUIRE(ValueOf(opened.db, opened.handles[0], "object2") == "onode");
}

void FoundationDb(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  options.rate_limiter.reset(rocksdb::NewGenericRateLimiter(int64_t{1} << 30));
  options.memtable_protection_bytes_per_key = 8;
  options.level_compaction_dynamic_level_bytes = true;
  options.OptimizeLevelStyleCompaction(32 << 20);
  options.table_properties_collector_factories.push_back(
      rocksdb::NewCompactOnDeletionCollectorFactory(128, 1, 0));
  REQUIRE(
      rocksdb::NewCompactOnDeletionCollectorFactory(5, 10, 0.5)->ToString() ==
      "CompactOnDeletionCollector (Sliding window size = 5 Deletion trigger = 10 Deletion ratio = "
      "0.5)");
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  options.compression = rocksdb::kNoCompression;
  options.max_background_jobs = 0;  // as few as possible
  Opened<rocksdb::DB> from, to;
  REQUIRE_OK(rocksdb::DB::Open(options, folder + "/from", Families({"default", "shard"}, options),
                               &from.handles, &from.db));
  rocksdb::Options plain;
  plain.create_if_missing = true;
  REQUIRE_OK(rocksdb::DB::Open(plain, folder + "/to", &to.db));

  WriteOptions checked;
  checked.protection_bytes_per_key = 8;
  checked.sync = true;
  rocksdb::WriteBatch batch(0, 0, 8, 0);
  for (int i = 100; i < 200; ++i)
    REQUIRE_OK(batch.Put(from.handles[1], "key" + std::to_string(i), "v"));
  REQUIRE_OK(from.db->Write(checked, &batch));

  // Reads have a deadline; one that has passed is TimedOut or still answers from memory.
  ReadOptions read;
  read.auto_prefix_mode = true;
  read.background_purge_on_iterator_cleanup = true;
  read.deadline = std::chrono::duration_cast<std::chrono::microseconds>(
                      std::chrono::system_clock::now().time_since_epoch()) +
                  std::chrono::hours(1);
  const std::string end = "key150";
  const Slice upper(end);
  read.iterate_upper_bound = &upper;
  REQUIRE(All(from.db->NewIterator(read, from.handles[1])).size() == 50);
  rocksdb::PinnableSlice value;
  REQUIRE_OK(from.db->Get(read, from.handles[1], "key101", &value));
  REQUIRE(value == "v");

  MoveShard(from.db, from.handles[1], to.db, folder + "/moved");

  // A range that is given away: its files, and the rest by a tombstone.
  const std::string first = "key100", last = "key150";
  const Slice range_begin(first), range_end(last);
  REQUIRE_OK(
      rocksdb::DeleteFilesInRange(from.db, from.handles[1], &range_begin, &range_end, false));
  REQUIRE_OK(from.db->DeleteRange(WriteOptions(), from.handles[1], range_begin, range_end));
  REQUIRE(All(from.db->NewIterator(ReadOptions(), from.handles[1])).size() == 50);
  REQUIRE_OK(from.db->SuggestCompactRange(from.handles[1], &range_begin, &range_end));

  FetchTable(from.db, from.handles[1], options, folder + "/fetched.sst");
  uint64_t number = 1;
  REQUIRE(from.db->GetAggregatedIntProperty(rocksdb::DB::Properties::kBackgroundErrors, &number));
  REQUIRE(number == 0);
  rocksdb::CancelAllBackgroundWork(from.db, true);
}

void Ton(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.manual_wal_flush = true;
  options.merge_operator = std::make_shared<MergeByPrefix>();
  options.max_background_compactions = 2;
  options.bytes_per_sync = 1 << 20;
  Opened<rocksdb::OptimisticTransactionDB> opened;
  rocksdb::OptimisticTransactionDBOptions occ;
  occ.validate_policy = rocksdb::OccValidationPolicy::kValidateSerial;
  REQUIRE_OK(rocksdb::OptimisticTransactionDB::Open(
      rocksdb::DBOptions(options), occ, folder,
      {{"default", rocksdb::ColumnFamilyOptions(options)}}, &opened.handles, &opened.db));
  rocksdb::OptimisticTransactionOptions with_snapshot;
  with_snapshot.set_snapshot = true;
  const std::unique_ptr<rocksdb::Transaction> first(
      opened.db->BeginTransaction(WriteOptions(), with_snapshot));
  REQUIRE_OK(first->Put("cell", "data"));
  REQUIRE_OK(first->Merge("Tcells", "1"));
  std::string value;
  REQUIRE_OK(first->Get(ReadOptions(), "cell", &value));
  REQUIRE(value == "data");
  REQUIRE_OK(first->Commit());
  // Many reads of one moment.
  const rocksdb::Snapshot* const snapshot = opened.db->GetSnapshot();
  REQUIRE_OK(opened.db->Merge(WriteOptions(), "Tcells", "1"));
  ReadOptions then;
  then.snapshot = snapshot;
  REQUIRE(ValueOf(opened.db, opened.handles[0], "Tcells", then) == "1");
  REQUIRE(ValueOf(opened.db, opened.handles[0], "Tcells") == "2");
  opened.db->ReleaseSnapshot(snapshot);

  const std::unique_ptr<rocksdb::Transaction> second(
      opened.db->BeginTransaction(WriteOptions(), with_snapshot));
  REQUIRE_OK(second->GetForUpdate(ReadOptions(), "cell", &value));
  REQUIRE_OK(opened.db->Put(WriteOptions(), "cell", "newer"));
  REQUIRE_OK(second->Put("other", "x"));
  REQUIRE(second->Commit().IsBusy());
  REQUIRE_OK(opened.db->FlushWAL(true));
}

void Osquery(const std::string& folder) {
  const std::vector<std::string> domains = {"default", "configurations", "queries", "events",
                                            "carves"};
  rocksdb::Options options;
  options.OptimizeForSmallDb();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.info_log_level = rocksdb::ERROR_LEVEL;
  const auto logger = std::make_shared<OsqueryLogger>();
  logger->SetInfoLogLevel(rocksdb::ERROR_LEVEL);
  options.info_log = logger;
  options.log_file_time_to_roll = 0;
  options.keep_log_file_num = 10;
  options.max_log_file_size = 1 << 20;
  options.max_open_files = 128;
  options.stats_dump_period_sec = 0;
  options.max_manifest_file_size = 1024 * 500;
  options.compression = rocksdb::kNoCompression;
  options.compaction_style = rocksdb::kCompactionStyleLevel;
  options.arena_block_size = 4 * 1024;
  options.write_buffer_size = 256 << 10;
  options.max_write_buffer_number = 4;
  options.min_write_buffer_number_to_merge = 1;
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(
      rocksdb::DB::Open(options, folder, Families(domains, options), &opened.handles, &opened.db));
  rocksdb::ColumnFamilyHandle* const events = opened.handles[3];
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  for (const char* key : {"data.1", "data.2", "eid.1", "eid.2", "indexes.1"}) {
    REQUIRE_OK(opened.db->Put(unlogged, events, key, "row"));
  }
  REQUIRE_OK(opened.db->DeleteRange(unlogged, events, "data.", "data.2"));
  REQUIRE_OK(opened.db->Delete(unlogged, events, "data.2"));
  std::string seen;
  const std::unique_ptr<rocksdb::Iterator> it(opened.db->NewIterator(ReadOptions(), events));
  for (it->Seek("eid"); it->Valid() && it->key().starts_with("eid"); it->Next()) {
    seen += it->key().ToString() + " ";
  }
  REQUIRE(seen == "eid.1 eid.2 ");
  REQUIRE_OK(opened.db->Flush(rocksdb::FlushOptions(), events));
  // A second instance finds the database locked.
  rocksdb::DB* second = nullptr;
  REQUIRE(rocksdb::DB::Open(options, folder, &second).IsIOError() || second == nullptr);
}

}  // namespace programs
