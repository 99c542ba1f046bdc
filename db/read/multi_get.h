// SPDX-License-Identifier: Apache-2.0
//
// MultiGet: many keys, perhaps of several column families, as of one moment.
#pragma once

#include <cstddef>
#include <span>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/read/merge_resolution.h"
#include "db/read/read_view.h"

namespace ashlar {

// Batches of up to this many keys allocate nothing.
inline constexpr size_t kMultiGetOnStack = 32;

class DbMutex;
class ReadCallback;
class ReadTrace;
class Statistics;
struct ReadOptions;

// The arrays are as long as `keys`; the values were Reset(). Everything outlives the call.
struct MultiGetRequest {
  const ReadOptions* options = nullptr;
  const ReadCallback* callback = nullptr;  // null: none
  MergeTools merge;                        // the operator is that of each family
  bool skips_memtables = false;
  bool is_sorted = false;  // a promise: the keys of a family are neighbours and ascend
  // Of one key: it is read alone, as Get would.
  ReadTrace* watch = nullptr;  // null: of none
  size_t watched_key = 0;
  std::span<ReadViewSource* const> families;
  std::span<const Slice> keys;
  PinnableSlice* values = nullptr;
  Status* statuses = nullptr;
  // Set: values are whole, and this says of each found whether it is an entity's stored form. Null:
  // of entities the default columns are wanted.
  bool* are_entities = nullptr;
};

// Where the one moment comes from.
struct MomentSource {
  const VisibleSeqnoSource* seqnos = nullptr;
  DbMutex* mutex = nullptr;  // super versions are replaced under it
};

// Not inside an EpochGuard. `statistics` may be null.
void MultiGet(const MultiGetRequest& request, const MomentSource& moment, Statistics* statistics);

}  // namespace ashlar
