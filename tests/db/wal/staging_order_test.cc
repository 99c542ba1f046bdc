// SPDX-License-Identifier: Apache-2.0
//
// Ranges completed in any order become one order, whoever comes first.
#include "db/wal/staging_order.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "util/random.h"

namespace ashlar {
namespace {

constexpr size_t kRangeBytes = 16;

// The header of range i: a word that is not zero.
LogHeaderStore HeaderFor(std::string* memory, size_t i) {
  LogHeaderStore header;
  header.at = memory->data() + i * kRangeBytes;
  header.word = i + 1;
  return header;
}
uint64_t WordAt(const std::string& memory, size_t i) {
  return DecodeFixed64(memory.data() + i * kRangeBytes);
}

TEST(StagingOrder, ExtendsAtOnceWhatComesInOrder) {
  std::string memory(2 * kRangeBytes, '\0');
  StagingOrder order;
  order.Complete(0, kRangeBytes, HeaderFor(&memory, 0));
  EXPECT_EQ(order.staged_end(), kRangeBytes);
  EXPECT_EQ(WordAt(memory, 0), 1u);
  EXPECT_TRUE(order.WaitUntil(kRangeBytes));
}

TEST(StagingOrder, KeepsHeadersBackUntilAllBeforeAreThere) {
  std::string memory(4 * kRangeBytes, '\0');
  StagingOrder order;
  for (const size_t i : {3, 1, 2}) {
    order.Complete(i * kRangeBytes, (i + 1) * kRangeBytes, HeaderFor(&memory, i));
    EXPECT_EQ(order.staged_end(), 0u);
    EXPECT_EQ(WordAt(memory, i), 0u);
  }
  EXPECT_EQ(order.DebugString(), "staged to 0, early [48, 64), early [16, 32), early [32, 48)");
  order.Complete(0, kRangeBytes, HeaderFor(&memory, 0));
  EXPECT_EQ(order.DebugString(), "staged to 64");
  EXPECT_EQ(order.staged_end(), 4 * kRangeBytes);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(WordAt(memory, i), i + 1);
}

TEST(StagingOrder, StoresAllHeadersOfARange) {
  std::string memory(3 * kRangeBytes, '\0');
  StagingOrder order;
  order.Complete(kRangeBytes, 3 * kRangeBytes,
                 std::vector<LogHeaderStore>{HeaderFor(&memory, 1), HeaderFor(&memory, 2)});
  order.Complete(0, kRangeBytes, std::vector<LogHeaderStore>{HeaderFor(&memory, 0)});
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(WordAt(memory, i), i + 1);
}

TEST(StagingOrder, WakesWaitersOnAbort) {
  StagingOrder order;
  std::thread waiter([&] { EXPECT_FALSE(order.WaitUntil(kRangeBytes)); });
  order.Abort();
  waiter.join();
  EXPECT_TRUE(order.is_aborted());
  EXPECT_EQ(order.DebugString(), "staged to 0, aborted");
}

// Each thread completes every n-th range and now and then waits for it. Run under the thread
// sanitizer too.
TEST(StagingOrder, JoinsTheRangesOfManyThreads) {
  constexpr size_t kThreads = 4, kRanges = 20000;
  std::string memory(kRanges * kRangeBytes, '\0');
  StagingOrder order;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random64 random(t);
      for (size_t i = t; i < kRanges; i += kThreads) {
        order.Complete(i * kRangeBytes, (i + 1) * kRangeBytes, HeaderFor(&memory, i));
        if (!random.OneIn(4)) continue;
        ASSERT_TRUE(order.WaitUntil((i + 1) * kRangeBytes));
        const size_t before = random.Uniform(i + 1);
        ASSERT_EQ(WordAt(memory, before), before + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.staged_end(), kRanges * kRangeBytes);
  for (size_t i = 0; i < kRanges; ++i) ASSERT_EQ(WordAt(memory, i), i + 1);
}

}  // namespace
}  // namespace ashlar
