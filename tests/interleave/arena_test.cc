// SPDX-License-Identifier: Apache-2.0
//
// The concurrent arena: a thread that finds the common piece busy takes a piece of its own, and no
// two allocations overlap.
#include "util/arena.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

#include "tests/interleave/interleave.h"

namespace ashlar::interleave {
namespace {

struct State {
  // A piece of a thread's own has an eighth of a block: sizes that do not divide it.
  void AllocateSome(size_t thread) {
    for (const size_t bytes : {size_t{112}, size_t{112}, size_t{112}, size_t{112}, size_t{80}}) {
      taken[thread][arena.AllocateAligned(bytes)] = bytes;
    }
  }
  void CheckDisjoint() const {
    std::map<const char*, size_t> all;
    for (const auto& of_thread : taken) all.insert(of_thread.begin(), of_thread.end());
    Require(all.size() == 10, "each allocation has a place of its own");
    const char* end = nullptr;
    for (const auto& [begin, bytes] : all) {
      Require(begin >= end, "no two allocations overlap");
      end = begin + bytes;
    }
  }

  ConcurrentArena arena{4096};
  std::array<std::map<const char*, size_t>, 2> taken;
};

TEST(ArenaOrders, NoTwoAllocationsOverlap) {
  ExpectAlways({.preemptions = 2}, [] {
    auto state = std::make_shared<State>();
    return Scenario{
        .threads = {[state] { state->AllocateSome(0); }, [state] { state->AllocateSome(1); }},
        .check = [state] { state->CheckDisjoint(); }};
  });
}

}  // namespace
}  // namespace ashlar::interleave
