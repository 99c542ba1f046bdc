// SPDX-License-Identifier: Apache-2.0
//
// How the blocks of tables are saved in a second tier of the cache, and made again of what was
// saved: the bytes as they were searched, behind their hash. Parsed indexes are not saved.
//
// Threads: any number.
#pragma once

#include "cache/block_cache.h"

namespace ashlar {

const BlockForms& TableBlockForms();

}  // namespace ashlar
