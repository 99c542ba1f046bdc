// SPDX-License-Identifier: Apache-2.0
//
// XXH3 of libxxhash compiled for AVX-512. Everything after the pragma is static, so that the linker
// cannot choose any of it for a processor that does not support it.
#include "util/hash/xxh3_x86.h"

#if defined(__x86_64__)

// GCC 12 warns about registers that its own intrinsics leave undefined on purpose.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx2")
#endif

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#define XXH_VECTOR XXH_AVX512
#include <xxhash.h>

namespace ashlar::xxh3 {
uint64_t HashAvx512(const char* data, size_t n) { return XXH3_64bits(data, n); }
}  // namespace ashlar::xxh3

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
