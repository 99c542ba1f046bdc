// SPDX-License-Identifier: Apache-2.0
//
// MultiGet reads many keys, perhaps of several column families, as of one sequence number.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/read/merge_resolution.h"
#include "db/read/read_view.h"
#include "db/transaction/visibility/undecided.h"

namespace ashlar {

// Batches of up to this many keys allocate nothing.
inline constexpr size_t kMultiGetOnStack = 32;

class DbMutex;
class ReadCallback;
class SnapshotImpl;
class ReadTrace;
class Statistics;
struct ReadOptions;

// A call of MultiGet. The arrays are as long as `keys`, and each of the values was Reset().
// Everything outlives the call.
struct MultiGetRequest {
  const ReadOptions* options = nullptr;
  const ReadCallback* callback = nullptr;  // decides which versions are visible; null: none
  // Without a callback: the reader's own data that is not decided; null: none.
  const DecidedVersions::Own* own = nullptr;
  const SnapshotImpl* held = nullptr;  // the snapshot, if it holds views; else null
  MergeTools merge;                    // the operator is replaced by that of each family
  bool is_sorted = false;  // the caller promises that keys of a family are adjacent and ascend
  // If not null, the key at the index watched_key is read alone, as by Get, and notifies this
  // trace.
  ReadTrace* watch = nullptr;
  size_t watched_key = 0;
  // If not empty, as long as `keys`: each key is read alone and notifies its own trace, which
  // several keys may share. Then `watch` is null.
  std::span<ReadTrace* const> watches;
  std::span<ReadViewSource* const> families;
  std::span<const Slice> keys;
  PinnableSlice* values = nullptr;
  Status* statuses = nullptr;
  // Not null: values of entities are their whole stored form, and the element of each key that is
  // found is set to whether its value is one. Null: the value of an entity is its default column.
  bool* are_entities = nullptr;
};

// Where MultiGet gets one consistent state of all families from.
struct MomentSource {
  const VisibleSeqnoSource* seqnos = nullptr;
  DbMutex* mutex = nullptr;  // held while super versions are replaced
  // The views of several families belong together only if they are loaded under the mutex: where
  // another process writes the database.
  bool is_mutex_needed = false;
  // Not null: nothing is read from memtables once this is set, because a write has skipped the log.
  // It is set before such a write becomes visible.
  const std::atomic<bool>* has_unlogged_writes = nullptr;
};

// Called outside of epochs and without the DB mutex. Fills `values` and `statuses` of the request.
// `statistics` may be null.
void MultiGet(const MultiGetRequest& request, const MomentSource& moment, Statistics* statistics);

}  // namespace ashlar
