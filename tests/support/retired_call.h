// SPDX-License-Identifier: Apache-2.0
//
// A retired object that calls a function when it is freed.
#pragma once

#include <functional>
#include <utility>

#include "util/threads/epoch.h"

namespace ashlar {

struct RetiredCall : EpochRetired {
  explicit RetiredCall(std::function<void()> c) : call(std::move(c)) {}
  ~RetiredCall() { call(); }
  std::function<void()> call;
};

// Calls `call` when objects that are retired now would be freed.
inline void RetireCall(std::function<void()> call) {
  EpochRetireDelete(new RetiredCall(std::move(call)));
}

}  // namespace ashlar
