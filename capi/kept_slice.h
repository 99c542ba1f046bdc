// SPDX-License-Identifier: Apache-2.0
//
// KeptSlice: a copy of bytes to which an option points.
#pragma once

#include <string>

#include "ashlar/slice.h"

namespace ashlar::capi {

// A copy of bytes to which an option of the engine points. The program's own memory is free after
// the call. The object must not be moved while an option points to it.
class KeptSlice {
 public:
  // The new value of the option; null for a null pointer.
  const Slice* Keep(const char* data, size_t length) {
    if (data == nullptr) return nullptr;
    bytes_.assign(data, length);
    slice_ = bytes_;
    return &slice_;
  }

 private:
  std::string bytes_;
  Slice slice_;
};

}  // namespace ashlar::capi
