// SPDX-License-Identifier: Apache-2.0
//
// How steady is a database under a load that does not wait for it? Threads overwrite (and read) at
// a given rate: each operation has a scheduled begin, and its latency counts from there, even if
// the operation before it was late. So a stall delays all operations that were scheduled meanwhile.
// Prints a row per second:
//
//   second,operations,p50,p99,p999,max,late,level0,levels,pending,stalled,memtables,resident,disk,logs
//
// `operations` is the number of the second; latencies are microseconds; `late` is the number of
// operations that should have begun and have not; `levels` are the bytes of the levels, separated
// by colons; `pending` is the compaction debt; `stalled` are the microseconds that writers were
// stalled in that second; the others are bytes. Totals that clients.py reads follow after the rows.
//
//   steadiness --db=FOLDER [--rate=0] [--seconds=60] [--threads=4] [--keys=2000000]
//   [--read_percent=0]
//              [--value_bytes=400] [--memtable_mb=64] [--cache_mb=64] [--jobs=2]
//              [--final_compaction=1]
//
// --rate is the number of operations per second of all threads together; with 0 operations follow
// each other as fast as possible, which shows the sustained rate.
#include <sys/prctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"

#include "benchmarks/clients/client.h"
#include "benchmarks/steadiness/latencies.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;
using steadiness::Counts;
using steadiness::Latencies;

constexpr uint64_t kMiB = 1 << 20;
constexpr int kLevels = 7;

rocksdb::Options OptionsOf(const Flags& flags) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kLZ4Compression;
  options.write_buffer_size = flags["memtable_mb"] * kMiB;
  options.max_background_jobs = static_cast<int>(flags["jobs"]);
  options.level_compaction_dynamic_level_bytes = true;
  options.statistics = rocksdb::CreateDBStatistics();
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(flags["cache_mb"] * kMiB);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Values that lz4 compresses to about half of their size.
class Values {
 public:
  explicit Values(uint64_t bytes) : bytes_(bytes), text_(bytes + (1 << 20), ' ') {
    client::Random random(7);
    for (size_t i = 0; i < text_.size(); i++) {
      text_[i] = i / 32 % 2 == 0 ? static_cast<char>(random.Next()) : 'v';
    }
  }
  rocksdb::Slice Of(uint64_t number) const {
    return {text_.data() + number % (text_.size() - bytes_), bytes_};
  }

 private:
  const uint64_t bytes_;
  std::string text_;
};

// The resident memory of this process, without pages of files.
uint64_t ResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) {
      return std::strtoull(line.c_str() + std::strlen("RssAnon:"), nullptr, 10) << 10;
    }
  }
  return 0;
}

struct DiskUse {
  uint64_t all = 0, logs = 0;
};

// Files may appear and disappear meanwhile.
DiskUse DiskUseOf(const std::string& folder) {
  DiskUse use;
  std::error_code error;
  std::filesystem::directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    struct stat found = {};
    const std::string path = it->path().string();
    if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
    const uint64_t bytes = static_cast<uint64_t>(found.st_blocks) * 512;
    use.all += bytes;
    if (it->path().extension() == ".log") use.logs += bytes;
  }
  return use;
}

class Load {
 public:
  Load(rocksdb::DB* db, const Flags& flags)
      : db_(db),
        flags_(flags),
        values_(flags["value_bytes"]),
        latencies_(std::make_unique<Latencies[]>(flags["threads"])),
        per_micro_(static_cast<double>(flags["rate"]) / 1e6) {}

  void Run();
  const std::vector<double>& operations_per_second() const { return rates_; }
  const Counts& all() const { return all_; }
  uint64_t max_disk() const { return max_disk_; }
  // Bytes written to tables since the load began, and bytes of the load.
  uint64_t TableBytesWritten() const {
    return Ticker(rocksdb::FLUSH_WRITE_BYTES) + Ticker(rocksdb::COMPACT_WRITE_BYTES) -
           table_bytes_before_;
  }
  uint64_t UserBytesWritten() const { return Ticker(rocksdb::BYTES_WRITTEN) - user_bytes_before_; }

