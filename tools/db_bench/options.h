// SPDX-License-Identifier: Apache-2.0
//
// Options of the benchmarked database, from the flags.
#pragma once

#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/table.h"

namespace ashlar {
namespace bench {

// Fills `options` from the flags. InvalidArgument names a flag with an invalid value. Called once:
// the block cache and the statistics that it makes live as long as the options.
Status MakeOptions(Options* options);

// Prints the lines before the first result: sizes and settings, for the reader of a log.
void PrintHeader(const Options& options);

// The parts of MakeOptions() in options_table.cc.

// The compression of a name that flags use: none, snappy, lz4 ... InvalidArgument names the flag.
Status ParseCompression(const char* flag, const std::string& name, CompressionType* type);
// Leaves `cache` null if --cache_size is 0 (no cache) or negative (the default cache).
Status MakeBlockCache(std::shared_ptr<Cache>* cache);
std::shared_ptr<TableFactory> MakeTableFactory(const std::shared_ptr<Cache>& block_cache);
// `block_cache` is that of MakeBlockCache(), which may be shared with large values.
Status SetBlobs(const std::shared_ptr<Cache>& block_cache, ColumnFamilyOptions* options);

}  // namespace bench
}  // namespace ashlar
