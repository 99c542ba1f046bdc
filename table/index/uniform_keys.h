// SPDX-License-Identifier: Apache-2.0
//
// Whether the keys of an index block are spread so evenly that a reader may guess from a key where
// it lies, instead of halving. docs/formats/block_based_table.md, section 13.
#pragma once

#include <span>

#include "ashlar/slice.h"

namespace ashlar {

// `keys` are user keys in bytewise order, those at the block's restart points. True if the gaps
// between them vary little: their standard deviation is at most `most_variation` times their mean.
// Never of a handful of keys, where guessing saves nothing.
bool AreKeysUniform(std::span<const Slice> keys, double most_variation);

}  // namespace ashlar
