// SPDX-License-Identifier: Apache-2.0
//
// SQL databases: MyRocks, BaikalDB, ClickHouse.
#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/persistent_cache.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/convenience.h"
#include "rocksdb/utilities/db_ttl.h"
#include "rocksdb/utilities/options_type.h"
#include "rocksdb/utilities/stackable_db.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb/utilities/transaction_db_mutex.h"
#include "rocksdb/utilities/write_batch_with_index.h"
#include "tests/dropin/programs/program.h"

namespace programs {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::Transaction;
using rocksdb::WriteOptions;

// The server's own mutexes, so that a session that waits for a row can be killed.
class Mutex : public rocksdb::TransactionDBMutex {
 public:
  Status Lock() override {
    mutex.lock();
    return Status::OK();
  }
  Status TryLockFor(int64_t microseconds) override {
    if (microseconds < 0) return Lock();
    return mutex.try_lock_for(std::chrono::microseconds(microseconds))
               ? Status::OK()
               : Status::TimedOut(Status::SubCode::kMutexTimeout);
  }
  void UnLock() override { mutex.unlock(); }
  std::timed_mutex mutex;
};
class CondVar : public rocksdb::TransactionDBCondVar {
 public:
  Status Wait(std::shared_ptr<rocksdb::TransactionDBMutex> mutex) override {
    changed_.wait(static_cast<Mutex*>(mutex.get())->mutex);
    return Status::OK();
  }
  Status WaitFor(std::shared_ptr<rocksdb::TransactionDBMutex> mutex,
                 int64_t microseconds) override {
    if (microseconds < 0) return Wait(mutex);
    const std::cv_status waited = changed_.wait_for(static_cast<Mutex*>(mutex.get())->mutex,
                                                    std::chrono::microseconds(microseconds));
    return waited == std::cv_status::timeout ? Status::TimedOut(Status::SubCode::kMutexTimeout)
                                             : Status::OK();
  }
  void Notify() override { changed_.notify_one(); }
  void NotifyAll() override { changed_.notify_all(); }

 private:
  std::condition_variable_any changed_;
};
class MutexFactory : public rocksdb::TransactionDBMutexFactory {
 public:
  std::shared_ptr<rocksdb::TransactionDBMutex> AllocateMutex() override {
    ++made;
    return std::make_shared<Mutex>();
  }
  std::shared_ptr<rocksdb::TransactionDBCondVar> AllocateCondVar() override {
    return std::make_shared<CondVar>();
  }
  int made = 0;
};

const std::vector<std::string> kMyRocksFamilies = {"default", "__system__", "rows"};

struct MyRocksEngine {
  MyRocksEngine() {
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.allow_concurrent_memtable_write = true;
    options.manual_wal_flush = true;
    options.statistics = rocksdb::CreateDBStatistics();
    locks.custom_mutex_factory = mutexes;
    locks.transaction_lock_timeout = 2000;
    locks.default_lock_timeout = 2000;
  }
  void Open(const std::string& path) {
    REQUIRE_OK(rocksdb::TransactionDB::Open(
        options, locks, path, Families(kMyRocksFamilies, options), &opened.handles, &opened.db));
  }

  std::shared_ptr<MutexFactory> mutexes = std::make_shared<MutexFactory>();
  rocksdb::Options options;
  rocksdb::TransactionDBOptions locks;
  Opened<rocksdb::TransactionDB> opened;
};

// A statement that fails is rolled back alone; the transaction goes on and is prepared for the
// binlog.
void PrepareRow(MyRocksEngine* engine, const std::string& xid) {
  rocksdb::TransactionOptions txn_options;
  txn_options.lock_timeout = 1;
  txn_options.deadlock_detect = true;
  txn_options.max_write_batch_size = 0;
  Transaction* const txn = engine->opened.db->BeginTransaction(WriteOptions(), txn_options);
  rocksdb::ColumnFamilyHandle* const rows = engine->opened.handles[2];
  txn->SetSnapshotOnNextOperation();
  std::string value;
  REQUIRE(txn->GetForUpdate(ReadOptions(), rows, "row1", &value).IsNotFound());
  REQUIRE_OK(txn->Put(rows, "row1", xid));
  txn->SetSavePoint();
  REQUIRE_OK(txn->Put(rows, "row2", "of a failed statement"));
  REQUIRE_OK(txn->RollbackToSavePoint());
  REQUIRE_OK(txn->PutUntracked(engine->opened.handles[0], "index1", "row1"));
  REQUIRE(txn->GetNumPuts() == 2);

  // Another session waits for the row in vain, and sees who has it.
  const std::unique_ptr<Transaction> other(
      engine->opened.db->BeginTransaction(WriteOptions(), txn_options));
  const Status blocked = other->GetForUpdate(ReadOptions(), rows, "row1", &value);
  REQUIRE(blocked.IsTimedOut());
  const auto locked = engine->opened.db->GetLockStatusData();
  REQUIRE(locked.count(rows->GetID()) == 1);
  REQUIRE(locked.find(rows->GetID())->second.key == "row1");
  REQUIRE(locked.find(rows->GetID())->second.ids ==
          std::vector<rocksdb::TransactionID>{txn->GetID()});

  REQUIRE_OK(txn->SetName(xid));
  REQUIRE_OK(txn->Prepare());
  REQUIRE(txn->GetState() == Transaction::PREPARED);
  REQUIRE(engine->opened.db->GetTransactionByName(xid) == txn);
  REQUIRE_OK(engine->opened.db->FlushWAL(/*sync=*/true));
  delete txn;  // the server stops between prepare and commit
}

}  // namespace

