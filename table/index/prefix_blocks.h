// SPDX-License-Identifier: Apache-2.0
//
// PrefixBlocksBuilder makes the two meta blocks of a hash search index: which prefixes the table
// holds, and which run of data blocks holds each. docs/formats/block_based_table.md, section 6.5.
//
// They are there for other engines: our reader needs neither. A key without a prefix cannot be
// found through them, so a table that has one gets none, which every reader understands.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"

namespace ashlar {

class SliceTransform;

class PrefixBlocksBuilder {
 public:
  // `extractor` outlives the builder.
  explicit PrefixBlocksBuilder(const SliceTransform* extractor) : extractor_(extractor) {}

  // Keys in the order of the file; `block_index` is the data block the key lies in, from 0.
  void AddKey(const Slice& user_key, uint64_t block_index);
  // Both blocks end with this. Once.
  void Finish();

  // False if the table must do without: nothing was added, or a key without a prefix.
  bool is_usable() const { return !has_strangers_ && !prefixes_.empty(); }
  // The prefixes, one behind the other, and for each its length, first block and block count.
  const std::string& prefixes() const { return prefixes_; }
  const std::string& metadata() const { return metadata_; }

 private:
  void EndPrefix();

  const SliceTransform* const extractor_;
  std::string prefixes_;
  std::string metadata_;
  size_t prefix_bytes_ = 0;   // of the last prefix, at the end of prefixes_
  uint64_t first_block_ = 0;  // of the last prefix
  uint64_t last_block_ = 0;
  bool has_prefix_ = false;     // there is a last prefix
  bool has_strangers_ = false;  // keys out of the extractor's domain
};

}  // namespace ashlar
