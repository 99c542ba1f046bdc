// SPDX-License-Identifier: Apache-2.0
//
// A block cache much smaller than the data, under reads of which most go to a few keys (Zipf's
// law), mixed with scans that read every block once and would evict the hot blocks. The cache also
// holds indexes and filters, so that both libraries have the same memory. Reports operations per
// second of all threads together, and the hit rate of data blocks.
//
//   zipf_cache --db=FOLDER [--rows=2000000] [--value_bytes=100] [--cache_percent=10] [--threads=2]
//              [--operations=2000000] [--scan_every=100] [--scan_rows=100] [--lz4=0]
//
// `operations` is the number per thread, after half as many that only warm the cache.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"

#include "benchmarks/clients/client.h"
#include "benchmarks/ycsb/generators.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

rocksdb::Options MakeOptions(const Flags& flags) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = flags["lz4"] != 0 ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
  options.statistics = rocksdb::CreateDBStatistics();
  const uint64_t data_bytes = flags["rows"] * (16 + flags["value_bytes"]);
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(data_bytes * flags["cache_percent"] / 100);
  table.cache_index_and_filter_blocks = true;  // one budget for everything in memory
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

void Fill(rocksdb::DB* db, const Flags& flags) {
  client::Random random(7);
  std::string value(flags["value_bytes"], ' ');
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  for (uint64_t row = 0; row < flags["rows"]; row++) {
    for (size_t i = 0; i < value.size() / 2; i++) value[i] = static_cast<char>(random.Next());
    Require(db->Put(write, KeyOf(row), value), "put");
  }
  Require(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "compact");
}

void Scan(rocksdb::DB* db, uint64_t from, uint64_t rows) {
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  uint64_t bytes = 0;
  it->Seek(KeyOf(from));
  for (uint64_t i = 0; i < rows && it->Valid(); i++, it->Next()) bytes += it->value().size();
  Require(it->status(), "scan");
  if (bytes == 0 && rows != 0) client::Fail("a scan found nothing");
}

void Operate(rocksdb::DB* db, const Flags& flags, uint64_t seed, uint64_t operations) {
  ycsb::Random random(seed);
  ycsb::Zipfian zipf;
  rocksdb::PinnableSlice value;
  const uint64_t rows = flags["rows"], scan_every = flags["scan_every"];
  for (uint64_t i = 0; i < operations; i++) {
    if (scan_every != 0 && random() % scan_every == 0) {
      Scan(db, random() % rows, flags["scan_rows"]);
      continue;
    }
    const uint64_t row = ycsb::Scatter(zipf.Next(rows, random)) % rows;
    value.Reset();
    Require(db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), KeyOf(row), &value), "get");
  }
}

// Returns the seconds until all threads have ended.
double Run(rocksdb::DB* db, const Flags& flags, uint64_t seed, uint64_t operations) {
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < flags["threads"]; i++) {
    threads.emplace_back(Operate, db, std::cref(flags), seed + i, operations);
  }
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"rows", 2000000},
                     {"value_bytes", 100},
                     {"cache_percent", 10},
                     {"threads", 2},
                     {"operations", 2000000},
                     {"scan_every", 100},
                     {"scan_rows", 100},
                     {"lz4", 0}},
                    argc, argv);
  const rocksdb::Options options = MakeOptions(flags);
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, flags.db(), &opened), "open");
  const std::unique_ptr<rocksdb::DB> db(opened);
  Fill(db.get(), flags);
  Run(db.get(), flags, 1, flags["operations"] / 2);
  const uint64_t hits = options.statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT);
  const uint64_t misses = options.statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  const double seconds = Run(db.get(), flags, 1001, flags["operations"]);
  const double found =
      static_cast<double>(options.statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) - hits);
  const double missed = static_cast<double>(
      options.statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS) - misses);
  const double operations = static_cast<double>(flags["operations"] * flags["threads"]);
  client::Report("throughput", operations / seconds, "ops/sec");
  client::Report("hit rate of data blocks", 100 * found / (found + missed), "%");
  return 0;
}
