// SPDX-License-Identifier: Apache-2.0
//
// What one thread of a benchmark measured, how several are added up, and the result line:
//
//   fillseq      :       2.345 micros/op 426439 ops/sec 9.380 seconds 4000000 operations;   47.2
//   MB/s
//
// micros/op counts the time of all threads, ops/sec and MB/s (of 2^20 bytes) the time on the clock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tools/db_bench/histogram.h"

namespace ashlar {

class DB;

namespace bench {

uint64_t NowMicros();

// Writes operations per second to a CSV file at fixed intervals while benchmarks run. Thread-safe.
class Reporter {
 public:
  // Null if the file cannot be made; the reason goes to stderr.
  static std::unique_ptr<Reporter> Start(const std::string& path, int64_t interval_seconds);
  ~Reporter();
  void Count(uint64_t operations) { total_.fetch_add(operations, std::memory_order_relaxed); }

 private:
  Reporter(FILE* file, int64_t interval_seconds);
  void Run();

  FILE* const file_;
  const int64_t interval_seconds_;
  std::atomic<uint64_t> total_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

enum class Operation { kRead, kWrite, kDelete, kSeek, kMerge, kUpdate, kOther };

class Stats {
 public:
  Stats() = default;
  // `db`: whose rocksdb.stats are printed with --stats_per_interval, or null.
  void Start(Reporter* reporter, DB* db);
  void Stop() { finish_micros_ = NowMicros(); }

  // `count` operations of one kind are done, `bytes` of user data moved.
  void Finished(Operation operation, uint64_t count, uint64_t bytes);

  // So much of the time since the last operation is no part of the one that is under way.
  void LeaveOut(uint64_t micros) { last_op_micros_ += micros; }

  // The thread's numbers are left out of the sum (a background writer, for example).
  void Exclude() { excluded_ = true; }
  void AddMessage(const std::string& message);
  void Merge(const Stats& other);
  void PrintResult(const std::string& name) const;

 private:
  void PrintProgress();
  void PrintDbStats() const;
  void AddTime(Operation operation);

  Reporter* reporter_ = nullptr;
  DB* db_ = nullptr;
  uint64_t start_micros_ = 0;
  uint64_t finish_micros_ = 0;
  uint64_t thread_micros_ = 0;   // of all threads merged so far
  uint64_t last_op_micros_ = 0;  // from when the next one is timed; only with --histogram
  uint64_t last_progress_micros_ = 0;
  uint64_t done_ = 0;
  uint64_t next_progress_ = 100;
  uint64_t bytes_ = 0;
  bool excluded_ = false;
  bool is_merged_ = false;
  std::string message_;
  std::unique_ptr<Histogram> histograms_[7];
};

// Ends a benchmark after a number of operations, or after --duration seconds if that is set.
class Duration {
 public:
  Duration(int64_t seconds, int64_t operations);
  bool Done(int64_t increment);

 private:
  const int64_t seconds_;
  const int64_t operations_;
  const uint64_t start_micros_;
  int64_t done_ = 0;
  int64_t next_check_ = 0;
};

}  // namespace bench
}  // namespace ashlar
