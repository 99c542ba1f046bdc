// SPDX-License-Identifier: Apache-2.0
//
// WriteBatch is an ordered list of updates that DB::Write() applies atomically: all of them or
// none.
//
//   WriteBatch batch;
//   batch.Delete("a");
//   batch.Put("b", "v");
//   Status s = db->Write(WriteOptions(), &batch);
//
// A batch is stored in the format of the WAL. Data() can be stored or sent elsewhere, and turned
// into a batch again. Format: docs/formats/write_batch.md. Threads and errors: as for
// WriteBatchBase.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/write_batch_base.h"

namespace ashlar {

class ColumnFamilyHandle;

// A position inside a batch.
struct SavePoint {
  size_t size;             // bytes of the batch
  uint32_t count;          // updates in it
  uint32_t content_flags;  // kinds of updates in it

  SavePoint() : size(0), count(0), content_flags(0) {}
  SavePoint(size_t _size, uint32_t _count, uint32_t _flags)
      : size(_size), count(_count), content_flags(_flags) {}

  void clear() { size = 0, count = 0, content_flags = 0; }
  bool is_cleared() const { return (size | count | content_flags) == 0; }
};

// WriteBatchBase documents the functions that add updates.
class ASHLAR_EXPORT WriteBatch : public WriteBatchBase {
 public:
  // reserved_bytes: memory to allocate at once. max_bytes: as for SetMaxBytes().
  explicit WriteBatch(size_t reserved_bytes = 0, size_t max_bytes = 0);
  // protection_bytes_per_key: 8 = keep a checksum of each update until it is in the memtable; any
  // other value means none. default_cf_ts_sz: size in bytes of the user timestamps of the default
  // family.
  explicit WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                      size_t default_cf_ts_sz);
  // Create a batch from the bytes of Data(). The bytes are verified when the batch is applied or
  // iterated over.
  explicit WriteBatch(const std::string& rep);
  explicit WriteBatch(std::string&& rep);

  WriteBatch(const WriteBatch& src);
  WriteBatch(WriteBatch&& src) noexcept;
  WriteBatch& operator=(const WriteBatch& src);
  WriteBatch& operator=(WriteBatch&& src);
  ~WriteBatch() override;

