// SPDX-License-Identifier: Apache-2.0
//
// How calls for entities return what was read as stored values. Threads: any.
#pragma once

#include <span>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

// Moves the value into `*columns`: an entity, or a plain value as the default column. Corruption,
// which names the key, if it is no entity although it should be one.
Status MoveToColumns(PinnableSlice* value, bool is_entity, const Slice& key,
                     PinnableWideColumns* columns);

// The same for each key whose status is OK; the other results are empty. All arrays are as long as
// `keys`.
void MoveToColumns(std::span<const Slice> keys, PinnableSlice* values, const bool* are_entities,
                   PinnableWideColumns* results, Status* statuses);

}  // namespace ashlar
