// SPDX-License-Identifier: Apache-2.0
//
// The measurements of one thread of a benchmark, their sum over threads, and the result line:
//
//   fillseq      :       2.345 micros/op 426439 ops/sec 9.380 seconds 4000000 operations;   47.2
//   MB/s
//
// micros/op is relative to the sum of the times of all threads, ops/sec and MB/s (2^20 bytes) to
// the elapsed time. Also the limits of a benchmark: rates and duration.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "util/statistics/histogram.h"

namespace ashlar {

class DB;

namespace bench {

// Microseconds of a clock that is never set back.
uint64_t NowMicros();

// Writes operations per second to a CSV file at fixed intervals while benchmarks run. Thread-safe.
class Reporter {
 public:
  // Null if the file cannot be created; the reason is on stderr.
  static std::unique_ptr<Reporter> Start(const std::string& path, int64_t interval_seconds);
  ~Reporter();
  void Count(uint64_t operations) { total_.fetch_add(operations, std::memory_order_relaxed); }

 private:
  Reporter(FILE* file, int64_t interval_seconds);
  void Run();

  FILE* const file_;
  const int64_t interval_seconds_;
  // Added to by the threads of benchmarks, read by the thread of the file. Relaxed: a count that is
  // a little late appears in the next line.
  std::atomic<uint64_t> total_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by `mutex_`, as is the wait for it.
  bool stop_ = false;
  // The last member, because the thread uses the others as soon as it is constructed.
  std::thread thread_;
};

enum class Operation { kRead, kWrite, kDelete, kSeek, kMerge, kUpdate, kOther };

// The measurements of one thread, or their sum. Threads: one at a time.
class Stats {
 public:
  Stats() = default;
  // `db`: whose rocksdb.stats are printed with --stats_per_interval, or null.
  void Start(Reporter* reporter, DB* db);
  void Stop() { finish_micros_ = NowMicros(); }

  // Records `count` operations of one kind, which read or wrote `bytes` of user data.
  void Finished(Operation operation, uint64_t count, uint64_t bytes);

  // Excludes a part of the time since the last operation from the time of the current one.
  void ExcludeTime(uint64_t micros) { last_op_micros_ += micros; }

  // Excludes this thread, for example a background writer, from the sum of all threads.
  void Exclude() { excluded_ = true; }
  void AddMessage(const std::string& message);
  void Merge(const Stats& other);
  void PrintResult(const std::string& name) const;

  // Of the sum, as PrintResult() prints them. A benchmark without operations counts as one.
  uint64_t Operations() const { return done_ > 0 ? done_ : 1; }
  double Seconds() const;
  double OperationsPerSecond() const { return static_cast<double>(Operations()) / Seconds(); }
  // MiB of user data; 0 if the benchmark does not count bytes.
  double MbPerSecond() const { return static_cast<double>(bytes_) / 1048576.0 / Seconds(); }

 private:
  void PrintProgress();
  void PrintDbStats() const;
  void AddTime(Operation operation);

  Reporter* reporter_ = nullptr;
  DB* db_ = nullptr;
  uint64_t start_micros_ = 0;
  uint64_t finish_micros_ = 0;
  uint64_t thread_micros_ = 0;   // sum over all threads merged so far
  uint64_t last_op_micros_ = 0;  // when the current operation began; only with --histogram
  uint64_t last_progress_micros_ = 0;
  uint64_t done_ = 0;
  uint64_t next_progress_ = 100;
  uint64_t bytes_ = 0;
  bool excluded_ = false;
  bool is_merged_ = false;
  std::string message_;
  // One for each Operation, made at its first use.
  std::unique_ptr<Histogram> histograms_[7];
};

// The results of a benchmark that is run several times. The lines have the form of those of
// RocksDB's db_bench.
class Repetitions {
 public:
  explicit Repetitions(std::string name) : name_(std::move(name)) {}
  void Add(const Stats& result);
  // The average with its 95 % confidence interval; nothing before the second result.
  void PrintSoFar() const { PrintAverage("AVG"); }
  // The average and the median.
  void PrintEnd() const;

 private:
  bool HasBytes() const { return mb_per_second_.size() == ops_per_second_.size(); }
  void PrintAverage(const char* kind) const;

  const std::string name_;
  std::vector<double> ops_per_second_;
  std::vector<double> mb_per_second_;  // only of results that have bytes
};

// Ends a benchmark after a number of operations, or after --duration seconds if that is set.
class Duration {
 public:
  Duration(int64_t seconds, int64_t operations);
  // Counts the operations that come next; true when there are none to do. With a time limit the
  // clock is read once in a thousand operations.
  bool Done(int64_t increment);

 private:
  const int64_t seconds_;
  const int64_t operations_;
  const uint64_t start_micros_;
  int64_t done_ = 0;
  int64_t next_check_ = 0;
};

// Limits threads to a rate that they share, of bytes or of operations. Threads: any number.
class Pace {
 public:
  // The rate at `seconds` after the construction of the object.
  using RateAt = std::function<double(double seconds)>;

  explicit Pace(double per_second) : per_second_(per_second) {}
  // `rate_at` is called by the first Take() and then every `interval_micros`; rates below 1 count
  // as 1.
  Pace(RateAt rate_at, uint64_t interval_micros);

  // Sleeps until `amount` may be used. At most a tenth of a second of unused rate is saved up.
  void Take(double amount);

 private:
  void UpdateRate(double now_micros);

  const RateAt rate_at_;  // empty: the rate is constant; called with mutex_ held
  const double interval_micros_ = 0;
  const double start_micros_ = 0;
  std::mutex mutex_;
  double per_second_;            // guarded by mutex_
  double next_micros_ = 0;       // guarded by mutex_: when the next amount may be taken
  double next_rate_micros_ = 0;  // guarded by mutex_: when to call rate_at_ again
};

}  // namespace bench
}  // namespace ashlar
