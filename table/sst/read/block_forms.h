// SPDX-License-Identifier: Apache-2.0
//
// How blocks of tables are saved in the second tier of the cache and restored from it. The saved
// form is the uncompressed bytes of the block behind a hash of them. Parsed indexes are not saved.
//
// Threads: any number.
#pragma once

#include "cache/block_cache.h"

namespace ashlar {

// The save and restore functions for each role of table blocks. Lives until the program ends.
const BlockForms& TableBlockForms();

}  // namespace ashlar
