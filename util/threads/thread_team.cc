// SPDX-License-Identifier: Apache-2.0
//
// In a simulation all waits of its thread are replaced. With a second thread, the waits would
// depend on something that is not simulated.
#include "util/threads/thread_team.h"

#include <cassert>
#include <exception>

#include "util/threads/simulated.h"

namespace ashlar {

void ThreadTeam::Start(size_t count, const std::function<void(size_t)>& body) {
  assert(body != nullptr);
  assert(threads_.empty());
  if (IsSimulated()) return;
  try {
    threads_.reserve(count);
    for (size_t i = 0; i < count; ++i) threads_.emplace_back([body, i] { body(i); });
  } catch (const std::exception&) {
    // The threads that were started must suffice.
  }
}

void ThreadTeam::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace ashlar