void MyRocks(const std::string& folder) {
  MyRocksEngine engine;
  engine.Open(folder);
  REQUIRE(engine.mutexes->made > 0);
  rocksdb::WriteBatch dictionary;
  REQUIRE_OK(dictionary.Put(engine.opened.handles[1], "table1", "index 256"));
  REQUIRE_OK(engine.opened.db->Write(WriteOptions(), &dictionary));
  PrepareRow(&engine, "xid1");
  engine.opened.Close();

  // After the restart, the binlog says which of the prepared transactions were committed.
  engine.Open(folder);
  std::vector<Transaction*> prepared;
  engine.opened.db->GetAllPreparedTransactions(&prepared);
  REQUIRE(prepared.size() == 1 && prepared[0]->GetName() == "xid1");
  rocksdb::ColumnFamilyHandle* const rows = engine.opened.handles[2];
  REQUIRE(ValueOf(engine.opened.db, rows, "row1") == "-");
  REQUIRE_OK(prepared[0]->Commit());
  delete prepared[0];
  REQUIRE(ValueOf(engine.opened.db, rows, "row1") == "xid1");
  REQUIRE(ValueOf(engine.opened.db, rows, "row2") == "-");
  REQUIRE(ValueOf(engine.opened.db, engine.opened.handles[0], "index1") == "row1");

  // ANALYZE and DROP TABLE.
  REQUIRE_OK(engine.opened.db->Flush(rocksdb::FlushOptions(), rows));
  rocksdb::TablePropertiesCollection tables;
  rocksdb::Range range("row", "rox");
  REQUIRE_OK(engine.opened.db->GetPropertiesOfTablesInRange(rows, &range, 1, &tables));
  REQUIRE(tables.size() == 1 && tables.begin()->second->num_entries == 1);
  uint64_t bytes = 0;
  REQUIRE_OK(engine.opened.db->GetApproximateSizes(rows, &range, 1, &bytes));
  REQUIRE(bytes > 0);
  Slice begin("row"), end("rox");
  REQUIRE_OK(rocksdb::DeleteFilesInRange(engine.opened.db->GetBaseDB(), rows, &begin, &end));
  REQUIRE_OK(engine.opened.db->GetBaseDB()->SuggestCompactRange(rows, &begin, &end));
  REQUIRE(engine.opened.db->GetDeadlockInfoBuffer().empty());
  rocksdb::CancelAllBackgroundWork(engine.opened.db, true);
}

