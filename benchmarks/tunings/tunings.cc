// SPDX-License-Identifier: Apache-2.0
//
// One workload with one set of options; benchmarks/tunings/tunings.py runs all workloads with many
// sets, and compares the best with the defaults and with Options::for_intent().
//
//   tunings --db=FOLDER --workload=NAME [--intent=server|embedded|low_memory] [--options=TEXT]
//           [--table=TEXT] [--rows=1000000] [--seconds=5]
//
// The workloads are points, scans, overwrites, queue, series and large. TEXT is what
// GetOptionsFromString() takes; --options changes Options, --table block-based tables. Prints the
// operations per second, which include the time until the compactions of the writes have ended.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "ashlar/utilities/db_ttl.h"

namespace {

using ashlar::DB;
using ashlar::Iterator;
using ashlar::Options;
using ashlar::PinnableSlice;
using ashlar::ReadOptions;
using ashlar::Status;
using ashlar::WriteOptions;
using Clock = std::chrono::steady_clock;
using Texts = std::map<std::string, std::string>;

constexpr int32_t kTtlSeconds = 3;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "tunings: %s\n", why.c_str());
  std::exit(1);
}

void Require(const Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

uint64_t NextRandom(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "key%013llu", static_cast<unsigned long long>(i));
  return key;
}

// Half of the bytes are random.
std::string ValueOf(size_t bytes, uint64_t* random) {
  std::string value(bytes, ' ');
  for (size_t i = 0; i + 8 <= bytes / 2; i += 8) {
    const uint64_t word = NextRandom(random);
    value.replace(i, 8, reinterpret_cast<const char*>(&word), 8);
  }
  return value;
}

struct Run {
  DB* db;
  uint64_t rows;
  uint64_t random;

  uint64_t Row() { return NextRandom(&random) % rows; }
  void Put(const std::string& key, size_t value_bytes) {
    Require(db->Put(WriteOptions(), key, ValueOf(value_bytes, &random)));
  }
  void Get(const std::string& key) {
    PinnableSlice value;
    const Status status = db->Get(ReadOptions(), db->DefaultColumnFamily(), key, &value);
    if (!status.IsNotFound()) Require(status);
  }
  void Scan(const std::string& from, int rows_to_read) {
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    it->Seek(from);
    for (int i = 0; i < rows_to_read && it->Valid(); i++) it->Next();
    Require(it->status());
  }
};

void Load(Run* run, size_t value_bytes) {
  for (uint64_t i = 0; i < run->rows; i++) run->Put(KeyOf(run->Row()), value_bytes);
}

struct Workload {
  size_t loaded_value_bytes;  // 0: the database is empty at first
  void (*operation)(Run* run, uint64_t number);
};

void ReadPoint(Run* run, uint64_t number) {
  const std::string key = KeyOf(run->Row());
  run->Get(number % 10 == 0 ? key + "missing" : key);
}

void ReadRows(Run* run, uint64_t) { run->Scan(KeyOf(run->Row()), 50); }

void Overwrite(Run* run, uint64_t) { run->Put(KeyOf(run->Row()), 100); }

// A row is added at the end; if the queue is long enough, the first one is read and deleted.
void PassQueue(Run* run, uint64_t number) {
  run->Put(KeyOf(number), 100);
  if (number < 10000) return;
  const std::unique_ptr<Iterator> it(run->db->NewIterator(ReadOptions()));
  it->SeekToFirst();
  if (!it->Valid()) Fail("the queue is empty");
  Require(run->db->Delete(WriteOptions(), it->key()));
}

// A thousand series of which each gets a value in turn; the last values of one are read sometimes.
void AddToSeries(Run* run, uint64_t number) {
  constexpr uint64_t kSeries = 1000;
  const uint64_t series = number % kSeries, time = number / kSeries;
  run->Put(KeyOf(series) + KeyOf(time), 50);
  if (number % 50 == 0) run->Scan(KeyOf(series) + KeyOf(time < 100 ? 0 : time - 100), 100);
}

void MixLargeValues(Run* run, uint64_t number) {
  const std::string key = KeyOf(run->Row() % (run->rows / 50 + 1));
  if (number % 2 == 0) return run->Put(key, 16 << 10);
  run->Get(key);
}

const std::map<std::string, Workload> kWorkloads = {
    {"points", {100, ReadPoint}}, {"scans", {100, ReadRows}},   {"overwrites", {100, Overwrite}},
    {"queue", {0, PassQueue}},    {"series", {0, AddToSeries}}, {"large", {0, MixLargeValues}}};

Options MakeOptions(Texts& texts) {
  Options options;
  const std::string intent = texts["intent"];
  if (intent == "server") options = Options::for_intent(Options::kServer);
  if (intent == "embedded") options = Options::for_intent(Options::kEmbedded);
  if (intent == "low_memory") options = Options::for_intent(Options::kLowMemory);
  options.create_if_missing = true;
  const ashlar::ConfigOptions config;
  if (!texts["table"].empty()) {
    ashlar::BlockBasedTableOptions table;
    Require(ashlar::GetBlockBasedTableOptionsFromString(config, table, texts["table"], &table));
    options.table_factory.reset(ashlar::NewBlockBasedTableFactory(table));
  }
  Require(ashlar::GetOptionsFromString(config, options, texts["options"], &options));
  return options;
}

Texts ParseFlags(int argc, char** argv) {
  Texts texts{{"db", ""},    {"workload", ""},    {"intent", ""},  {"options", ""},
              {"table", ""}, {"rows", "1000000"}, {"seconds", "5"}};
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const bool is_flag = argument.rfind("--", 0) == 0 && equals != std::string::npos;
    if (!is_flag || texts.count(argument.substr(2, equals - 2)) == 0) {
      Fail("no such flag: " + argument);
    }
    texts[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
  }
  if (texts["db"].empty()) Fail("--db=FOLDER is missing");
  if (kWorkloads.count(texts["workload"]) == 0) Fail("--workload is one of those named above");
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  Texts texts = ParseFlags(argc, argv);
  const Options options = MakeOptions(texts);
  std::unique_ptr<DB> db;
  if (texts["workload"] == "series") {
    ashlar::DBWithTTL* with_ttl = nullptr;
    Require(ashlar::DBWithTTL::Open(options, texts["db"], &with_ttl, kTtlSeconds));
    db.reset(with_ttl);
  } else {
    Require(DB::Open(options, texts["db"], &db));
  }
  Run run{db.get(), std::strtoull(texts["rows"].c_str(), nullptr, 10), 7};
  const Workload& workload = kWorkloads.at(texts["workload"]);
  if (workload.loaded_value_bytes != 0) Load(&run, workload.loaded_value_bytes);
  Require(db->WaitForCompact(ashlar::WaitForCompactOptions()));
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + std::chrono::seconds(std::atoi(texts["seconds"].c_str()));
  uint64_t operations = 0;
  constexpr uint64_t kBetweenLooksAtTheClock = 64;
  while (operations % kBetweenLooksAtTheClock != 0 || Clock::now() < end) {
    workload.operation(&run, operations++);
  }
  Require(db->WaitForCompact(ashlar::WaitForCompactOptions()));
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf("%s: %.0f ops/sec\n", texts["workload"].c_str(),
              static_cast<double>(operations) / seconds);
  Require(db->Close());
  return 0;
}
