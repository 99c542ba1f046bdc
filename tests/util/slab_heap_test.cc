// SPDX-License-Identifier: Apache-2.0
//
// The slab heap: sizes, disjoint pieces, and memory that is reused and returned.
#include "util/memory/slab_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "util/random.h"

namespace ashlar {
namespace {

constexpr size_t kSegment = SlabHeap::kSegmentBytes;

// A piece filled with a unique mark, so that overlapping pieces are detected.
struct HeapPiece {
  unsigned char* data;
  size_t bytes;
  unsigned char mark;

  HeapPiece(SlabHeap* heap, size_t n, unsigned char with) : HeapPiece(heap->Allocate(n), with) {
    EXPECT_GE(bytes, SlabHeap::RoundUp(n));
    EXPECT_LE(bytes, std::max<size_t>(256, n + n / 4 + SlabHeap::kAlignment)) << n;
  }
  HeapPiece(const SlabHeap::Piece& piece, unsigned char with)
      : data(static_cast<unsigned char*>(piece.data)), bytes(piece.bytes), mark(with) {
    std::memset(data, mark, bytes);
  }
  bool IsIntact() const {
    return std::all_of(data, data + bytes, [this](unsigned char c) { return c == mark; });
  }
};

TEST(SlabHeap, RoundsUpByAQuarterAtMost) {
  for (size_t bytes = 1; bytes <= SlabHeap::kMaxPieceBytes; ++bytes) {
    const size_t rounded = SlabHeap::RoundUp(bytes);
    ASSERT_GE(rounded, bytes);
    ASSERT_EQ(rounded % SlabHeap::kAlignment, 0u) << bytes;
    ASSERT_LE(rounded, SlabHeap::kMaxPieceBytes) << bytes;
    ASSERT_LE(rounded, std::max<size_t>(256, bytes + bytes / 4 + SlabHeap::kAlignment)) << bytes;
    ASSERT_EQ(SlabHeap::RoundUp(rounded), rounded) << bytes;
  }
}

TEST(SlabHeap, PiecesOfAllSizesAreAlignedAndDoNotMeet) {
  SlabHeap heap;
  std::vector<HeapPiece> pieces;
  for (int round = 0; round < 3; ++round) {
    for (size_t bytes = 1; bytes <= SlabHeap::kMaxPieceBytes; bytes += 61) {
      pieces.emplace_back(&heap, bytes, static_cast<unsigned char>(pieces.size()));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(pieces.back().data) % SlabHeap::kAlignment, 0u);
    }
  }
  for (const HeapPiece& piece : pieces) {
    ASSERT_TRUE(piece.IsIntact()) << piece.bytes;
    SlabHeap::Free(piece.data);
  }
}

TEST(SlabHeap, WastesLittle) {
  SlabHeap heap;
  std::vector<void*> pieces;
  size_t used = 0;
  for (; used < 32 * kSegment; used += 5120) pieces.push_back(heap.Allocate(5100).data);
  EXPECT_LE(heap.HeldBytes(), used + used / 16);
  EXPECT_EQ(heap.UsedBytes(), used);
  for (void* piece : pieces) SlabHeap::Free(piece);
  EXPECT_EQ(heap.UsedBytes(), 0u);
}

TEST(SlabHeap, WhatOneSizeLeftServesAnother) {
  SlabHeap heap;
  std::vector<void*> pieces;
  for (const size_t bytes : {5120, 1024, 10000, 320, 20000}) {
    for (size_t used = 0; used < 4 * kSegment; used += bytes) {
      pieces.push_back(heap.Allocate(bytes).data);
    }
    EXPECT_LE(heap.HeldBytes(), 5 * kSegment) << bytes;
    for (void* piece : pieces) SlabHeap::Free(piece);
    pieces.clear();
  }
}

TEST(SlabHeap, GivesEmptySegmentsBackButAFew) {
  constexpr size_t kSpare = SlabHeap::kMaxSpareSegments * kSegment;
  SlabHeap heap;
  std::vector<void*> pieces;
  for (size_t used = 0; used < 2 * kSpare; used += 5000) pieces.push_back(heap.Allocate(5000).data);
  EXPECT_GE(heap.HeldBytes(), 2 * kSpare);
  // In an order in which every slab stays partly used until near the end.
  for (size_t offset = 0; offset < 7; ++offset) {
    for (size_t i = offset; i < pieces.size(); i += 7) SlabHeap::Free(pieces[i]);
  }
  const size_t kept = heap.HeldBytes();
  EXPECT_LE(kept, kSpare);
  EXPECT_GT(kept, 0u);
  SlabHeap::Free(heap.Allocate(100).data);
  EXPECT_EQ(heap.HeldBytes(), kept);
}

TEST(SlabHeap, GivesPagesOfEmptySlabsBack) {
  SlabHeap heap;
  std::vector<void*> pieces;
  for (size_t used = 0; used < 16 * kSegment; used += 5120) {
    pieces.push_back(heap.Allocate(5120).data);
  }
  // Each segment keeps one or two pieces.
  constexpr size_t kKept = kSegment / 5120 / 2;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i % kKept != 0) SlabHeap::Free(pieces[i]);
  }
  const size_t slabs_in_use = pieces.size() / kKept + 1;
  EXPECT_LE(heap.HeldBytes(), (slabs_in_use + SlabHeap::kMaxWarmSlabs) * SlabHeap::kSlabBytes);
  for (size_t i = 0; i < pieces.size(); i += kKept) SlabHeap::Free(pieces[i]);
}

