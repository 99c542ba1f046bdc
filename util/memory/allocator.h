// SPDX-License-Identifier: Apache-2.0
//
// Allocator is the source of memory for a memtable representation. The memory is freed when the
// allocator is destroyed, all at once. There are two: Arena and ConcurrentArena.
#pragma once

#include <cstddef>

namespace ashlar {

class Allocator {
 public:
  virtual ~Allocator() = default;

  // Allocates `bytes` > 0 bytes, not aligned.
  virtual char* Allocate(size_t bytes) = 0;
  // The result is aligned for any object without extended alignment.
  virtual char* AllocateAligned(size_t bytes) = 0;
  // The amount that is taken from the system at a time.
  virtual size_t BlockSize() const = 0;
};

}  // namespace ashlar
