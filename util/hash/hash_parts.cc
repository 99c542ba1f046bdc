// SPDX-License-Identifier: Apache-2.0
//
// XXH64 of libxxhash, compiled into this file as in hash.cc.
#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include "util/hash/hash_parts.h"

#include <xxhash.h>

namespace ashlar {

uint64_t XxHash64OfParts(const Slice& first, const Slice& second) {
  XXH64_state_t state;
  XXH64_reset(&state, /*seed=*/0);
  XXH64_update(&state, first.data(), first.size());
  XXH64_update(&state, second.data(), second.size());
  return XXH64_digest(&state);
}

}  // namespace ashlar
