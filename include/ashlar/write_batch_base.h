// SPDX-License-Identifier: Apache-2.0
//
// WriteBatchBase is the interface that WriteBatch and WriteBatchWithIndex share: it collects
// updates.
//
// Calls without a handle, or with nullptr as handle, address the default column family,
// except in PutEntity(), which refuses nullptr as RocksDB does. Updates are
// applied in the order of the calls. Keys and values are copied. Common errors: InvalidArgument for
// a key or value of 4 GiB or more and for a timestamp of the wrong size; Aborted with the subcode
// kMemoryLimit if the batch would exceed the size set by SetMaxBytes(). After an error the batch is
// unchanged.
//
// Threads: one at a time per batch; const members may be called from many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/attribute_groups.h"
#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

class ColumnFamilyHandle;
class Slice;
class WriteBatch;
struct SliceParts;

// Collects updates to be written together.
class ASHLAR_EXPORT WriteBatchBase {
 public:
  virtual ~WriteBatchBase() {}

  // Sets the value of a key. `ts` is the user timestamp, for families whose comparator has
  // timestamps; without `ts` such families get a placeholder, which WriteBatch::UpdateTimestamps()
  // replaces.
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                     const Slice& value) = 0;
  // The parts of the key and of the value are concatenated. The same applies to all SliceParts
  // below.
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value);
  virtual Status Put(const SliceParts& key, const SliceParts& value);

  // Sets the value of a key to something that was written at an earlier time, in seconds since
  // 1970; 2^64 - 1 means now. Not for families with timestamps. The time is in the batch and in the
  // WAL only: the value is stored as by Put(), and for compactions by age it was written now.
  virtual Status TimedPut(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                          uint64_t write_unix_time) = 0;

  // Sets the value of a key to a set of named columns, in any order; InvalidArgument if two have
  // the same name. Not for families with timestamps. The second form writes one entity per group.
  virtual Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                           const WideColumns& columns) = 0;
  virtual Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) = 0;

  // Adds an operand for the merge operator of the family.
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                       const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value);
  virtual Status Merge(const SliceParts& key, const SliceParts& value);

  // Removes a key. OK if the key does not exist.
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key);
  virtual Status Delete(const SliceParts& key);

  // Removes a key that has been put exactly once since it was last removed. For any other key the
  // result is undefined.
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status SingleDelete(const Slice& key) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                              const Slice& ts) = 0;
  virtual Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key);
  virtual Status SingleDelete(const SliceParts& key);

  // Removes all keys in [begin_key, end_key).
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                             const Slice& end_key) = 0;
  virtual Status DeleteRange(const Slice& begin_key, const Slice& end_key) = 0;
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                             const Slice& end_key, const Slice& ts) = 0;
  virtual Status DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                             const SliceParts& end_key);
  virtual Status DeleteRange(const SliceParts& begin_key, const SliceParts& end_key);

  // Adds data for readers of the WAL. It changes no key and uses no sequence number.
  virtual Status PutLogData(const Slice& blob) = 0;

  // Removes all updates and save points.
  virtual void Clear() = 0;

  // The batch to pass to DB::Write(). Owned by this object.
  virtual WriteBatch* GetWriteBatch() = 0;

  // Save points form a stack. SetSavePoint() pushes the current state, RollbackToSavePoint()
  // returns to the newest save point and removes it, PopSavePoint() only removes it. NotFound if
  // there is none.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Sets the maximum size of the batch in bytes; 0 = no limit.
  virtual void SetMaxBytes(size_t max_bytes) = 0;
};

}  // namespace ashlar