 private:
  void Work(uint64_t thread);
  void Operate(client::Random* random);
  void Row(uint64_t second);
  uint64_t Property(const std::string& name) const {
    uint64_t value = 0;
    db_->GetIntProperty("rocksdb." + name, &value);
    return value;
  }
  uint64_t Ticker(uint32_t ticker) const {
    return db_->GetDBOptions().statistics->getTickerCount(ticker);
  }
  uint64_t StalledMicros() const { return Ticker(rocksdb::STALL_MICROS); }
  std::string LevelSizes() const;
  uint64_t MicrosNow() const { return client::Micros(Clock::now() - start_); }
  bool IsOpenLoop() const { return per_micro_ > 0; }

  rocksdb::DB* const db_;
  const Flags& flags_;
  const Values values_;
  const std::unique_ptr<Latencies[]> latencies_;
  const double per_micro_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_row_ = start_;
  std::atomic<bool> is_over_{false};
  std::atomic<uint64_t> begun_{0};
  uint64_t stalled_before_ = 0, max_disk_ = 0;
  uint64_t table_bytes_before_ = 0, user_bytes_before_ = 0;
  std::vector<double> rates_;
  Counts all_;
};

void Load::Operate(client::Random* random) {
  const std::string key = KeyOf(random->Uniform(flags_["keys"]));
  if (random->Uniform(100) >= flags_["read_percent"]) {
    return Require(db_->Put(rocksdb::WriteOptions(), key, values_.Of(random->Next())), "Put");
  }
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), key, &value);
  if (!status.IsNotFound()) Require(status, "Get");
}

// Thread i does the operations i, i + threads, i + 2 threads ... of one sequence.
void Load::Work(uint64_t thread) {
  ::prctl(PR_SET_TIMERSLACK, 1000);  // nanoseconds: sleeps end on time
  client::Random random(thread + 1);
  for (uint64_t number = thread; !is_over_.load(std::memory_order_relaxed);
       number += flags_["threads"]) {
    uint64_t intended = MicrosNow();
    if (IsOpenLoop()) {
      intended = static_cast<uint64_t>(static_cast<double>(number) / per_micro_);
      const uint64_t now = MicrosNow();
      if (intended > now) std::this_thread::sleep_for(std::chrono::microseconds(intended - now));
      if (is_over_.load(std::memory_order_relaxed)) return;
    }
    begun_.fetch_add(1, std::memory_order_relaxed);
    Operate(&random);
    const uint64_t now = MicrosNow();
    latencies_[thread].Add(now > intended ? now - intended : 0);
  }
}

std::string Load::LevelSizes() const {
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(&metadata);
  std::string text;
  for (int level = 0; level < kLevels; level++) {
    uint64_t bytes = 0;
    for (const auto& found : metadata.levels) {
      if (found.level == level) bytes += found.size;
    }
    text += (level == 0 ? "" : ":") + std::to_string(bytes);
  }
  return text;
}

void Load::Row(uint64_t second) {
  Counts counts;
  for (uint64_t i = 0; i < flags_["threads"]; i++) counts.Add(latencies_[i].Take());
  all_.Add(counts);
  // A row may be late.
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> elapsed = now - last_row_;
  last_row_ = now;
  rates_.push_back(static_cast<double>(counts.total) / elapsed.count());
  const uint64_t due =
      IsOpenLoop() ? static_cast<uint64_t>(static_cast<double>(MicrosNow()) * per_micro_) : 0;
  const uint64_t begun = begun_.load(std::memory_order_relaxed);
  const uint64_t stalled = StalledMicros();
  std::string level0;
  db_->GetProperty("rocksdb.num-files-at-level0", &level0);
  const DiskUse disk = DiskUseOf(flags_.db());
  max_disk_ = std::max(max_disk_, disk.all);
  const auto number = [](uint64_t value) { return "," + std::to_string(value); };
  const std::string row =
      std::to_string(second) + number(static_cast<uint64_t>(rates_.back())) +
      number(counts.At(0.5)) + number(counts.At(0.99)) + number(counts.At(0.999)) +
      number(counts.max) + number(due > begun ? due - begun : 0) + "," + level0 + "," +
      LevelSizes() + number(Property("estimate-pending-compaction-bytes")) +
      number(stalled - stalled_before_) + number(Property("cur-size-all-mem-tables")) +
      number(ResidentBytes()) + number(disk.all) + number(disk.logs);
  stalled_before_ = stalled;
  std::puts(row.c_str());
  std::fflush(stdout);
}

