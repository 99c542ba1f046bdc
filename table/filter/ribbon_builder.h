// SPDX-License-Identifier: Apache-2.0
//
// The construction of a Ribbon filter: about 30 % fewer bytes than a Bloom filter that is as
// precise, for several times its work. docs/formats/filters.md, section 6.3.
//
// A pure function of the hashes and the bits per key: the same give the same bytes as RocksDB.
// While it works it holds 20 bytes for each slot (about 1.05 slots a key) beside the hashes, and
// gives up rather than fail where memory or luck is missing: the caller then writes a Bloom filter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/filter/hash_list.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

// What a Ribbon filter of so many keys looks like.
struct RibbonShape {
  uint32_t slot_count = 0;  // a multiple of 128; 0: no Ribbon filter for this number of keys
  size_t bits_bytes = 0;    // without metadata

  size_t construction_bytes() const { return slot_count * size_t{20}; }  // while it is built
};

// `millibits_per_key` is of the Bloom filter that is as precise; `first_hash` decides on which side
// of a fraction of a block the size falls.
RibbonShape RibbonShapeFor(size_t key_count, uint64_t first_hash, uint32_t millibits_per_key);

// The filter block with its metadata, or an empty string if none was found. At least one hash;
// their order changes.
PageString BuildRibbon(HashList* hashes, const RibbonShape& shape);

}  // namespace ashlar
