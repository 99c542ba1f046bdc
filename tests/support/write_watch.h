// SPDX-License-Identifier: Apache-2.0
//
// WriteWatch finds every store that a piece of code makes outside of its own stack and thread-local
// memory. All writable memory of the process is made read-only; each store then faults, is noted,
// is let through for one instruction, and the page is closed again. Stores that put back what was
// there before (a counter that goes up and down) are found too, which comparing memory would miss.
//
// Linux on x86-64, not under sanitizers. One watch at a time; other threads of the process should
// be asleep (their stores are let through and not noted).
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

// Runs body(argument) in the calling thread, which must not be the main one, and returns the
// addresses of the stores outside of `own`, at most 1000. Before it, `body` should have run a few
// times, so that whatever is set up once is set up.
std::vector<uintptr_t> StoresOf(void (*body)(void*), void* argument,
                                const std::vector<OwnMemory>& own);

}  // namespace ashlar
