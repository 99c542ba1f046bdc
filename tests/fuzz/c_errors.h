// SPDX-License-Identifier: Apache-2.0
//
// What the fuzz targets of the C API share: requirements, and the errors of calls.
#pragma once

#include <cstdlib>

#include "ashlar/c.h"

inline void Require(bool is_so) {
  if (!is_so) std::abort();
}

// Takes the error of a call and frees it.
struct Error {
  char* text = nullptr;
  Error() = default;
  Error(const Error&) = delete;
  Error& operator=(const Error&) = delete;
  ~Error() { ashlar_free(text); }
  bool ok() const { return text == nullptr; }
};
