// SPDX-License-Identifier: Apache-2.0
//
// FullFence() orders a thread's stores before its later loads. If two threads each store to one
// object, call FullFence() and load the other's object, then at least one of them sees the other's
// store.
#pragma once

#include <atomic>

#include "util/threads/epoch.h"

namespace ashlar {

inline void FullFence() {
#if ASHLAR_TSAN
  // The thread sanitizer does not know fences. All threads modify one object instead, so that each
  // sees everything that came before an earlier modification.
  static std::atomic<int> order{0};
  order.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace ashlar
