// SPDX-License-Identifier: Apache-2.0
//
// The dictionary that the data blocks of a table are compressed with: which bytes of the first
// blocks go into it. docs/formats/block_based_table.md, section 9.3.
//
// A pure function: the same blocks and options give the same dictionary.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"

namespace ashlar {

// Of raw data blocks in the order of the table. Empty: there is nothing to learn from them, and the
// table is compressed without. At most options.max_dict_bytes, which must not be 0.
std::string MakeCompressionDictionary(const std::vector<Slice>& blocks,
                                      const CompressionOptions& options);

}  // namespace ashlar
