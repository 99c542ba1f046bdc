// SPDX-License-Identifier: Apache-2.0
//
// SlabHeap: a heap for pieces of some kilobytes.
//
// It is made for what a block cache keeps: millions of pieces that come one by one and are given
// back in any order. A general heap that grows by one block at a time asks the system each time.
// Here the system is asked for a segment of two megabytes; a segment is cut into slabs, and a slab
// into pieces of one size. An empty slab serves any size. An empty segment waits for whoever wants
// one next, which is often another thread: a block that is unpacked replaces one that somebody else
// read. When enough of them wait, what is empty goes back to the system: pages of slabs, and whole
// segments.
//
// Segments do not ask for huge pages. Those spare misses in the TLB, a fifth of a random read of
// what is cached; but where a hypervisor takes back what its guest does not use, the first touch of
// a huge page costs a millisecond, and a cache that fills up pays more than it gains.
//
//   SlabHeap heap;
//   SlabHeap::Piece piece = heap.Allocate(4200);
//   SlabHeap::Free(piece.data);
//
// Threads: any, at the same time. Each allocates from the shard that its number chooses.
#pragma once

#include <cstddef>
#include <memory>

#include "util/memory/page_buffer.h"

namespace ashlar {

class SlabHeap {
 public:
  static constexpr size_t kSegmentBytes = PageBuffer::kHugePageBytes;
  static constexpr size_t kSlabBytes = size_t{128} << 10;
  static constexpr size_t kMaxPieceBytes = size_t{20} << 10;  // six in a slab
  static constexpr size_t kAlignment = 64;                    // of every piece
  // Empty segments that are kept, and empty slabs of each shard that keep their pages: what one
  // thread frees while another allocates comes in smaller lots.
  static constexpr size_t kMaxSpareSegments = 2;
  static constexpr size_t kMaxWarmSlabs = 8;

  // What a piece of `bytes` <= kMaxPieceBytes takes: a multiple of kAlignment, from 1 KiB on at
  // most a sixteenth more, and 256 at least. The fewer sizes, the sooner a hole that one block
  // leaves is filled by another; the more, the less is lost in each: with eight to a doubling, a
  // block of 4 KB and what is kept beside it took a tenth more than it needs.
  static size_t RoundUp(size_t bytes);

  SlabHeap();
  ~SlabHeap();  // no piece may be left
  SlabHeap(const SlabHeap&) = delete;
  SlabHeap& operator=(const SlabHeap&) = delete;

  struct Piece {
    void* data;
    size_t bytes;  // that it takes
  };
  // A piece of RoundUp(bytes) or, where that leaves less unused, up to a fifth more;
  // 0 < bytes <= kMaxPieceBytes. Throws std::bad_alloc.
  Piece Allocate(size_t bytes);
  // Gives a piece back to the heap that it is from, which must still exist.
  static void Free(void* piece);

  // Memory of the system that is in use or kept at present, and what of it is in pieces.
  size_t HeldBytes() const;
  size_t UsedBytes() const;

 private:
  template <typename T>
  class List;
  struct Slab;
  struct Segment;
  class Shard;
  class Spares;

  static constexpr size_t kShardCount = 4;

  std::unique_ptr<Spares> spares_;
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace ashlar
