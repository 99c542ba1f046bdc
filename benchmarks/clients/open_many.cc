// SPDX-License-Identifier: Apache-2.0
//
// How long does it take to open a database with many tables, how long does the first lookup take
// then, and how much memory do the open tables need? The tables are written by SstFileWriter and
// ingested into the last level; then the database is opened several times with every table open
// (max_open_files = -1, the default). The files are in the system's page cache.
//
//   open_many --db=FOLDER [--tables=1000] [--rows=200] [--value_bytes=100] [--opens=5]
//   [--open_files=0]
//
// --open_files other than 0 limits the number of open tables.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

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
using client::Open;
using client::Require;
using client::ResidentKiB;

rocksdb::Options MakeOptions(const Flags& flags) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  if (flags["open_files"] != 0) options.max_open_files = static_cast<int>(flags["open_files"]);
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

double Median(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  return static_cast<double>(values[values.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags(
      {{"tables", 1000}, {"rows", 200}, {"value_bytes", 100}, {"opens", 5}, {"open_files", 0}},
      argc, argv);
  const rocksdb::Options options = MakeOptions(flags);
  client::MakeTables(flags, options);
  std::vector<uint64_t> opens, gets, closes;
  uint64_t resident_kib = 0;
  client::Random random(1);
  for (uint64_t i = 0; i < std::max<uint64_t>(1, flags["opens"]); i++) {
    const Clock::time_point begin = Clock::now();
    std::unique_ptr<rocksdb::DB> db = Open(options, flags.db());
    const Clock::time_point is_open = Clock::now();
    std::string value;
    const uint64_t row = random.Uniform(flags["tables"] * flags["rows"]);
    Require(db->Get(rocksdb::ReadOptions(), KeyOf(row), &value), "get");
    const Clock::time_point has_read = Clock::now();
    if (i == 0) resident_kib = ResidentKiB();
    const Clock::time_point closing = Clock::now();
    Require(db->Close(), "close");
    db.reset();
    closes.push_back(client::Micros(Clock::now() - closing));
    opens.push_back(client::Micros(is_open - begin));
    gets.push_back(client::Micros(has_read - is_open));
  }
  client::Report("open", Median(opens) / 1000, "ms");
  client::Report("first get", Median(gets), "us");
  client::Report("close", Median(closes) / 1000, "ms");
  client::Report("resident after the first open", static_cast<double>(resident_kib), "KiB");
  return 0;
}
