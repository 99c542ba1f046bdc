// SPDX-License-Identifier: Apache-2.0
//
// The tree of a memtable whose arena has no memory: an insertion that throws has changed nothing,
// one that returns is complete, and all locks are released.
#include <gtest/gtest.h>

#include <map>
#include <new>
#include <string>

#include "ashlar/comparator.h"
#include "memtable/blink_tree.h"
#include "tests/fault/allocation_hook.h"
#include "tests/support/suite.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Allocations fail for entries, for leaves and for the nodes above. Levels that could not be
// completed only cost steps.
TEST(BlinkTreeFaults, AFailedAllocationChangesNothing) {
  for (const uint32_t fanout : {uint32_t{3}, BlinkTree::kMaxFanout}) {
    BeginCase("tree of fanout " + std::to_string(fanout));
    ConcurrentArena arena(4096);
    BlinkTree tree(InternalKeyComparator(BytewiseComparator()), "", &arena, fanout);
    std::map<std::string, std::string> model;
    Random64 random(11);
    int failures = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::string key = std::to_string(random.Uniform(1000000));
      const std::string value(random.Uniform(300), 'v');
      uint64_t countdown = random.Uniform(3);
      bool is_inserted = false;
      try {
        AllocationFault fault(&countdown);
        is_inserted = tree.Insert(tree.At(key, 256), value, random.OneIn(2));
      } catch (const std::bad_alloc&) {
        ++failures;
        ASSERT_EQ(tree.Find(tree.At(key, 256)).entry != nullptr, model.contains(key));
        continue;
      }
      ASSERT_EQ(is_inserted, model.emplace(key, value).second);
    }
    EXPECT_GT(failures, 50);
    BlinkTree::Window window;
    tree.SeekToFirst(&window);
    for (const auto& [key, value] : model) {
      ASSERT_TRUE(window.IsValid());
      ASSERT_EQ(window.entries[window.index]->user_key(), key);
      ASSERT_EQ(window.entries[window.index]->value(), value);
      ASSERT_NE(tree.Find(tree.At(key, 256)).entry, nullptr);
      tree.Next(&window);
    }
    EXPECT_FALSE(window.IsValid());
    tree.CheckInvariants();
    EndCases();
  }
}

}  // namespace
}  // namespace ashlar
