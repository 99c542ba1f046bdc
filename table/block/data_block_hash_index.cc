// SPDX-License-Identifier: Apache-2.0
//
// buckets, one byte each | u16 number of buckets. A bucket contains the restart index of the only
// interval with keys that hash to it, or one of two values for "none" and "more than one".
#include "table/block/data_block_hash_index.h"

#include <cassert>
#include <cstring>

namespace ashlar {

// Two keys of one restart interval may share a bucket. Keys of different intervals make the bucket
// a collision, for which readers search the block by binary search.
void DataBlockHashIndexBuilder::EncodeTo(char* dst) const {
  assert(is_valid_);
  const uint16_t bucket_count = BucketCount();
  assert(bucket_count % 2 == 1);
  auto* buckets = reinterpret_cast<uint8_t*>(dst);
  std::memset(buckets, Block::kNoSuchKey, bucket_count);
  for (const Entry& entry : entries_) {
    uint8_t& bucket = buckets[entry.hash % bucket_count];
    if (bucket == Block::kNoSuchKey) {
      bucket = entry.restart_index;
    } else if (bucket != entry.restart_index) {
      bucket = Block::kHashCollision;
    }
  }
  EncodeFixed16(dst + bucket_count, bucket_count);
}

void DataBlockHashIndexBuilder::Reset() {
  estimated_buckets_ = 0;
  is_valid_ = true;
  entries_.clear();
  assert(is_valid());
}

}  // namespace ashlar
