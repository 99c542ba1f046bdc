// SPDX-License-Identifier: Apache-2.0
//
// The C++ library's allocator as a named class, and the error for allocators that need jemalloc.
#include "ashlar/memory_allocator.h"
#include "util/interfaces/registered_objects.h"

#include <cassert>
#include <new>

namespace ashlar {
namespace {

class DefaultAllocator final : public MemoryAllocator {
 public:
  const char* Name() const override { return "DefaultMemoryAllocator"; }
  std::string GetId() const override { return Name(); }
  void* Allocate(size_t size) override { return ::operator new(size); }
  void Deallocate(void* p) override { ::operator delete(p); }
};

}  // namespace

Status MemoryAllocator::CreateFromString(const ConfigOptions& options, const std::string& value,
                                         std::shared_ptr<MemoryAllocator>* result) {
  Status registered;
  if (MakeRegistered<MemoryAllocator>(options, value, result, &registered)) return registered;
  if (value.empty() || value == "nullptr") {
    result->reset();
    return Status::OK();
  }
  if (value == "DefaultMemoryAllocator") {
    *result = std::make_shared<DefaultAllocator>();
    return Status::OK();
  }
  return Status::NotSupported("MemoryAllocator: no built-in class of that name", value);
}

Status NewJemallocNodumpAllocator(const JemallocAllocatorOptions& /*options*/,
                                  std::shared_ptr<MemoryAllocator>* memory_allocator) {
  assert(memory_allocator != nullptr);
  memory_allocator->reset();
  return Status::NotSupported("NewJemallocNodumpAllocator: built without jemalloc");
}

}  // namespace ashlar
