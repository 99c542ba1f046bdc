// SPDX-License-Identifier: Apache-2.0
//
// What pessimistic and optimistic transactions share: the batch of updates, reads through it,
// savepoints, snapshots, counters. What differs is what it takes to touch a key (TrackKey) and to
// commit.
//
// Threads: one at a time, unless a function says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/utilities/transaction.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "ashlar/write_batch.h"
#include "db/transaction/tracking/tracked_keys.h"

namespace ashlar {

class DB;
class DBImpl;
struct WriteBatchRecord;

class TransactionBase : public Transaction {
 public:
  ~TransactionBase() override;

  void SetSnapshot() override;
  void SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) override;
  const Snapshot* GetSnapshot() const override { return snapshot_.get(); }
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const override { return snapshot_; }
  void ClearSnapshot() override;

  // Before the database is closed: no snapshot is held any more, by savepoints neither.
  void GiveBackSnapshots();

  void SetSavePoint() override;
  Status RollbackToSavePoint() override;
  Status PopSavePoint() override;

  // Reads; transaction_reads.cc.
  using Transaction::Get;
  using Transaction::GetForUpdate;
  using Transaction::MultiGet;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
             PinnableSlice* value) override;
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override;
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override;
  Status GetEntity(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                   PinnableWideColumns* columns) override;
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input) override;
  void MultiGetEntity(const ReadOptions& options, ColumnFamilyHandle* family, size_t num_keys,
                      const Slice* keys, PinnableWideColumns* results, Status* statuses,
                      bool sorted_input) override;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      std::string* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                      PinnableSlice* value, bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, const Slice& key, std::string* value,
                      bool exclusive, bool do_validate) override;
  Status GetForUpdate(const ReadOptions& options, const Slice& key, PinnableSlice* value,
                      bool exclusive, bool do_validate) override;
  Status GetEntityForUpdate(const ReadOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, PinnableWideColumns* columns, bool exclusive,
                            bool do_validate) override;
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options,
                                        const std::vector<ColumnFamilyHandle*>& families,
                                        const std::vector<Slice>& keys,
                                        std::vector<std::string>* values) override;
  std::vector<Status> MultiGetForUpdate(const ReadOptions& options, const std::vector<Slice>& keys,
                                        std::vector<std::string>* values) override;
  Iterator* GetIterator(const ReadOptions& options) override;
  Iterator* GetIterator(const ReadOptions& options, ColumnFamilyHandle* family) override;
  std::unique_ptr<Iterator> GetCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) override;
  std::unique_ptr<AttributeGroupIterator> GetAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families) override;
  void UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) override;
  void UndoGetForUpdate(const Slice& key) override { UndoGetForUpdate(nullptr, key); }

  // Writes; transaction_writes.cc.
  Status Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
             bool assume_tracked) override;
  Status Put(const Slice& key, const Slice& value) override;
  Status Put(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value,
             bool assume_tracked) override;
  Status Put(const SliceParts& key, const SliceParts& value) override;
  Status PutEntity(ColumnFamilyHandle* family, const Slice& key, const WideColumns& columns,
                   bool assume_tracked) override;
  Status Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
               bool assume_tracked) override;
  Status Merge(const Slice& key, const Slice& value) override;
  Status Delete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked) override;
  Status Delete(const Slice& key) override;
  Status Delete(ColumnFamilyHandle* family, const SliceParts& key, bool assume_tracked) override;
  Status Delete(const SliceParts& key) override;
  Status SingleDelete(ColumnFamilyHandle* family, const Slice& key, bool assume_tracked) override;
  Status SingleDelete(const Slice& key) override;
  Status SingleDelete(ColumnFamilyHandle* family, const SliceParts& key,
                      bool assume_tracked) override;
  Status SingleDelete(const SliceParts& key) override;
  Status PutUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& value) override;
  Status PutUntracked(const Slice& key, const Slice& value) override;
  Status PutUntracked(ColumnFamilyHandle* family, const SliceParts& key,
                      const SliceParts& value) override;
  Status PutUntracked(const SliceParts& key, const SliceParts& value) override;
  Status PutEntityUntracked(ColumnFamilyHandle* family, const Slice& key,
                            const WideColumns& columns) override;
  Status MergeUntracked(ColumnFamilyHandle* family, const Slice& key, const Slice& value) override;
  Status MergeUntracked(const Slice& key, const Slice& value) override;
  Status DeleteUntracked(ColumnFamilyHandle* family, const Slice& key) override;
  Status DeleteUntracked(const Slice& key) override;
  Status DeleteUntracked(ColumnFamilyHandle* family, const SliceParts& key) override;
  Status DeleteUntracked(const SliceParts& key) override;
  Status SingleDeleteUntracked(ColumnFamilyHandle* family, const Slice& key) override;
  Status SingleDeleteUntracked(const Slice& key) override;
  void PutLogData(const Slice& blob) override;
  Status RebuildFromWriteBatch(WriteBatch* source) override;

  void DisableIndexing() override { is_indexing_ = false; }
  void EnableIndexing() override { is_indexing_ = true; }

  uint64_t GetNumKeys() const override { return tracked().count(); }
  uint64_t GetNumPuts() const override { return counts_.puts; }
  uint64_t GetNumPutEntities() const override { return counts_.put_entities; }
  uint64_t GetNumDeletes() const override { return counts_.deletes; }
  uint64_t GetNumMerges() const override { return counts_.merges; }
  uint64_t GetElapsedTime() const override;

  WriteBatchWithIndex* GetWriteBatch() override { return &batch_; }
  WriteBatch* GetCommitTimeWriteBatch() override { return &commit_time_batch_; }
  void SetLockTimeout(int64_t) override {}
  void SetDeadlockTimeout(int64_t) override {}
  WriteOptions* GetWriteOptions() override { return &write_options_; }
  void SetWriteOptions(const WriteOptions& options) override { write_options_ = options; }

 protected:
  struct Access {
    TrackedKeys::Use use;
    bool is_exclusive = true;
    // The key must not have changed since the snapshot; if not so, an optimistic commit does not
    // look at it.
    bool is_validated = true;
    bool assumes_tracked = false;  // by the caller's promise
  };

  static Access WriteAccess(bool assume_tracked = false) {
    return {.use = TrackedKeys::Use::kWrite,
            .is_validated = !assume_tracked,
            .assumes_tracked = assume_tracked};
  }
  static Access UntrackedAccess() {
    return {.use = TrackedKeys::Use::kWrite, .is_validated = false};
  }

  // The database outlives it.
  explicit TransactionBase(DBImpl* db);

  // Whatever is needed before the key may be used so. On an error nothing has changed.
  virtual Status TrackKey(ColumnFamilyHandle* family, const Slice& key, const Access& access) = 0;
  // The key is not needed any more: it is unlocked and forgotten.
  virtual void Untrack(TrackedKeys::Key* key) = 0;
  // Whether updates may be added or taken back.
  virtual Status CheckOpen() const { return Status::OK(); }
  // Called before an update is added. An error refuses it.
  virtual Status MakeRoom() { return Status::OK(); }
  // Takes back what was added to the batch since the latest savepoint, and its savepoint. On an
  // error nothing has changed.
  virtual Status RollBackBatch() { return batch_.RollbackToSavePoint(); }
  // Forgets the latest savepoint of the batch.
  virtual Status PopBatchSavePoint() { return batch_.PopSavePoint(); }

  // Begins anew. Nothing is tracked.
  void Start(const WriteOptions& options);
  // Forgets updates, counters and savepoints, but not the snapshot. No lock is held.
  virtual void Clear();
  // The snapshot that SetSnapshotOnNextOperation() asked for.
  void TakeDueSnapshot() {
    if (is_snapshot_due_) [[unlikely]]
      TakeDueSnapshotNow();
  }
  void HoldSnapshot(const Snapshot* snapshot);
  // Adds the updates of a prepare section as own ones; those of families that are gone are left
  // out.
  Status AddUpdatesOf(const WriteBatch& section);
  // Tracks the keys of these updates only.
  Status TrackUpdatesOf(const WriteBatch& section);
  // Adds a record of an earlier batch, whose key is tracked and counted. False: it is of a kind
  // that has no place in an indexed batch.
  bool AddRecord(const WriteBatchRecord& record);
  // As of one moment.
  virtual Status OpenIterators(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               std::vector<std::unique_ptr<Iterator>>* iterators);
  void CopyCounters(const TransactionBase& other) {
    counts_ = other.counts_;
    start_micros_ = other.start_micros_;
  }
  uint64_t NowMicros() const;
  uint64_t start_micros() const { return start_micros_; }
  ColumnFamilyHandle* OrDefault(ColumnFamilyHandle* family) const {
    return family == nullptr ? default_family_ : family;
  }
  TrackedKeys& tracked() { return *tracked_; }
  const TrackedKeys& tracked() const { return *tracked_; }

  DBImpl* const db_;
  // What is read below the batch: db_, or what shows more of it.
  DB* reads_;
  ColumnFamilyHandle* const default_family_;
  WriteOptions write_options_;
  WriteBatchWithIndex batch_;
  WriteBatch commit_time_batch_;
  std::unique_ptr<TrackedKeys> tracked_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<TransactionNotifier> notifier_;
  bool is_snapshot_due_ = false;

 private:
  struct Counts {
    uint64_t puts = 0;
    uint64_t put_entities = 0;
    uint64_t deletes = 0;
    uint64_t merges = 0;
  };
  struct SavePointState {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<TransactionNotifier> notifier;
    bool is_snapshot_due;
    Counts counts;
  };

  void TakeDueSnapshotNow();
  WriteBatchBase* Target() {
    if (is_indexing_) return &batch_;
    return batch_.GetWriteBatch();
  }
  // Tracks the key, calls update(batch), which adds one update, and counts it.
  template <typename Update>
  Status AddUpdate(ColumnFamilyHandle* family, const Slice& key, const Access& access,
                   uint64_t Counts::*count, const Update& update);
  Status PutAs(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
               const Access& access);
  Status PutEntityAs(ColumnFamilyHandle* family, const Slice& key, const WideColumns& columns,
                     const Access& access);
  Status MergeAs(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
                 const Access& access);
  Status DeleteAs(ColumnFamilyHandle* family, const Slice& key, const Access& access);
  Status SingleDeleteAs(ColumnFamilyHandle* family, const Slice& key, const Access& access);
  Status Replay(const WriteBatchRecord& record, ColumnFamilyHandle* family);
  Status TrackForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                        bool exclusive, bool do_validate);

  Counts counts_;
  std::vector<SavePointState> save_points_;
  bool is_indexing_ = true;
  uint64_t start_micros_ = 0;
};

}  // namespace ashlar
