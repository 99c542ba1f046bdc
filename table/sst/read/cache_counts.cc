// SPDX-License-Identifier: Apache-2.0
//
// The tickers of the statistics for each kind of block.
#include "table/sst/read/cache_counts.h"

#include <cassert>

#include "ashlar/statistics.h"

namespace ashlar {

// Misses of data blocks are counted together at the end of a read, because they are frequent.
void CountMiss(TableObjectKind kind, Statistics* statistics) {
  assert(kind != TableObjectKind::kData);
  if (statistics == nullptr) return;
  statistics->recordTick(BLOCK_CACHE_MISS, 1);
  switch (kind) {
    case TableObjectKind::kData: return;
    case TableObjectKind::kIndex: return statistics->recordTick(BLOCK_CACHE_INDEX_MISS, 1);
    case TableObjectKind::kFilter: return statistics->recordTick(BLOCK_CACHE_FILTER_MISS, 1);
    case TableObjectKind::kDictionary:
      return statistics->recordTick(BLOCK_CACHE_COMPRESSION_DICT_MISS, 1);
  }
}

void CountInsertion(TableObjectKind kind, size_t charge, bool is_inserted, Statistics* statistics) {
  if (statistics == nullptr) return;
  if (!is_inserted) return statistics->recordTick(BLOCK_CACHE_ADD_FAILURES, 1);
  statistics->recordTick(BLOCK_CACHE_ADD, 1);
  statistics->recordTick(BLOCK_CACHE_BYTES_WRITE, charge);
  const auto add = [&](Tickers adds, Tickers bytes) {
    statistics->recordTick(adds, 1);
    statistics->recordTick(bytes, charge);
  };
  switch (kind) {
    case TableObjectKind::kData: return add(BLOCK_CACHE_DATA_ADD, BLOCK_CACHE_DATA_BYTES_INSERT);
    case TableObjectKind::kIndex: return add(BLOCK_CACHE_INDEX_ADD, BLOCK_CACHE_INDEX_BYTES_INSERT);
    case TableObjectKind::kFilter:
      return add(BLOCK_CACHE_FILTER_ADD, BLOCK_CACHE_FILTER_BYTES_INSERT);
    case TableObjectKind::kDictionary:
      return add(BLOCK_CACHE_COMPRESSION_DICT_ADD, BLOCK_CACHE_COMPRESSION_DICT_BYTES_INSERT);
  }
}

}  // namespace ashlar
