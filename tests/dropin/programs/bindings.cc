// SPDX-License-Identifier: Apache-2.0
//
// Bindings that are written in C++, and benchmarks: level/rocksdb and rocksdb-js (Node.js),
// erlang-rocksdb, YCSB-cpp.
#include <fstream>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/db_ttl.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/write_buffer_manager.h"
#include "tests/dropin/programs/program.h"

namespace programs {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::WriteOptions;

// Counters as texts, as an Erlang merge operator has them.
class Counter : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "programs.Counter"; }
  bool Merge(const Slice&, const Slice* existing, const Slice& value, std::string* merged,
             rocksdb::Logger*) const override {
    const long before = existing == nullptr ? 0 : std::atol(existing->ToString().c_str());
    *merged = std::to_string(before + std::atol(value.ToString().c_str()));
    return true;
  }
};

template <typename Database>
void TwoTransactions(Database* db, bool has_locks) {
  const std::unique_ptr<rocksdb::Transaction> first(db->BeginTransaction(WriteOptions()));
  const std::unique_ptr<rocksdb::Transaction> second(db->BeginTransaction(WriteOptions()));
  first->SetSnapshot();
  second->SetSnapshot();
  std::string value;
  REQUIRE(first->GetForUpdate(ReadOptions(), "balance", &value).IsNotFound());
  REQUIRE_OK(first->Put("balance", "1"));
  const Status late = second->Put("balance", "2");
  REQUIRE(has_locks ? late.IsTimedOut() : late.ok());
  REQUIRE_OK(first->Commit());
  REQUIRE(has_locks ? second->Commit().ok() : second->Commit().IsBusy());
  REQUIRE(ValueOf(db, db->DefaultColumnFamily(), "balance") == "1");
}

void BackUpAndRestore(rocksdb::DB* db, const std::string& folder) {
  rocksdb::BackupEngineOptions options(folder + "/backups");
  options.share_table_files = true;
  options.max_background_operations = 2;
  rocksdb::BackupEngine* engine = nullptr;
  REQUIRE_OK(rocksdb::BackupEngine::Open(rocksdb::Env::Default(), options, &engine));
  for (int i = 0; i < 3; ++i) {
    REQUIRE_OK(engine->CreateNewBackupWithMetadata(db, "backup " + std::to_string(i), true));
  }
  REQUIRE_OK(engine->PurgeOldBackups(2));
  std::vector<rocksdb::BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  REQUIRE(backups.size() == 2 && backups[1].backup_id == 3 &&
          backups[1].app_metadata == "backup 2");
  REQUIRE_OK(engine->VerifyBackup(3));
  REQUIRE_OK(engine->DeleteBackup(2));
  REQUIRE_OK(engine->RestoreDBFromBackup(3, folder + "/restored", folder + "/restored"));
  delete engine;
}

}  // namespace

void NodeLevel(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = false;
  options.max_open_files = 1000;
  options.max_log_file_size = 10 << 20;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_restart_interval = 16;
  table.block_cache = rocksdb::NewLRUCache(8 << 20);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  const std::string path = folder + "/db";
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(rocksdb::DB::Open(options, path, &opened.db));
  rocksdb::WriteBatch batch;
  for (int i = 0; i < 100; ++i)
    REQUIRE_OK(batch.Put("k" + std::to_string(100 + i), std::string(200, 'v')));
  REQUIRE_OK(opened.db->Write(WriteOptions(), &batch));

  // An implicit snapshot: what is written later is not seen, in either direction.
  ReadOptions read;
  read.fill_cache = false;
  read.snapshot = opened.db->GetSnapshot();
  std::unique_ptr<rocksdb::Iterator> it(opened.db->NewIterator(read));
  REQUIRE_OK(opened.db->Delete(WriteOptions(), "k150"));
  it->Seek("k150");
  REQUIRE(it->Valid() && it->key() == "k150");
  it->SeekForPrev("k1505");
  REQUIRE(it->Valid() && it->key() == "k150");
  it.reset();
  opened.db->ReleaseSnapshot(read.snapshot);

  const rocksdb::Range range("k100", "k199");
  uint64_t size = 0;
  REQUIRE_OK(opened.db->Flush(rocksdb::FlushOptions()));
  REQUIRE_OK(opened.db->GetApproximateSizes(&range, 1, &size));
  REQUIRE(size > 100);
  const Slice begin("k100"), end("k199");
  REQUIRE_OK(opened.db->CompactRange(rocksdb::CompactRangeOptions(), &begin, &end));
  std::string text;
  REQUIRE(opened.db->GetProperty("rocksdb.sstables", &text));
  REQUIRE(!opened.db->GetProperty("leveldb.nothing", &text));
  opened.Close();
  REQUIRE_OK(rocksdb::RepairDB(path, options));
  REQUIRE_OK(rocksdb::DB::OpenForReadOnly(options, path, &opened.db));
  REQUIRE(All(opened.db->NewIterator(ReadOptions())).size() == 99);
  opened.Close();
  REQUIRE_OK(rocksdb::DestroyDB(path, options));
  rocksdb::DB* gone = nullptr;
  rocksdb::Options existing = options;
  existing.create_if_missing = false;
  REQUIRE(rocksdb::DB::Open(existing, path, &gone).IsInvalidArgument());
}

