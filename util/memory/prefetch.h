// SPDX-License-Identifier: Apache-2.0
//
// Prefetches cache lines that are needed soon. The addresses need not be valid: memory that is not
// mapped is not fetched. Threads: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ashlar {

// For longer copies the hardware detects the pattern itself, and the first lines would be evicted
// before they are used.
inline constexpr size_t kMaxPrefetchedBytes = 2048;
inline constexpr size_t kCacheLineBytes = 64;

// Prefetches [begin, begin + bytes), at most kMaxPrefetchedBytes of it.
inline void PrefetchToRead(const char* begin, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t end = address + std::min(bytes, kMaxPrefetchedBytes);
  for (uintptr_t line = address & ~(kCacheLineBytes - 1); line < end; line += kCacheLineBytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(line));
  }
}
// Prefetches [end - bytes, end), beginning with the last lines.
inline void PrefetchToWriteBefore(const char* end, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(end);
  bytes = std::min(bytes, kMaxPrefetchedBytes);
  for (size_t i = 1; i < bytes + kCacheLineBytes; i += kCacheLineBytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(address - i), /*rw=*/1);
  }
}

}  // namespace ashlar
