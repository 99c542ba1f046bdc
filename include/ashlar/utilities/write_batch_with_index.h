// SPDX-License-Identifier: Apache-2.0
//
// WriteBatchWithIndex is a batch whose updates can be searched and read, alone or together with a
// database, before they are written. Not built yet: every call returns NotSupported.
//
// Threads and errors: as for WriteBatchBase; iterators count as const members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/export.h"
#include "ashlar/iterator.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/write_batch.h"
#include "ashlar/write_batch_base.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
struct DBOptions;
struct ReadOptions;

// The kind of an update.
enum WriteType {
  kPutRecord,
  kMergeRecord,
  kDeleteRecord,
  kSingleDeleteRecord,
  kDeleteRangeRecord,
  kLogDataRecord,
  kXIDRecord,
  kPutEntityRecord,
  kUnknownRecord,
};

// An update. The slices are valid until the batch changes.
struct WriteEntry {
  WriteType type = kUnknownRecord;
  Slice key;
  Slice value;  // for an entity, the stored form of its columns
};

// Iterates over the updates of one family by key; updates of the same key come oldest first.
// Updates may be added during the iteration, but the slices of the current entry become invalid
// then.
class ASHLAR_EXPORT WBWIIterator {
 public:
  virtual ~WBWIIterator() {}

  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void Seek(const Slice& target) = 0;
  virtual void SeekForPrev(const Slice& target) = 0;
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual Status status() const = 0;

  // The current update. Only allowed while Valid().
  virtual WriteEntry Entry() const = 0;
  // With overwrite_key: whether the current update replaced a SingleDelete of the same key.
  virtual bool HasOverWrittenSingleDel() const { return false; }
  // With overwrite_key: how many updates of this key there were.
  virtual uint32_t GetUpdateCount() const { return 0; }
};

// A batch whose updates can be read before they are written.
class ASHLAR_EXPORT WriteBatchWithIndex : public WriteBatchBase {
 public:
  // backup_index_comparator: order of the keys that are written without a handle. overwrite_key:
  // the index keeps only the newest update of each key (but all merges). The other parameters are
  // as for WriteBatch.
  explicit WriteBatchWithIndex(const Comparator* backup_index_comparator = BytewiseComparator(),
                               size_t reserved_bytes = 0, bool overwrite_key = false,
                               size_t max_bytes = 0, size_t protection_bytes_per_key = 0);
  ~WriteBatchWithIndex() override;
  WriteBatchWithIndex(WriteBatchWithIndex&&);
  WriteBatchWithIndex& operator=(WriteBatchWithIndex&&);

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
             const Slice& value) override;
  Status TimedPut(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                  uint64_t write_unix_time) override;
  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override;
  Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) override;

  using WriteBatchBase::Merge;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Merge(const Slice& key, const Slice& value) override;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
               const Slice& value) override;

  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) override;

  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status SingleDelete(const Slice& key) override;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& ts) override;

  // NotSupported: there is no index for ranges.
  using WriteBatchBase::DeleteRange;
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key) override;
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) override;
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key, const Slice& ts) override;

  Status PutLogData(const Slice& blob) override;
  void Clear() override;
  // The batch to pass to DB::Write(). It must not be changed.
  WriteBatch* GetWriteBatch() override;
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override;
  size_t GetDataSize() const;

  // Iterates over the updates of this batch only. The caller deletes the iterator before the batch.
  WBWIIterator* NewIterator(ColumnFamilyHandle* column_family);
  WBWIIterator* NewIterator();

  // Iterates over this batch together with a database iterator of the same family, which it then
  // owns. `opts` supplies bounds and must be the options of base_iterator. The caller deletes the
  // iterator before the batch.
  Iterator* NewIteratorWithBase(ColumnFamilyHandle* column_family, Iterator* base_iterator,
                                const ReadOptions* opts = nullptr);
  Iterator* NewIteratorWithBase(Iterator* base_iterator, const ReadOptions* opts = nullptr);

  // Read from the updates of this batch only. NotFound if the key is not in the batch or is deleted
  // by it; MergeInProgress if the batch contains merge operands but not the value that they are
  // merged with.
  Status GetFromBatch(ColumnFamilyHandle* column_family, const DBOptions& options, const Slice& key,
                      std::string* value);
  Status GetFromBatch(const DBOptions& options, const Slice& key, std::string* value);
  Status GetEntityFromBatch(ColumnFamilyHandle* column_family, const Slice& key,
                            PinnableWideColumns* columns);

  // Read from this batch together with the database.
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options, const Slice& key,
                           PinnableSlice* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key, std::string* value);
  Status GetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                           ColumnFamilyHandle* column_family, const Slice& key,
                           PinnableSlice* value);
  Status GetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                 ColumnFamilyHandle* column_family, const Slice& key,
                                 PinnableWideColumns* columns);
  void MultiGetFromBatchAndDB(DB* db, const ReadOptions& read_options,
                              ColumnFamilyHandle* column_family, const size_t num_keys,
                              const Slice* keys, PinnableSlice* values, Status* statuses,
                              bool sorted_input);
  void MultiGetEntityFromBatchAndDB(DB* db, const ReadOptions& read_options,
                                    ColumnFamilyHandle* column_family, size_t num_keys,
                                    const Slice* keys, PinnableWideColumns* results,
                                    Status* statuses, bool sorted_input);

  // Counts for one family.
  struct CFStat {
    uint32_t entry_count = 0;           // updates in the index
    uint32_t overwritten_sd_count = 0;  // SingleDeletes that were replaced
  };
  // Counts by number of the family.
  const std::unordered_map<uint32_t, CFStat>& GetCFStats() const;
  // Number of updates in the batch, including replaced ones.
  size_t GetWBWIOpCount() const;
  bool GetOverwriteKey() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep;
};

}  // namespace ashlar
