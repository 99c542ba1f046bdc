// SPDX-License-Identifier: Apache-2.0
//
// Memory is returned to the system after the mutex is released.
#include "util/memory/spare_blocks.h"

#include <new>
#include <utility>

namespace ashlar {

// Allocates outside of the mutex if there is no spare block, because the system may take long.
PageBuffer SpareBlocks::Take() {
  {
    MutexLock lock(&mutex_);
    is_resting_ = false;
    if (!blocks_.empty()) {
      PageBuffer block = std::move(blocks_.back());
      blocks_.pop_back();
      return block;
    }
  }
  return PageBuffer(kBlockBytes);
}

void SpareBlocks::Give(std::vector<PageBuffer> blocks, size_t limit_bytes) noexcept {
  // Sanitizers only detect accesses to freed memory if it is really freed.
  if (kHeapIsWatched) return;
  MutexLock lock(&mutex_);
  if (is_resting_) return;
  try {
    blocks_.reserve(blocks_.size() + blocks.size());
  } catch (const std::bad_alloc&) {
    return;  // without memory for the list, the blocks are freed, which is what is needed
  }
  for (PageBuffer& block : blocks) {
    if ((blocks_.size() + 1) * kBlockBytes > limit_bytes) return;
    if (block.size() == kBlockBytes) blocks_.push_back(std::move(block));
  }
}

void SpareBlocks::Rest() {
  std::vector<PageBuffer> unneeded;
  MutexLock lock(&mutex_);
  is_resting_ = true;
  blocks_.swap(unneeded);
}

size_t SpareBlocks::bytes() const {
  MutexLock lock(&mutex_);
  return blocks_.size() * kBlockBytes;
}

}  // namespace ashlar
