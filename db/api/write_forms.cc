// SPDX-License-Identifier: Apache-2.0
//
// Convenience forms of writes. Forms without a handle use the default family; a single update
// becomes a batch for DB::Write(). DBImpl and wrappers may call these implementations of pure
// virtual functions.
#include <memory>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/write_batch.h"
#include "util/result.h"

namespace ashlar {

namespace {

// Reserves room for one update, so that the batch allocates only once.
WriteBatch BatchForUpdate(const WriteOptions& options, size_t key_bytes, size_t value_bytes) {
  constexpr size_t kHeaderAndLengthsBytes = 32;
  return WriteBatch(key_bytes + value_bytes + kHeaderAndLengthsBytes, /*max_bytes=*/0,
                    options.protection_bytes_per_key, /*default_cf_ts_sz=*/0);
}

}  // namespace

// Each operation has a form with a handle, one with a timestamp, and the same two for the default
// family.
Status DB::Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& value) {
  WriteBatch batch = BatchForUpdate(options, key.size(), value.size());
  RETURN_IF_ERROR(batch.Put(column_family, key, value));
  return Write(options, &batch);
}
Status DB::Put(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
               const Slice& ts, const Slice& value) {
  WriteBatch batch = BatchForUpdate(options, key.size() + ts.size(), value.size());
  RETURN_IF_ERROR(batch.Put(column_family, key, ts, value));
  return Write(options, &batch);
}
Status DB::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  return Put(options, DefaultColumnFamily(), key, value);
}
Status DB::Put(const WriteOptions& options, const Slice& key, const Slice& ts, const Slice& value) {
  return Put(options, DefaultColumnFamily(), key, ts, value);
}

// Entities have no size here, because the batch encodes their columns.
Status DB::PutEntity(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const WideColumns& columns) {
  WriteBatch batch = BatchForUpdate(options, key.size(), /*value_bytes=*/0);
  RETURN_IF_ERROR(batch.PutEntity(column_family, key, columns));
  return Write(options, &batch);
}
Status DB::PutEntity(const WriteOptions& options, const Slice& key,
                     const AttributeGroups& attribute_groups) {
  WriteBatch batch = BatchForUpdate(options, key.size(), /*value_bytes=*/0);
  RETURN_IF_ERROR(batch.PutEntity(key, attribute_groups));
  return Write(options, &batch);
}

Status DB::Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                  const Slice& key) {
  WriteBatch batch = BatchForUpdate(options, key.size(), /*value_bytes=*/0);
  RETURN_IF_ERROR(batch.Delete(column_family, key));
  return Write(options, &batch);
}
Status DB::Delete(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                  const Slice& ts) {
  WriteBatch batch = BatchForUpdate(options, key.size() + ts.size(), /*value_bytes=*/0);
  RETURN_IF_ERROR(batch.Delete(column_family, key, ts));
  return Write(options, &batch);
}
Status DB::Delete(const WriteOptions& options, const Slice& key) {
  return Delete(options, DefaultColumnFamily(), key);
}
Status DB::Delete(const WriteOptions& options, const Slice& key, const Slice& ts) {
  return Delete(options, DefaultColumnFamily(), key, ts);
}

Status DB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key) {
  WriteBatch batch = BatchForUpdate(options, key.size(), /*value_bytes=*/0);
  RETURN_IF_ERROR(batch.SingleDelete(column_family, key));
  return Write(options, &batch);
}
Status DB::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, const Slice& ts) {
  WriteBatch batch = BatchForUpdate(options, key.size() + ts.size(), /*value_bytes=*/0);
  RETURN_IF_ERROR(batch.SingleDelete(column_family, key, ts));
  return Write(options, &batch);
}
Status DB::SingleDelete(const WriteOptions& options, const Slice& key) {
  return SingleDelete(options, DefaultColumnFamily(), key);
}
Status DB::SingleDelete(const WriteOptions& options, const Slice& key, const Slice& ts) {
  return SingleDelete(options, DefaultColumnFamily(), key, ts);
}

Status DB::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& begin_key, const Slice& end_key) {
  WriteBatch batch = BatchForUpdate(options, begin_key.size(), end_key.size());
  RETURN_IF_ERROR(batch.DeleteRange(column_family, begin_key, end_key));
  return Write(options, &batch);
}
Status DB::DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& begin_key, const Slice& end_key, const Slice& ts) {
  WriteBatch batch =
      BatchForUpdate(options, begin_key.size() + ts.size(), end_key.size() + ts.size());
  RETURN_IF_ERROR(batch.DeleteRange(column_family, begin_key, end_key, ts));
  return Write(options, &batch);
}
Status DB::DeleteRange(const WriteOptions& options, const Slice& begin_key, const Slice& end_key) {
  return DeleteRange(options, DefaultColumnFamily(), begin_key, end_key);
}
Status DB::DeleteRange(const WriteOptions& options, const Slice& begin_key, const Slice& end_key,
                       const Slice& ts) {
  return DeleteRange(options, DefaultColumnFamily(), begin_key, end_key, ts);
}

Status DB::Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                 const Slice& value) {
  WriteBatch batch = BatchForUpdate(options, key.size(), value.size());
  RETURN_IF_ERROR(batch.Merge(column_family, key, value));
  return Write(options, &batch);
}
Status DB::Merge(const WriteOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                 const Slice& ts, const Slice& value) {
  WriteBatch batch = BatchForUpdate(options, key.size() + ts.size(), value.size());
  RETURN_IF_ERROR(batch.Merge(column_family, key, ts, value));
  return Write(options, &batch);
}
Status DB::Merge(const WriteOptions& options, const Slice& key, const Slice& value) {
  return Merge(options, DefaultColumnFamily(), key, value);
}

// A null snapshot, from a database that supports none, is not released.
ManagedSnapshot::ManagedSnapshot(DB* db) : db_(db), snapshot_(db->GetSnapshot()) {}
ManagedSnapshot::ManagedSnapshot(DB* db, const Snapshot* _snapshot)
    : db_(db), snapshot_(_snapshot) {}
ManagedSnapshot::~ManagedSnapshot() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
}
const Snapshot* ManagedSnapshot::snapshot() { return snapshot_; }

}  // namespace ashlar
