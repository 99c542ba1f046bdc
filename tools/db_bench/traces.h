// SPDX-License-Identifier: Apache-2.0
//
// The traces of a benchmark: --trace_file and --block_cache_trace_file. Threads: one.
#pragma once

#include "ashlar/db.h"

namespace ashlar {
namespace bench {

// Whether the flags of traces and of `replay` are valid.
bool IsTracingValid();
// Start and end the traces that the flags ask for. `is_replay`: no trace of calls. An error ends
// the process.
void StartTraces(DB* db, bool is_replay);
void EndTraces(DB* db, bool is_replay);

}  // namespace bench
}  // namespace ashlar
