// SPDX-License-Identifier: Apache-2.0
//
// IndexBlockEncoder encodes one index block: of data blocks, of index partitions, or of filter
// partitions. docs/formats/block_based_table.md, section 6.3.
//
// With delta handles, an entry that shares key bytes with the previous one stores only the
// difference of the block sizes. The offset follows from the previous block if the blocks lie one
// behind the other; otherwise the key is stored without sharing and the handle in full. Finish()
// ends a block; Reset() starts the next one. Threads: one at a time.
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
  bool has_first_keys = false;  // the first key of each block is stored behind its handle
};

class IndexBlockEncoder {
 public:
  explicit IndexBlockEncoder(const IndexEncoding& encoding);

  // Adds an entry; keys are strictly ascending. `first_key` is an internal key; empty without first
  // keys.
  void Add(const Slice& key, const BlockHandle& handle, const Slice& first_key = Slice());

  // The uncompressed block, valid until Reset().
  Slice Finish(bool has_uniform_keys = false) { return block_.Finish(has_uniform_keys); }
  void Reset();

  bool empty() const { return block_.empty(); }
  // The size of the block if it were finished now.
  size_t CurrentBytes() const { return block_.CurrentBytes(); }
  // The estimated size after one more entry, for the rule that ends partitions.
  size_t EstimateBytesWith(const Slice& key, const BlockHandle& handle) const;

 private:
  const IndexEncoding encoding_;
  BlockBuilder block_;
  BlockHandle previous_;       // handle of the previous entry; null at the start of a block
  std::string value_, delta_;  // the two possible values of an entry; reused
};

}  // namespace ashlar
