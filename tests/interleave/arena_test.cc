// SPDX-License-Identifier: Apache-2.0
//
// The concurrent arena: a thread that finds the common chunk busy takes a chunk of its own, and no
// two allocations overlap.
#include "util/memory/arena.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <thread>

#include "tests/interleave/interleave.h"

namespace ashlar::interleave {
namespace {

struct State {
  // A chunk of a thread has an eighth of a block: these sizes do not divide it.
  void AllocateSome(size_t thread) {
    for (const size_t bytes : {size_t{112}, size_t{112}, size_t{112}, size_t{112}, size_t{80}}) {
      taken[thread][arena.AllocateAligned(bytes)] = bytes;
    }
  }
  void CheckDisjoint(size_t count) const {
    std::map<const char*, size_t> all;
    for (const auto& of_thread : taken) all.insert(of_thread.begin(), of_thread.end());
    Require(all.size() == count, "each allocation has a place of its own");
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
        .check = [state] { state->CheckDisjoint(10); }};
  });
}

// The first thread, interrupted within its two allocations, uses the common chunk. So the second
// thread gets its own chunk with its first allocation, and then allocates only from there, beyond
// its end.
TEST(ArenaOrders, AThreadsOwnChunkHasAnEnd) {
  ExpectAlways({.preemptions = 2, .interruptible = 1}, [] {
    auto state = std::make_shared<State>();
    auto is_second = std::make_shared<std::atomic<bool>>(false);
    const auto holder = [=] {
      state->taken[0][state->arena.AllocateAligned(16)] = 16;
      std::this_thread::yield();
      is_second->store(true);
      state->taken[0][state->arena.AllocateAligned(16)] = 16;
    };
    const auto taker = [=] {
      state->taken[1][state->arena.AllocateAligned(128)] = 128;
      while (!is_second->load()) std::this_thread::yield();
      for (const size_t bytes : {128, 128, 128, 16}) {
        state->taken[1][state->arena.AllocateAligned(bytes)] = bytes;
      }
    };
    return Scenario{.threads = {holder, taker}, .check = [state] { state->CheckDisjoint(7); }};
  });
}

}  // namespace
}  // namespace ashlar::interleave
