// SPDX-License-Identifier: Apache-2.0
//
// A data block in which one prefix ends and the next one begins counts for both prefixes.
#include "table/index/prefix_blocks.h"

#include <cassert>

#include "ashlar/slice_transform.h"
#include "util/keys/coding.h"

namespace ashlar {

// Keys arrive in order, so that all keys of a prefix come one after the other. A single key outside
// of the domain makes the list useless, and nothing is recorded any more.
void PrefixBlocksBuilder::AddKey(const Slice& user_key, uint64_t block_index) {
  assert(!has_prefix_ || block_index >= last_block_);
  if (!extractor_->InDomain(user_key)) has_strangers_ = true;
  if (has_strangers_) return;
  const Slice prefix = extractor_->Transform(user_key);
  const Slice last(prefixes_.data() + prefixes_.size() - prefix_bytes_, prefix_bytes_);
  if (has_prefix_ && prefix == last) {
    last_block_ = block_index;
    return;
  }
  EndPrefix();
  prefixes_.append(prefix.data(), prefix.size());
  prefix_bytes_ = prefix.size();
  first_block_ = last_block_ = block_index;
  has_prefix_ = true;
}

void PrefixBlocksBuilder::EndPrefix() {
  if (!has_prefix_) return;
  assert(first_block_ <= last_block_);
  PutVarint32(&metadata_, static_cast<uint32_t>(prefix_bytes_));
  PutVarint32(&metadata_, static_cast<uint32_t>(first_block_));
  PutVarint32(&metadata_, static_cast<uint32_t>(last_block_ - first_block_ + 1));
}

void PrefixBlocksBuilder::Finish() {
  EndPrefix();
  has_prefix_ = false;
}

}  // namespace ashlar
