// SPDX-License-Identifier: Apache-2.0
//
// KeyWeight: so many bytes of a table lie before a key, behind the weight before it.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

struct KeyWeight {
  std::string user_key;
  uint64_t bytes = 0;
};

}  // namespace ashlar
