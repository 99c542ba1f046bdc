// SPDX-License-Identifier: Apache-2.0
//
// ASSERT_OK / EXPECT_OK for anything with ok() and ToString(), and for Result<T> through status().
#pragma once

#include <gtest/gtest.h>

#include <type_traits>

#include "ashlar/status.h"

namespace ashlar {

inline const Status& StatusOf(const Status& status) { return status; }

// For Result<T> and everything else with a status().
template <typename T, typename = std::enable_if_t<!std::is_base_of_v<Status, T>>>
Status StatusOf(const T& result) {
  return result.status();
}

template <typename T>
testing::AssertionResult IsOk(const char* expression, const T& value) {
  const Status status = StatusOf(value);
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << expression << " returned " << status.ToString();
}

}  // namespace ashlar

#define ASSERT_OK(expression) ASSERT_PRED_FORMAT1(::ashlar::IsOk, expression)
#define EXPECT_OK(expression) EXPECT_PRED_FORMAT1(::ashlar::IsOk, expression)
