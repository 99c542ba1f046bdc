// SPDX-License-Identifier: Apache-2.0
//
// Result<T> is a value, or the Status that says why there is none. RETURN_IF_ERROR and
// ASSIGN_OR_RETURN return errors to the caller; they are the only macros with control flow.
#pragma once

#include <cassert>
#include <optional>
#include <utility>

#include "ashlar/status.h"

namespace ashlar {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }

  // The value. Only if ok().
  T& value() {
    assert(value_.has_value());
    return *value_;
  }
  const T& value() const {
    assert(value_.has_value());
    return *value_;
  }
  T Take() { return std::move(value()); }
  T* operator->() { return &value(); }
  T& operator*() { return value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

// Ignores an error on purpose; `why` says why this is correct.
inline void IgnoreError(const Status& status, [[maybe_unused]] const char* why) {
  status.PermitUncheckedError();
}

}  // namespace ashlar

#define RETURN_IF_ERROR(expression)                                 \
  do {                                                              \
    if (auto status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#define ASHLAR_CONCAT_INNER(a, b) a##b
#define ASHLAR_CONCAT(a, b) ASHLAR_CONCAT_INNER(a, b)
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_IMPL(ASHLAR_CONCAT(result_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_IMPL(result, target, expression) \
  auto result = (expression);                             \
  if (!result.ok()) return result.status();               \
  target = result.Take()