void Erlang(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.merge_operator = std::make_shared<Counter>();
  options.statistics = rocksdb::CreateDBStatistics();
  options.sst_file_manager.reset(rocksdb::NewSstFileManager(rocksdb::Env::Default()));
  options.rate_limiter.reset(rocksdb::NewGenericRateLimiter(int64_t{1} << 30));
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(8 << 20);
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(4 << 20, cache);

  Opened<rocksdb::DB> opened;
  const std::string path = folder + "/db";
  REQUIRE_OK(rocksdb::DB::Open(options, path, Families({"default", "counters"}, options),
                               &opened.handles, &opened.db));
  rocksdb::DB* const db = opened.db;
  REQUIRE_OK(db->Merge(WriteOptions(), opened.handles[1], "n", "40"));
  REQUIRE_OK(db->Merge(WriteOptions(), opened.handles[1], "n", "2"));
  REQUIRE(ValueOf(db, opened.handles[1], "n") == "42");
  std::unique_ptr<rocksdb::TransactionLogIterator> log;
  REQUIRE_OK(db->GetUpdatesSince(0, &log));
  int batches = 0;
  for (; log->Valid(); log->Next()) {
    batches += log->GetBatch().writeBatchPtr->Count();
  }
  REQUIRE(batches == 2);
  log.reset();
  BackUpAndRestore(db, folder);
  rocksdb::Checkpoint* checkpoint = nullptr;
  REQUIRE_OK(rocksdb::Checkpoint::Create(db, &checkpoint));
  REQUIRE_OK(checkpoint->CreateCheckpoint(folder + "/checkpoint"));
  delete checkpoint;
  REQUIRE(options.write_buffer_manager->enabled() && options.sst_file_manager->GetTotalSize() > 0);
  opened.Close();
  for (const char* copy : {"/restored", "/checkpoint"}) {
    REQUIRE_OK(rocksdb::DB::Open(options, folder + copy, Families({"default", "counters"}, options),
                                 &opened.handles, &opened.db));
    REQUIRE(ValueOf(opened.db, opened.handles[1], "n") == "42");
    opened.Close();
  }
  REQUIRE_OK(rocksdb::RepairDB(path, options));

  Opened<rocksdb::DBWithTTL> with_ttl;
  REQUIRE_OK(rocksdb::DBWithTTL::Open(options, folder + "/ttl",
                                      Families({"default", "kept"}, options), &with_ttl.handles,
                                      &with_ttl.db, {3600, 0}));
  REQUIRE_OK(with_ttl.db->Put(WriteOptions(), with_ttl.handles[0], "k", "v"));
  with_ttl.db->SetTtl(with_ttl.handles[0], 7200);
  REQUIRE(ValueOf(with_ttl.db, with_ttl.handles[0], "k") == "v");
  rocksdb::ColumnFamilyHandle* later = nullptr;
  REQUIRE_OK(with_ttl.db->CreateColumnFamilyWithTtl(options, "later", &later, 60));
  with_ttl.handles.push_back(later);

  Opened<rocksdb::OptimisticTransactionDB> optimistic;
  REQUIRE_OK(
      rocksdb::OptimisticTransactionDB::Open(options, folder + "/optimistic", &optimistic.db));
  TwoTransactions(optimistic.db, /*has_locks=*/false);
}

