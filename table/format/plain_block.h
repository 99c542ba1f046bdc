// SPDX-License-Identifier: Apache-2.0
//
// PlainBlockParser walks a key/value block of plain string keys once, front to back: the metaindex
// and the properties. Blocks that are searched have table/block/ instead.
//
// Every byte is foreign: each step checks its bounds, and status() says where the block broke.
// Threads: one at a time.
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
  PlainBlockParser(const PlainBlockParser&) = delete;  // a key may lie in it
  PlainBlockParser& operator=(const PlainBlockParser&) = delete;

  // Steps to the next entry; false at the end and on damage.
  bool Next();

  // Of the current entry. The key is valid until the step after the next, the value as long as the
  // block.
  Slice key() const { return key_; }
  Slice value() const { return value_; }
  // Where the value starts, counted from the start of the block.
  size_t value_offset() const { return static_cast<size_t>(value_.data() - begin_); }

  // Corruption without file name: the caller knows it.
  const Status& status() const { return status_; }

 private:
  bool Fail(const char* what);

  const char* begin_;        // of the block
  const char* p_;            // behind the current entry
  const char* entries_end_;  // where the restart offsets begin
  Slice key_;                // in the block, or in built_
  std::string built_[2];     // the keys that share bytes with the one before, in turn
  Slice value_;
  Status status_;
};

}  // namespace ashlar
