// SPDX-License-Identifier: Apache-2.0
//
// What a WriteBatchWithIndex costs: many puts, then lookups, then walks in order; small batches
// that read their own writes over a database; scans of a database with a batch on top.
//
//   indexed_batch --db=FOLDER [--puts=5000000] [--rows=500000] [--batches=20000] [--value_bytes=50]
//
// Keys have 16 bytes. The large batch overwrites keys, as those of transactions do. Times are those
// of the thread on its processor: nothing here waits, and other programs matter less that way.
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/write_batch_with_index.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Fail;
using client::Flags;
using client::Report;
using client::Require;
using rocksdb::Slice;
using rocksdb::WriteBatchWithIndex;

constexpr size_t kKeyBytes = 16;

// Keys that ascend with their numbers, as text of sixteen digits.
class Keys {
 public:
  explicit Keys(uint64_t count) : bytes_(count * kKeyBytes, '0') {
    for (uint64_t i = 0; i < count; i++) {
      uint64_t rest = i;
      for (size_t digit = kKeyBytes; rest != 0; rest /= 10) {
        bytes_[i * kKeyBytes + --digit] = static_cast<char>('0' + rest % 10);
      }
    }
  }
  Slice operator[](uint64_t i) const { return Slice(&bytes_[i * kKeyBytes], kKeyBytes); }
  uint64_t count() const { return bytes_.size() / kKeyBytes; }

 private:
  std::string bytes_;
};

// Visits 0 .. count-1 once each, in an order that jumps.
class Shuffled {
 public:
  explicit Shuffled(uint64_t count) : count_(count) {
    while (step_ % count_ == 0) step_ += 2;
  }
  uint64_t Next() { return at_ = (at_ + step_) % count_; }

 private:
  const uint64_t count_;
  uint64_t step_ = 1000000007;  // a prime
  uint64_t at_ = 0;
};

class Stopwatch {
 public:
  void Restart() { begin_ = Now(); }
  // Since the last start.
  void ReportRate(const char* name, uint64_t count) const {
    Report(name, static_cast<double>(count) / (Now() - begin_), "ops/sec");
  }

 private:
  static double Now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  double begin_ = Now();
};

double ResidentMiB() {
  uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) / (1 << 20);
}

void WalkAll(WriteBatchWithIndex* batch, uint64_t expected, const char* name) {
  const Stopwatch watch;
  const std::unique_ptr<rocksdb::WBWIIterator> it(batch->NewIterator());
  uint64_t count = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) count += it->Entry().key.size() == kKeyBytes;
  if (count != expected) Fail("the walk missed keys");
  watch.ReportRate(name, count);
}

void LargeBatch(const Flags& flags) {
  const uint64_t puts = flags["puts"];
  const Keys keys(puts);
  const std::string value(flags["value_bytes"], 'v');
  const double before = ResidentMiB();
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  Stopwatch watch;
  Shuffled order(puts);
  for (uint64_t i = 0; i < puts; i++) Require(batch.Put(keys[order.Next()], value), "put");
  watch.ReportRate("puts", puts);
  watch.Restart();
  std::string found;
  const rocksdb::DBOptions options;
  client::Random random(7);
  for (uint64_t i = 0; i < puts; i++) {
    Require(batch.GetFromBatch(options, keys[random.Uniform(puts)], &found), "get");
  }
  watch.ReportRate("lookups, the first one included", puts);
  WalkAll(&batch, puts, "first walk");
  Report("memory", ResidentMiB() - before, "MiB");
  WalkAll(&batch, puts, "second walk");
  watch.Restart();
  const uint64_t more = puts / 10;
  for (uint64_t i = 0; i < more; i++) {
    Require(batch.Put(keys[random.Uniform(puts)], value), "put again");
  }
  Require(batch.GetFromBatch(options, keys[0], &found), "get");
  watch.ReportRate("puts of keys that it has", more);
}

