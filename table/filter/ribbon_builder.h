// SPDX-License-Identifier: Apache-2.0
//
// Builds a Ribbon filter. It needs about 30 % fewer bytes than a Bloom filter with the same false
// positive rate, and several times the work. docs/formats/filters.md, section 6.3.
//
// A pure function of the hashes and the bits per key; the result has the same bytes as RocksDB's.
// While it works it uses 20 bytes for each slot (about 1.05 slots per key) besides the hashes. If
// memory is missing or no seed works, it returns nothing, and the caller writes a Bloom filter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/filter/hash_list.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

// The size of a Ribbon filter for a number of keys.
struct RibbonShape {
  uint32_t slot_count = 0;  // a multiple of 128; 0: no Ribbon filter for this number of keys
  size_t bits_bytes = 0;    // without metadata

  size_t construction_bytes() const { return slot_count * size_t{20}; }  // memory while it is built
};

// `millibits_per_key` is that of a Bloom filter with the same false positive rate. `first_hash`
// decides whether a fraction of a block is rounded up or down.
RibbonShape RibbonShapeFor(size_t key_count, uint64_t first_hash, uint32_t millibits_per_key);

// The filter block with its metadata, or an empty string if none could be built. Needs at least one
// hash; changes the order of the hashes.
PageString BuildRibbon(HashList* hashes, const RibbonShape& shape);

}  // namespace ashlar
