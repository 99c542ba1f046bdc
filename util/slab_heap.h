// SPDX-License-Identifier: Apache-2.0
//
// SlabHeap: a heap for pieces of up to some kilobytes that live in huge pages.
//
// It is made for what a block cache keeps: millions of pieces, read at random and given back in any
// order. In small pages each such read misses in the TLB as well, and a general heap that grows by
// one block at a time asks the system for every page. Here the system is asked for a segment, one
// huge page, at a time; a segment is cut into slabs, and a slab into pieces of one size. An empty
// slab serves any size, an empty segment goes back to the system, but for one a shard.
//
//   SlabHeap heap;
//   void* piece = heap.Allocate(4200);
//   SlabHeap::Free(piece);
//
// Threads: any, at the same time. Each allocates from the shard that its number chooses.
#pragma once

#include <cstddef>
#include <memory>

#include "util/page_buffer.h"

namespace ashlar {

class SlabHeap {
 public:
  static constexpr size_t kSegmentBytes = PageBuffer::kHugePageBytes;
  static constexpr size_t kSlabBytes = size_t{128} << 10;
  static constexpr size_t kMaxPieceBytes = size_t{18} << 10;  // seven in a slab
  static constexpr size_t kAlignment = 64;                    // of every piece

  // What a piece of `bytes` <= kMaxPieceBytes takes: a multiple of kAlignment,
  // at most a sixteenth more than that needs, and 256 at least.
  static size_t RoundUp(size_t bytes);

  SlabHeap();
  ~SlabHeap();  // no piece may be left
  SlabHeap(const SlabHeap&) = delete;
  SlabHeap& operator=(const SlabHeap&) = delete;

  // A piece of RoundUp(bytes); 0 < bytes <= kMaxPieceBytes. Throws std::bad_alloc.
  void* Allocate(size_t bytes);
  // Gives a piece back to the heap that it is from, which must still exist.
  static void Free(void* piece);

  // Taken from the system at present.
  size_t MappedBytes() const;

 private:
  template <typename T>
  class List;
  struct Slab;
  struct Segment;
  class Shard;

  static constexpr size_t kShardCount = 4;

  std::unique_ptr<Shard[]> shards_;
};

// Sanitizers see what becomes of a piece only if it comes from their own heap.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHeapIsWatched = true;
#else
inline constexpr bool kHeapIsWatched = false;
#endif

}  // namespace ashlar
