// SPDX-License-Identifier: Apache-2.0
//
// The size and memory of a memtable's Bloom filter. It is cleared once and lives in the arena of
// the memtable.
#include "memtable/memtable_bloom.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace ashlar {

// Each key has all of its bits in one line of 64 bytes, so the lines are aligned.
MemTableBloom::MemTableBloom(uint64_t bits, ConcurrentArena* arena)
    : lines_(std::max<uint64_t>(1, bits / 512)) {
  assert(arena != nullptr);
  constexpr size_t kLineBytes = 64;
  char* memory = arena->AllocateAligned(lines_ * kLineBytes + kLineBytes);
  const auto misplaced = reinterpret_cast<uintptr_t>(memory) % kLineBytes;
  memory += (kLineBytes - misplaced) % kLineBytes;
  // The memory must begin at a cache line, so that all probes of a key are in one line.
  assert(reinterpret_cast<uintptr_t>(memory) % kLineBytes == 0);
  words_ = reinterpret_cast<std::atomic<uint64_t>*>(memory);
  for (uint64_t i = 0; i < lines_ * 8; ++i) new (&words_[i]) std::atomic<uint64_t>(0);
}

}  // namespace ashlar
