// SPDX-License-Identifier: Apache-2.0
//
// SpareMemory<Handle>: the memory of the handles that a program makes and destroys at each read.
// Each thread keeps that of the last one that it has destroyed, which saves a malloc() and a
// free(): half of what such a call would cost more than the C++ call. A thread that ends frees it.
#pragma once

#include <cassert>
#include <cstddef>
#include <new>
#include <utility>

#include "util/threads/thread_object.h"

namespace ashlar::capi {

template <typename Handle>
class SpareMemory {
 public:
  // The two are for `operator new` and `operator delete` of the handle.
  static void* Take(size_t bytes) {
    assert(bytes == sizeof(Handle));
    void*& kept = ThreadObject<Kept>::Get().memory;
    return kept != nullptr ? std::exchange(kept, nullptr) : ::operator new(bytes);
  }
  static void Put(void* memory) {
    void*& kept = ThreadObject<Kept>::Get().memory;
    assert(memory != kept);  // destroyed twice
    if (kept != nullptr) return ::operator delete(memory);
    kept = memory;
  }

 private:
  struct Kept {
    void* memory = nullptr;
    ~Kept() { ::operator delete(memory); }
  };
};

}  // namespace ashlar::capi
