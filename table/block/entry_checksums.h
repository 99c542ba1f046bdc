// SPDX-License-Identifier: Apache-2.0
//
// EntryChecksums detect changes of the entries of a block in memory: one checksum for each entry,
// computed when the block was read (block_protection_bytes_per_key).
//
// Threads: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"

namespace ashlar {

class Block;

class EntryChecksums {
 public:
  // Computes checksums of `checksum_bytes` bytes per entry, 1 to 8. For a damaged block they end at
  // the damage; a reader gets an error from the block itself there.
  static std::unique_ptr<const EntryChecksums> Of(const Block& block, size_t checksum_bytes);

  // True if the entry at this offset still has the key, in its stored form, and the value that it
  // had then.
  bool Fits(uint32_t entry_offset, const Slice& key, const Slice& value) const;

  size_t MemoryBytes() const {
    return sizeof(*this) + offsets_.capacity() * sizeof(uint32_t) + checksums_.capacity();
  }

 private:
  explicit EntryChecksums(size_t checksum_bytes) : checksum_bytes_(checksum_bytes) {}

  const size_t checksum_bytes_;
  std::vector<uint32_t> offsets_;  // offsets of the entries, ascending
  std::string checksums_;          // checksum_bytes_ for each entry
};

}  // namespace ashlar