  using WriteBatchBase::Put;
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Put(const Slice& key, const Slice& value) override { return Put(nullptr, key, value); }
  Status Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
             const Slice& value) override;
  Status Put(ColumnFamilyHandle* column_family, const SliceParts& key,
             const SliceParts& value) override;
  Status Put(const SliceParts& key, const SliceParts& value) override {
    return Put(nullptr, key, value);
  }

  Status TimedPut(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value,
                  uint64_t write_unix_time) override;

  Status PutEntity(ColumnFamilyHandle* column_family, const Slice& key,
                   const WideColumns& columns) override;
  Status PutEntity(const Slice& key, const AttributeGroups& attribute_groups) override;

  using WriteBatchBase::Merge;
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) override;
  Status Merge(const Slice& key, const Slice& value) override { return Merge(nullptr, key, value); }
  Status Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts,
               const Slice& value) override;
  Status Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
               const SliceParts& value) override;
  Status Merge(const SliceParts& key, const SliceParts& value) override {
    return Merge(nullptr, key, value);
  }

  using WriteBatchBase::Delete;
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status Delete(const Slice& key) override { return Delete(nullptr, key); }
  Status Delete(ColumnFamilyHandle* column_family, const Slice& key, const Slice& ts) override;
  Status Delete(ColumnFamilyHandle* column_family, const SliceParts& key) override;
  Status Delete(const SliceParts& key) override { return Delete(nullptr, key); }

  using WriteBatchBase::SingleDelete;
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) override;
  Status SingleDelete(const Slice& key) override { return SingleDelete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* column_family, const Slice& key,
                      const Slice& ts) override;
  Status SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) override;
  Status SingleDelete(const SliceParts& key) override { return SingleDelete(nullptr, key); }

  using WriteBatchBase::DeleteRange;
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key) override;
  Status DeleteRange(const Slice& begin_key, const Slice& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }
  Status DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                     const Slice& end_key, const Slice& ts) override;
  Status DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                     const SliceParts& end_key) override;
  Status DeleteRange(const SliceParts& begin_key, const SliceParts& end_key) override {
    return DeleteRange(nullptr, begin_key, end_key);
  }

  Status PutLogData(const Slice& blob) override;

  void Clear() override;
  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;
  WriteBatch* GetWriteBatch() override { return this; }
  void SetMaxBytes(size_t max_bytes) override { max_bytes_ = max_bytes; }

  // Receives the updates of a batch, in order. If a function returns an error, the iteration ends
  // and returns it. Slices are valid only during the call.
  class Handler {
   public:
    virtual ~Handler();

    // Functions whose name ends in CF receive the number of the column family. Their default
    // implementations return InvalidArgument for families other than the default one. For the
    // default family, those of put, delete, single delete and merge call the function without CF,
    // which does nothing.
    virtual Status PutCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Put(const Slice& key, const Slice& value);
    virtual Status TimedPutCF(uint32_t column_family_id, const Slice& key, const Slice& value,
                              uint64_t write_time);
    // `entity` is the stored form of the columns.
    virtual Status PutEntityCF(uint32_t column_family_id, const Slice& key, const Slice& entity);
    virtual Status DeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void Delete(const Slice& key);
    virtual Status SingleDeleteCF(uint32_t column_family_id, const Slice& key);
    virtual void SingleDelete(const Slice& key);
    virtual Status DeleteRangeCF(uint32_t column_family_id, const Slice& begin_key,
                                 const Slice& end_key);
    virtual Status MergeCF(uint32_t column_family_id, const Slice& key, const Slice& value);
    virtual void Merge(const Slice& key, const Slice& value);
    virtual Status PutBlobIndexCF(uint32_t column_family_id, const Slice& key, const Slice& value);

    // Receives the data of PutLogData(). Does nothing by default.
    virtual void LogData(const Slice& blob);

    // Markers of two-phase commit. They return InvalidArgument by default.
    virtual Status MarkBeginPrepare(bool unprepared = false);
    virtual Status MarkEndPrepare(const Slice& xid);
    virtual Status MarkNoop(bool empty_batch);
    virtual Status MarkRollback(const Slice& xid);
    virtual Status MarkCommit(const Slice& xid);
    virtual Status MarkCommitWithTimestamp(const Slice& xid, const Slice& commit_ts);

    // Called before each update. If it returns false, the iteration ends with OK.
    virtual bool Continue();

   protected:
    friend class WriteBatchInternal;
    enum class OptionState { kUnknown, kDisabled, kEnabled };
    // The write policies that the handler supports. Batches of other policies are refused.
    virtual OptionState WriteAfterCommit() const { return OptionState::kUnknown; }
    virtual OptionState WriteBeforePrepare() const { return OptionState::kUnknown; }
  };
  // Passes all updates to `handler`. Corruption if the bytes are malformed or if the number of
  // updates differs from the header.
  Status Iterate(Handler* handler) const;

  // The batch in the format of the WAL. Valid until the batch changes.
  const std::string& Data() const { return rep_; }
  // Moves the bytes of Data() out. The batch is empty afterwards.
  std::string Release();
  // Number of bytes of Data(); 12 for an empty batch.
  size_t GetDataSize() const { return rep_.size(); }
  // Number of updates in the batch. Log data and markers do not count.
  uint32_t Count() const;

  // Whether the batch contains an update of this kind. In a batch that was created from bytes, the
  // first call reads all updates.
  bool HasPut() const;
  bool HasTimedPut() const;
  bool HasPutEntity() const;
  bool HasDelete() const;
  bool HasSingleDelete() const;
  bool HasDeleteRange() const;
  bool HasMerge() const;
  bool HasBeginPrepare() const;
  bool HasEndPrepare() const;
  bool HasCommit() const;
  bool HasRollback() const;

  // Replaces the timestamps of all keys by `ts`. ts_sz_func returns the size in bytes of the
  // timestamps of a family: 0 = its keys are not changed; SIZE_MAX = unknown, which gives NotFound.
  // A size different from that of `ts` gives InvalidArgument. After such an error, keys before the
  // failing one have been changed. Corruption, with no key changed, if an update differs from its
  // checksum.
  Status UpdateTimestamps(const Slice& ts, std::function<size_t(uint32_t)> ts_sz_func);

  // If enabled, the timestamp size of each family that is written to is remembered.
  void SetTrackTimestampSize(bool track_timestamp_size);
  void MaybeTrackTimestampSize(uint32_t column_family_id, size_t ts_sz);
  const std::unordered_map<uint32_t, size_t>& GetColumnFamilyToTimestampSize();

  // Verifies the checksum of each update; Corruption if one differs. OK if there are no checksums.
  Status VerifyChecksum() const;
  // 8 if updates have checksums, else 0.
  size_t GetProtectionBytesPerKey() const;

  // Updates that are added after this call are applied, but not written to the WAL. NotSupported by
  // Transaction::Prepare() and by the write policies other than WRITE_COMMITTED, for which the log
  // must have the whole batch. In a commit-time batch of a transaction it has no effect.
  void MarkWalTerminationPoint();
  const SavePoint& GetWalTerminationPoint() const { return wal_term_point_; }

 private:
  friend class WriteBatchInternal;
  struct Extras;

  Extras* EnsureExtras();
  uint32_t ContentFlags() const;

  std::string rep_;  // header and records; shorter than a header only if constructed that way
  size_t max_bytes_ = 0;
  // Bits for the kinds of updates, and one bit for "not known yet". Atomic because const members
  // set it lazily; relaxed order is enough, because all threads compute the same value.
  mutable std::atomic<uint32_t> content_flags_{0};
  uint32_t default_family_ts_bytes_ = 0;
  SavePoint wal_term_point_;
  std::unique_ptr<Extras> extras_;  // data that few batches need; nullptr until needed
};

}  // namespace ashlar
