// SPDX-License-Identifier: Apache-2.0
//
// Does a process stay within its memory limit? Block cache and memtables share one limit, which
// also covers indexes and (Ribbon) filters, filters under construction included. The data is many
// times larger. After loading, several threads make point reads, scans and overwrites, with flushes
// and compactions in the background. Reports the peak and the mean of the resident memory, without
// mapped files, also as shares of the limit.
//
//   memory_limit --db=FOLDER [--limit_mb=256] [--data_mb=4096] [--operations=2000000] [--threads=2]
//                [--value_bytes=400] [--shared=1]
//
// --shared=0: memtables are not charged to the cache, but have a quarter of the limit of their own.
// --shared=2: DBOptions::memory_limit, for Ashlar only.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/write_buffer_manager.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

constexpr uint64_t kMiB = 1 << 20;
constexpr int kScanRows = 50;

// The resident memory of this process, without pages of files.
uint64_t ResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) {
      return std::strtoull(line.c_str() + std::strlen("RssAnon:"), nullptr, 10) << 10;
    }
  }
  client::Fail("/proc/self/status has no RssAnon");
}

// Samples the memory of the process in a thread of its own.
class MemoryWatch {
 public:
  MemoryWatch() : thread_([this] { Run(); }) {}
  void Stop() {
    is_over_ = true;
    thread_.join();
  }
  double peak() const { return static_cast<double>(peak_); }
  double mean() const { return static_cast<double>(sum_) / static_cast<double>(count_); }

 private:
  void Run() {
    while (!is_over_ || count_ == 0) {
      const uint64_t bytes = ResidentBytes();
      peak_ = std::max(peak_, bytes);
      sum_ += bytes;
      ++count_;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  uint64_t peak_ = 0, sum_ = 0, count_ = 0;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// Sets the limit if the engine has this option: the first function is chosen then. (Both engines
// compile this file, RocksDB as C++17.)
template <typename Options>
auto SetMemoryLimit(Options* options, uint64_t limit, int)
    -> decltype(options->memory_limit, void()) {
  options->memory_limit = limit;
}
template <typename Options>
void SetMemoryLimit(Options*, uint64_t, long) {
  client::Fail("--shared=2: this engine has no memory_limit");
}

rocksdb::Options OptionsOf(const Flags& flags) {
  const uint64_t limit = flags["limit_mb"] * kMiB, memtables = limit / 4;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;
  table.cache_usage_options.options_overrides[rocksdb::CacheEntryRole::kFilterConstruction]
      .charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = memtables / 4;
  if (flags["shared"] == 2) {
    SetMemoryLimit(&options, limit, 0);
  } else if (flags["shared"] != 0) {
    table.block_cache = rocksdb::NewLRUCache(limit);
    options.write_buffer_manager =
        std::make_shared<rocksdb::WriteBufferManager>(memtables, table.block_cache);
  } else {
    table.block_cache = rocksdb::NewLRUCache(limit - memtables);
    options.db_write_buffer_size = memtables;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kLZ4Compression;
  options.max_background_jobs = 2;
  return options;
}

std::string ValueOf(client::Random* random, size_t bytes) {
  std::string value(bytes, 'v');
  for (size_t i = 0; i < bytes / 2; i++) value[i] = static_cast<char>(random->Next());
  return value;
}

void Load(rocksdb::DB* db, const Flags& flags, uint64_t rows) {
  client::Random random(1);
  for (uint64_t i = 0; i < rows; i++) {
    const std::string key = KeyOf(random.Uniform(rows));
    Require(db->Put(rocksdb::WriteOptions(), key, ValueOf(&random, flags["value_bytes"])), "load");
  }
}

void Scan(rocksdb::DB* db, const std::string& from) {
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  it->Seek(from);
  for (int i = 0; i < kScanRows && it->Valid(); i++) it->Next();
  Require(it->status(), "scan");
}

void Mix(rocksdb::DB* db, const Flags& flags, uint64_t rows, uint64_t seed, uint64_t operations) {
  client::Random random(seed);
  std::string value;
  for (uint64_t i = 0; i < operations; i++) {
    const std::string key = KeyOf(random.Uniform(rows));
    const uint64_t choice = random.Uniform(100);
    if (choice < 60) {
      const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), key, &value);
      if (!status.IsNotFound()) Require(status, "get");
    } else if (choice < 70) {
      Scan(db, key);
    } else {
      Require(db->Put(rocksdb::WriteOptions(), key, ValueOf(&random, flags["value_bytes"])), "put");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"limit_mb", 256},
                     {"data_mb", 4096},
                     {"operations", 2000000},
                     {"threads", 2},
                     {"value_bytes", 400},
                     {"shared", 1}},
                    argc, argv);
  std::unique_ptr<rocksdb::DB> db;
  {
    rocksdb::DB* opened = nullptr;
    Require(rocksdb::DB::Open(OptionsOf(flags), flags.db(), &opened), "open");
    db.reset(opened);
  }
  const uint64_t rows = flags["data_mb"] * kMiB / (flags["value_bytes"] + 16);
  MemoryWatch loading;
  Load(db.get(), flags, rows);
  loading.Stop();
  MemoryWatch mixed;
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < flags["threads"]; i++) {
    threads.emplace_back(Mix, db.get(), std::cref(flags), rows, i + 2,
                         flags["operations"] / flags["threads"]);
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  mixed.Stop();
  const auto limit = static_cast<double>(flags["limit_mb"] * kMiB);
  client::Report("peak while loading, of the limit", 100 * loading.peak() / limit, "%");
  client::Report("peak, of the limit", 100 * mixed.peak() / limit, "%");
  client::Report("mean, of the limit", 100 * mixed.mean() / limit, "%");
  client::Report("mixed load", static_cast<double>(flags["operations"]) / seconds, "ops/sec");
  return 0;
}
