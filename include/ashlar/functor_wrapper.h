// SPDX-License-Identifier: Apache-2.0
//
// FunctorWrapper stores a function and its arguments until invoke() calls it.
// Env::StartThreadTyped() passes it to the new thread. Threads: one at a time; invoke() may be
// called once.
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
