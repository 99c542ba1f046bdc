// SPDX-License-Identifier: Apache-2.0
//
// ValuePin says how the memory of a value can be kept after the value was shown.
#pragma once

#include <cstddef>

namespace ashlar {

// `acquire` takes a reference on `owner`; `release` has the signature of a Cleanable function and
// gives it back with (owner, nullptr). If `acquire` is null, the value must be copied.
struct ValuePin {
  void (*acquire)(void* owner) = nullptr;
  void (*release)(void* owner, void* unused) = nullptr;
  void* owner = nullptr;

  // For memory that outlives all readers of the value: no reference is needed.
  static ValuePin Lasting(const void* owner) {
    return {.acquire = [](void* /*owner*/) {},
            .release = [](void* /*owner*/, void* /*unused*/) {},
            .owner = const_cast<void*>(owner)};
  }
};

// Values up to this size are copied. Measured in ns, copy and reference: 8 and 14 at 512 bytes, 17
// and 15 at 1024 bytes, 71 and 25 at 4096 bytes.
inline constexpr size_t kCopiedValueBytes = 1024;

}  // namespace ashlar
