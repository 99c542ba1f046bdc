// SPDX-License-Identifier: Apache-2.0
//
// CacheFiller puts the data blocks of a table in the block cache as they are written, under the
// keys by which its reader will ask: BlockBasedTableOptions::prepopulate_block_cache.
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
  // Null if the options do not ask for it, or the table has no identity yet.
  static std::unique_ptr<CacheFiller> MakeFor(const TableBuilderOptions& options,
                                              uint32_t checksum_base);

  // A block that was written, as it was before it was compressed.
  void Add(const BlockHandle& handle, const Slice& contents);

 private:
  CacheFiller(std::shared_ptr<Cache> cache, uint64_t file_id, const TableBuilderOptions& options);

  BlockCacheView cache_;
  const uint64_t file_id_;          // of keys
  const uint8_t protection_bytes_;  // of each entry
  Statistics* const statistics_;    // null: none
};

}  // namespace ashlar
