// SPDX-License-Identifier: Apache-2.0
//
// port::CondVar, the parameter type of SystemClock::TimedWait(): our condition variable under the
// name that the public header declares.
#pragma once

#include "util/threads/mutex.h"

namespace ashlar {
namespace port {

class CondVar : public ::ashlar::CondVar {
 public:
  using ::ashlar::CondVar::CondVar;
};

}  // namespace port
}  // namespace ashlar
