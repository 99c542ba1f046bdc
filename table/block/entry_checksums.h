// SPDX-License-Identifier: Apache-2.0
//
// EntryChecksums tell whether the entries of a block in memory are still those that were read: one
// checksum an entry, made when the block came (block_protection_bytes_per_key).
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
  // Of so many bytes an entry, 1 to 8. Where the block is damaged they end: whoever reads on is
  // told so by the block itself.
  static std::unique_ptr<const EntryChecksums> Of(const Block& block, size_t checksum_bytes);

  // Whether the entry that starts there has the key, as it is stored, and the value of then.
  bool Fits(uint32_t entry_offset, const Slice& key, const Slice& value) const;

  size_t MemoryBytes() const {
    return sizeof(*this) + offsets_.capacity() * sizeof(uint32_t) + checksums_.capacity();
  }

 private:
  explicit EntryChecksums(size_t checksum_bytes) : checksum_bytes_(checksum_bytes) {}

  const size_t checksum_bytes_;
  std::vector<uint32_t> offsets_;  // of entries, ascending
  std::string checksums_;          // checksum_bytes_ for each
};

}  // namespace ashlar
