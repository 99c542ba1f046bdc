// SPDX-License-Identifier: Apache-2.0
//
// The two forms of the value of an entry:
//
//   value:  handle                         | [first key, with its length]
//   delta:  zigzag(size - previous size)   | [first key, with its length]
#include "table/index/index_block_encoder.h"

#include <cassert>

#include "util/keys/coding.h"

namespace ashlar {

IndexBlockEncoder::IndexBlockEncoder(const IndexEncoding& encoding)
    : encoding_(encoding),
      block_({.restart_interval = encoding.restart_interval,
              .has_value_lengths = !encoding.has_delta_handles}) {}

// A handle that begins where the previous one ends may be stored as a delta: only the difference of
// the sizes is written. The builder of the block chooses between both forms, because a restart
// point needs the full one.
void IndexBlockEncoder::Add(const Slice& key, const BlockHandle& handle, const Slice& first_key) {
  assert(!handle.IsNull());
  assert(encoding_.has_first_keys == !first_key.empty());
  value_.clear();
  handle.AppendTo(&value_);
  if (encoding_.has_first_keys) PutLengthPrefixedSlice(&value_, first_key);
  if (encoding_.has_delta_handles) {
    delta_.clear();
    PutVarint64(&delta_, ZigZagEncode(static_cast<int64_t>(handle.size - previous_.size)));
    if (encoding_.has_first_keys) PutLengthPrefixedSlice(&delta_, first_key);
    const bool is_chained = !previous_.IsNull() && handle.offset == previous_.end();
    block_.AddWithDelta(key, value_, delta_, is_chained);
  } else {
    block_.Add(key, value_);
  }
  previous_ = handle;
}

void IndexBlockEncoder::Reset() {
  block_.Reset();
  previous_ = {};
  assert(empty());
}

// Counts the key without sharing, and a delta as half of a handle, because it is one of its two
// numbers.
size_t IndexBlockEncoder::EstimateBytesWith(const Slice& key, const BlockHandle& handle) const {
  char full[kMaxBlockHandleBytes];
  const Slice value(full, static_cast<size_t>(handle.EncodeTo(full) - full));
  const size_t estimate = block_.EstimateBytesWith(key, value);
  const bool is_delta = encoding_.has_delta_handles && !block_.NextIsRestart();
  return is_delta ? estimate - VarintLength(value.size()) - (value.size() + 1) / 2 : estimate;
}

}  // namespace ashlar
