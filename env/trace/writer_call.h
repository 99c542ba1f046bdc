// SPDX-License-Identifier: Apache-2.0
//
// Calls of trace writers, which may be classes of the program.
#pragma once

#include <exception>

#include "ashlar/status.h"

namespace ashlar {

// An exception becomes an error, because it must not reach the traced call.
template <typename Call>
Status GuardedWriterCall(const Call& call) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return Status::Aborted("the trace writer threw an exception", thrown.what());
  } catch (...) {
    return Status::Aborted("the trace writer threw an exception");
  }
}

}  // namespace ashlar
