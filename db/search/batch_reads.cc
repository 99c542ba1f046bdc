// SPDX-License-Identifier: Apache-2.0
//
// A level counts only if a file of it was read.
#include "db/search/batch_reads.h"

#include "ashlar/statistics.h"

namespace ashlar {

void BatchReads::Report(Statistics* statistics) const {
  assert(statistics != nullptr);
  for (size_t keys = 1; keys < searches_.size(); keys++) {
    for (uint32_t i = 0; i < searches_[keys]; i++) {
      statistics->recordInHistogram(SST_BATCH_SIZE, keys);
    }
  }
  uint64_t levels_read = 0;
  for (const LevelReads& level : levels_) {
    if (level.tables == 0 && level.metadata_blocks == 0) continue;
    statistics->recordInHistogram(NUM_INDEX_AND_FILTER_BLOCKS_READ_PER_LEVEL,
                                  level.metadata_blocks);
    if (level.tables == 0) continue;
    levels_read++;
    statistics->recordInHistogram(NUM_SST_READ_PER_LEVEL, level.tables);
  }
  if (levels_read > 0) statistics->recordInHistogram(NUM_LEVEL_READ_PER_MULTIGET, levels_read);
}

}  // namespace ashlar
