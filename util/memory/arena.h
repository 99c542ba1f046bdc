// SPDX-License-Identifier: Apache-2.0
//
// Arenas allocate memory that is freed when the arena is destroyed, all at once. They never shrink.
//
// An Arena is used by one thread at a time, a ConcurrentArena by any number. If the common part of
// a ConcurrentArena is busy, a thread uses a part of its own, so that a single writer wastes
// nothing and many writers do not wait for each other. An allocation of more than a quarter of a
// block gets memory of its own, so that little of a block is wasted.
//
// Large blocks are page buffers. The memory of a destroyed memtable returns at once to the system,
// or to the spare blocks for the next memtable. Blocks of a huge page or more cause fewer TLB
// misses in a search through tens of megabytes. An arena with such blocks begins with small ones
// and doubles their size, so that an empty arena stays small.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/memory/allocator.h"
#include "util/memory/page_buffer.h"
#include "util/memory/spare_blocks.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Where an arena gets its blocks of SpareBlocks::kBlockBytes, and where it returns them, as long as
// the spare blocks are not more than `limit_bytes`.
struct BlockSource {
  std::shared_ptr<SpareBlocks> spare;  // null: directly from the system
  size_t limit_bytes = 0;
};

class Arena final : public Allocator {
 public:
  static constexpr size_t kMinBlockBytes = 4096;
  static constexpr size_t kMaxBlockBytes = size_t{2} << 30;
  static constexpr size_t kAlignment = alignof(std::max_align_t);
  static constexpr size_t kHugePageBytes = PageBuffer::kHugePageBytes;

  explicit Arena(size_t block_bytes = kMinBlockBytes, BlockSource source = {});
  ~Arena() override;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Aligned memory is taken from the front of a block, other memory from the back.
  char* Allocate(size_t bytes) override {
    assert(bytes > 0);
    if (bytes <= static_cast<size_t>(back_ - front_)) [[likely]]
      return back_ -= bytes;
    return AllocateFallback(bytes, /*is_aligned=*/false);
  }
  char* AllocateAligned(size_t bytes) override {
    assert(bytes > 0);
    const size_t rounded = (bytes + kAlignment - 1) & ~(kAlignment - 1);
    if (rounded <= static_cast<size_t>(back_ - front_)) [[likely]] {
      char* const result = front_;
      front_ += rounded;
      return result;
    }
    return AllocateFallback(rounded, /*is_aligned=*/true);
  }

  size_t BlockSize() const override { return block_bytes_; }
  // Bytes taken from the system, including the arena's own data. Any thread.
  size_t MemoryAllocatedBytes() const { return allocated_bytes_.load(std::memory_order_relaxed); }
  // Like MemoryAllocatedBytes(), without the unused part of the current block. Only for the thread
  // that allocates.
  size_t ApproximateMemoryUsage() const {
    return MemoryAllocatedBytes() - static_cast<size_t>(back_ - front_);
  }

 private:
  char* AllocateFallback(size_t bytes, bool is_aligned);
  char* NewBlock(size_t bytes);
  PageBuffer NewPages(size_t bytes);

  const size_t block_bytes_;
  const BlockSource source_;
  size_t next_block_bytes_;  // grows up to block_bytes_
  char* front_ = nullptr;    // [front_, back_) is the free part of the current block;
  char* back_ = nullptr;     // front_ is aligned unless it equals back_
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<PageBuffer> page_blocks_;
  // Written by the allocating thread, read by threads that report memory use.
  std::atomic<size_t> allocated_bytes_{0};
};

class ConcurrentArena final : public Allocator {
 public:
  explicit ConcurrentArena(size_t block_bytes = Arena::kMinBlockBytes, BlockSource source = {});

  char* Allocate(size_t bytes) override;
  char* AllocateAligned(size_t bytes) override;

  size_t BlockSize() const override NO_THREAD_SAFETY_ANALYSIS { return arena_.BlockSize(); }
  size_t MemoryAllocatedBytes() const NO_THREAD_SAFETY_ANALYSIS {
    return arena_.MemoryAllocatedBytes();  // an atomic
  }
  // Bytes taken from the system, without the free part; exact if no thread allocates meanwhile.
  size_t ApproximateMemoryUsage() const;

 private:
  static constexpr size_t kShardCount = 16;
  // The amount by which a shard is refilled, if the blocks are large enough.
  static constexpr size_t kMaxShardBytes = 64 * 1024;

  struct alignas(64) Shard {
    SpinLock lock;
    char* front GUARDED_BY(lock) = nullptr;
    char* back GUARDED_BY(lock) = nullptr;
    std::atomic<size_t> free_bytes{0};  // back - front, readable without the lock
  };

  char* AllocateFromArena(size_t bytes, bool is_aligned) REQUIRES(arena_lock_);
  char* AllocateFromShard(size_t bytes, bool is_aligned);
  char* AllocateInternal(size_t bytes, bool is_aligned);

  const size_t shard_bytes_;
  mutable SpinLock arena_lock_;
  Arena arena_ GUARDED_BY(arena_lock_);
  // arena_.ApproximateMemoryUsage(), readable without the lock.
  std::atomic<size_t> arena_usage_{0};
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace ashlar
