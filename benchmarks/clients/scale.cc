// SPDX-License-Identifier: Apache-2.0
//
// How do the costs of a database grow? One run is one point: a database of a given size, with a
// number of column families, snapshots that are held, and range tombstones. Reports the time to
// open the database, the average times of a Get, of a Seek with ten Nexts and of a Put, and the
// resident memory after them. benchmarks/compare/scale.py runs many points and prints one table.
//
//   scale --db=FOLDER [--mib=256] [--families=1] [--snapshots=0] [--tombstones=0] [--tables=0]
//         [--operations=100000] [--cache_mib=64]
//
// The rows have 16 + 400 bytes, compressed with lz4; half of a value is random. `tables` other than
// 0 ingests that many tables of 200 rows instead of writing `mib`.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
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

constexpr uint64_t kRowBytes = 416;
constexpr uint64_t kRowsOfTable = 200;

rocksdb::Options MakeOptions(const Flags& flags) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kLZ4Compression;
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(flags["cache_mib"] << 20);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

uint64_t RowsOf(const Flags& flags) {
  const uint64_t rows =
      flags["tables"] != 0 ? flags["tables"] * kRowsOfTable : (flags["mib"] << 20) / kRowBytes;
  return std::max<uint64_t>(rows, 1000);
}

// A database whose families are all open. The handles are destroyed before it is closed.
class Families {
 public:
  Families(const Flags& flags, const rocksdb::Options& options) {
    std::vector<rocksdb::ColumnFamilyDescriptor> all{{rocksdb::kDefaultColumnFamilyName, options}};
    for (uint64_t i = 1; i < flags["families"]; i++) {
      all.emplace_back("family" + std::to_string(i), options);
    }
    rocksdb::DBOptions db_options(options);
    db_options.create_missing_column_families = true;
    rocksdb::DB* opened = nullptr;
    Require(rocksdb::DB::Open(db_options, flags.db(), all, &handles_, &opened), "open");
    db_.reset(opened);
  }
  ~Families() {
    for (rocksdb::ColumnFamilyHandle* handle : handles_) {
      Require(db_->DestroyColumnFamilyHandle(handle), "destroy a handle");
    }
    Require(db_->Close(), "close");
  }

  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* Of(uint64_t row) const { return handles_[row % handles_.size()]; }
  const std::vector<rocksdb::ColumnFamilyHandle*>& handles() const { return handles_; }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

void SetValue(client::Random* random, std::string* value) {
  value->assign(kRowBytes - 16, ' ');
  for (size_t i = 0; i < value->size() / 2; i++) (*value)[i] = static_cast<char>(random->Next());
}

// Writes all rows in a random order, each into one family.
void Fill(const Flags& flags, const rocksdb::Options& options) {
  const Families db(flags, options);
  client::Random random(7);
  std::string value;
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  const uint64_t rows = RowsOf(flags);
  for (uint64_t i = 0; i < rows; i++) {
    const uint64_t row = random.Uniform(rows);
    SetValue(&random, &value);
    Require(db->Put(write, db.Of(row), KeyOf(row), value), "put");
  }
  for (rocksdb::ColumnFamilyHandle* handle : db.handles()) {
    Require(db->CompactRange(rocksdb::CompactRangeOptions(), handle, nullptr, nullptr), "compact");
  }
  // Each tombstone deletes a range between two rows, so that it costs time but no row. They come
  // after the compaction, which would drop them.
  for (uint64_t i = 0; i < flags["tombstones"]; i++) {
    const uint64_t row = random.Uniform(rows);
    const std::string begin = KeyOf(row) + "-", suffix = std::to_string(i);
    Require(db->DeleteRange(write, db.Of(row), begin + suffix, begin + suffix + "~"), "delete");
  }
  Require(db->Flush(rocksdb::FlushOptions(), db.handles()), "flush");
}

// Returns the average time of an operation in microseconds.
template <typename Operation>
double Measure(uint64_t operations, Operation operation) {
  client::Random random(11);
  const Clock::time_point begin = Clock::now();
  for (uint64_t i = 0; i < operations; i++) operation(&random);
  return static_cast<double>(client::Micros(Clock::now() - begin)) /
         static_cast<double>(std::max<uint64_t>(operations, 1));
}

void Operate(const Flags& flags, const Families& db) {
  const uint64_t rows = RowsOf(flags), operations = flags["operations"];
  rocksdb::PinnableSlice found;
  const auto get = [&](client::Random* random) {
    const uint64_t row = random->Uniform(rows);
    found.Reset();
    const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), db.Of(row), KeyOf(row), &found);
    if (!status.IsNotFound()) Require(status, "get");
  };
  const auto seek = [&](client::Random* random) {
    const uint64_t row = random->Uniform(rows);
    const std::unique_ptr<rocksdb::Iterator> it(
        db->NewIterator(rocksdb::ReadOptions(), db.Of(row)));
    it->Seek(KeyOf(row));
    for (int i = 0; i < 10 && it->Valid(); i++) it->Next();
    Require(it->status(), "seek");
  };
  std::string value;
  const auto put = [&](client::Random* random) {
    const uint64_t row = random->Uniform(rows);
    SetValue(random, &value);
    Require(db->Put(rocksdb::WriteOptions(), db.Of(row), KeyOf(row), value), "put");
  };
  Measure(operations, get);  // warms the cache
  client::Report("get", Measure(operations, get), "us");
  client::Report("seek and 10 nexts", Measure(operations / 4, seek), "us");
  client::Report("put", Measure(operations, put), "us");
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"mib", 256},
                     {"families", 1},
                     {"snapshots", 0},
                     {"tombstones", 0},
                     {"tables", 0},
                     {"operations", 100000},
                     {"rows", kRowsOfTable},
                     {"value_bytes", kRowBytes - 16},
                     {"cache_mib", 64}},
                    argc, argv);
  const rocksdb::Options options = MakeOptions(flags);
  if (flags["tables"] != 0) {
    client::MakeTables(flags, options);
  } else {
    Fill(flags, options);
  }
  const Clock::time_point begin = Clock::now();
  const Families db(flags, options);
  client::Report("open", static_cast<double>(client::Micros(Clock::now() - begin)) / 1000, "ms");
  // A write between two snapshots makes them differ.
  std::vector<const rocksdb::Snapshot*> snapshots;
  for (uint64_t i = 0; i < flags["snapshots"]; i++) {
    Require(db->Put(rocksdb::WriteOptions(), KeyOf(i % RowsOf(flags)), "s"), "put");
    snapshots.push_back(db->GetSnapshot());
  }
  Operate(flags, db);
  client::Report("resident", static_cast<double>(client::ResidentKiB()) / 1024, "MiB");
  for (const rocksdb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
  return 0;
}
