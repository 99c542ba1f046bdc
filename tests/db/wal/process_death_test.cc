// SPDX-License-Identifier: Apache-2.0
//
// A process is killed while its threads write a log. Every acknowledged record is in the file, what
// is there is a prefix of the order of reservation, and nothing intact lies behind the end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "db/wal/wal_sink.h"
#include "env/file_util.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/forked_child.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr int kThreads = 3;

// Shared by both processes.
struct Board {
  std::atomic<uint64_t> acknowledged{0};  // all records with a smaller number were delivered
};

std::string RecordOf(uint64_t number) {
  std::string record(8, '\0');
  EncodeFixed64(record.data(), number);
  Random64 random(number);
  record.append(random.OneIn(20) ? random.Uniform(90000) : random.Uniform(300),
                static_cast<char>(number));
  return record;
}

// Writes records 0, 1, 2, ... from several threads until it is killed.
[[noreturn]] void WriteForever(const WalSinkOptions& options, Board* board) {
  auto sink = OpenWalSink(options);
  if (!sink.ok()) _exit(1);
  std::mutex mutex;
  uint64_t next = 0;
  const auto write = [&] {
    while (true) {
      uint64_t number;
      WalSink::Range range;
      std::string record;
      {
        std::lock_guard<std::mutex> lock(mutex);
        number = next++;
        record = RecordOf(number);
        range = (*sink)->Reserve(record.size());
      }
      const Slice head(record.data(), 8), body(record.data() + 8, record.size() - 8);
      Status status = (*sink)->Stage(range, head, body);
      if (status.ok()) status = (*sink)->Deliver(range.end);
      if (!status.ok()) _exit(1);
      // Delivery covers every record before it.
      uint64_t seen = board->acknowledged.load();
      while (seen < number + 1 && !board->acknowledged.compare_exchange_weak(seen, number + 1)) {
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(write);
  for (std::thread& thread : threads) thread.join();
  _exit(1);
}

void CheckLog(const std::string& path, uint64_t acknowledged) {
  auto bytes = ReadWholeFile(FileSystem::Default().get(), path);
  ASSERT_OK(bytes);
  const LogContents tolerant =
      ReadLog(*bytes, WALRecoveryMode::kTolerateCorruptedTailRecords, /*log_number=*/5);
  EXPECT_TRUE(tolerant.damages.empty());
  ASSERT_GE(tolerant.records.size(), acknowledged);
  for (uint64_t number = 0; number < tolerant.records.size(); ++number) {
    ASSERT_EQ(tolerant.records[number], RecordOf(number));
  }
  const LogContents strict = ReadLog(*bytes, WALRecoveryMode::kPointInTimeRecovery, 5);
  EXPECT_EQ(strict.records.size(), tolerant.records.size());
  for (const LogDamage& damage : strict.damages) {
    EXPECT_FALSE(damage.good_record_behind.has_value());
  }
}

TEST(ProcessDeath, LeavesAPrefixThatHoldsEveryAcknowledgedRecord) {
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::string dir = FreshMappableDir("process_death");
  if (dir.empty()) return SkipAsMissing(kMappableFileSystem);
  Random64 random(11);
  for (const bool allow_mapped : {true, false}) {
    for (int round = 0; round < 10; ++round) {
      auto* board = new (memory) Board;
      WalSinkOptions options;
      options.fs = FileSystem::Default().get();
      options.path = dir + "/000005.log";
      options.log_number = 5;
      options.allow_mapped = allow_mapped;
      options.preallocate_bytes = 1 << 20;
      const uint64_t enough = 1 + random.Uniform(400);
      const pid_t child = fork();
      if (child == 0) WriteForever(options, board);
      ASSERT_GT(child, 0);
      int status = 0;
      bool is_alive = true;
      while (is_alive && board->acknowledged.load() < enough) {
        std::this_thread::yield();
        is_alive = waitpid(child, &status, WNOHANG) == 0;
      }
      if (is_alive) {
        kill(child, SIGKILL);
        ASSERT_EQ(waitpid(child, &status, 0), child);
      }
      ASSERT_TRUE(WasKilled(status)) << "the child ended by itself: " << status;
      const uint64_t acknowledged = board->acknowledged.load();
      EXPECT_GE(acknowledged, enough);
      ASSERT_NO_FATAL_FAILURE(CheckLog(options.path, acknowledged));
    }
  }
  munmap(memory, sizeof(Board));
}

}  // namespace
}  // namespace ashlar