// The sizes in a cache change slightly, and each slab keeps a few pieces of the old size.
TEST(SlabHeap, FillsTheHolesOfSlightlyLargerPieces) {
  SlabHeap heap;
  Random64 random(5);
  std::vector<void*> pieces, kept;
  for (size_t used = 0; used < 16 * kSegment; used += 4096) {
    pieces.push_back(heap.Allocate(4096).data);
  }
  const size_t held = heap.HeldBytes();
  size_t freed = 0;
  for (void* piece : pieces) {
    if (random.OneIn(10)) {
      kept.push_back(piece);
    } else {
      SlabHeap::Free(piece);
      freed += 4096;
    }
  }
  for (size_t used = 0; used + 4096 < freed; used += 4096) {
    kept.push_back(heap.Allocate(3900).data);
  }
  EXPECT_LE(heap.HeldBytes(), held + held / 32);
  for (void* piece : kept) SlabHeap::Free(piece);
}

// Independent of the threads' shards: a block in a cache is often replaced by another thread than
// the one that read it.
TEST(SlabHeap, WhatOneThreadFreedServesAnother) {
  SlabHeap heap;
  std::vector<void*> pieces;
  const auto fill = [&heap, &pieces](size_t bytes) {
    for (size_t used = 0; used < 6 * kSegment; used += bytes) {
      pieces.push_back(heap.Allocate(bytes).data);
    }
  };
  size_t mapped = 0;
  for (const size_t bytes : {5000, 5100, 6000, 5000}) {
    std::thread(fill, bytes).join();
    if (mapped == 0) mapped = heap.HeldBytes();
    EXPECT_LE(heap.HeldBytes(), mapped + kSegment) << bytes;
    for (void* piece : pieces) SlabHeap::Free(piece);
    pieces.clear();
  }
}

// A random sequence of allocations and frees. Slabs that are nearly empty must not be filled first.
// A slab with pieces belongs to the shard of its thread, but all threads may use its holes.
TEST(SlabHeap, HolesThatOneThreadLeftServeAnother) {
  SlabHeap heap;
  std::vector<void*> pieces;
  for (size_t used = 0; used < 4 * kSegment; used += 5120) {
    pieces.push_back(heap.Allocate(5100).data);
  }
  for (size_t i = 0; i < pieces.size(); i += 2) SlabHeap::Free(pieces[i]);
  const size_t held = heap.HeldBytes();
  std::thread other([&] {
    for (size_t i = 0; i < pieces.size(); i += 2) pieces[i] = heap.Allocate(5100).data;
  });
  other.join();
  EXPECT_EQ(heap.HeldBytes(), held);
  for (void* piece : pieces) SlabHeap::Free(piece);
}

TEST(SlabHeap, SurvivesRandomUse) {
  SlabHeap heap;
  Random64 random(301);
  std::vector<HeapPiece> pieces;
  for (int step = 0; step < 100000; ++step) {
    if (pieces.empty() || random.Uniform(100) < (step < 50000 ? 55u : 45u)) {
      const size_t bytes = 1 + random.Uniform(random.OneIn(4) ? SlabHeap::kMaxPieceBytes : 600);
      pieces.emplace_back(&heap, bytes, static_cast<unsigned char>(step));
      continue;
    }
    const size_t i = random.Uniform(pieces.size());
    ASSERT_TRUE(pieces[i].IsIntact()) << "step " << step;
    SlabHeap::Free(pieces[i].data);
    pieces[i] = pieces.back();
    pieces.pop_back();
  }
  for (const HeapPiece& piece : pieces) {
    ASSERT_TRUE(piece.IsIntact());
    SlabHeap::Free(piece.data);
  }
  EXPECT_LE(heap.HeldBytes(), SlabHeap::kMaxSpareSegments * kSegment);
}

// Pieces are freed by other threads than those that allocated them.
TEST(SlabHeap, ThreadsShareIt) {
  SlabHeap heap;
  constexpr size_t kThreads = 6;
  std::vector<std::vector<HeapPiece>> made(kThreads);
  std::vector<int> broken(kThreads, 0);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::vector<HeapPiece> mine = std::move(made[t]);
        Random64 random(17 * t + static_cast<size_t>(round));
        for (int i = 0; i < 2000; ++i) {
          mine.emplace_back(&heap, 1 + random.Uniform(9000), static_cast<unsigned char>(t + 1));
          if (random.OneIn(3)) continue;
          broken[t] += mine.front().IsIntact() ? 0 : 1;
          SlabHeap::Free(mine.front().data);
          mine.front() = mine.back();
          mine.pop_back();
        }
        made[t] = std::move(mine);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::rotate(made.begin(), made.begin() + 1, made.end());
  }
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(broken[t], 0) << t;
    for (const HeapPiece& piece : made[t]) {
      EXPECT_TRUE(piece.IsIntact());
      SlabHeap::Free(piece.data);
    }
  }
  EXPECT_LE(heap.HeldBytes(), SlabHeap::kMaxSpareSegments * kSegment);
}

}  // namespace
}  // namespace ashlar
