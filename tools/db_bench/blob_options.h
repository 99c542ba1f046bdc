// SPDX-License-Identifier: Apache-2.0
//
// Options of large values in blob files, from the flags.
#pragma once

#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {
namespace bench {

// What a compression is called by flags: none, snappy, lz4 ... InvalidArgument names the flag.
Status ParseCompression(const char* flag, const std::string& name, CompressionType* type);

// A blob cache that is shared with blocks is the one of --cache_size, which must have been made.
Status SetBlobs(const std::shared_ptr<Cache>& block_cache, ColumnFamilyOptions* options);

}  // namespace bench
}  // namespace ashlar
