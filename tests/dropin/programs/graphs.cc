// SPDX-License-Identifier: Apache-2.0
//
// Graph databases: Nebula, Memgraph.
#include <limits>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/comparator.h"
#include "rocksdb/concurrent_task_limiter.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"
#include "tests/dropin/programs/program.h"

namespace programs {
namespace {

using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::WriteOptions;

// The options of a space come from a file of its own as maps of names to texts.
rocksdb::Options NebulaOptions() {
  const rocksdb::ConfigOptions config;
  rocksdb::DBOptions db_options;
  REQUIRE_OK(rocksdb::GetDBOptionsFromMap(
      config, rocksdb::DBOptions(), {{"max_subcompactions", "2"}, {"max_background_jobs", "4"}},
      &db_options));
  rocksdb::ColumnFamilyOptions family;
  REQUIRE_OK(rocksdb::GetColumnFamilyOptionsFromMap(
      config, rocksdb::ColumnFamilyOptions(),
      {{"write_buffer_size", "1048576"}, {"max_write_buffer_number", "4"}}, &family));
  rocksdb::BlockBasedTableOptions table;
  REQUIRE_OK(rocksdb::GetBlockBasedTableOptionsFromMap(config, rocksdb::BlockBasedTableOptions(),
                                                       {{"block_size", "8192"}}, &table));
  REQUIRE(table.block_size == 8192 && family.max_write_buffer_number == 4);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table.whole_key_filtering = false;
  rocksdb::Options options(db_options, family);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(4));
  options.compaction_thread_limiter.reset(rocksdb::NewConcurrentTaskLimiter("programs", 2));
  options.create_if_missing = true;
  return options;
}

void NebulaReads(rocksdb::DB* db) {
  ReadOptions by_prefix;
  by_prefix.prefix_same_as_start = true;
  std::unique_ptr<rocksdb::Iterator> edges(db->NewIterator(by_prefix));
  std::string seen;
  for (edges->Seek("0002"); edges->Valid(); edges->Next()) seen += edges->key().ToString() + " ";
  REQUIRE_OK(edges->status());
  REQUIRE(seen == "0002a 0002b 0002c ");

  ReadOptions in_total_order;
  in_total_order.total_order_seek = true;
  const rocksdb::Snapshot* const snapshot = db->GetSnapshot();
  in_total_order.snapshot = snapshot;
  REQUIRE_OK(db->Delete(WriteOptions(), "0001a"));
  REQUIRE(All(db->NewIterator(in_total_order)).size() == 5);
  db->ReleaseSnapshot(snapshot);

  std::vector<std::string> values;
  const std::vector<rocksdb::Status> found =
      db->MultiGet(ReadOptions(), {Slice("0001a"), Slice("0002b"), Slice("0003a")}, &values);
  REQUIRE(found[0].IsNotFound() && found[1].ok() && found[2].ok());
  REQUIRE(values[1] == "edge" && values[2] == "loaded");
}

// A space in PlainTables; the whole database is in memory.
void PlainSpace(const std::string& path) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.allow_mmap_reads = true;
  options.compression = rocksdb::kNoCompression;
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(4));
  options.table_factory.reset(rocksdb::NewPlainTableFactory());
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(rocksdb::DB::Open(options, path, &opened.db));
  REQUIRE_OK(opened.db->Put(WriteOptions(), "0001a", "plain"));
  REQUIRE_OK(opened.db->Flush(rocksdb::FlushOptions()));
  REQUIRE(ValueOf(opened.db, opened.db->DefaultColumnFamily(), "0001a") == "plain");
}

// Keys end in the time of their commit, eight bytes, the newest first.
class WithTimes : public rocksdb::Comparator {
 public:
  WithTimes() : Comparator(8) {}
  const char* Name() const override { return "programs.WithTimes"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const int order = CompareWithoutTimestamp(a, true, b, true);
    return order != 0 ? order : -CompareTimestamp(TimeOf(a), TimeOf(b));
  }
  int CompareWithoutTimestamp(const Slice& a, bool a_has_time, const Slice& b,
                              bool b_has_time) const override {
    return Without(a, a_has_time).compare(Without(b, b_has_time));
  }
  int CompareTimestamp(const Slice& a, const Slice& b) const override {
    const uint64_t left = Number(a), right = Number(b);
    return left < right ? -1 : left > right;
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static Slice TimeOf(const Slice& key) { return Slice(key.data() + key.size() - 8, 8); }
  static Slice Without(const Slice& key, bool has_time) {
    return Slice(key.data(), key.size() - (has_time ? 8 : 0));
  }
  static uint64_t Number(const Slice& time) {
    uint64_t number = 0;
    for (size_t i = 8; i-- > 0;) number = number << 8 | static_cast<unsigned char>(time[i]);
    return number;
  }
};

std::string Time(uint64_t time) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(time >> shift));
  return bytes;
}

}  // namespace

