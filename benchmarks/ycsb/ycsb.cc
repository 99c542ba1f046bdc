// SPDX-License-Identifier: Apache-2.0
//
// A driver like YCSB for a program that links librocksdb, here the drop-in: loads records, runs
// workloads A to F one after the other, and reports the number and the speed of each kind of
// operation. Every value begins with its key, so reads are checked. Options come from an options
// file; options.ini in this folder is one.
//
//   ycsb --db=FOLDER [--options=FILE] [--workloads=load,a,b,c,d,e,f] [--records=N] [--operations=N]
//        [--threads=N] [--seed=N]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/options_util.h"

#include "benchmarks/ycsb/generators.h"

namespace {

using ycsb::Random;
using Clock = std::chrono::steady_clock;

constexpr size_t kValueBytes = 1000;  // ten fields of a hundred bytes
constexpr int kMaxScan = 100;

// The six core workloads of YCSB (Cooper et al., "Benchmarking cloud serving systems with YCSB"):
// the percentages of their operations, and the distribution by which these choose records.
enum class Operation : uint8_t { kRead, kUpdate, kInsert, kScan, kReadModifyWrite };
constexpr int kOperationCount = 5;
constexpr const char* kOperationNames[kOperationCount] = {"read", "update", "insert", "scan",
                                                          "read-modify-write"};

enum class Chosen : uint8_t { kZipfian, kLatest };

struct Workload {
  char name;
  const char* like;
  int percent[kOperationCount];  // by Operation
  Chosen chosen;
};

constexpr Workload kWorkloads[] = {
    {'a', "a session store: half of it updates", {50, 50, 0, 0, 0}, Chosen::kZipfian},
    {'b', "tags of photographs: mostly reads", {95, 5, 0, 0, 0}, Chosen::kZipfian},
    {'c', "a cache of profiles: reads alone", {100, 0, 0, 0, 0}, Chosen::kZipfian},
    {'d', "status updates: the newest are read", {95, 0, 5, 0, 0}, Chosen::kLatest},
    {'e', "threaded conversations: short scans", {0, 0, 5, 95, 0}, Chosen::kZipfian},
    {'f', "a user database: read, change, write", {50, 0, 0, 0, 50}, Chosen::kZipfian},
};

struct Settings {
  std::string db;
  std::string options;
  std::string workloads = "load,a,b,c,f,d,e";  // YCSB's order: workloads that insert come last
  uint64_t records = 10000;
  uint64_t operations = 10000;
  int threads = 2;
  uint64_t seed = 1;
};

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "ycsb: %s\n", why.c_str());
  std::exit(1);
}

void Require(const rocksdb::Status& status, const char* what) {
  if (!status.ok()) Fail(std::string(what) + ": " + status.ToString());
}

Settings ParseArguments(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    const size_t equal = argument.find('=');
    if (argument.compare(0, 2, "--") != 0 || equal == std::string::npos)
      Fail("what is " + argument);
    const std::string name = argument.substr(2, equal - 2), value = argument.substr(equal + 1);
    if (name == "db")
      settings.db = value;
    else if (name == "options")
      settings.options = value;
    else if (name == "workloads")
      settings.workloads = value;
    else if (name == "records")
      settings.records = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "operations")
      settings.operations = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "threads")
      settings.threads = std::atoi(value.c_str());
    else if (name == "seed")
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    else
      Fail("no flag --" + name);
  }
  if (settings.db.empty()) Fail("--db=FOLDER is missing");
  if (settings.records == 0 || settings.threads < 1) Fail("nothing to do");
  return settings;
}

std::string KeyOf(uint64_t record) { return "user" + std::to_string(ycsb::Scatter(record)); }

std::string ValueOf(const std::string& key, Random& random) {
  std::string value = key;
  value.reserve(kValueBytes);
  while (value.size() < kValueBytes) value.push_back(static_cast<char>('!' + random() % 90));
  return value;
}

// The measurements of one thread: the microseconds of each operation, by kind.
struct Measured {
  std::vector<float> micros[kOperationCount];
};

// Records are numbered in the order of their insertion. A number is taken before its record is
// written and becomes readable after that; meanwhile other threads must not choose it.
struct Records {
  std::atomic<uint64_t> taken{0};     // the next number to take
  std::atomic<uint64_t> readable{0};  // all records with smaller numbers can be read

  // Marks `record` as readable once all records before it are.
  void Inserted(uint64_t record) {
    for (uint64_t expected = record; !readable.compare_exchange_weak(
             expected, record + 1, std::memory_order_release, std::memory_order_relaxed);) {
      expected = record;
      std::this_thread::yield();
    }
  }
};

// The operations of one thread.
class Client {
 public:
  Client(rocksdb::DB* db, Records* records, uint64_t seed)
      : db_(db), records_(records), random_(seed) {}

  void Run(const Workload& workload, uint64_t operation_count) {
    for (uint64_t i = 0; i < operation_count; i++) {
      const Operation operation = Choose(workload);
      const auto begin = Clock::now();
      Do(operation, workload);
      const auto took = Clock::now() - begin;
      measured_.micros[static_cast<int>(operation)].push_back(
          std::chrono::duration<float, std::micro>(took).count());
    }
  }

  void Insert() {
    const uint64_t record = records_->taken.fetch_add(1, std::memory_order_relaxed);
    Write(KeyOf(record));
    records_->Inserted(record);
  }

  const Measured& measured() const { return measured_; }

 private:
  Operation Choose(const Workload& workload) {
    int left = static_cast<int>(random_() % 100);
    int operation = 0;
    while ((left -= workload.percent[operation]) >= 0) operation++;
    return static_cast<Operation>(operation);
  }

