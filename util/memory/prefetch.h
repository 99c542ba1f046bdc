// SPDX-License-Identifier: Apache-2.0
//
// Asking for cache lines that will be needed in a moment. Addresses need not be valid: what is not
// mapped is not fetched.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ashlar {

// Beyond it the hardware has seen where the copy goes, and the first lines would be gone again.
inline constexpr size_t kMaxPrefetchedBytes = 2048;
inline constexpr size_t kCacheLineBytes = 64;

// Of [begin, begin + bytes), as far as kMaxPrefetchedBytes.
inline void PrefetchToRead(const char* begin, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t end = address + std::min(bytes, kMaxPrefetchedBytes);
  for (uintptr_t line = address & ~(kCacheLineBytes - 1); line < end; line += kCacheLineBytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(line));
  }
}
// Of [end - bytes, end), the last ones first.
inline void PrefetchToWriteBefore(const char* end, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(end);
  bytes = std::min(bytes, kMaxPrefetchedBytes);
  for (size_t i = 1; i < bytes + kCacheLineBytes; i += kCacheLineBytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(address - i), /*rw=*/1);
  }
}

}  // namespace ashlar
