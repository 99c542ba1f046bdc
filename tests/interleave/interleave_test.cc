// SPDX-License-Identifier: Apache-2.0
//
// The explorer itself: it runs every order once, and finds the classic mistakes.
#include "tests/interleave/interleave.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "util/threads/mutex.h"

namespace ashlar::interleave {
namespace {

struct Two {
  std::atomic<int> a{0}, b{0};
  int seen_a = -1, seen_b = -1;
};

TEST(Explore, RunsEveryOrderOfTwoThreadsOnce) {
  auto orders = std::make_shared<std::multiset<std::string>>();
  const Outcome outcome = Explore({.preemptions = 4}, [orders] {
    auto order = std::make_shared<std::string>();
    auto turn = std::make_shared<std::atomic<int>>(0);
    const auto act = [order, turn](char name) {
      for (int i = 0; i < 2; i++) {
        turn->fetch_add(1, std::memory_order_relaxed);
        *order += name;
      }
    };
    return Scenario{.threads = {[act] { act('a'); }, [act] { act('b'); }},
                    .check = [order, orders] { orders->insert(*order); }};
  });
  EXPECT_EQ(outcome.failure, "");
  // 4 over 2 orders. A run may be interrupted before the first operation of a thread, or after the
  // last one, so some orders come about in more than one way; the warm-up adds one.
  const std::set<std::string> distinct(orders->begin(), orders->end());
  EXPECT_EQ(distinct.size(), 6u);
  EXPECT_EQ(orders->size(), outcome.interleavings + 1);
}

TEST(Explore, FindsALostUpdate) {
  const auto scenario = [] {
    auto count = std::make_shared<std::atomic<int>>(0);
    const auto add = [count] { count->store(count->load() + 1); };
    return Scenario{.threads = {add, add}, .check = [count] { Require(*count == 2, "two"); }};
  };
  EXPECT_EQ(Explore({.preemptions = 0}, scenario).failure, "");
  EXPECT_NE(Explore({.preemptions = 1}, scenario).failure, "");
}

Scenario StoreThenLoad(std::memory_order order) {
  auto two = std::make_shared<Two>();
  return {.threads = {[two, order] {
                        two->a.store(1, order);
                        two->seen_b = two->b.load();
                      },
                      [two, order] {
                        two->b.store(1, order);
                        two->seen_a = two->a.load();
                      }},
          .check = [two] { Require(two->seen_a == 1 || two->seen_b == 1, "one saw the other"); }};
}

TEST(Explore, FindsStoreBufferErrors) {
  const auto released = [] { return StoreThenLoad(std::memory_order_release); };
  EXPECT_EQ(Explore({.preemptions = 3}, released).failure, "");
  EXPECT_NE(Explore({.preemptions = 2, .delays_stores = true}, released).failure, "");
  const auto sequential = [] { return StoreThenLoad(std::memory_order_seq_cst); };
  EXPECT_EQ(Explore({.preemptions = 3, .delays_stores = true}, sequential).failure, "");
}

TEST(Explore, FindsALostWakeUp) {
  struct Gate {
    Mutex mutex{LockRank::kLeaf};
    CondVar changed{&mutex};
    std::atomic<bool> is_open{false};
  };
  const auto scenario = [](bool with_lock) {
    auto gate = std::make_shared<Gate>();
    return Scenario{.threads = {[gate] {
                                  MutexLock lock(&gate->mutex);
                                  while (!gate->is_open.load()) gate->changed.Wait();
                                },
                                [gate, with_lock] {
                                  gate->is_open.store(true);
                                  if (with_lock) {
                                    MutexLock lock(&gate->mutex);
                                    gate->changed.SignalAll();
                                  } else {
                                    gate->changed.SignalAll();
                                  }
                                }}};
  };
  EXPECT_EQ(Explore({}, [&] { return scenario(true); }).failure, "");
  EXPECT_TRUE(Explore({}, [&] { return scenario(false); }).failure.starts_with("deadlock"));
}

// The first three loads are points; then the loop goes to sleep.
TEST(Explore, CountsASpinningLoopAsOneLoad) {
  const auto scenario = [] {
    auto flag = std::make_shared<std::atomic<uint64_t>>(0);
    return Scenario{.threads = {[flag] {
                                  for (int i = 0; i < 1000; i++) {
                                    if (flag->load() != 0) return;
                                  }
                                  while (flag->load() == 0) flag->wait(0);
                                },
                                [flag] {
                                  flag->store(1);
                                  flag->notify_all();
                                }}};
  };
  const Outcome outcome = Explore({.preemptions = 2}, scenario);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_LT(outcome.interleavings, 1000u);
}

TEST(Explore, AThreadThatIgnoresYieldsOvertakesAnother) {
  const auto scenario = [] {
    auto two = std::make_shared<Two>();
    return Scenario{.threads = {[two] {
                                  const int a = two->a.load();
                                  Require(two->b.load() <= a, "no other thread ran in between");
                                },
                                [two] {
                                  std::this_thread::yield();
                                  two->a.store(1);
                                  std::this_thread::yield();
                                  two->b.store(1);
                                }},
                    .check = nullptr};
  };
  const auto first = [&](int passed_over) {
    return Explore({.preemptions = 1, .ignored_yields = passed_over}, scenario);
  };
  EXPECT_EQ(first(1).failure, "");
  EXPECT_NE(first(2).failure, "");
}

}  // namespace
}  // namespace ashlar::interleave
