// SPDX-License-Identifier: Apache-2.0
//
// SlabHeap is a heap for pieces of some kilobytes.
//
// It is made for the contents of a block cache: millions of pieces, which are allocated one by one
// and freed in any order. A general heap that grows by one block at a time would call the system
// each time. This heap takes segments of two megabytes from the system, cuts a segment into slabs,
// and a slab into pieces of equal size. An empty slab can be used for any size.
//
// An empty segment is kept for the next thread that needs one. That is often another thread,
// because the block that a thread reads replaces one that another thread has read. If enough empty
// segments are kept, empty memory is returned to the system: the pages of slabs, and whole
// segments.
//
// Segments do not ask for huge pages. Huge pages would save TLB misses, a fifth of the time of a
// random read from the cache. But if a hypervisor takes back the memory that its guest does not
// use, the first touch of a huge page takes a millisecond, and while the cache fills up that costs
// more than is gained.
//
//   SlabHeap heap;
//   SlabHeap::Piece piece = heap.Allocate(4200);
//   SlabHeap::Free(piece.data);
//
// Threads: any, at the same time. A thread allocates from the shard that its number selects.
#pragma once

#include <cstddef>
#include <memory>

#include "util/memory/page_buffer.h"

namespace ashlar {

class SlabHeap {
 public:
  static constexpr size_t kSegmentBytes = PageBuffer::kHugePageBytes;
  static constexpr size_t kSlabBytes = size_t{128} << 10;
  static constexpr size_t kMaxPieceBytes = size_t{20} << 10;  // a slab has at least six
  static constexpr size_t kAlignment = 64;                    // of every piece
  // The number of empty segments that are kept, and for each shard the number of empty slabs that
  // keep their pages. They absorb the small differences between what threads free and what others
  // allocate.
  static constexpr size_t kMaxSpareSegments = 2;
  static constexpr size_t kMaxWarmSlabs = 8;

  // The size of a piece for `bytes` <= kMaxPieceBytes: a multiple of kAlignment, at least 256, and
  // from 1 KiB on at most a sixteenth more than `bytes`. With fewer sizes, the hole that a block
  // leaves is reused sooner; with more sizes, less is lost in each piece. With eight sizes per
  // doubling, a block of 4 KB with its own data took a tenth more memory than it needs.
  static size_t RoundUp(size_t bytes);

  SlabHeap();
  ~SlabHeap();  // no piece may be left
  SlabHeap(const SlabHeap&) = delete;
  SlabHeap& operator=(const SlabHeap&) = delete;

  struct Piece {
    void* data;
    size_t bytes;  // its actual size
  };
  // Allocates a piece of RoundUp(bytes), or up to a fifth more if that leaves less memory unused; 0
  // < bytes <= kMaxPieceBytes. Throws std::bad_alloc.
  Piece Allocate(size_t bytes);
  // Frees a piece. The heap that it is from must still exist.
  static void Free(void* piece);

  // The bytes of system memory that are in use or kept, and how many of them are in allocated
  // pieces.
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
