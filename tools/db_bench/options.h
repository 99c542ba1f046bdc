// SPDX-License-Identifier: Apache-2.0
//
// Options of the benchmarked database, from the flags.
#pragma once

#include "ashlar/options.h"
#include "ashlar/status.h"

namespace ashlar {
namespace bench {

// Fills `options` from the flags. InvalidArgument names a flag whose value means nothing. Called
// once: the block cache and the statistics it makes live as long as the options.
Status MakeOptions(Options* options);

// The lines above the first result: sizes and settings, for the reader of a log.
// Their part of it: compaction and background I/O; options_compaction.cc.
void SetCompaction(Options* options);
void PrintHeader(const Options& options);

}  // namespace bench
}  // namespace ashlar
