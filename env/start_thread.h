// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <exception>

#include "ashlar/env.h"

namespace ashlar {

// Starts a thread that calls function(argument). Returns false if the system has no more threads:
// the caller does the work itself then. Env::StartThread() throws in that case.
inline bool TryStartThread(Env* env, void (*function)(void*), void* argument) {
  assert(env != nullptr);
  try {
    env->StartThread(function, argument);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace ashlar
