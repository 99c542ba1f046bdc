// SPDX-License-Identifier: Apache-2.0
//
// XXH64 of bytes in two pieces. The result equals XxHash64() of both pieces joined.
#pragma once

#include <cstdint>

#include "ashlar/slice.h"

namespace ashlar {

uint64_t XxHash64OfParts(const Slice& first, const Slice& second);

}  // namespace ashlar
