// SPDX-License-Identifier: Apache-2.0
//
// How fast are point reads of PlainTables that are mapped into memory: Get and MultiGet of present
// keys, and Get of absent ones? Keys of 16 bytes have prefixes of 8, so a bucket of the hash index
// holds a few keys. The reads check their values.
//
//   plain_table --db=FOLDER [--keys=1000000] [--reads=1000000] [--value_bytes=100] [--batch=32]
//   [--prefix_index=1]
//
// --prefix_index=0: an index for binary search instead.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::Require;

// 16 bytes: a prefix that eight keys share, and the number.
std::string PlainKey(uint64_t i) {
  char key[40];
  std::snprintf(key, sizeof(key), "%08llx%08llx", static_cast<unsigned long long>(i / 8),
                static_cast<unsigned long long>(i));
  return key;
}

std::unique_ptr<rocksdb::DB> Open(const Flags& flags) {
  rocksdb::PlainTableOptions table;
  table.user_key_len = 16;
  if (flags["prefix_index"] == 0) table.hash_table_ratio = 0;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.allow_mmap_reads = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = 256 << 20;
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(8));
  options.table_factory.reset(rocksdb::NewPlainTableFactory(table));
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, flags.db(), &opened), "open");
  return std::unique_ptr<rocksdb::DB>(opened);
}

double NanosPerRead(Clock::time_point begin, uint64_t reads) {
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
  return static_cast<double>(nanos.count()) / static_cast<double>(reads);
}

void MeasureGets(rocksdb::DB* db, const Flags& flags, bool are_present) {
  client::Random random(2);
  rocksdb::PinnableSlice value;
  const Clock::time_point begin = Clock::now();
  for (uint64_t i = 0; i < flags["reads"]; i++) {
    std::string key = PlainKey(random.Uniform(flags["keys"]));
    if (!are_present) key[15] = 'x';
    value.Reset();
    const rocksdb::Status status =
        db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), key, &value);
    if (are_present) Require(status, "get");
    if (are_present != status.ok()) client::Fail("get: " + key);
  }
  client::Report(are_present ? "get" : "get of absent keys", NanosPerRead(begin, flags["reads"]),
                 "ns");
}

void MeasureMultiGets(rocksdb::DB* db, const Flags& flags) {
  const size_t batch = std::max<uint64_t>(1, flags["batch"]);
  client::Random random(3);
  std::vector<std::string> names(batch);
  std::vector<rocksdb::Slice> keys(batch);
  std::vector<rocksdb::PinnableSlice> values(batch);
  std::vector<rocksdb::Status> statuses(batch);
  const Clock::time_point begin = Clock::now();
  uint64_t reads = 0;
  for (; reads < flags["reads"]; reads += batch) {
    for (size_t i = 0; i < batch; i++) {
      names[i] = PlainKey(random.Uniform(flags["keys"]));
      keys[i] = names[i];
      values[i].Reset();
    }
    db->MultiGet(rocksdb::ReadOptions(), db->DefaultColumnFamily(), batch, keys.data(),
                 values.data(), statuses.data());
    for (size_t i = 0; i < batch; i++) {
      Require(statuses[i], "multi get");
      if (values[i].size() != flags["value_bytes"]) client::Fail("multi get: another value");
    }
  }
  client::Report("multiget", NanosPerRead(begin, reads), "ns");
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"keys", 1000000},
                     {"reads", 1000000},
                     {"value_bytes", 100},
                     {"batch", 32},
                     {"prefix_index", 1}},
                    argc, argv);
  {
    const std::unique_ptr<rocksdb::DB> db = Open(flags);
    const std::string value(flags["value_bytes"], 'v');
    rocksdb::WriteOptions unlogged;
    unlogged.disableWAL = true;
    for (uint64_t i = 0; i < flags["keys"]; i++) {
      Require(db->Put(unlogged, PlainKey(i), value), "put");
    }
    Require(db->Flush(rocksdb::FlushOptions()), "flush");
    Require(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "compact");
  }
  const std::unique_ptr<rocksdb::DB> db = Open(flags);
  MeasureGets(db.get(), flags, /*are_present=*/true);  // the first pass also maps the tables
  MeasureGets(db.get(), flags, /*are_present=*/true);
  MeasureGets(db.get(), flags, /*are_present=*/false);
  MeasureMultiGets(db.get(), flags);
  return 0;
}
