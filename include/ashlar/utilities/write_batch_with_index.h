// SPDX-License-Identifier: Apache-2.0
//
// WriteBatchWithIndex is a batch whose updates can be searched and read, alone or together with a
// database, before they are written.
//
//   WriteBatchWithIndex batch;
//   batch.Put("a", "1");
//   std::string value;
//   Status s = batch.GetFromBatchAndDB(db, ReadOptions(), "a", &value);  // value: "1"
//   s = db->Write(WriteOptions(), batch.GetWriteBatch());
//
// A write takes as many instructions as in a WriteBatch, within 1 %: the first read after it builds
// the index. The keys are sorted when an iterator first visits them, and stay sorted from then on.
//
// Families with user timestamps are refused: NotSupported.
//
// Threads and errors of writes: as for WriteBatchBase; reads and iterators count as const members.
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
class IndexedBatch;
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

// An update. The slices are valid as long as the iterator, unless updates are taken back.
struct WriteEntry {
  WriteType type = kUnknownRecord;
  Slice key;
  Slice value;  // for an entity, the stored form of its columns
};

// Iterates over the updates of one family by key; updates of the same key come newest first.
// Updates may be added during the iteration: the next step goes to the key behind the current one,
// among all updates that exist by then. When updates are taken back, by RollbackToSavePoint() or
// Clear(), the iterator becomes invalid for ever and its status() is InvalidArgument.
class ASHLAR_EXPORT WBWIIterator {
 public:
  virtual ~WBWIIterator() {}

  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // To the newest update of the first key at or after `target`.
  virtual void Seek(const Slice& target) = 0;
  // To the oldest update of the last key at or before `target`.
  virtual void SeekForPrev(const Slice& target) = 0;
  // One step. Nothing if it is not valid.
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual Status status() const = 0;

  // The current update. Only allowed while Valid().
  virtual WriteEntry Entry() const = 0;
  // With overwrite_key: whether the current update replaced a SingleDelete of the same key. Only
  // allowed while Valid().
  virtual bool HasOverWrittenSingleDel() const { return false; }
  // The number of updates of this key up to the current one, including replaced updates. Only
  // allowed while Valid().
  virtual uint32_t GetUpdateCount() const { return 0; }
};

// A batch whose updates can be read before they are written.
class ASHLAR_EXPORT WriteBatchWithIndex : public WriteBatchBase {
 public:
  // backup_index_comparator: order of the keys of families that are written to without a handle; it
  // must outlive the batch. overwrite_key: in the index, a Put, PutEntity, Delete or SingleDelete
  // replaces the newest update of its key, and a Merge is added to the existing updates; otherwise
  // the index contains all updates. The batch that is written contains all of them in either case.
  // The other parameters are as for WriteBatch.
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
  // NotSupported, as are all forms with a timestamp; these without a handle InvalidArgument.
  Status TimedPut(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                  uint64_t write_unix_time) override;
  // InvalidArgument without a handle; the second form NotSupported.
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
  // The batch to pass to DB::Write(). Updates that are added to it directly are written with the
  // others, but no read of this class sees them. Nothing may be removed from it.
  WriteBatch* GetWriteBatch() override;
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  void SetMaxBytes(size_t max_bytes) override;
  size_t GetDataSize() const;

  // Iterates over the updates of this batch only. The caller deletes the iterator before the batch.
  WBWIIterator* NewIterator(ColumnFamilyHandle* column_family);
  WBWIIterator* NewIterator();

  // Iterates over this batch together with a database iterator of the same family (of any class),
  // which it then owns. A key whose newest update is a Delete or SingleDelete is skipped; merge
  // operands are merged with the older updates of the key in the batch, otherwise with its value in
  // the database. `opts` supplies the bounds for the batch (null: none); the base iterator has its
  // own. prefix_same_as_start of either ends both. It is fastest if both have the same options. The
  // caller deletes the iterator before the handle of the family and before the batch.
  //
  // Updates may be added during the iteration: key() and value() keep their contents until the
  // iterator moves, and a step goes to the key behind the current one, among all updates that exist
  // by then. When updates are taken back, by RollbackToSavePoint() or Clear(), the iterator becomes
  // invalid for ever and its status() is InvalidArgument. Next() and Prev() on an invalid iterator
  // are NotSupported until the next seek. A merge that fails ends the iteration: InvalidArgument
  // without an operator, or without a handle unless the base is an iterator of a DB. Refresh() is
  // NotSupported over other classes of iterators. ReadOptions::pin_data of the base pins nothing
  // here: keys and values last until the iterator moves.
  Iterator* NewIteratorWithBase(ColumnFamilyHandle* column_family, Iterator* base_iterator,
                                const ReadOptions* opts = nullptr);
  Iterator* NewIteratorWithBase(Iterator* base_iterator, const ReadOptions* opts = nullptr);

  // Read from the updates of this batch only. NotFound if the key is not in the batch or is deleted
  // by it; MergeInProgress if the batch contains merge operands but not the value that they are
  // merged with; InvalidArgument if operands must be merged and there is no operator or no handle.
  // For an entity, Get returns the default column. `options` has no effect.
  Status GetFromBatch(ColumnFamilyHandle* column_family, const DBOptions& options, const Slice& key,
                      std::string* value);
  Status GetFromBatch(const DBOptions& options, const Slice& key, std::string* value);
  Status GetEntityFromBatch(ColumnFamilyHandle* column_family, const Slice& key,
                            PinnableWideColumns* columns);

  // Read from this batch together with the database. The database is asked only for keys that the
  // batch does not decide; a snapshot in the options applies to the database. Values from the batch
  // are copied, values from the database are pinned if possible. Errors: as above and as of
  // DB::Get(); InvalidArgument for an io_activity of another call and, from the forms with columns,
  // for a null argument. Elsewhere a null handle means the default family.
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
    uint32_t overwritten_sd_count = 0;  // of these, updates that replaced a SingleDelete
  };
  // Counts by number of the family. The reference is valid until the next call.
  const std::unordered_map<uint32_t, CFStat>& GetCFStats() const;
  // Number of updates that were written through this class, including replaced ones.
  size_t GetWBWIOpCount() const;
  bool GetOverwriteKey() const;

 private:
  friend class IndexedBatch;
  struct Rep;
  std::unique_ptr<Rep> rep;
};

}  // namespace ashlar
