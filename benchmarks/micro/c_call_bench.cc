// SPDX-License-Identifier: Apache-2.0
//
// What a call through the C API costs more than the same C++ call on the same database. Rounds of
// both alternate, so that a change of the machine's speed meets both; the counters are the medians
// of the rounds, in nanoseconds per call. `extra_ns` should be at most 20; a line that exceeds it
// says so.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/c.h"
#include "ashlar/db.h"
#include "capi/handles.h"

namespace ashlar {
namespace {

constexpr int kKeys = 1000;
constexpr int kCallsPerRound = 1000;
constexpr double kMostExtraNs = 20;

void Require(bool is_right) {
  if (!is_right) std::abort();
}

// A database in memory, small enough for the caches of the processor.
class Database {
 public:
  Database() : env_(ashlar_create_mem_env()), options_(ashlar_options_create()) {
    ashlar_options_set_create_if_missing(options_, 1);
    ashlar_options_set_env(options_, env_);
    char* error = nullptr;
    db_ = ashlar_open(options_, "/c_call_bench", &error);
    Require(error == nullptr);
    for (int i = 0; i < kKeys; ++i) {
      keys_.push_back("key" + std::to_string(1000000 + i));
      Require(db_->rep->Put(WriteOptions(), keys_.back(), value_).ok());
    }
    ashlar_writeoptions_disable_WAL(write_, 1);
  }
  ~Database() {
    ashlar_close(db_);
    ashlar_readoptions_destroy(read_);
    ashlar_writeoptions_destroy(write_);
    ashlar_options_destroy(options_);
    ashlar_env_destroy(env_);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  DB* cxx() { return db_->rep; }
  ashlar_t* c() { return db_; }
  const ReadOptions& cxx_read() const { return read_->rep; }
  const ashlar_readoptions_t* c_read() const { return read_; }
  const WriteOptions& cxx_write() const { return write_->rep; }
  const ashlar_writeoptions_t* c_write() const { return write_; }
  const std::string& value() const { return value_; }
  const std::string& NextKey() {
    next_ = next_ + 1 < keys_.size() ? next_ + 1 : 0;
    return keys_[next_];
  }

 private:
  const std::string value_ = std::string(100, 'v');
  ashlar_env_t* const env_;
  ashlar_options_t* const options_;
  ashlar_readoptions_t* const read_ = ashlar_readoptions_create();
  ashlar_writeoptions_t* const write_ = ashlar_writeoptions_create();
  ashlar_t* db_ = nullptr;
  std::vector<std::string> keys_;
  size_t next_ = 0;
};

double MedianOf(std::vector<double>* times) {
  const auto middle = times->begin() + static_cast<std::ptrdiff_t>(times->size() / 2);
  std::nth_element(times->begin(), middle, times->end());
  return *middle;
}

// The nanoseconds of one of kCallsPerRound calls.
template <typename Call>
double TimeRound(const Call& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCallsPerRound; ++i) call();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / kCallsPerRound;
}

template <typename CxxCall, typename CCall>
void Compare(benchmark::State& state, const CxxCall& cxx, const CCall& c) {
  std::vector<double> cxx_times, c_times;
  for (auto _ : state) {
    cxx_times.push_back(TimeRound(cxx));
    c_times.push_back(TimeRound(c));
  }
  const double cxx_ns = MedianOf(&cxx_times), c_ns = MedianOf(&c_times);
  state.counters["cxx_ns"] = cxx_ns;
  state.counters["c_ns"] = c_ns;
  state.counters["extra_ns"] = c_ns - cxx_ns;
  if (c_ns - cxx_ns > kMostExtraNs) state.SetLabel("more than the limit");
}

// The C function returns a copy of its own, so the C++ call fills a new string.
void BM_Get(benchmark::State& state) {
  Database db;
  Compare(
      state,
      [&db] {
        std::string value;
        Require(db.cxx()->Get(db.cxx_read(), db.NextKey(), &value).ok());
        benchmark::DoNotOptimize(value.data());
      },
      [&db] {
        const std::string& key = db.NextKey();
        size_t length = 0;
        char* error = nullptr;
        char* const value =
            ashlar_get(db.c(), db.c_read(), key.data(), key.size(), &length, &error);
        Require(error == nullptr && value != nullptr);
        ashlar_free(value);
      });
}
BENCHMARK(BM_Get);

void BM_GetPinned(benchmark::State& state) {
  Database db;
  Compare(
      state,
      [&db] {
        PinnableSlice value;
        Require(db.cxx()
                    ->Get(db.cxx_read(), db.cxx()->DefaultColumnFamily(), db.NextKey(), &value)
                    .ok());
        benchmark::DoNotOptimize(value.data());
      },
      [&db] {
        const std::string& key = db.NextKey();
        char* error = nullptr;
        ashlar_pinnableslice_t* const value =
            ashlar_get_pinned(db.c(), db.c_read(), key.data(), key.size(), &error);
        Require(error == nullptr && value != nullptr);
        ashlar_pinnableslice_destroy(value);
      });
}
BENCHMARK(BM_GetPinned);

void BM_GetIntoBuffer(benchmark::State& state) {
  Database db;
  char buffer[256];
  Compare(
      state,
      [&db, &buffer] {
        PinnableSlice value;
        Require(db.cxx()
                    ->Get(db.cxx_read(), db.cxx()->DefaultColumnFamily(), db.NextKey(), &value)
                    .ok());
        Require(value.size() <= sizeof(buffer));
        std::memcpy(buffer, value.data(), value.size());
        benchmark::ClobberMemory();
      },
      [&db, &buffer] {
        const std::string& key = db.NextKey();
        size_t length = 0;
        unsigned char is_found = 0;
        char* error = nullptr;
        Require(ashlar_get_into_buffer(db.c(), db.c_read(), key.data(), key.size(), buffer,
                                       sizeof(buffer), &length, &is_found, &error) != 0);
      });
}
BENCHMARK(BM_GetIntoBuffer);

void BM_Put(benchmark::State& state) {
  Database db;
  Compare(
      state, [&db] { Require(db.cxx()->Put(db.cxx_write(), db.NextKey(), db.value()).ok()); },
      [&db] {
        const std::string& key = db.NextKey();
        char* error = nullptr;
        ashlar_put(db.c(), db.c_write(), key.data(), key.size(), db.value().data(),
                   db.value().size(), &error);
        Require(error == nullptr);
      });
}
BENCHMARK(BM_Put);

void BM_BatchPut(benchmark::State& state) {
  Database db;
  WriteBatch cxx;
  ashlar_writebatch_t* const c = ashlar_writebatch_create();
  Compare(
      state,
      [&] {
        if (cxx.Count() == kKeys) cxx.Clear();
        Require(cxx.Put(db.NextKey(), db.value()).ok());
      },
      [&] {
        if (ashlar_writebatch_count(c) == kKeys) ashlar_writebatch_clear(c);
        const std::string& key = db.NextKey();
        ashlar_writebatch_put(c, key.data(), key.size(), db.value().data(), db.value().size());
      });
  ashlar_writebatch_destroy(c);
}
BENCHMARK(BM_BatchPut);

// A step, with the entry that it reaches.
void BM_Next(benchmark::State& state) {
  Database db;
  const std::unique_ptr<Iterator> cxx(db.cxx()->NewIterator(db.cxx_read()));
  ashlar_iterator_t* const c = ashlar_create_iterator(db.c(), db.c_read());
  Compare(
      state,
      [&cxx] {
        cxx->Valid() ? cxx->Next() : cxx->SeekToFirst();
        if (!cxx->Valid()) return;
        benchmark::DoNotOptimize(cxx->key().data());
        benchmark::DoNotOptimize(cxx->value().data());
      },
      [c] {
        ashlar_iter_valid(c) != 0 ? ashlar_iter_next(c) : ashlar_iter_seek_to_first(c);
        if (ashlar_iter_valid(c) == 0) return;
        size_t length = 0;
        benchmark::DoNotOptimize(ashlar_iter_key(c, &length));
        benchmark::DoNotOptimize(ashlar_iter_value(c, &length));
      });
  ashlar_iter_destroy(c);
}
BENCHMARK(BM_Next);

}  // namespace
}  // namespace ashlar
