// SPDX-License-Identifier: Apache-2.0
//
// How long does it take to open a database that was killed with much data in its log? Rows are put
// in random order, all into one memtable; then the process ends without closing, and another one
// opens the database with a write buffer of common size. Reports that time, and checks that the
// last row is found.
//
//   open_log --db=FOLDER [--log_mb=2048] [--value_bytes=400] [--write_buffer_mb=64]
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

constexpr uint64_t kMiB = 1 << 20;

std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const std::string& folder) {
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, folder, &opened), "open");
  return std::unique_ptr<rocksdb::DB>(opened);
}

// Runs in a child process, which never closes the database.
void FillAndDie(rocksdb::Options options, const Flags& flags, uint64_t rows) {
  options.write_buffer_size = 4 * flags["log_mb"] * kMiB;
  options.max_total_wal_size = options.write_buffer_size;
  std::unique_ptr<rocksdb::DB> db = Open(options, flags.db());
  client::Random random(1);
  std::string value(flags["value_bytes"], 'v');
  for (uint64_t i = 0; i < rows; i++) {
    for (size_t byte = 0; byte < value.size() / 2; byte++) {
      value[byte] = static_cast<char>(random.Next());
    }
    Require(db->Put(rocksdb::WriteOptions(), KeyOf(random.Uniform(rows)), value), "put");
  }
  Require(db->Put(rocksdb::WriteOptions(), "last", "row"), "put");
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"log_mb", 2048}, {"value_bytes", 400}, {"write_buffer_mb", 64}}, argc, argv);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = flags["write_buffer_mb"] * kMiB;
  const uint64_t rows = flags["log_mb"] * kMiB / (flags["value_bytes"] + 40);
  const pid_t child = fork();
  if (child == 0) FillAndDie(options, flags, rows);
  int state = 0;
  if (waitpid(child, &state, 0) != child || !WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    client::Fail("the process that fills the log failed");
  }
  const Clock::time_point begin = Clock::now();
  const std::unique_ptr<rocksdb::DB> db = Open(options, flags.db());
  client::Report("open", std::chrono::duration<double, std::milli>(Clock::now() - begin).count(),
                 "ms");
  std::string value;
  Require(db->Get(rocksdb::ReadOptions(), "last", &value), "get");
  if (value != "row") client::Fail("not the last row: " + value);
  return 0;
}
