// SPDX-License-Identifier: Apache-2.0
//
// How long does a secondary take to catch up with a primary that has worked without it? Reports
// three times: behind many small flushes and the compactions of their tables, behind much log in
// one memtable, and where nothing is new. Checks that the last row is found each time.
//
//   catch_up --db=FOLDER [--flushes=2000] [--log_mb=1024] [--value_bytes=400] [--idle_calls=1000]
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"

#include "benchmarks/clients/client.h"

namespace {

using client::Clock;
using client::Flags;
using client::KeyOf;
using client::Require;

constexpr uint64_t kMiB = 1 << 20;

double MillisSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// A pipe over which one process tells the other that a step is done.
class Signal {
 public:
  Signal() {
    if (pipe(ends_) != 0) client::Fail("pipe");
  }
  void Give() {
    if (write(ends_[1], "x", 1) != 1) client::Fail("write to the other process");
  }
  void Await() {
    char byte = 0;
    if (read(ends_[0], &byte, 1) != 1) client::Fail("the other process has ended");
  }

 private:
  int ends_[2];
};

// The primary, in a child process: each step after the parent asks for it.
void RunPrimary(rocksdb::Options options, const Flags& flags, Signal* ask, Signal* done) {
  options.create_if_missing = true;
  options.write_buffer_size = 4 * flags["log_mb"] * kMiB;
  options.max_total_wal_size = options.write_buffer_size;
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, flags.db(), &opened), "open");
  const std::unique_ptr<rocksdb::DB> db(opened);
  done->Give();
  const rocksdb::WriteOptions write;
  client::Random random(1);

  ask->Await();
  for (uint64_t i = 0; i < flags["flushes"]; i++) {
    for (int k = 0; k < 10; k++) Require(db->Put(write, KeyOf(random.Uniform(10000)), "v"), "put");
    Require(db->Flush(rocksdb::FlushOptions()), "flush");
  }
  Require(db->Put(write, "last", "flush"), "put");
  Require(db->Flush(rocksdb::FlushOptions()), "flush");
  done->Give();

  ask->Await();
  std::string value(flags["value_bytes"], 'v');
  const uint64_t rows = flags["log_mb"] * kMiB / (flags["value_bytes"] + 40);
  for (uint64_t i = 0; i < rows; i++) {
    for (size_t byte = 0; byte < value.size() / 2; byte++) {
      value[byte] = static_cast<char>(random.Next());
    }
    Require(db->Put(write, KeyOf(random.Uniform(rows)), value), "put");
  }
  Require(db->Put(write, "last", "row"), "put");
  done->Give();
  ask->Await();  // stays until the parent is done
}

double CatchUp(rocksdb::DB* secondary, const char* last) {
  const Clock::time_point begin = Clock::now();
  Require(secondary->TryCatchUpWithPrimary(), "catch up");
  const double millis = MillisSince(begin);
  std::string value;
  Require(secondary->Get(rocksdb::ReadOptions(), "last", &value), "get");
  if (value != last) client::Fail("not the last row: " + value);
  return millis;
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags(
      {{"flushes", 2000}, {"log_mb", 1024}, {"value_bytes", 400}, {"idle_calls", 1000}}, argc,
      argv);
  rocksdb::Options options;
  Signal ask, done;
  const pid_t child = fork();
  if (child == 0) {
    RunPrimary(options, flags, &ask, &done);
    _exit(0);
  }
  done.Await();
  options.max_open_files = -1;
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::OpenAsSecondary(options, flags.db(), flags.db() + ".secondary", &opened),
          "open as a secondary");
  const std::unique_ptr<rocksdb::DB> secondary(opened);

  ask.Give();
  done.Await();
  client::Report("behind_flushes", CatchUp(secondary.get(), "flush"), "ms");
  ask.Give();
  done.Await();
  client::Report("behind_log", CatchUp(secondary.get(), "row"), "ms");
  const Clock::time_point begin = Clock::now();
  for (uint64_t i = 0; i < flags["idle_calls"]; i++) CatchUp(secondary.get(), "row");
  client::Report("idle", 1000 * MillisSince(begin) / static_cast<double>(flags["idle_calls"]),
                 "us");
  ask.Give();
  int state = 0;
  if (waitpid(child, &state, 0) != child || !WIFEXITED(state) || WEXITSTATUS(state) != 0) {
    client::Fail("the primary failed");
  }
  return 0;
}
