// SPDX-License-Identifier: Apache-2.0
//
// Decides whether the keys of an index block are spread so evenly that a reader may guess the
// position of a key instead of using a binary search. docs/formats/block_based_table.md, section
// 13.
#pragma once

#include <span>

#include "ashlar/slice.h"

namespace ashlar {

// `keys` are the user keys at the restart points of the block, in bytewise order. True if the gaps
// between them vary little: their standard deviation is at most `most_variation` times their mean.
// False for fewer than 8 keys, where guessing saves nothing.
bool AreKeysUniform(std::span<const Slice> keys, double most_variation);

}  // namespace ashlar
