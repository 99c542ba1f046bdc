// SPDX-License-Identifier: Apache-2.0
//
// Runs the benchmarks of --benchmarks one after the other on one database.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "tools/db_bench/stats.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {

// Opens the database when the first benchmark needs it, and closes it at the end. Without
// --use_existing_db the run begins with an empty database. An error of the database ends the
// process: a measurement after an error would mean nothing. Threads: one.
class Runner {
 public:
  Runner(const Options& options, const std::string& path) : options_(options), path_(path) {}
  ~Runner();

  // Runs all of `names` ("a,b,c"). If one of them cannot be run, nothing is done, the reason is on
  // stderr, and the result is false.
  bool RunAll(const std::string& names);

 private:
  // An entry of --benchmarks.
  struct Entry {
    std::string name;
    const Workload* workload = nullptr;  // null: a command
    int warmups = 0;                     // runs before those that count
    int repeats = 1;
  };

  static bool ParseEntry(const std::string& text, Entry* entry);
  bool IsAllowed(const Entry& entry) const;
  void RunOne(const Entry& entry);
  void RunCommand(const std::string& name);
  // Starts the threads, waits for them, adds up their measurements, prints the line of the result
  // and returns the sum.
  Stats RunWorkload(const Workload& workload);
  void StartEmpty();
  void Open();
  void Close();  // no effect if the database is not open
  void PrintProperty(const char* name);
  void PrintMemtableProperties();

  const Options options_;
  const std::string path_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> families_;  // empty while the database is closed
  std::unique_ptr<Reporter> reporter_;
  // Workloads that were run, so that each has other random numbers.
  uint64_t runs_ = 0;
};

}  // namespace bench
}  // namespace ashlar
