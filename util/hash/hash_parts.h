// SPDX-License-Identifier: Apache-2.0
//
// XXH64 of bytes that lie in two pieces: the same as XxHash64() of both in one.
#pragma once

#include <cstdint>

#include "ashlar/slice.h"

namespace ashlar {

uint64_t XxHash64OfParts(const Slice& first, const Slice& second);

}  // namespace ashlar
