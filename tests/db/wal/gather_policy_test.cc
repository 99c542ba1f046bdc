// SPDX-License-Identifier: Apache-2.0
//
// How long whoever syncs a log waits for others, and that waiting costs nothing but time.
#include "db/wal/gather_policy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "db/wal/shared_progress.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

TEST(GatherPolicy, WhoIsAloneNeverWaits) {
  GatherPolicy policy;
  EXPECT_EQ(policy.TakeWaitMicros(), 0u);
  policy.NoteRun(/*others=*/0, /*micros=*/100);
  EXPECT_EQ(policy.TakeWaitMicros(), 0u);
}

TEST(GatherPolicy, WaitsHalfAsLongAsTheOperationTakes) {
  GatherPolicy policy;
  policy.NoteRun(3, 100);
  EXPECT_EQ(policy.others(), 3u);
  EXPECT_EQ(policy.TakeWaitMicros(), 50u);
  policy.NoteWait(/*have_come=*/true);
  policy.NoteRun(3, 1000000);
  EXPECT_EQ(policy.TakeWaitMicros(), 500u) << "threads come back in less, whatever the disk takes";
}

TEST(GatherPolicy, WaitsInVainBecomeRare) {
  GatherPolicy policy;
  policy.NoteRun(1, 100);
  const auto rounds_without = [&] {
    int rounds = 0;
    for (; policy.TakeWaitMicros() == 0; ++rounds) policy.NoteRun(1, 100);
    return rounds;
  };
  EXPECT_EQ(rounds_without(), 0);
  for (const int expected : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024}) {
    policy.NoteWait(/*have_come=*/false);
    EXPECT_EQ(rounds_without(), expected);
  }
  policy.NoteWait(/*have_come=*/true);
  EXPECT_EQ(rounds_without(), 0);
  policy.NoteWait(/*have_come=*/false);
  EXPECT_EQ(rounds_without(), 1);
}

// Threads that come in a loop, and leave it one after the other.
TEST(SharedProgress, WhoGathersLeavesNobodyWaiting) {
  constexpr int kThreads = 6;
  SharedProgress progress;
  std::atomic<uint64_t> written{0};
  uint64_t covered = 0;  // by whoever runs
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 100 * (thread + 1); ++i) {
        const uint64_t end = ++written;
        EXPECT_OK(progress.Reach(
            end, [&] { return written.load(); },
            [&](uint64_t from, uint64_t to) {
              EXPECT_EQ(from, covered);
              covered = to;
              std::this_thread::yield();
              return Status::OK();
            },
            /*gathers=*/true));
        EXPECT_GE(progress.done(), end);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(progress.done(), 100u * kThreads * (kThreads + 1) / 2);
  EXPECT_EQ(covered, progress.done());
}

TEST(SharedProgress, AnErrorReachesAllWhoGather) {
  constexpr int kThreads = 4;
  SharedProgress progress;
  std::atomic<uint64_t> written{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      Status status;
      while (status.ok()) {
        const uint64_t end = ++written;
        status = progress.Reach(
            end, [&] { return written.load(); },
            [](uint64_t, uint64_t to) {
              return to < 1000 ? Status::OK() : Status::IOError("disk");
            },
            /*gathers=*/true);
      }
      EXPECT_TRUE(status.IsIOError());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(progress.error().IsIOError());
}

}  // namespace
}  // namespace ashlar
