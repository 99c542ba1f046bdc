// SPDX-License-Identifier: Apache-2.0
//
// Allocator is what a memtable representation takes its memory from: bytes that live until the
// allocator dies, all at once. Arena and ConcurrentArena are the two there are.
#pragma once

#include <cstddef>

namespace ashlar {

class Allocator {
 public:
  virtual ~Allocator() = default;

  // `bytes` > 0. The memory is not aligned.
  virtual char* Allocate(size_t bytes) = 0;
  // Aligned for any object without extended alignment.
  virtual char* AllocateAligned(size_t bytes) = 0;
  // How much is taken from the system at once.
  virtual size_t BlockSize() const = 0;
};

}  // namespace ashlar