void BaikalDb(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.disable_auto_compactions = true;
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(16));
  options.max_write_buffer_number = 4;
  Opened<rocksdb::TransactionDB> opened;
  REQUIRE_OK(rocksdb::TransactionDB::Open(options, rocksdb::TransactionDBOptions(), folder,
                                          Families({"default", "data"}, options), &opened.handles,
                                          &opened.db));
  rocksdb::ColumnFamilyHandle* const data = opened.handles[1];
  const std::string region(16, 'r');
  for (const std::string round : {"1", "2"}) {
    const std::unique_ptr<Transaction> txn(opened.db->BeginTransaction(WriteOptions()));
    REQUIRE_OK(txn->PutUntracked(data, region + "key" + round, "value" + round));
    REQUIRE_OK(txn->Commit());
    REQUIRE_OK(opened.db->Flush(rocksdb::FlushOptions(), data));
  }
  // Cold tables are rewritten one by one, through the wrapper.
  rocksdb::ColumnFamilyMetaData state;
  opened.db->GetColumnFamilyMetaData(data, &state);
  std::vector<std::string> names;
  for (const rocksdb::SstFileMetaData& file : state.levels[0].files) names.push_back(file.name);
  REQUIRE(names.size() == 2);
  std::vector<std::string> made;
  REQUIRE_OK(opened.db->CompactFiles(rocksdb::CompactionOptions(), data, names, 1, -1, &made));
  REQUIRE(made.size() == 1);
  std::vector<rocksdb::LiveFileMetaData> live;
  opened.db->GetLiveFilesMetaData(&live);
  REQUIRE(live.size() == 1 && live[0].level == 1 && live[0].column_family_name == "data");
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  REQUIRE_OK(opened.db->GetLiveFiles(files, &manifest_bytes, /*flush_memtable=*/false));
  REQUIRE(std::count_if(files.begin(), files.end(), [](const std::string& name) {
            return name.size() > 4 && name.compare(name.size() - 4, 4, ".sst") == 0;
          }) == 1);

  ReadOptions of_region;
  of_region.prefix_same_as_start = true;
  const std::unique_ptr<Transaction> reader(opened.db->BeginTransaction(WriteOptions()));
  REQUIRE_OK(reader->Put(data, region + "key3", "own"));
  const std::unique_ptr<rocksdb::Iterator> rows(reader->GetIterator(of_region, data));
  size_t count = 0;
  for (rows->Seek(region); rows->Valid(); rows->Next()) ++count;
  REQUIRE(count == 3);
  REQUIRE_OK(reader->Rollback());
}

void ClickHouse(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::CompressionType::kZSTD;
  options.statistics = rocksdb::CreateDBStatistics();
  const rocksdb::ConfigOptions config;
  rocksdb::DBOptions db_options;
  REQUIRE_OK(
      rocksdb::GetDBOptionsFromMap(config, options, {{"max_background_jobs", "3"}}, &db_options));
  rocksdb::ColumnFamilyOptions family;
  REQUIRE_OK(
      rocksdb::GetColumnFamilyOptionsFromMap(config, options, {{"num_levels", "5"}}, &family));
  rocksdb::BlockBasedTableOptions table;
  REQUIRE_OK(
      rocksdb::GetBlockBasedTableOptionsFromMap(config, table, {{"block_size", "1024"}}, &table));
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options = rocksdb::Options(db_options, family);

  rocksdb::DBWithTTL* db = nullptr;
  REQUIRE_OK(rocksdb::DBWithTTL::Open(options, folder + "/ttl", &db, 1000, /*read_only=*/false));
  rocksdb::WriteBatch rows;
  for (const char* key : {"1", "2", "3"}) REQUIRE_OK(rows.Put(key, std::string("row ") + key));
  REQUIRE_OK(db->Write(WriteOptions(), &rows));
  std::vector<std::string> values;
  const std::vector<Slice> keys = {"3", "4", "1"};
  const std::vector<Status> found = db->MultiGet(ReadOptions(), keys, &values);
  REQUIRE(found[0].ok() && found[1].IsNotFound() && found[2].ok());
  REQUIRE(values[0] == "row 3" && values[2] == "row 1");
  const Contents all = All(db->NewIterator(ReadOptions()));
  REQUIRE((all == Contents{{"1", "row 1"}, {"2", "row 2"}, {"3", "row 3"}}));
  uint64_t count = 0;
  REQUIRE(db->GetIntProperty(rocksdb::DB::Properties::kEstimateNumKeys, &count));
  REQUIRE(count == 3);
  delete db;

  // A bulk insert: a table is written beside the database and taken in.
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(rocksdb::DB::Open(options, folder + "/plain", &opened.db));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  REQUIRE_OK(writer.Open(folder + "/bulk.sst"));
  REQUIRE_OK(writer.Put("1", "bulk"));
  REQUIRE_OK(writer.Finish());
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  REQUIRE_OK(opened.db->IngestExternalFile({folder + "/bulk.sst"}, ingest));
  std::vector<rocksdb::PinnableSlice> pinned(3);
  std::vector<Status> statuses(3);
  opened.db->MultiGet(ReadOptions(), opened.db->DefaultColumnFamily(), 3, keys.data(),
                      pinned.data(), statuses.data());
  REQUIRE(statuses[0].IsNotFound() && statuses[1].IsNotFound() && statuses[2].ok());
  REQUIRE(pinned[2] == "bulk");

  // The table system.rocksdb.
  uint64_t total = 0;
  for (const auto& [ticker, name] : rocksdb::TickersNameMap) {
    REQUIRE(name.rfind("rocksdb.", 0) == 0);
    total += options.statistics->getTickerCount(ticker);
  }
  REQUIRE(total > 0);
  REQUIRE(options.statistics->getTickerCount(rocksdb::NUMBER_KEYS_WRITTEN) == 3);
}

}  // namespace programs
