// SPDX-License-Identifier: Apache-2.0
//
// PrefixBlocksBuilder makes the two meta blocks of a hash search index: the prefixes of the table,
// and the run of data blocks of each prefix. docs/formats/block_based_table.md, section 6.5.
//
// Other engines use these blocks; our reader does not. A key without a prefix could not be found
// through them, so a table with such a key gets none, and every reader accepts that.
// Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"

namespace ashlar {

class SliceTransform;

class PrefixBlocksBuilder {
 public:
  // `extractor` outlives the builder.
  explicit PrefixBlocksBuilder(const SliceTransform* extractor) : extractor_(extractor) {
    assert(extractor != nullptr);
  }

  // Adds the next key in the order of the file; `block_index` is the index of its data block, from
  // 0.
  void AddKey(const Slice& user_key, uint64_t block_index);
  // Completes both blocks. Called once.
  void Finish();

  // False if the table must not have these blocks: nothing was added, or a key without a prefix.
  bool is_usable() const { return !has_strangers_ && !prefixes_.empty(); }
  // The concatenated prefixes; and for each prefix its length, first block and number of blocks.
  const std::string& prefixes() const { return prefixes_; }
  const std::string& metadata() const { return metadata_; }

 private:
  // Appends the entry of the last prefix to metadata_.
  void EndPrefix();

  const SliceTransform* const extractor_;
  std::string prefixes_;
  std::string metadata_;
  size_t prefix_bytes_ = 0;   // length of the last prefix, at the end of prefixes_
  uint64_t first_block_ = 0;  // of the last prefix
  uint64_t last_block_ = 0;
  bool has_prefix_ = false;     // there is a last prefix
  bool has_strangers_ = false;  // a key was outside of the extractor's domain
};

}  // namespace ashlar
