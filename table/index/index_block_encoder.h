// SPDX-License-Identifier: Apache-2.0
//
// IndexBlockEncoder writes one index block: of data blocks, of index partitions, or of filter
// partitions. docs/formats/block_based_table.md, section 6.3.
//
// With handles by difference, an entry that shares key bytes with the one before it stores only how
// much larger its block is than that one's: the offset follows where blocks lie back to back, and
// where they do not the key is stored whole. Finish() ends a block; Reset() starts the next one.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>

#include "ashlar/slice.h"
#include "table/block/block_builder.h"
#include "table/format/block_handle.h"

namespace ashlar {

struct IndexEncoding {
  int restart_interval = 1;
  bool has_delta_handles = true;
  bool has_first_keys = false;  // the first key of each block stands behind its handle
};

class IndexBlockEncoder {
 public:
  explicit IndexBlockEncoder(const IndexEncoding& encoding);

  // Keys strictly ascending. `first_key` is an internal key; not looked at without first keys.
  void Add(const Slice& key, const BlockHandle& handle, const Slice& first_key = Slice());

  // The block, uncompressed, valid until Reset().
  Slice Finish(bool has_uniform_keys = false) { return block_.Finish(has_uniform_keys); }
  void Reset();

  bool empty() const { return block_.empty(); }
  // Of the block as if finished now.
  size_t CurrentBytes() const { return block_.CurrentBytes(); }
  // What the rule that ends partitions takes the size to be after one more entry.
  size_t EstimateBytesWith(const Slice& key, const BlockHandle& handle) const;

 private:
  const IndexEncoding encoding_;
  BlockBuilder block_;
  BlockHandle previous_;       // of the entry before; null at the start of a block
  std::string value_, delta_;  // the two forms of one entry; reused
};

}  // namespace ashlar
