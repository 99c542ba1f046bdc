// SPDX-License-Identifier: Apache-2.0
//
// CacheFiller puts the data blocks of a new table into the block cache when they are written, under
// the keys that its reader will use. See BlockBasedTableOptions::prepopulate_block_cache.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "ashlar/slice.h"
#include "cache/block_cache.h"
#include "table/format/block_handle.h"

namespace ashlar {

class Statistics;
struct TableBuilderOptions;

class CacheFiller {
 public:
  // Null if the options do not ask for it, or if the table has no identity from which cache keys
  // can be made.
  static std::unique_ptr<CacheFiller> MakeFor(const TableBuilderOptions& options,
                                              uint32_t checksum_base);

  // Adds a block that was just written. `contents` are its uncompressed bytes, which are copied.
  void Add(const BlockHandle& handle, const Slice& contents);

 private:
  CacheFiller(std::shared_ptr<Cache> cache, uint64_t file_id, const TableBuilderOptions& options);

  BlockCacheView cache_;
  const uint64_t file_id_;          // the file's part of the cache keys
  const uint8_t protection_bytes_;  // checksum bytes for each entry; 0: none
  Statistics* const statistics_;    // null: none
};

}  // namespace ashlar
