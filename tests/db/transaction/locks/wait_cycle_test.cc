// SPDX-License-Identifier: Apache-2.0
//
// The search for a cycle against brute force, in random graphs.
#include "db/transaction/locks/wait_cycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "util/random.h"

namespace ashlar {
namespace {

// Owners 1 to n; bit j of waits[i]: i waits for j.
struct TestGraph final : WaitGraph {
  bool GetBlockers(const WaitNode& waiting, bool* detects,
                   std::vector<WaitNode>* blockers) override {
    visits++;
    *detects = (detecting >> waiting.id & 1) != 0;
    for (TransactionID id = 1; id <= count; id++) {
      if ((waits[waiting.id] >> id & 1) != 0 && waits[id] != 0) blockers->push_back({id, 0});
    }
    return waits[waiting.id] != 0;
  }

  // The owners that can be reached from `from` by one step or more.
  uint32_t ReachableFrom(TransactionID from) const {
    uint32_t reached = waits[from];
    while (true) {
      uint32_t next = reached;
      for (TransactionID id = 1; id <= count; id++) {
        if ((reached >> id & 1) != 0) next |= waits[id];
      }
      if (next == reached) return reached;
      reached = next;
    }
  }
  // Whether a closed walk through `start` has a member that detects deadlocks.
  bool HasCycle(TransactionID start) const {
    const uint32_t reached = ReachableFrom(start);
    for (TransactionID id = 1; id <= count; id++) {
      const bool is_on_it = (reached >> id & 1) != 0 && (ReachableFrom(id) >> start & 1) != 0;
      if (is_on_it && (detecting >> id & 1) != 0) return true;
    }
    return false;
  }
  // Whether each one waits for the next one, all are different, and one detects deadlocks.
  bool IsCycle(const std::vector<WaitNode>& path) const {
    uint32_t seen = 0;
    for (size_t i = 0; i < path.size(); i++) {
      const TransactionID id = path[i].id;
      if ((waits[id] >> path[(i + 1) % path.size()].id & 1) == 0) return false;
      if ((seen >> id & 1) != 0) return false;
      seen |= 1u << id;
    }
    return (seen & detecting) != 0;
  }

  TransactionID count = 0;
  uint32_t waits[12] = {};
  uint32_t detecting = 0;
  int64_t visits = 0;
};

TestGraph RandomGraph(Random64* random) {
  TestGraph graph;
  graph.count = 2 + random->Uniform(8);
  const uint64_t density = 1 + random->Uniform(8);
  for (TransactionID i = 1; i <= graph.count; i++) {
    for (TransactionID j = 1; j <= graph.count; j++) {
      if (i != j && random->OneIn(density)) graph.waits[i] |= 1u << j;
    }
  }
  const uint64_t how_many = random->Uniform(3);
  graph.detecting = how_many == 0   ? ~0u
                    : how_many == 1 ? static_cast<uint32_t>(random->Next())
                                    : 2u << random->Uniform(graph.count);
  return graph;
}

TEST(WaitCycleTest, ACycleIsFoundIfAndOnlyIfThereIsOne) {
  Random64 random(42);
  int found = 0;
  for (int i = 0; i < 1'000'000; i++) {
    TestGraph graph = RandomGraph(&random);
    const WaitCycle cycle = FindCycle(&graph, {1, 0}, 1000);
    const bool is_found = cycle.kind == WaitCycle::Kind::kFound;
    ASSERT_EQ(is_found, graph.HasCycle(1)) << "graph " << i;
    ASSERT_NE(cycle.kind, WaitCycle::Kind::kTooLong);
    if (!is_found) continue;
    found++;
    ASSERT_TRUE(graph.IsCycle(cycle.path)) << "graph " << i;
  }
  EXPECT_GT(found, 100'000);
}

TEST(WaitCycleTest, ACycleBeginsWithTheOneThatSearchesIfItDetects) {
  Random64 random(43);
  for (int i = 0; i < 100'000; i++) {
    TestGraph graph = RandomGraph(&random);
    graph.detecting |= 2;
    const WaitCycle cycle = FindCycle(&graph, {1, 0}, 1000);
    if (cycle.kind != WaitCycle::Kind::kFound) continue;
    ASSERT_EQ(cycle.path[0].id, 1u) << "graph " << i;
  }
}

TEST(WaitCycleTest, ASearchVisitsNoMoreThanItMay) {
  Random64 random(44);
  for (int i = 0; i < 100'000; i++) {
    TestGraph graph = RandomGraph(&random);
    graph.detecting = ~0u;
    const WaitCycle all = FindCycle(&graph, {1, 0}, 1000);
    const int64_t needed = graph.visits;  // with the first one
    const int64_t depth = static_cast<int64_t>(random.Uniform(10));
    graph.visits = 0;
    const WaitCycle some = FindCycle(&graph, {1, 0}, depth);
    EXPECT_LE(graph.visits, depth + 1);
    // The member that waits for the first one counts that one too.
    const bool is_found = all.kind == WaitCycle::Kind::kFound;
    const bool is_enough = is_found ? needed <= depth : needed <= depth + 1;
    ASSERT_EQ(some.kind, is_enough ? all.kind : WaitCycle::Kind::kTooLong) << "graph " << i;
  }
}

TEST(WaitCycleTest, TheShortestCycleIsFound) {
  TestGraph graph;  // 1 -> 2 -> 3 -> 1 and 2 -> 1
  graph.count = 3;
  graph.detecting = ~0u;
  graph.waits[1] = 1u << 2;
  graph.waits[2] = 1u << 3 | 1u << 1;
  graph.waits[3] = 1u << 1;
  EXPECT_EQ(FindCycle(&graph, {1, 0}, 50).path.size(), 2u);
}

TEST(WaitCycleTest, ACycleOfAMemberThatDetectsIsCutOutOfAPath) {
  TestGraph graph;  // 1 <-> 2 <-> 3, where only 3 detects
  graph.count = 3;
  graph.detecting = 1u << 3;
  graph.waits[1] = 1u << 2;
  graph.waits[2] = 1u << 1 | 1u << 3;
  graph.waits[3] = 1u << 2;
  const WaitCycle cycle = FindCycle(&graph, {1, 0}, 50);
  ASSERT_EQ(cycle.path.size(), 2u);
  EXPECT_TRUE(graph.IsCycle(cycle.path));
}

}  // namespace
}  // namespace ashlar
