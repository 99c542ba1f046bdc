// SPDX-License-Identifier: Apache-2.0
//
// ThreadObject: one object for each thread, deleted when the thread ends, and available even after
// that.
#include "util/threads/thread_object.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ashlar {
namespace {

struct Counted {
  Counted() { made.fetch_add(1); }
  ~Counted() {
    is_alive = false;
    freed.fetch_add(1);
  }
  bool is_alive = true;
  static inline std::atomic<int> made{0}, freed{0};
};

TEST(ThreadObject, IsOneForEachThreadAndGoesWithIt) {
  const int made = Counted::made, freed = Counted::freed;
  std::thread([] {
    EXPECT_EQ(&ThreadObject<Counted>::Get(), &ThreadObject<Counted>::Get());
  }).join();
  EXPECT_EQ(Counted::made, made + 1);
  EXPECT_EQ(Counted::freed, freed + 1);
}

std::atomic<bool> was_alive_late{false};

struct AsksAtItsEnd {
  ~AsksAtItsEnd() { was_alive_late = ThreadObject<Counted>::Get().is_alive; }
};

// A thread_local object that was created earlier is destroyed after the point at which a
// thread_local Counted would have been.
TEST(ThreadObject, IsThereInDestructorsOfThreadLocalObjects) {
  const int made = Counted::made, freed = Counted::freed;
  std::thread([] {
    thread_local AsksAtItsEnd late;
    (void)&late;
    (void)ThreadObject<Counted>::Get();
  }).join();
  EXPECT_TRUE(was_alive_late);
  EXPECT_EQ(Counted::made - made, Counted::freed - freed);
}

}  // namespace
}  // namespace ashlar
