// SPDX-License-Identifier: Apache-2.0
//
// A column family with timestamps of 64 bits: rows are written in a random order, each several
// times with rising timestamps, and read at the newest timestamp. Reports the rates of writes, of
// reads of present and of missing keys one by one and in batches of 32, of seeks with ten nexts,
// and of a scan of all rows.
//
//   timestamps --db=FOLDER [--rows=1000000] [--versions=3] [--reads=500000]
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

#include "benchmarks/clients/client.h"
#include "benchmarks/clients/many_tables.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

constexpr size_t kBatch = 32;

std::string Stamp(uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; i++) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

rocksdb::Options MakeOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = options.target_file_size_base = 16 << 20;
  options.max_bytes_for_level_base = 64 << 20;
  Require(rocksdb::Comparator::CreateFromString(
              rocksdb::ConfigOptions(), "leveldb.BytewiseComparator.u64ts", &options.comparator),
          "comparator");
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(uint64_t{1} << 30);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Calls the function `times` times and reports how many of `units` each second saw.
template <typename Function>
void Measure(const char* name, uint64_t times, uint64_t units, Function function) {
  const Clock::time_point begin = Clock::now();
  for (uint64_t i = 0; i < times; i++) function(i);
  const double seconds = static_cast<double>(client::Micros(Clock::now() - begin)) / 1e6;
  client::Report(name, static_cast<double>(units) / seconds, "ops/sec");
}

void AwaitCompactions(rocksdb::DB* db) {
  Require(db->Flush(rocksdb::FlushOptions()), "flush");
  std::string running, pending;
  do {
    db->GetProperty("rocksdb.num-running-compactions", &running);
    db->GetProperty("rocksdb.compaction-pending", &pending);
  } while (running != "0" || pending != "0");
}

void GetBatch(rocksdb::DB* db, const rocksdb::ReadOptions& read,
              const std::vector<std::string>& keys) {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db->MultiGet(read, db->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
               statuses.data());
  for (const rocksdb::Status& status : statuses) {
    if (!status.IsNotFound()) Require(status, "multiget");
  }
}

void ReadAll(rocksdb::DB* db, const Flags& flags) {
  const uint64_t rows = flags["rows"], reads = flags["reads"];
  const std::string newest = Stamp(UINT64_MAX / 2);
  const rocksdb::Slice stamp = newest;
  rocksdb::ReadOptions read;
  read.timestamp = &stamp;
  client::Random random(11);
  const auto get = [&](const std::string& key) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = db->Get(read, db->DefaultColumnFamily(), key, &value);
    if (!status.IsNotFound()) Require(status, "get");
  };
  const auto get_any = [&](uint64_t) { get(KeyOf(random.Uniform(rows))); };
  for (uint64_t i = 0; i < reads; i++) get_any(i);  // fills the cache
  Measure("get", reads, reads, get_any);
  Measure("get, missing", reads, reads, [&](uint64_t) { get(KeyOf(random.Uniform(rows)) + "x"); });
  std::vector<std::string> keys(kBatch);
  Measure("multiget", reads / kBatch, reads, [&](uint64_t) {
    for (std::string& key : keys) key = KeyOf(random.Uniform(rows));
    GetBatch(db, read, keys);
  });
  Measure("seek and 10 nexts", reads / 10, reads / 10, [&](uint64_t) {
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
    it->Seek(KeyOf(random.Uniform(rows)));
    for (int i = 0; i < 10 && it->Valid(); i++) it->Next();
    Require(it->status(), "seek");
  });
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  it->SeekToFirst();
  Measure("scan", rows, rows, [&](uint64_t) {
    if (it->Valid()) it->Next();
  });
  Require(it->status(), "scan");
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"rows", 1000000}, {"versions", 3}, {"reads", 500000}}, argc, argv);
  const std::unique_ptr<rocksdb::DB> db = client::Open(MakeOptions(), flags.db());
  client::Random random(5);
  const std::string value(100, 'v');
  const uint64_t puts = flags["rows"] * flags["versions"];
  Measure("put", puts, puts, [&](uint64_t i) {
    Require(
        db->Put(rocksdb::WriteOptions(), KeyOf(random.Uniform(flags["rows"])), Stamp(i + 1), value),
        "put");
  });
  AwaitCompactions(db.get());
  ReadAll(db.get(), flags);
  return 0;
}