void Load::Run() {
  // Filling the database is not part of the load.
  stalled_before_ = StalledMicros();
  table_bytes_before_ = TableBytesWritten();
  user_bytes_before_ = UserBytesWritten();
  std::puts(
      "second,operations,p50,p99,p999,max,late,level0,levels,pending,stalled,memtables,"
      "resident,disk,logs");
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < flags_["threads"]; i++) threads.emplace_back([this, i] { Work(i); });
  for (uint64_t second = 1; second <= flags_["seconds"]; second++) {
    std::this_thread::sleep_until(start_ + std::chrono::seconds(second));
    Row(second);
  }
  is_over_ = true;
  for (std::thread& thread : threads) thread.join();
}

// Writes every key once, in order, and waits for compactions, so that the load begins with a
// complete tree. Values are like those of the load: if neighbours shared text, tables would be
// smaller.
void Fill(rocksdb::DB* db, const Flags& flags) {
  const Values values(flags["value_bytes"]);
  client::Random random(0);
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  for (uint64_t i = 0; i < flags["keys"]; i++) {
    Require(db->Put(options, KeyOf(i), values.Of(random.Next())), "Put");
  }
  Require(db->Flush(rocksdb::FlushOptions()), "Flush");
  Require(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "CompactRange");
}

// Bytes that flushes and compactions wrote to tables for each byte of the load. The load counts
// with the size that it has in tables in the end, compressed.
double WriteAmplification(const Flags& flags, uint64_t table_bytes, uint64_t user_bytes,
                          uint64_t live_bytes) {
  const auto raw_bytes =
      static_cast<double>(flags["keys"] * (KeyOf(0).size() + flags["value_bytes"]));
  const double stored =
      static_cast<double>(user_bytes) * static_cast<double>(live_bytes) / raw_bytes;
  return stored == 0 ? 0 : static_cast<double>(table_bytes) / stored;
}

void ReportSums(const Load& load, double write_amplification, uint64_t live_bytes) {
  std::vector<double> rates = load.operations_per_second();
  std::sort(rates.begin(), rates.end());
  const double median = rates.empty() ? 0 : rates[rates.size() / 2];
  const Counts& all = load.all();
  client::Report("median rate", median, "operations/s");
  client::Report("worst second", rates.empty() ? 0 : rates[0], "operations/s");
  client::Report("latency p50", static_cast<double>(all.At(0.5)), "micros");
  client::Report("latency p99", static_cast<double>(all.At(0.99)), "micros");
  client::Report("latency p99.9", static_cast<double>(all.At(0.999)), "micros");
  client::Report("longest", static_cast<double>(all.max), "micros");
  client::Report("most space", static_cast<double>(load.max_disk()) / kMiB, "MiB");
  if (live_bytes == 0) return;
  client::Report("write amplification", write_amplification, "bytes/byte");
  client::Report("live data", static_cast<double>(live_bytes) / kMiB, "MiB");
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"rate", 0},
                     {"seconds", 60},
                     {"threads", 4},
                     {"keys", 2'000'000},
                     {"read_percent", 0},
                     {"value_bytes", 400},
                     {"memtable_mb", 64},
                     {"cache_mb", 64},
                     {"jobs", 2},
                     {"final_compaction", 1}},
                    argc, argv);
  if (flags["threads"] == 0 || flags["keys"] == 0) client::Fail("--threads and --keys: at least 1");
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(OptionsOf(flags), flags.db(), &opened), "Open");
  const std::unique_ptr<rocksdb::DB> db(opened);
  Fill(db.get(), flags);
  Load load(db.get(), flags);
  load.Run();
  const uint64_t table_bytes = load.TableBytesWritten(), user_bytes = load.UserBytesWritten();
  uint64_t live_bytes = 0;
  if (flags["final_compaction"] != 0) {
    Require(db->Flush(rocksdb::FlushOptions()), "Flush");
    Require(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "CompactRange");
    Require(db->GetIntProperty("rocksdb.live-sst-files-size", &live_bytes)
                ? rocksdb::Status()
                : rocksdb::Status::Aborted(),
            "live-sst-files-size");
  }
  ReportSums(load, WriteAmplification(flags, table_bytes, user_bytes, live_bytes), live_bytes);
  return 0;
}
