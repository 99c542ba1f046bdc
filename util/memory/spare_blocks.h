// SPDX-License-Identifier: Apache-2.0
//
// SpareBlocks keeps memory blocks that arenas do not need any more, for the next arenas. The system
// must clear a page before it hands it out, and a hypervisor may have to find one; both cost more
// than writing the data. The peak memory of a database under writes is the same as without spare
// blocks, because new memory is allocated only if there is no spare block. The average is higher.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <vector>

#include "util/memory/page_buffer.h"
#include "util/threads/mutex.h"

namespace ashlar {

class SpareBlocks {
 public:
  static constexpr size_t kBlockBytes = PageBuffer::kHugePageBytes;

  // Returns a block of kBlockBytes with arbitrary content; throws std::bad_alloc.
  PageBuffer Take() EXCLUDES(mutex_);
  // Keeps the blocks of kBlockBytes as long as the spare blocks are not more than `limit_bytes`,
  // unless Rest() was called after the last Take(). The other blocks return to the system.
  void Give(std::vector<PageBuffer> blocks, size_t limit_bytes) noexcept EXCLUDES(mutex_);
  // Returns all spare blocks to the system, for times without demand.
  void Rest() EXCLUDES(mutex_);

  size_t bytes() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::vector<PageBuffer> blocks_ GUARDED_BY(mutex_);
  bool is_resting_ GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar
