// SPDX-License-Identifier: Apache-2.0
//
// How table code counts uses of the block cache in the statistics. Threads: any number.
#pragma once

#include <cstddef>

#include "ashlar/statistics.h"
#include "cache/block_cache.h"
#include "table/sst/read/table_objects.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

// Counts a miss on a block other than data; operations sum up hits and misses of data blocks and
// add them once. `statistics` may be null here and below.
void CountMiss(TableObjectKind kind, Statistics* statistics);
// An object was offered to the cache, which took it or not. The object may be gone by now.
void CountInsertion(TableObjectKind kind, size_t charge, bool is_inserted, Statistics* statistics);

// Counts a hit on a block other than data, in the statistics and in the thread's perf context. Hot:
// once for each partition that a lookup uses.
template <TableObjectKind kKind>
void CountMetadataHit(size_t bytes, Statistics* statistics) {
  static_assert(kKind != TableObjectKind::kData);
  Tickers ticker = BLOCK_CACHE_COMPRESSION_DICT_HIT;
  AddPerfCount(&PerfContextBase::block_cache_hit_count);
  AddPerfCount(&PerfContextBase::block_cache_read_byte, bytes);
  if constexpr (kKind == TableObjectKind::kIndex) {
    ticker = BLOCK_CACHE_INDEX_HIT;
    AddPerfCount(&PerfContextBase::block_cache_index_hit_count);
    AddPerfCount(&PerfContextBase::block_cache_index_read_byte, bytes);
  } else if constexpr (kKind == TableObjectKind::kFilter) {
    ticker = BLOCK_CACHE_FILTER_HIT;
    AddPerfCount(&PerfContextBase::block_cache_filter_hit_count);
    AddPerfCount(&PerfContextBase::block_cache_filter_read_byte, bytes);
  } else {
    AddPerfCount(&PerfContextBase::block_cache_compression_dict_read_byte, bytes);
  }
  if (statistics == nullptr) return;
  statistics->recordTick(BLOCK_CACHE_HIT, 1);
  statistics->recordTick(ticker, 1);
  statistics->recordTick(BLOCK_CACHE_BYTES_READ, bytes);
}

}  // namespace ashlar
