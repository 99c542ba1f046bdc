// SPDX-License-Identifier: Apache-2.0
//
// OfThread<Context> is a context with the counters of a thread. It is too large for the
// thread-local memory of a shared library: a program that loads the library while it runs
// (dlopen(), as Python, Node.js and Java do) has room for about one kilobyte of such memory, for
// all its libraries.
//
// The memory is from malloc(), so that tests that let `operator new` fail do not meet it in the
// middle of a read.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace ashlar {

template <typename Context>
struct OfThread : public Context {
  static void* operator new(size_t bytes) {
    void* memory;
    // `operator new` throws here, or its handler finds memory.
    while ((memory = std::malloc(bytes)) == nullptr) ::operator delete(::operator new(bytes));
    return memory;
  }
  static void operator delete(void* memory) { std::free(memory); }
};

}  // namespace ashlar
