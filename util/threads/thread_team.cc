// SPDX-License-Identifier: Apache-2.0
//
// In a simulation the waits of its thread are replaced, and a thread beside it would make them
// depend on what nobody simulates.
#include "util/threads/thread_team.h"

#include <cassert>
#include <exception>

#include "util/threads/mutex.h"

namespace ashlar {

namespace {

bool IsSimulated() {
  SleepReplacement* const replacement = SetSleepReplacement(nullptr);
  SetSleepReplacement(replacement);
  return replacement != nullptr;
}

}  // namespace

void ThreadTeam::Start(size_t count, const std::function<void(size_t)>& body) {
  assert(threads_.empty());
  if (IsSimulated()) return;
  try {
    threads_.reserve(count);
    for (size_t i = 0; i < count; ++i) threads_.emplace_back([body, i] { body(i); });
  } catch (const std::exception&) {
    // Those that run will do.
  }
}

void ThreadTeam::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace ashlar
