// SPDX-License-Identifier: Apache-2.0
//
// PlaceInCuckooTable finds a bucket for each key of a CuckooTable, in RocksDB's way.
//
// Each hash function gives a key a block of consecutive buckets. A key takes the first free bucket
// of its blocks. If none is free, other keys move to further buckets of theirs: the shortest row of
// moves that ends at a free bucket is searched in breadth. If there is none, all keys get one more
// hash function, with which those that are placed already can be found as well.
//
// Threads: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/table.h"
#include "util/result.h"

namespace ashlar {

struct CuckooPlacement {
  static constexpr uint32_t kFree = UINT32_MAX;
  std::vector<uint32_t> buckets;  // the index of a key, or kFree
  uint64_t table_size = 0;        // to which hashes are reduced; the last block has more buckets
  uint32_t hash_count = 0;
};

// `keys`: user keys of `key_bytes` bytes each, one behind the other, all different, in the order in
// which they are placed. `table_size`: at least their number; a power of two unless use_module_hash
// is set. NotSupported: no placement was found.
Result<CuckooPlacement> PlaceInCuckooTable(const Slice& keys, size_t key_bytes, size_t key_count,
                                           uint64_t table_size, const CuckooTableOptions& options);

}  // namespace ashlar
