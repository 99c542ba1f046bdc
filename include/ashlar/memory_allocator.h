// SPDX-License-Identifier: Apache-2.0
//
// MemoryAllocator: where a cache keeps its entries. Must be thread safe; outlives what it gave.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class ASHLAR_EXPORT MemoryAllocator : public Customizable {
 public:
  static const char* Type() { return "MemoryAllocator"; }
  // By name: "DefaultMemoryAllocator". InvalidArgument for others.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<MemoryAllocator>* result);

  // At least `size` bytes, aligned for any fundamental type.
  virtual void* Allocate(size_t size) = 0;
  virtual void Deallocate(void* p) = 0;
  // The bytes of the block `p` that may be used, for accounting.
  virtual size_t UsableSize(void* /*p*/, size_t allocation_size) const { return allocation_size; }

  std::string GetId() const override { return GenerateIndividualId(); }
};

struct JemallocAllocatorOptions {
  static const char* kName() { return "JemallocAllocatorOptions"; }
  // Do not let small or large allocations pass through the thread cache.
  bool limit_tcache_size = false;
  size_t tcache_size_lower_bound = 1024;
  size_t tcache_size_upper_bound = 16 * 1024;
  size_t num_arenas = 1;
};

// An allocator whose memory is left out of core dumps. Needs jemalloc, which the library is not
// linked with: always NotSupported.
ASHLAR_EXPORT Status NewJemallocNodumpAllocator(const JemallocAllocatorOptions& options,
                                                std::shared_ptr<MemoryAllocator>* memory_allocator);

}  // namespace ashlar
