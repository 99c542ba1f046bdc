// SPDX-License-Identifier: Apache-2.0
//
// A cache without room does not take the block; a reader will read it from the file.
#include "table/sst/write/cache_filler.h"

#include <cassert>
#include <cstring>
#include <utility>

#include "ashlar/table.h"
#include "table/format/properties.h"
#include "table/format/unique_id.h"
#include "table/sst/read/block_forms.h"
#include "table/sst/read/cache_counts.h"
#include "table/sst/read/table_objects.h"
#include "table/sst/write/table_builder.h"
#include "util/result.h"

namespace ashlar {

// Null if new blocks need not go to the block cache.
std::unique_ptr<CacheFiller> CacheFiller::MakeFor(const TableBuilderOptions& options,
                                                  uint32_t checksum_base) {
  using Prepopulate = BlockBasedTableOptions::PrepopulateBlockCache;
  const BlockBasedTableOptions& table = *options.table;
  const bool is_wanted =
      table.prepopulate_block_cache == Prepopulate::kFlushAndCompaction ||
      (table.prepopulate_block_cache == Prepopulate::kFlushOnly && options.is_flush);
  if (!is_wanted || table.block_cache == nullptr || options.is_external_file) return nullptr;
  Result<InternalUniqueId> id =
      MakeInternalUniqueId({options.db_id, options.db_session_id, options.file_number});
  if (!id.ok()) return nullptr;
  const uint64_t file_id = CacheFileId(*id, checksum_base, kNoGlobalSeqno);
  return std::unique_ptr<CacheFiller>(new CacheFiller(table.block_cache, file_id, options));
}

CacheFiller::CacheFiller(std::shared_ptr<Cache> cache, uint64_t file_id,
                         const TableBuilderOptions& options)
    : cache_(std::move(cache), &TableBlockForms()),
      file_id_(file_id),
      protection_bytes_(options.block_protection_bytes),
      statistics_(options.statistics) {
  assert(file_id_ != 0);
}

// The block is copied, since the writer reuses its buffer.
void CacheFiller::Add(const BlockHandle& handle, const Slice& contents) {
  auto block = ObjectRef<DataBlock>::Own(DataBlock::Allocate(contents.size()));
  std::memcpy(block->bytes(), contents.data(), contents.size());
  const Slice copy(block->bytes(), contents.size());
  if (!Block::Parse(copy, &block->block).ok()) return;  // the reader will report the damage
  block->Protect(protection_bytes_);
  BlockInsertion insertion;
  insertion.key = {.file_id = file_id_, .offset = handle.offset};
  insertion.object = block.get();
  insertion.charge = block->MemoryBytes();
  insertion.role = DataBlock::kRole;
  const bool is_inserted = cache_.Insert(insertion).ok();
  CountInsertion(TableObjectKind::kData, insertion.charge, is_inserted, statistics_);
  if (is_inserted) (void)block.Leave();  // the cache owns this reference now
}

}  // namespace ashlar
