// SPDX-License-Identifier: Apache-2.0
//
// An arena gives out memory that is freed all at once. A block is used from both ends:
//
//     | aligned, aligned ... ->   free   <- ... unaligned, unaligned |
//
// ConcurrentArena is an Arena with a spin lock. If a thread does not get the lock at once, it
// allocates from a shard. The shard is chosen by the number of the thread, and is refilled from the
// arena in larger pieces.
#include "util/memory/arena.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "util/threads/thread_number.h"

namespace ashlar {

namespace {

size_t SanitizeBlockBytes(size_t bytes) {
  bytes = std::clamp(bytes, Arena::kMinBlockBytes, Arena::kMaxBlockBytes);
  return (bytes + Arena::kAlignment - 1) & ~(Arena::kAlignment - 1);
}

// The size of the first block of an arena with huge blocks.
constexpr size_t kFirstBlockBytes = 64 * 1024;
// Sanitizers detect wrong accesses only in memory from their own heap, so with them only the
// largest blocks are mapped.
constexpr size_t kMinPageBlockBytes =
    kHeapIsWatched ? Arena::kHugePageBytes : PageBuffer::kMinMappedBytes;

}  // namespace

Arena::Arena(size_t block_bytes, BlockSource source)
    : block_bytes_(SanitizeBlockBytes(block_bytes)),
      source_(std::move(source)),
      next_block_bytes_(block_bytes_ < kHugePageBytes ? block_bytes_ : kFirstBlockBytes) {}

Arena::~Arena() {
  if (source_.spare != nullptr) source_.spare->Give(std::move(page_blocks_), source_.limit_bytes);
}

PageBuffer Arena::NewPages(size_t bytes) {
  const bool may_be_spare = source_.spare != nullptr && bytes == SpareBlocks::kBlockBytes;
  return may_be_spare ? source_.spare->Take() : PageBuffer(bytes);
}

char* Arena::AllocateFallback(size_t bytes, bool is_aligned) {
  assert(bytes > static_cast<size_t>(back_ - front_));
  // A large piece gets a block of its own, so that the rest of the current block is not wasted.
  const size_t block_bytes = next_block_bytes_;
  if (bytes > block_bytes / 4) return NewBlock(bytes);
  next_block_bytes_ = std::min(block_bytes_, 2 * block_bytes);
  front_ = NewBlock(block_bytes);
  back_ = front_ + block_bytes;
  assert(reinterpret_cast<uintptr_t>(front_) % kAlignment == 0);
  if (!is_aligned) return back_ -= bytes;
  char* const result = front_;
  front_ += bytes;
  return result;
}

char* Arena::NewBlock(size_t bytes) {
  assert(bytes > 0);
  char* block;
  if (bytes >= kMinPageBlockBytes) {
    page_blocks_.push_back(NewPages(bytes));
    block = page_blocks_.back().data();
    bytes = page_blocks_.back().size();
  } else {
    // make_unique would fill the memory with zeros first.
    std::unique_ptr<char[]> owned(new char[bytes]);
    block = blocks_.emplace_back(std::move(owned)).get();
  }
  const size_t total = MemoryAllocatedBytes() + bytes + sizeof(blocks_.front());
  allocated_bytes_.store(total, std::memory_order_relaxed);
  return block;
}

ConcurrentArena::ConcurrentArena(size_t block_bytes, BlockSource source)
    : shard_bytes_(std::min(kMaxShardBytes, SanitizeBlockBytes(block_bytes) / 8)),
      arena_(block_bytes, std::move(source)),
      shards_(new Shard[kShardCount]) {}

char* ConcurrentArena::Allocate(size_t bytes) { return AllocateInternal(bytes, false); }
char* ConcurrentArena::AllocateAligned(size_t bytes) { return AllocateInternal(bytes, true); }

char* ConcurrentArena::AllocateInternal(size_t bytes, bool is_aligned) {
  if (bytes > shard_bytes_ / 4) {
    SpinLockGuard guard(&arena_lock_);
    return AllocateFromArena(bytes, is_aligned);
  }
  if (!arena_lock_.TryLock()) return AllocateFromShard(bytes, is_aligned);
  SpinLockGuard guard(&arena_lock_, AdoptLock());  // the guard unlocks also if the arena throws
  return AllocateFromArena(bytes, is_aligned);
}

char* ConcurrentArena::AllocateFromArena(size_t bytes, bool is_aligned) {
  char* const result = is_aligned ? arena_.AllocateAligned(bytes) : arena_.Allocate(bytes);
  arena_usage_.store(arena_.ApproximateMemoryUsage(), std::memory_order_relaxed);
  return result;
}

// The shard keeps what is left of its last piece of the arena.
char* ConcurrentArena::AllocateFromShard(size_t bytes, bool is_aligned) {
  Shard& shard = shards_[ThreadNumber() % kShardCount];
  SpinLockGuard guard(&shard.lock);
  if (is_aligned) bytes = (bytes + Arena::kAlignment - 1) & ~(Arena::kAlignment - 1);
  if (bytes > static_cast<size_t>(shard.back - shard.front)) {
    SpinLockGuard arena_guard(&arena_lock_);
    shard.front = AllocateFromArena(shard_bytes_, /*is_aligned=*/true);
    shard.back = shard.front + shard_bytes_;
  }
  assert(bytes <= static_cast<size_t>(shard.back - shard.front));
  char* const result = is_aligned ? shard.front : shard.back - bytes;
  (is_aligned ? shard.front : shard.back) = is_aligned ? result + bytes : result;
  shard.free_bytes.store(static_cast<size_t>(shard.back - shard.front), std::memory_order_relaxed);
  return result;
}

size_t ConcurrentArena::ApproximateMemoryUsage() const {
  // The free bytes of the shards count as used by the arena, so they are subtracted.
  const size_t usage = arena_usage_.load(std::memory_order_relaxed);
  size_t free_bytes = 0;
  for (size_t i = 0; i < kShardCount; ++i) {
    free_bytes += shards_[i].free_bytes.load(std::memory_order_relaxed);
  }
  return usage > free_bytes ? usage - free_bytes : 0;
}

}  // namespace ashlar
