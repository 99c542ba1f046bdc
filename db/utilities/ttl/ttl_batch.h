// SPDX-License-Identifier: Apache-2.0
//
// Copies a write batch and adds the time of the write to its values and merge operands. All other
// records are copied as they are. Pure.
#pragma once

#include <cstdint>

#include "ashlar/write_batch.h"

namespace ashlar {

// `to` must be empty. `seconds`: since 1970; a TimedPut() keeps its own time. NotSupported: the
// batch has wide columns; InvalidArgument: it has markers of two-phase commit; Corruption: the
// bytes of the batch do not fit its checksums.
Status AddWriteTimes(const WriteBatch& from, int64_t seconds, WriteBatch* to);

}  // namespace ashlar
