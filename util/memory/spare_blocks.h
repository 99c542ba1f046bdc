// SPDX-License-Identifier: Apache-2.0
//
// SpareBlocks keeps blocks of memory that arenas are done with for those that come next: a page
// that the system hands out must be cleared first, and under a hypervisor perhaps found, which
// costs more than what is written to it. At its most a database that is written to holds no more
// with it than without, as new memory is only asked for where none is spare; on the average it
// holds more.
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

  // A block of kBlockBytes with anything in it; throws std::bad_alloc.
  PageBuffer Take() EXCLUDES(mutex_);
  // Keeps those of kBlockBytes as long as there are no more than `limit_bytes` of them, and nobody
  // has called Rest() since the last Take(). The others go back to the system.
  void Give(std::vector<PageBuffer> blocks, size_t limit_bytes) noexcept EXCLUDES(mutex_);
  // Nobody seems to need any soon: all go back to the system.
  void Rest() EXCLUDES(mutex_);

  size_t bytes() const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_{LockRank::kLeaf};
  std::vector<PageBuffer> blocks_ GUARDED_BY(mutex_);
  bool is_resting_ GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar
