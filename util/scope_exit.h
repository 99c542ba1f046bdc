// SPDX-License-Identifier: Apache-2.0
//
// ScopeExit runs a function at the end of its scope, however the scope is left. It is for what must
// be undone, released or signalled after an error or an exception as well.
//
//   ScopeExit undo([&] { families.Remove(id); });
//   RETURN_IF_ERROR(Record(id));
//   undo.Cancel();  // all went well
//
// The function must not throw.
#pragma once

#include <utility>

namespace ashlar {

template <typename F>
class [[nodiscard]] ScopeExit {
 public:
  explicit ScopeExit(F function) : function_(std::move(function)) {}
  ~ScopeExit() {
    if (is_armed_) function_();
  }
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;

  // The function will not run.
  void Cancel() { is_armed_ = false; }

 private:
  F function_;
  bool is_armed_ = true;
};

}  // namespace ashlar
