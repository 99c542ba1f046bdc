// SPDX-License-Identifier: Apache-2.0
//
// How long do writers wait while tables are ingested? Threads write random keys; meanwhile tables
// over the same range of keys are ingested one after the other, so that each overlaps the memtable.
// Reports the longest wait of a write and the number of writes. Then checks that the rows of every
// table are found.
//
//   ingest_waits --db=FOLDER [--tables=100] [--rows=2000] [--writers=2] [--value_bytes=100]
//                [--writes_per_second=0]
//
// --writes_per_second is the rate of each writer; then waits are those for the ingestion. With 0,
// writers write as fast as possible, and also wait for each other, for flushes and for a CPU.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

struct WriterFigures {
  std::vector<uint64_t> waits;  // microseconds of each write
};

void Write(rocksdb::DB* db, const Flags& flags, uint64_t seed, const std::atomic<bool>* is_over,
           WriterFigures* figures) {
  client::Random random(seed);
  const std::string value(flags["value_bytes"], 'w');
  figures->waits.reserve(size_t{1} << 24);
  const uint64_t keys = flags["tables"] * flags["rows"], rate = flags["writes_per_second"];
  const Clock::duration pause = std::chrono::nanoseconds(rate == 0 ? 0 : 1000000000 / rate);
  Clock::time_point due = Clock::now();
  while (!is_over->load(std::memory_order_relaxed)) {
    if (rate != 0) std::this_thread::sleep_until(due += pause);
    // Odd numbers; those of tables are even.
    const std::string key = KeyOf(2 * random.Uniform(keys) + 1);
    const Clock::time_point begin = Clock::now();
    Require(db->Put(rocksdb::WriteOptions(), key, value), "put");
    figures->waits.push_back(client::Micros(Clock::now() - begin));
  }
}

std::string TableOf(const Flags& flags, uint64_t table) {
  return flags.db() + "/table" + std::to_string(table) + ".sst";
}

void MakeTables(const Flags& flags, const rocksdb::Options& options) {
  const std::string value(flags["value_bytes"], 't');
  for (uint64_t table = 0; table < flags["tables"]; table++) {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    Require(writer.Open(TableOf(flags, table)), "open a table");
    for (uint64_t row = 0; row < flags["rows"]; row++) {
      Require(writer.Put(KeyOf(2 * (table * flags["rows"] + row)), value), "add to a table");
    }
    Require(writer.Finish(), "finish a table");
  }
}

void CheckTables(rocksdb::DB* db, const Flags& flags) {
  std::string value;
  for (uint64_t table = 0; table < flags["tables"]; table++) {
    const std::string key = KeyOf(2 * (table * flags["rows"] + table % flags["rows"]));
    Require(db->Get(rocksdb::ReadOptions(), key, &value), "get what was ingested");
    if (value != std::string(flags["value_bytes"], 't')) client::Fail("another value at " + key);
  }
}

void ReportWaits(std::vector<uint64_t> waits, double seconds) {
  if (waits.empty()) client::Fail("nothing was written during the ingestion");
  std::sort(waits.begin(), waits.end());
  client::Report("longest write wait", static_cast<double>(waits.back()), "us");
  const size_t rare = waits.size() / 10000;  // the number of longer waits
  client::Report("write wait, p99.99", static_cast<double>(waits[waits.size() - 1 - rare]), "us");
  client::Report("writes meanwhile", static_cast<double>(waits.size()) / seconds, "ops/sec");
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"tables", 100},
                     {"rows", 2000},
                     {"writers", 2},
                     {"value_bytes", 100},
                     {"writes_per_second", 0}},
                    argc, argv);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  std::unique_ptr<rocksdb::DB> db;
  {
    rocksdb::DB* opened = nullptr;
    Require(rocksdb::DB::Open(options, flags.db(), &opened), "open");
    db.reset(opened);
  }
  MakeTables(flags, options);
  std::atomic<bool> is_over{false};
  std::vector<WriterFigures> figures(flags["writers"]);
  std::vector<std::thread> writers;
  for (size_t i = 0; i < figures.size(); i++) {
    writers.emplace_back(Write, db.get(), std::cref(flags), i + 1, &is_over, &figures[i]);
  }
  rocksdb::IngestExternalFileOptions ingestion;
  ingestion.move_files = true;
  const Clock::time_point begin = Clock::now();
  for (uint64_t table = 0; table < flags["tables"]; table++) {
    Require(db->IngestExternalFile({TableOf(flags, table)}, ingestion), "ingest");
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  is_over = true;
  for (std::thread& writer : writers) writer.join();
  std::vector<uint64_t> waits;
  for (const WriterFigures& one : figures) {
    waits.insert(waits.end(), one.waits.begin(), one.waits.end());
  }
  ReportWaits(std::move(waits), seconds);
  client::Report("ingestion", seconds * 1e6 / static_cast<double>(flags["tables"]), "us/table");
  CheckTables(db.get(), flags);
  return 0;
}
