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

class Runner {
 public:
  Runner(const Options& options, const std::string& path) : options_(options), path_(path) {}
  ~Runner();

  // Runs all of `names` ("a,b,c"). Stops at the first that cannot be run and returns false; the
  // reason is on stderr.
  bool RunAll(const std::string& names);

 private:
  bool RunOne(const std::string& name);
  bool RunCommand(const std::string& name);
  void RunWorkload(const Workload& workload);
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
  uint64_t runs_ = 0;
};

}  // namespace bench
}  // namespace ashlar
