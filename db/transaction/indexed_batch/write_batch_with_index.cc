// SPDX-License-Identifier: Apache-2.0
//
// The writing calls of WriteBatchWithIndex; the reading calls are in batch_reads.cc and
// batch_iterators.cc.
#include "ashlar/utilities/write_batch_with_index.h"

#include <string>
#include <utility>

#include "db/transaction/indexed_batch/indexed_batch.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/wide_column_encoding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Releases the batch instead of deleting it, because readers may keep it longer than its owner.
struct WriteBatchWithIndex::Rep {
  explicit Rep(const IndexedBatch::Settings& settings) : indexed(new IndexedBatch(settings)) {}
  ~Rep() { indexed->Release(); }
  Rep(const Rep&) = delete;
  Rep& operator=(const Rep&) = delete;

  IndexedBatch* const indexed;
};

IndexedBatch& IndexedBatch::Of(WriteBatchWithIndex* batch) { return *batch->rep->indexed; }

WriteBatchWithIndex::WriteBatchWithIndex(const Comparator* backup_index_comparator,
                                         size_t reserved_bytes, bool overwrite_key,
                                         size_t max_bytes, size_t protection_bytes_per_key)
    : rep(new Rep({.backup_comparator = backup_index_comparator,
                   .reserved_bytes = reserved_bytes,
                   .overwrites = overwrite_key,
                   .max_bytes = max_bytes,
                   .protection_bytes_per_key = protection_bytes_per_key})) {}
WriteBatchWithIndex::~WriteBatchWithIndex() = default;
WriteBatchWithIndex::WriteBatchWithIndex(WriteBatchWithIndex&&) = default;
WriteBatchWithIndex& WriteBatchWithIndex::operator=(WriteBatchWithIndex&&) = default;

namespace {

// The status of calls whose updates an index cannot hold.
Status NotIndexed(const char* call) {
  return Status::NotSupported(StrCat("WriteBatchWithIndex::", call, " is not supported"));
}

[[gnu::cold]] Status RefuseTimestamp(ColumnFamilyHandle* column_family, const char* call) {
  if (column_family == nullptr) {
    return Status::InvalidArgument(
        StrCat("WriteBatchWithIndex::", call, ": a timestamp needs the handle of its family"));
  }
  return Status::NotSupported(
      StrCat("WriteBatchWithIndex::", call, " with a timestamp is not supported"));
}

}  // namespace

Status WriteBatchWithIndex::Put(ColumnFamilyHandle* column_family, const Slice& key,
                                const Slice& value) {
  IndexedBatch& indexed = *rep->indexed;
  return indexed.Add(column_family, [&](uint32_t family) {
    return WriteBatchInternal::Put(indexed.batch(), family, key, value);
  });
}
Status WriteBatchWithIndex::Put(const Slice& key, const Slice& value) {
  return Put(nullptr, key, value);
}
Status WriteBatchWithIndex::Put(ColumnFamilyHandle* column_family, const Slice&, const Slice&,
                                const Slice&) {
  return RefuseTimestamp(column_family, "Put");
}

Status WriteBatchWithIndex::TimedPut(ColumnFamilyHandle*, const Slice&, const Slice&, uint64_t) {
  return NotIndexed("TimedPut");
}

Status WriteBatchWithIndex::PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                                      const WideColumns& columns) {
  if (column_family == nullptr) {
    return Status::InvalidArgument("WriteBatchWithIndex::PutEntity needs the handle of a family");
  }
  // Encoded before it is written, so that bad columns leave the batch as it was.
  std::string entity;
  RETURN_IF_ERROR(AppendEncodedColumns(columns, &entity));
  IndexedBatch& indexed = *rep->indexed;
  return indexed.Add(column_family, [&](uint32_t family) {
    return WriteBatchInternal::PutEntity(indexed.batch(), family, key, entity);
  });
}
Status WriteBatchWithIndex::PutEntity(const Slice&, const AttributeGroups& attribute_groups) {
  if (attribute_groups.empty()) {
    return Status::InvalidArgument(
        "WriteBatchWithIndex::PutEntity: no attribute groups were given");
  }
  return NotIndexed("PutEntity with attribute groups");
}

Status WriteBatchWithIndex::Merge(ColumnFamilyHandle* column_family, const Slice& key,
                                  const Slice& value) {
  IndexedBatch& indexed = *rep->indexed;
  return indexed.Add(column_family, [&](uint32_t family) {
    return WriteBatchInternal::Merge(indexed.batch(), family, key, value);
  });
}
Status WriteBatchWithIndex::Merge(const Slice& key, const Slice& value) {
  return Merge(nullptr, key, value);
}
Status WriteBatchWithIndex::Merge(ColumnFamilyHandle* column_family, const Slice&, const Slice&,
                                  const Slice&) {
  return RefuseTimestamp(column_family, "Merge");
}

Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  IndexedBatch& indexed = *rep->indexed;
  return indexed.Add(column_family, [&](uint32_t family) {
    return WriteBatchInternal::Delete(indexed.batch(), family, key);
  });
}
Status WriteBatchWithIndex::Delete(const Slice& key) { return Delete(nullptr, key); }
Status WriteBatchWithIndex::Delete(ColumnFamilyHandle* column_family, const Slice&, const Slice&) {
  return RefuseTimestamp(column_family, "Delete");
}

Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  IndexedBatch& indexed = *rep->indexed;
  return indexed.Add(column_family, [&](uint32_t family) {
    return WriteBatchInternal::SingleDelete(indexed.batch(), family, key);
  });
}
Status WriteBatchWithIndex::SingleDelete(const Slice& key) { return SingleDelete(nullptr, key); }
Status WriteBatchWithIndex::SingleDelete(ColumnFamilyHandle* column_family, const Slice&,
                                         const Slice&) {
  return RefuseTimestamp(column_family, "SingleDelete");
}

Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle*, const Slice&, const Slice&) {
  return NotIndexed("DeleteRange");
}
Status WriteBatchWithIndex::DeleteRange(const Slice&, const Slice&) {
  return NotIndexed("DeleteRange");
}
Status WriteBatchWithIndex::DeleteRange(ColumnFamilyHandle*, const Slice&, const Slice&,
                                        const Slice&) {
  return NotIndexed("DeleteRange");
}

Status WriteBatchWithIndex::PutLogData(const Slice& blob) { return rep->indexed->PutLogData(blob); }
void WriteBatchWithIndex::Clear() { rep->indexed->Clear(); }
WriteBatch* WriteBatchWithIndex::GetWriteBatch() { return rep->indexed->batch(); }
void WriteBatchWithIndex::SetSavePoint() { rep->indexed->SetSavePoint(); }
Status WriteBatchWithIndex::RollbackToSavePoint() { return rep->indexed->RollbackToSavePoint(); }
Status WriteBatchWithIndex::PopSavePoint() { return rep->indexed->PopSavePoint(); }
void WriteBatchWithIndex::SetMaxBytes(size_t max_bytes) {
  rep->indexed->batch()->SetMaxBytes(max_bytes);
}
size_t WriteBatchWithIndex::GetDataSize() const { return rep->indexed->batch()->GetDataSize(); }

const std::unordered_map<uint32_t, WriteBatchWithIndex::CFStat>& WriteBatchWithIndex::GetCFStats()
    const {
  return rep->indexed->Stats();
}
size_t WriteBatchWithIndex::GetWBWIOpCount() const { return rep->indexed->update_count(); }
bool WriteBatchWithIndex::GetOverwriteKey() const { return rep->indexed->overwrites(); }

}  // namespace ashlar
