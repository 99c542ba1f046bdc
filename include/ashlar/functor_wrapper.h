// SPDX-License-Identifier: Apache-2.0
//
// FunctorWrapper keeps a call and its arguments until invoke() makes it: what
// Env::StartThreadTyped hands to a new thread. Used once, by one thread at a time.
#pragma once

#include <functional>
#include <tuple>
#include <utility>

namespace ashlar {

template <typename... Args>
class FunctorWrapper {
 public:
  explicit FunctorWrapper(std::function<void(Args...)> functor, Args&&... args)
      : functor_(std::move(functor)), args_(std::forward<Args>(args)...) {}

  void invoke() { std::apply(functor_, args_); }

 private:
  std::function<void(Args...)> functor_;
  std::tuple<Args...> args_;
};

}  // namespace ashlar
