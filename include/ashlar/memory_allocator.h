// SPDX-License-Identifier: Apache-2.0
//
// MemoryAllocator provides the memory for the entries of a cache. Implementations must be thread
// safe. An allocator must outlive all memory that it has allocated.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// Allocates memory for the entries of a cache.
class ASHLAR_EXPORT MemoryAllocator : public Customizable {
 public:
  static const char* Type() { return "MemoryAllocator"; }
  // Returns the allocator with this name: "DefaultMemoryAllocator". InvalidArgument for other
  // names.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<MemoryAllocator>* result);

  // Allocates at least `size` bytes, aligned for any fundamental type.
  virtual void* Allocate(size_t size) = 0;
  // Releases memory that Allocate() returned.
  virtual void Deallocate(void* p) = 0;
  // Number of bytes of the allocation `p` that may be used; the cache charges them. allocation_size
  // is the size that was passed to Allocate().
  virtual size_t UsableSize(void* /*p*/, size_t allocation_size) const { return allocation_size; }

  std::string GetId() const override { return GenerateIndividualId(); }
};

// Options of NewJemallocNodumpAllocator().
struct JemallocAllocatorOptions {
  static const char* kName() { return "JemallocAllocatorOptions"; }
  // Allocate only sizes between the two bounds below through the thread cache.
  bool limit_tcache_size = false;
  size_t tcache_size_lower_bound = 1024;
  size_t tcache_size_upper_bound = 16 * 1024;
  size_t num_arenas = 1;
};

// Creates an allocator whose memory is excluded from core dumps. It needs jemalloc, which the
// library is not linked with: always NotSupported.
ASHLAR_EXPORT Status NewJemallocNodumpAllocator(const JemallocAllocatorOptions& options,
                                                std::shared_ptr<MemoryAllocator>* memory_allocator);

}  // namespace ashlar
