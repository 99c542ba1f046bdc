// SPDX-License-Identifier: Apache-2.0
//
// ThreadNumber() spreads threads over shards: numbers from 0 on, in the order in which threads
// first ask. They are not used again.
#pragma once

#include <atomic>
#include <cstddef>

namespace ashlar {

// Hot: a load from the thread's own memory.
inline size_t ThreadNumber() {
  static constinit std::atomic<size_t> count{0};
  static constinit thread_local size_t number_plus_one = 0;  // 0: not given yet
  if (number_plus_one == 0) [[unlikely]]
    number_plus_one = 1 + count.fetch_add(1, std::memory_order_relaxed);
  return number_plus_one - 1;
}

}  // namespace ashlar