void RocksdbJs(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.comparator = rocksdb::BytewiseComparator();
  options.enable_blob_files = true;
  options.min_blob_size = 1024;
  options.enable_blob_garbage_collection = true;
  options.IncreaseParallelism(2);
  options.keep_log_file_num = 5;
  rocksdb::TransactionDBOptions locks;
  locks.default_lock_timeout = 1;
  locks.transaction_lock_timeout = 1;
  Opened<rocksdb::TransactionDB> pessimistic;
  REQUIRE_OK(
      rocksdb::TransactionDB::Open(options, locks, folder + "/pessimistic", &pessimistic.db));
  TwoTransactions(pessimistic.db, /*has_locks=*/true);
  rocksdb::ColumnFamilyHandle* store = nullptr;
  REQUIRE_OK(pessimistic.db->CreateColumnFamily(options, "store", &store));
  pessimistic.handles.push_back(store);
  const std::unique_ptr<rocksdb::Transaction> txn(
      pessimistic.db->BeginTransaction(WriteOptions(), rocksdb::TransactionOptions()));
  const std::string large(5000, 'j');
  REQUIRE_OK(txn->Put(store, "large", large));
  rocksdb::PinnableSlice pinned;
  REQUIRE_OK(txn->Get(ReadOptions(), store, "large", &pinned));
  REQUIRE(pinned == large);
  std::unique_ptr<rocksdb::Iterator> range(txn->GetIterator(ReadOptions(), store));
  range->SeekToLast();
  REQUIRE(range->Valid() && range->key() == "large");
  range.reset();
  REQUIRE_OK(txn->Commit());
  REQUIRE_OK(pessimistic.db->Flush(rocksdb::FlushOptions(), store));
  uint64_t files = 0;
  REQUIRE(pessimistic.db->GetIntProperty(store, "rocksdb.num-blob-files", &files));
  REQUIRE(files == 1);
  BackUpAndRestore(pessimistic.db, folder);

  Opened<rocksdb::OptimisticTransactionDB> optimistic;
  REQUIRE_OK(
      rocksdb::OptimisticTransactionDB::Open(options, folder + "/optimistic", &optimistic.db));
  TwoTransactions(optimistic.db, /*has_locks=*/false);
  std::vector<std::string> names;
  REQUIRE_OK(rocksdb::DB::ListColumnFamilies(options, folder + "/pessimistic", &names));
  REQUIRE(names.size() == 2);
}

void YcsbCpp(const std::string& folder) {
  const std::string file = folder + "/options.ini";
  // As RocksDB 11 writes it: the number does not fit into 32 bits.
  std::ofstream(file) << "[Version]\n  rocksdb_version=7.8.3\n  options_file_version=1.1\n"
                         "[DBOptions]\n  max_background_jobs=4\n  create_if_missing=true\n"
                         "[CFOptions \"default\"]\n  write_buffer_size=33554432\n  num_levels=6\n"
                         "[TableOptions/BlockBasedTable \"default\"]\n  block_size=8192\n"
                         "  read_amp_bytes_per_bit=8589934592\n";
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  config.input_strings_escaped = true;
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  REQUIRE_OK(rocksdb::LoadOptionsFromFile(config, file, &db_options, &families));
  REQUIRE(families.size() == 1 && families[0].options.write_buffer_size == 33554432);
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(rocksdb::DB::Open(db_options, folder + "/db", families, &opened.handles, &opened.db));
  REQUIRE_OK(opened.db->Put(WriteOptions(), "user1", "field0"));
  REQUIRE(ValueOf(opened.db, opened.handles[0], "user1") == "field0");
}

}  // namespace programs
