// SPDX-License-Identifier: Apache-2.0
//
// PlainBlockParser reads a key/value block with plain string keys once, from front to back: the
// metaindex and the properties. For blocks that are searched there is table/block/.
//
// The bytes come from files: each step checks its bounds, and status() tells where the block is
// damaged. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class PlainBlockParser {
 public:
  // Borrows `contents`, an uncompressed block without trailer.
  explicit PlainBlockParser(const Slice& contents);
  PlainBlockParser(const PlainBlockParser&) = delete;  // key_ may point into built_
  PlainBlockParser& operator=(const PlainBlockParser&) = delete;

  // Moves to the next entry in the order of the block. False at the end and after damage.
  bool Next();

  // The key and the value of the current entry. The key is valid until the second next call of
  // Next(), the value as long as the block.
  Slice key() const { return key_; }
  Slice value() const { return value_; }
  // Offset of the value from the start of the block.
  size_t value_offset() const { return static_cast<size_t>(value_.data() - begin_); }

  // OK, or Corruption without the file name, which the caller knows.
  const Status& status() const { return status_; }

 private:
  // Sets status() and returns false.
  bool Fail(const char* what);

  const char* begin_;        // begin of the block
  const char* p_;            // end of the current entry
  const char* entries_end_;  // begin of the restart offsets
  Slice key_;                // points into the block or into built_
  std::string built_[2];     // used in turns for keys that share bytes with the previous key
  Slice value_;
  Status status_;
};

}  // namespace ashlar
