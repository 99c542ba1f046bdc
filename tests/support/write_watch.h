// SPDX-License-Identifier: Apache-2.0
//
// WatchStores() finds every store that a piece of code makes outside of its own stack and
// thread-local memory. All writable memory of the process is made read-only; each store then causes
// a fault, is recorded, is permitted for one instruction, and the page becomes read-only again.
// This also finds stores that restore the old contents (a counter that goes up and down), which
// comparing memory would miss.
//
// This happens in a copy of the process (fork) that has no other thread and ends afterwards. So
// nothing else in the process is disturbed, and the caller's memory shows no effect of the code.
// Linux on x86-64, not under sanitizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ashlar {

struct OwnMemory {
  const void* begin = nullptr;
  size_t bytes = 0;
};

// Whether this build supports it.
bool CanWatchWrites();

struct WatchedRun {
  bool has_ended = false;         // otherwise the copy of the process died
  int result = 0;                 // of the code
  std::vector<uintptr_t> stores;  // addresses outside of `own`, at most 1000
};

// Runs body(argument) in the calling thread, which must not be the main one. Call `body` a few
// times before, so that one-time initialisation is done.
WatchedRun WatchStores(int (*body)(void*), void* argument, const std::vector<OwnMemory>& own);

}  // namespace ashlar
