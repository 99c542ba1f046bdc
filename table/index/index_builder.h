// SPDX-License-Identifier: Apache-2.0
//
// IndexBuilder writes the binary-search index of a table: for each data block a separator and the
// block's handle. docs/formats/block_based_table.md, sections 6.1 to 6.3.
//
// Whether index keys carry sequence numbers is known only at the end: they must, if the versions of
// one user key fill more than one block. So separators are collected and encoded once by Finish().
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "table/block/block_builder.h"
#include "table/format/block_handle.h"

namespace ashlar {

class InternalKeyComparator;

// How far separators may be shortened.
enum class IndexShortening : uint8_t { kNone, kSeparators, kSeparatorsAndLast };

struct IndexBuilderOptions {
  const InternalKeyComparator* icmp = nullptr;  // outlives the builder
  IndexShortening shortening = IndexShortening::kSeparators;
  uint32_t format_version = 6;
  int restart_interval = 1;
};

class IndexBuilder {
 public:
  explicit IndexBuilder(const IndexBuilderOptions& options);

  // A data block that ends with `last_key`; `next_key` starts the next one, null behind the last
  // block of the table. Both are internal keys. Blocks in the order of the file.
  void AddBlock(const Slice& last_key, const Slice* next_key, const BlockHandle& handle);

  size_t block_count() const { return entries_.size(); }
  size_t EstimateBytes() const;

  // The index block, uncompressed, valid as long as the builder. Once.
  Slice Finish();

  // After the last AddBlock().
  bool has_user_keys() const { return may_use_user_keys_; }
  bool has_delta_handles() const { return has_delta_handles_; }
  std::string DebugString() const;

 private:
  struct Entry {
    size_t key_end;  // in keys_; the key starts where the one before ends
    BlockHandle handle;
  };

  void AppendShortened(const Slice& last_key, const std::string& shortened);
  Slice SeparatorAt(size_t i) const;

  const IndexBuilderOptions options_;
  const bool has_delta_handles_;  // follows from the format version
  bool may_use_user_keys_;        // until a user key is found in two blocks
  std::string keys_;              // internal separators, one behind the other
  std::vector<Entry> entries_;    // one for each data block
  std::string scratch_;           // a shortened key
  BlockBuilder block_;            // empty until Finish()
};

}  // namespace ashlar
