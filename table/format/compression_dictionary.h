// SPDX-License-Identifier: Apache-2.0
//
// Makes the dictionary with which the data blocks of a table are compressed from the first data
// blocks. docs/formats/block_based_table.md, section 9.3.
//
// A pure function: the same blocks and options give the same dictionary.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"

namespace ashlar {

// `blocks` are uncompressed data blocks in the order of the table. An empty result means that no
// useful dictionary was found, and the table is compressed without one. At most
// options.max_dict_bytes bytes, which must not be 0.
std::string MakeCompressionDictionary(const std::vector<Slice>& blocks,
                                      const CompressionOptions& options);

}  // namespace ashlar
