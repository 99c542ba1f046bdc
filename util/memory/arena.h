// SPDX-License-Identifier: Apache-2.0
//
// Arenas hand out memory that is freed all at once when the arena dies; they never shrink.
//
// Arena serves one thread at a time. ConcurrentArena serves any number: a thread that finds the
// common piece busy moves to a piece of its own, so one writer wastes nothing and many do not meet.
// An allocation of more than a quarter of a block gets memory of its own, so that little is wasted.
// Large blocks are page buffers: a dead memtable's memory goes back at once, to the system or to
// spare blocks for the next one, and, with blocks of a huge page or more, a search through tens of
// megabytes misses in the TLB less. Such an arena begins with small blocks and doubles them, so an
// empty one stays small.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/memory/allocator.h"
#include "util/memory/page_buffer.h"
#include "util/memory/spare_blocks.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Where an arena takes blocks of SpareBlocks::kBlockBytes from and gives them back to; the spare
// ones then take at most so many bytes.
struct BlockSource {
  std::shared_ptr<SpareBlocks> spare;  // null: the system
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

  // Aligned memory is cut from the front of a block, other memory from its back.
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
  // Bytes taken from the system, the arena's own bookkeeping included. Any thread may ask.
  size_t MemoryAllocatedBytes() const { return allocated_bytes_.load(std::memory_order_relaxed); }
  // The same without what is left of the current block. Only the allocating thread may ask.
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
  char* back_ = nullptr;     // front_ is aligned whenever it is not back_
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<PageBuffer> page_blocks_;
  // Written by the allocating thread, read by whoever watches memory.
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
  // Bytes taken from the system and not free any more; exact when no thread allocates.
  size_t ApproximateMemoryUsage() const;

 private:
  static constexpr size_t kShardCount = 16;
  // How much a thread's own piece takes from the arena at once, if blocks are large enough.
  static constexpr size_t kMaxShardBytes = 64 * 1024;

  struct alignas(64) Shard {
    SpinLock lock;
    char* front GUARDED_BY(lock) = nullptr;
    char* back GUARDED_BY(lock) = nullptr;
    std::atomic<size_t> free_bytes{0};  // back - front, for those who only watch
  };

  char* AllocateFromArena(size_t bytes, bool is_aligned) REQUIRES(arena_lock_);
  char* AllocateFromShard(size_t bytes, bool is_aligned);
  char* AllocateInternal(size_t bytes, bool is_aligned);

  const size_t shard_bytes_;
  mutable SpinLock arena_lock_;
  Arena arena_ GUARDED_BY(arena_lock_);
  std::atomic<size_t> arena_usage_{0};  // arena_.ApproximateMemoryUsage(), for those who only watch
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace ashlar