void Nebula(const std::string& folder) {
  const rocksdb::Options options = NebulaOptions();
  const std::string path = folder + "/db";
  Opened<rocksdb::DB> opened;
  REQUIRE_OK(rocksdb::DB::Open(options, path, &opened.db));
  rocksdb::WriteBatch batch(1024);
  for (const char* key : {"0001a", "0002a", "0002b", "0002c"}) REQUIRE_OK(batch.Put(key, "edge"));
  REQUIRE_OK(opened.db->Write(WriteOptions(), &batch));

  // Data that was sorted elsewhere.
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  REQUIRE_OK(writer.Open(folder + "/load.sst"));
  REQUIRE_OK(writer.Put("0003a", "loaded"));
  REQUIRE_OK(writer.Finish());
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.verify_file_checksum = false;
  REQUIRE_OK(opened.db->IngestExternalFile({folder + "/load.sst"}, ingest));
  NebulaReads(opened.db);

  rocksdb::BackupEngine* engine = nullptr;
  rocksdb::BackupEngineOptions backups(folder + "/backups");
  backups.backup_log_files = false;
  REQUIRE_OK(rocksdb::BackupEngine::Open(rocksdb::Env::Default(), backups, &engine));
  REQUIRE_OK(engine->CreateNewBackup(opened.db, /*flush_before_backup=*/true));
  opened.Close();
  REQUIRE_OK(engine->RestoreDBFromLatestBackup(folder + "/restored", folder + "/restored"));
  delete engine;
  REQUIRE_OK(rocksdb::DB::Open(options, folder + "/restored", &opened.db));
  ReadOptions in_total_order;
  in_total_order.total_order_seek = true;
  REQUIRE(All(opened.db->NewIterator(in_total_order)).size() == 4);
  PlainSpace(folder + "/plain");
}

void Memgraph(const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  static const WithTimes kWithTimes;
  options.comparator = &kWithTimes;
  rocksdb::TransactionDBOptions with_locks;
  Opened<rocksdb::TransactionDB> opened;
  const rocksdb::Status open = rocksdb::TransactionDB::Open(
      options, with_locks, folder,
      {{"vertex", options}, {"edge", options}, {"default", rocksdb::ColumnFamilyOptions()}},
      &opened.handles, &opened.db);
  if (open.IsNotSupported()) {
    // Ashlar says so, instead of doing something else; then there is nothing to compare.
    REQUIRE(open.ToString().find("has timestamps") != std::string::npos);
    std::printf("  refused: %s\n", open.ToString().c_str());
    return;
  }
  REQUIRE_OK(open);
  rocksdb::ColumnFamilyHandle* const vertices = opened.handles[0];

  const auto commit = [&](const std::string& key, const std::string& value, uint64_t read_time,
                          uint64_t commit_time) {
    const std::unique_ptr<rocksdb::Transaction> txn(opened.db->BeginTransaction(WriteOptions()));
    txn->SetSnapshot();
    REQUIRE_OK(txn->SetReadTimestampForValidation(read_time));
    std::string bytes = Time(read_time), old;
    const Slice at(bytes);
    ReadOptions read;
    read.timestamp = &at;
    const rocksdb::Status known = txn->GetForUpdate(read, vertices, key, &old);
    if (!known.ok() && !known.IsNotFound()) return known;
    REQUIRE_OK(txn->Put(vertices, key, value));
    REQUIRE_OK(txn->SetCommitTimestamp(commit_time));
    return txn->Commit();
  };
  REQUIRE_OK(commit("v1", "label", 1, 2));
  REQUIRE_OK(commit("v1", "label|property", 3, 4));
  // A transaction that read before another one committed must not overwrite it.
  REQUIRE(commit("v1", "lost", 3, 5).IsBusy());

  for (const auto& [time, expected] : std::map<uint64_t, std::string>{
           {1, "-"}, {2, "label"}, {3, "label"}, {4, "label|property"}, {9, "label|property"}}) {
    const std::string bytes = Time(time);
    const Slice at(bytes);
    ReadOptions read;
    read.timestamp = &at;
    REQUIRE(ValueOf(opened.db, vertices, "v1", read) == expected);
    REQUIRE(All(opened.db->NewIterator(read, vertices)).size() == (expected == "-" ? 0 : 1));
  }
}

}  // namespace programs