std::unique_ptr<rocksdb::DB> FilledDb(const Flags& flags, const Keys& keys) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  Require(rocksdb::DB::Open(options, flags.db(), &db), "open");
  const std::string value(flags["value_bytes"], 'd');
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  for (uint64_t i = 0; i < keys.count(); i++) Require(db->Put(unlogged, keys[i], value), "fill");
  Require(db->Flush(rocksdb::FlushOptions()), "flush");
  Require(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "compact");
  return std::unique_ptr<rocksdb::DB>(db);
}

// Batches of ten puts that read a hundred keys, ten of them their own, and scan twenty rows.
void SmallBatches(rocksdb::DB* db, const Keys& keys, const Flags& flags) {
  const uint64_t batches = flags["batches"];
  const std::string value(flags["value_bytes"], 'v');
  const rocksdb::ReadOptions read;
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  client::Random random(11);
  rocksdb::PinnableSlice found;
  const Stopwatch watch;
  for (uint64_t i = 0; i < batches; i++) {
    batch.Clear();
    const uint64_t own = random.Uniform(keys.count() - 100);
    for (uint64_t j = 0; j < 10; j++) Require(batch.Put(keys[own + 7 * j], value), "put");
    for (uint64_t j = 0; j < 100; j++) {
      const uint64_t key = j % 10 == 0 ? own + 7 * (j / 10) : random.Uniform(keys.count());
      found.Reset();
      Require(batch.GetFromBatchAndDB(db, read, keys[key], &found), "get");
    }
    const std::unique_ptr<rocksdb::Iterator> it(
        batch.NewIteratorWithBase(db->DefaultColumnFamily(), db->NewIterator(read)));
    it->Seek(keys[own]);
    for (int rows = 0; rows < 20 && it->Valid(); rows++) it->Next();
    Require(it->status(), "scan");
  }
  watch.ReportRate("batches that read their writes", batches);
}

void Scans(rocksdb::DB* db, const Keys& keys, const Flags& flags) {
  const std::string value(flags["value_bytes"], 'v');
  const rocksdb::ReadOptions read;
  const auto scan = [&](const char* name, rocksdb::Iterator* made, bool is_forward) {
    const std::unique_ptr<rocksdb::Iterator> it(made);
    const Stopwatch watch;
    uint64_t count = 0;
    is_forward ? it->SeekToFirst() : it->SeekToLast();
    for (; it->Valid(); is_forward ? it->Next() : it->Prev()) {
      count += it->key().size() == kKeyBytes && it->value().size() == value.size();
    }
    Require(it->status(), name);
    if (count != keys.count()) Fail("the scan missed rows");
    watch.ReportRate(name, count);
  };
  scan("scan without a batch, rows", db->NewIterator(read), true);
  WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  rocksdb::ColumnFamilyHandle* const family = db->DefaultColumnFamily();
  scan("scan under an empty batch, rows", batch.NewIteratorWithBase(family, db->NewIterator(read)),
       true);
  for (uint64_t i = 0; i < keys.count(); i += 10) Require(batch.Put(keys[i], value), "put");
  scan("scan under a batch, rows", batch.NewIteratorWithBase(family, db->NewIterator(read)), true);
  scan("scan backwards, rows", batch.NewIteratorWithBase(family, db->NewIterator(read)), false);

  batch.Clear();
  const std::unique_ptr<rocksdb::Iterator> it(
      batch.NewIteratorWithBase(family, db->NewIterator(read)));
  const Stopwatch watch;
  uint64_t count = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), count++) {
    Require(batch.Put(std::string(it->key().data(), it->key().size()), value), "update");
  }
  if (count != keys.count()) Fail("the updating scan missed rows");
  watch.ReportRate("scan that updates each row", count);
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"puts", 5000000}, {"rows", 500000}, {"batches", 20000}, {"value_bytes", 50}},
                    argc, argv);
  LargeBatch(flags);
  const Keys keys(flags["rows"]);
  const std::unique_ptr<rocksdb::DB> db = FilledDb(flags, keys);
  SmallBatches(db.get(), keys, flags);
  Scans(db.get(), keys, flags);
  return 0;
}
