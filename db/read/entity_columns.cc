// SPDX-License-Identifier: Apache-2.0
//
// The columns of an entity point into the value, which they keep.
#include "db/read/entity_columns.h"

#include <utility>

#include "util/text/data_in_errors.h"

namespace ashlar {

Status MoveToColumns(PinnableSlice* value, bool is_entity, const Slice& key,
                     PinnableWideColumns* columns) {
  if (!is_entity) {
    columns->SetPlainValue(std::move(*value));
    return Status::OK();
  }
  const Status status = columns->SetWideColumnValue(std::move(*value));
  if (status.ok()) return status;
  return Status::CopyAppendMessage(status, "; of key ", KeyInError(key));
}

void MoveToColumns(std::span<const Slice> keys, PinnableSlice* values, const bool* are_entities,
                   PinnableWideColumns* results, Status* statuses) {
  for (size_t i = 0; i < keys.size(); i++) {
    results[i].Reset();
    if (!statuses[i].ok()) continue;
    const Status moved = MoveToColumns(&values[i], are_entities[i], keys[i], &results[i]);
    if (!moved.ok()) statuses[i] = moved;
  }
}

}  // namespace ashlar
