// SPDX-License-Identifier: Apache-2.0
//
// WriteBatchBase is what WriteBatch and WriteBatchWithIndex have in common: collecting updates.
//
// Calls without a handle address the default column family, and so do those with a null one but for
// PutEntity(), which refuses it as RocksDB does. Updates apply in the order of the calls. Keys and
// values are copied. Common errors: InvalidArgument for a key or value of 4 GiB or more, or for a
// timestamp of the wrong size; Aborted(kMemoryLimit) when the batch would grow beyond
// SetMaxBytes(). After an error the batch is as it was before the call.
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

class ASHLAR_EXPORT WriteBatchBase {
 public:
  virtual ~WriteBatchBase() {}

  // key := value. `ts` is the user timestamp, for families whose comparator has one; such families
  // given no timestamp get a placeholder (WriteBatch::UpdateTimestamps fills it).
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                     const Slice& value) = 0;
  // The parts are concatenated; likewise below.
  virtual Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                     const SliceParts& value);
  virtual Status Put(const SliceParts& key, const SliceParts& value);

  // Put of something written earlier, at that time in seconds since 1970; 2^64-1 stands for now.
  // Not for families with timestamps.
  virtual Status TimedPut(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                          uint64_t write_unix_time) = 0;

  // key := columns, in any order and without duplicates (InvalidArgument). Not for families with
  // timestamps. The second form writes one entity per group.
  virtual Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                           const WideColumns& columns) = 0;
  virtual Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) = 0;

  // Adds an operand for the family's merge operator.
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const Slice& key, const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
                       const Slice& value) = 0;
  virtual Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value);
  virtual Status Merge(const SliceParts& key, const SliceParts& value);

  // Removes the key, if there is one.
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key) = 0;
  virtual Status Delete(const Slice& key) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) = 0;
  virtual Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key);
  virtual Status Delete(const SliceParts& key);

  // Removes a key that was put exactly once since it was last removed; anything else leaves it
  // undefined which value remains.
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

  // Bytes for readers of the WAL. They change no key and take no sequence number.
  virtual Status PutLogData(const Slice& blob) = 0;

  // Forgets all updates and save points.
  virtual void Clear() = 0;

  // The batch that DB::Write() takes.
  virtual WriteBatch* GetWriteBatch() = 0;

  // Save points form a stack: push the present state; go back to the newest one and drop it; only
  // drop it. NotFound without a save point.
  virtual void SetSavePoint() = 0;
  virtual Status RollbackToSavePoint() = 0;
  virtual Status PopSavePoint() = 0;

  // Largest size of the batch in bytes, 0 for no limit.
  virtual void SetMaxBytes(size_t max_bytes) = 0;
};

}  // namespace ashlar
