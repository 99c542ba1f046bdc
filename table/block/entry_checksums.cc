// SPDX-License-Identifier: Apache-2.0
//
// An entry is found by its offset in the block.
#include "table/block/entry_checksums.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "table/block/block_cursor.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

// The checksum of an entry is the begin of these bytes.
void Encode(const Slice& key, const Slice& value, char (&bytes)[sizeof(uint64_t)]) {
  EncodeFixed64(bytes, HashBytes(value, HashBytes(key, key.size())));
}

}  // namespace

std::unique_ptr<const EntryChecksums> EntryChecksums::Of(const Block& block,
                                                         size_t checksum_bytes) {
  assert(checksum_bytes >= 1);
  assert(checksum_bytes <= sizeof(uint64_t));
  std::unique_ptr<EntryChecksums> made(new EntryChecksums(checksum_bytes));
  BlockCursor cursor;
  cursor.Attach(&block, {.are_internal = false});
  Slice key, value;
  char checksum[sizeof(uint64_t)];
  for (bool valid = cursor.First(&key, &value); valid; valid = cursor.Next(&key, &value)) {
    Encode(key, value, checksum);
    made->offsets_.push_back(cursor.entry_offset());
    made->checksums_.append(checksum, checksum_bytes);
  }
  made->offsets_.shrink_to_fit();
  made->checksums_.shrink_to_fit();
  return made;
}

bool EntryChecksums::Fits(uint32_t entry_offset, const Slice& key, const Slice& value) const {
  assert(checksums_.size() == offsets_.size() * checksum_bytes_);
  const auto found = std::lower_bound(offsets_.begin(), offsets_.end(), entry_offset);
  if (found == offsets_.end() || *found != entry_offset) return false;
  char checksum[sizeof(uint64_t)];
  Encode(key, value, checksum);
  const auto index = static_cast<size_t>(found - offsets_.begin());
  return std::memcmp(checksum, checksums_.data() + index * checksum_bytes_, checksum_bytes_) == 0;
}

}  // namespace ashlar
