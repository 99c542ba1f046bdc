// SPDX-License-Identifier: Apache-2.0
//
// ThreadNumber() distributes threads over shards. Threads are numbered from 0 on, in the order in
// which they first call it. Numbers are not reused.
#pragma once

#include <atomic>
#include <cstddef>

namespace ashlar {

// Not an id of the system: small, dense, and stable for the life of the thread.
// Hot: one load of a thread-local variable.
inline size_t ThreadNumber() {
  static constinit std::atomic<size_t> count{0};
  static constinit thread_local size_t number_plus_one = 0;  // 0 means that it has no number yet
  if (number_plus_one == 0) [[unlikely]]
    number_plus_one = 1 + count.fetch_add(1, std::memory_order_relaxed);
  return number_plus_one - 1;
}

}  // namespace ashlar
