// SPDX-License-Identifier: Apache-2.0
//
// WritePicture: what all writes of a database together had done at a moment since it was opened
// or its counters were reset. A plain value.
#pragma once

#include <cstdint>

#include "db/write/commit_pipeline.h"

namespace ashlar {

struct WritePicture {
  uint64_t micros = 0;
  CommitTotals commits;
  uint64_t log_syncs = 0;
  uint64_t stall_micros = 0;  // of all writers together
};

}  // namespace ashlar
