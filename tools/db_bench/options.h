// SPDX-License-Identifier: Apache-2.0
//
// Options of the benchmarked database, from the flags.
#pragma once

#include <memory>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/table.h"

namespace ashlar {
namespace bench {

// Fills `options` from the flags. InvalidArgument names a flag whose value means nothing. Called
// once: the block cache and the statistics it makes live as long as the options.
Status MakeOptions(Options* options);

// Their parts of it: compaction and background I/O; logs, files and statistics; indexes; the cache,
// null for --cache_size=0 and, for the default one, below.
void SetCompaction(Options* options);
Status SetFiles(Options* options);
void SetIndex(BlockBasedTableOptions* table);
Status MakeBlockCache(std::shared_ptr<Cache>* cache);

// The lines above the first result: sizes and settings, for the reader of a log.
void PrintHeader(const Options& options);

}  // namespace bench
}  // namespace ashlar