  void Do(Operation operation, const Workload& workload) {
    if (operation == Operation::kInsert) return Insert();
    const std::string key = KeyOf(ChooseRecord(workload));
    switch (operation) {
      case Operation::kRead: return Read(key);
      case Operation::kUpdate: return Write(key);
      case Operation::kScan: return Scan(key);
      case Operation::kReadModifyWrite: Read(key); return Write(key);
      case Operation::kInsert: break;
    }
  }

  uint64_t ChooseRecord(const Workload& workload) {
    const uint64_t count = records_->readable.load(std::memory_order_acquire);
    const uint64_t rank = zipfian_.Next(count, random_);
    if (workload.chosen == Chosen::kLatest) return count - 1 - rank;
    return ycsb::Scatter(rank) % count;
  }

  void Read(const std::string& key) {
    Require(db_->Get(rocksdb::ReadOptions(), key, &value_), "read");
    if (value_.size() != kValueBytes || value_.compare(0, key.size(), key) != 0) {
      Fail("the value of " + key + " is another's");
    }
  }

  void Write(const std::string& key) {
    Require(db_->Put(rocksdb::WriteOptions(), key, ValueOf(key, random_)), "write");
  }

  void Scan(const std::string& key) {
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    int left = 1 + static_cast<int>(random_() % kMaxScan);
    it->Seek(key);
    if (!it->Valid() || it->key() != key) Fail("a scan does not find " + key);
    for (; it->Valid() && left > 0; it->Next(), left--) {
      if (!it->value().starts_with(it->key())) Fail("a scan finds the value of another");
    }
    Require(it->status(), "scan");
  }

  rocksdb::DB* const db_;
  Records* const records_;
  Random random_;
  ycsb::Zipfian zipfian_;
  std::string value_;
  Measured measured_;
};

void Report(char name, double seconds, const std::vector<std::unique_ptr<Client>>& clients) {
  uint64_t total = 0;
  for (int kind = 0; kind < kOperationCount; kind++) {
    std::vector<float> all;
    for (const auto& client : clients) {
      const std::vector<float>& micros = client->measured().micros[kind];
      all.insert(all.end(), micros.begin(), micros.end());
    }
    if (all.empty()) continue;
    std::sort(all.begin(), all.end());
    const auto at = [&all](double part) {
      return all[static_cast<size_t>(part * static_cast<double>(all.size() - 1))];
    };
    std::printf("%c  %-18s %9zu   p50 %7.1f   p95 %7.1f   p99 %7.1f   max %9.1f us\n", name,
                kOperationNames[kind], all.size(), at(0.5), at(0.95), at(0.99), all.back());
    total += all.size();
  }
  std::printf("%c  %-18s %9.0f operations/s\n", name, "throughput",
              static_cast<double>(total) / std::max(seconds, 1e-9));
}

// Runs `work(client, operations)` on all threads with an even share of `operations` each.
template <typename Work>
void OnThreads(const Settings& settings, uint64_t operations, rocksdb::DB* db, Records* records,
               char name, const Work& work) {
  std::vector<std::unique_ptr<Client>> clients;
  const auto begin = Clock::now();
  std::vector<std::thread> threads;
  const auto thread_count = static_cast<uint64_t>(settings.threads);
  for (uint64_t t = 0; t < thread_count; t++) {
    clients.push_back(std::make_unique<Client>(
        db, records, settings.seed * 1000 + t + static_cast<uint64_t>(name) * 1000000));
    const uint64_t share = operations / thread_count + (t < operations % thread_count ? 1 : 0);
    threads.emplace_back([&work, share, client = clients.back().get()] { work(*client, share); });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (name == 'l') {
    std::printf("load %18s %9.0f operations/s\n", "",
                static_cast<double>(operations) / std::max(seconds, 1e-9));
  } else {
    Report(name, seconds, clients);
  }
}

std::unique_ptr<rocksdb::DB> Open(const Settings& settings,
                                  std::vector<rocksdb::ColumnFamilyHandle*>* handles) {
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  if (settings.options.empty()) {
    families.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  } else {
    Require(rocksdb::LoadOptionsFromFile(rocksdb::ConfigOptions(), settings.options, &db_options,
                                         &families),
            "options file");
  }
  db_options.create_if_missing = true;
  db_options.create_missing_column_families = true;
  rocksdb::DB* db = nullptr;
  Require(rocksdb::DB::Open(db_options, settings.db, families, handles, &db), "open");
  return std::unique_ptr<rocksdb::DB>(db);
}

void RunWorkload(const std::string& name, const Settings& settings, rocksdb::DB* db,
                 Records* records) {
  if (name == "load") {
    OnThreads(settings, settings.records, db, records, 'l', [](Client& client, uint64_t count) {
      for (uint64_t i = 0; i < count; i++) client.Insert();
    });
    return;
  }
  for (const Workload& workload : kWorkloads) {
    if (name.size() != 1 || name[0] != workload.name) continue;
    // Without "load", the records of an earlier run are used.
    if (records->readable == 0) records->taken = records->readable = settings.records;
    std::printf("workload %c: %s\n", workload.name, workload.like);
    OnThreads(settings, settings.operations, db, records, workload.name,
              [&workload](Client& client, uint64_t count) { client.Run(workload, count); });
    return;
  }
  Fail("no workload " + name);
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = ParseArguments(argc, argv);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::unique_ptr<rocksdb::DB> db = Open(settings, &handles);
  Records records;
  std::istringstream names(settings.workloads);
  for (std::string name; std::getline(names, name, ',');) {
    RunWorkload(name, settings, db.get(), &records);
  }
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    Require(db->DestroyColumnFamilyHandle(handle), "let go of a family");
  }
  std::printf("ycsb: ok\n");
  return 0;
}
