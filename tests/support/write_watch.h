// SPDX-License-Identifier: Apache-2.0
//
// WatchStores() finds every store that a piece of code makes outside of its own stack and
// thread-local memory. All writable memory of the process is made read-only; each store then
// faults, is noted, is let through for one instruction, and the page is closed again. Stores that
// put back what was there before (a counter that goes up and down) are found too, which comparing
// memory would miss.
//
// This happens in a copy of the process (fork) that has no other thread and ends with the watch. So
// nothing else in the process is disturbed, and nothing of what the code does is to be seen in the
// caller's memory. Linux on x86-64, not under sanitizers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ashlar {

struct OwnMemory {
  const void* begin = nullptr;
  size_t bytes = 0;
};

// Whether this build can watch.
bool CanWatchWrites();

struct WatchedRun {
  bool has_ended = false;         // else the copy of the process died
  int result = 0;                 // of the code
  std::vector<uintptr_t> stores;  // addresses outside of `own`, at most 1000
};

// Runs body(argument) as the calling thread, which must not be the main one. Before it, `body`
// should have run a few times, so that whatever is set up once is set up.
WatchedRun WatchStores(int (*body)(void*), void* argument, const std::vector<OwnMemory>& own);

}  // namespace ashlar
