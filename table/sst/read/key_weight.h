// SPDX-License-Identifier: Apache-2.0
//
// KeyWeight: a key of a table, and the number of bytes between the previous such key and this one.
#pragma once

#include <cstdint>
#include <string>

namespace ashlar {

struct KeyWeight {
  std::string user_key;
  uint64_t bytes = 0;
};

}  // namespace ashlar
