// SPDX-License-Identifier: Apache-2.0
//
// Arenas: the memory is disjoint, aligned and correctly counted, with one thread and with many.
#include "util/memory/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "util/random.h"

namespace ashlar {
namespace {

struct Piece {
  char* data;
  size_t size;
  char fill;
};

// Allocates pieces of different sizes and fills each with a different byte.
template <typename AnyArena>
std::vector<Piece> AllocatePieces(AnyArena* arena, uint64_t seed, int count) {
  Random64 random(seed);
  std::vector<Piece> pieces;
  for (int i = 0; i < count; ++i) {
    const size_t size = 1 + (random.OneIn(50) ? random.Uniform(6000) : random.Uniform(100));
    const bool is_aligned = random.OneIn(2);
    char* data = is_aligned ? arena->AllocateAligned(size) : arena->Allocate(size);
    if (is_aligned) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignof(std::max_align_t), 0u);
    }
    const char fill = static_cast<char>(random.Next());
    std::memset(data, fill, size);
    pieces.push_back({data, size, fill});
  }
  return pieces;
}

// If two pieces overlapped, one would have overwritten the other.
void ExpectIntact(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    ASSERT_EQ(std::count(piece.data, piece.data + piece.size, piece.fill),
              static_cast<ptrdiff_t>(piece.size));
  }
}

size_t TotalBytes(const std::vector<Piece>& pieces) {
  size_t total = 0;
  for (const Piece& piece : pieces) total += piece.size;
  return total;
}

TEST(Arena, IsEmptyAtFirst) {
  const Arena arena;
  EXPECT_EQ(arena.MemoryAllocatedBytes(), 0u);
  EXPECT_EQ(arena.ApproximateMemoryUsage(), 0u);
}

TEST(Arena, PiecesDoNotOverlap) {
  Arena arena(16 * 1024);
  ExpectIntact(AllocatePieces(&arena, 1, 5000));
}

TEST(Arena, CountsWhatItHolds) {
  Arena arena(64 * 1024);
  const size_t total = TotalBytes(AllocatePieces(&arena, 2, 20000));
  EXPECT_GE(arena.ApproximateMemoryUsage(), total);
  EXPECT_LE(arena.ApproximateMemoryUsage(), total + total / 4);
  EXPECT_GE(arena.MemoryAllocatedBytes(), arena.ApproximateMemoryUsage());
}

TEST(Arena, LargePiecesLeaveTheCurrentBlockInUse) {
  Arena arena(64 * 1024);
  char* const first = arena.AllocateAligned(16);
  arena.AllocateAligned(64 * 1024);
  EXPECT_EQ(arena.AllocateAligned(16), first + 16);
}

TEST(Arena, RaisesAnImpossibleBlockSize) {
  EXPECT_EQ(Arena(0).BlockSize(), Arena::kMinBlockBytes);
  EXPECT_EQ(Arena(5000).BlockSize() % Arena::kAlignment, 0u);
}

TEST(Arena, OfHugeBlocksBeginsSmall) {
  Arena arena(Arena::kHugePageBytes);
  arena.AllocateAligned(16);
  EXPECT_LE(arena.MemoryAllocatedBytes(), 100 * 1024u);
  ExpectIntact(AllocatePieces(&arena, 4, 50000));
  EXPECT_GE(arena.MemoryAllocatedBytes(), Arena::kHugePageBytes);
}

TEST(ConcurrentArena, BehavesLikeAnArenaForOneThread) {
  ConcurrentArena arena(1 << 20);
  const std::vector<Piece> pieces = AllocatePieces(&arena, 3, 20000);
  ExpectIntact(pieces);
  EXPECT_GE(arena.ApproximateMemoryUsage(), TotalBytes(pieces));
  EXPECT_LE(arena.ApproximateMemoryUsage(), TotalBytes(pieces) * 5 / 4);
}

TEST(ConcurrentArena, PiecesOfManyThreadsDoNotOverlap) {
  constexpr int kThreads = 8;
  ConcurrentArena arena(256 * 1024);
  std::vector<std::vector<Piece>> pieces(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { pieces[t] = AllocatePieces(&arena, 10 + t, 5000); });
  }
  for (std::thread& thread : threads) thread.join();
  size_t total = 0;
  for (const std::vector<Piece>& of_thread : pieces) {
    ExpectIntact(of_thread);
    total += TotalBytes(of_thread);
  }
  EXPECT_GE(arena.ApproximateMemoryUsage(), total);
  EXPECT_GE(arena.MemoryAllocatedBytes(), arena.ApproximateMemoryUsage());
}

}  // namespace
}  // namespace ashlar
