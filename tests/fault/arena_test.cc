// SPDX-License-Identifier: Apache-2.0
//
// An arena without memory reports that once, and works again when there is memory.
#include "util/memory/arena.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "tests/fault/allocation_hook.h"
#include "tests/support/suite.h"

namespace ashlar {
namespace {

// Small pieces, for which the arena tries its own lock, and large ones.
TEST(ArenaFaults, AFailedAllocationLeavesNoLockTaken) {
  for (const size_t bytes : {size_t{64}, size_t{4096}}) {
    BeginCase("arena, pieces of " + std::to_string(bytes) + " bytes");
    ConcurrentArena arena(64 << 10);
    uint64_t countdown = 0;  // the first one fails
    {
      AllocationFault fault(&countdown);
      EXPECT_THROW(arena.Allocate(bytes), std::bad_alloc);
    }
    // If it hangs in the spin lock, the suite's watchdog ends it.
    EXPECT_NE(arena.Allocate(bytes), nullptr);
    EXPECT_NE(arena.AllocateAligned(bytes), nullptr);
    EndCases();
  }
}

// A destructor cannot report an error: the blocks go back to the system.
TEST(ArenaFaults, BlocksThatCannotBeKeptAreReleased) {
  if (kHeapIsWatched) GTEST_SKIP() << "sanitizers watch memory that is freed";
  BeginCase("arena, spare blocks");
  const auto spare = std::make_shared<SpareBlocks>();
  const BlockSource source{.spare = spare, .limit_bytes = 64 << 20};
  const auto fill = [&] {
    auto arena = std::make_unique<Arena>(SpareBlocks::kBlockBytes, source);
    for (int i = 0; i < 1000; ++i) arena->Allocate(8 << 10);
    return arena;
  };
  std::unique_ptr<Arena> arena = fill();
  {
    uint64_t countdown = 0;
    AllocationFault fault(&countdown);
    arena.reset();
  }
  EXPECT_EQ(spare->bytes(), 0u);
  fill().reset();
  EXPECT_GT(spare->bytes(), 0u);
  EndCases();
}

}  // namespace
}  // namespace ashlar
