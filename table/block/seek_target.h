// SPDX-License-Identifier: Apache-2.0
//
// SeekTarget is an internal key in two parts, for searches: a lookup has a user key and a greatest
// trailer, and does not need to concatenate them. Borrows the key.
#pragma once

#include <cstdint>

#include "ashlar/slice.h"
#include "util/keys/internal_key.h"

namespace ashlar {

struct SeekTarget {
  Slice user_key;
  uint64_t trailer = 0;

  SeekTarget(const Slice& key, uint64_t key_trailer) : user_key(key), trailer(key_trailer) {}
  explicit SeekTarget(const Slice& internal_key)
      : user_key(ExtractUserKey(internal_key)), trailer(ExtractTrailer(internal_key)) {}
};

}  // namespace ashlar
