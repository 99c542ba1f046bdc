// SPDX-License-Identifier: Apache-2.0
//
// What pessimistic and optimistic transactions share: the batch of updates, reads through it,
// savepoints, snapshots, counters. What differs is what it takes to touch a key (TrackKey) and to
// commit.
//
// Threads: one at a time, unless a function says otherwise.
//
// A transaction is a batch with an index (`batch_`), the record of the keys that it has touched
// (`tracked_`), and the settings of the current use. The object can be used again and again:
// Begin() of the derived class calls Clear() and Start().
//
// Each public call for a key goes the same way. TrackKey() of the derived class makes the key safe
// (by a lock, or by noting a sequence number), and may refuse. After that the update is added to
// the batch, or the value is read through the batch and from the database.
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
class FamilyCursors;
struct WriteBatchRecord;

// Common part of both kinds of transactions. The database outlives the object.
class TransactionBase : public Transaction {
 public:
  ~TransactionBase() override;

  void SetSnapshot() override;
  void SetSnapshotOnNextOperation(std::shared_ptr<TransactionNotifier> notifier) override;
  const Snapshot* GetSnapshot() const override { return snapshot_.get(); }
  // The snapshot that the commit took, if one was asked for; it is the same object as
  // GetSnapshot().
  std::shared_ptr<const Snapshot> GetTimestampedSnapshot() const override { return snapshot_; }
  void ClearSnapshot() override;

  // Releases the snapshot of the transaction and those of its savepoints. The database calls it for
  // the transactions that it owns before it closes, because a snapshot must not outlive the engine.
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

  // While indexing is disabled, updates go into the batch without an entry in its index. They are
  // committed like others, but reads of this transaction do not see them.
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
  // A transaction that takes no locks has nothing to wait for, so the two calls do nothing here.
  void SetLockTimeout(int64_t) override {}
  void SetDeadlockTimeout(int64_t) override {}
  WriteOptions* GetWriteOptions() override { return &write_options_; }
  void SetWriteOptions(const WriteOptions& options) override { write_options_ = options; }

 protected:
  // How a call is going to use a key.
  struct Access {
    TrackedKeys::Use use;
    bool is_exclusive = true;
    // If the transaction has a snapshot, the key must not have been written since that snapshot.
    // False for the calls ...Untracked() and for reads with do_validate = false: a pessimistic
    // transaction then only locks the key, and an optimistic commit does not look at the key at
    // all.
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

  // Makes the key safe for this kind of access, as each kind of transaction does that: takes a
  // lock, or notes the sequence number to check at commit. Returns an error if the key cannot be
  // had or has changed already; then the transaction is as it was before the call.
  virtual Status TrackKey(ColumnFamilyHandle* family, const Slice& key, const Access& access) = 0;
  // Called when no use of the key is left, after a rollback to a savepoint or UndoGetForUpdate(). A
  // pessimistic transaction unlocks the key here. The caller removes the record afterwards.
  virtual void Untrack(TrackedKeys::Key* key) = 0;
  // OK if updates may be added or taken back now; else an error that names the state.
  virtual Status CheckOpen() const { return Status::OK(); }
  // Called before an update is added. An error refuses it.
  virtual Status MakeRoom() { return Status::OK(); }
  // Takes back what was added to the batch since the latest savepoint, and its savepoint. On an
  // error nothing has changed.
  virtual Status RollBackBatch() { return batch_.RollbackToSavePoint(); }
  // Forgets all savepoints.
  void ForgetSavePoints();
  // Forgets the latest savepoint of the batch.
  virtual Status PopBatchSavePoint() { return batch_.PopSavePoint(); }

  // Begins a new use of the object with these options. Precondition: Clear() was called, so no key
  // is tracked and the batch is empty.
  void Start(const WriteOptions& options);
  // Forgets updates, counters and savepoints, but keeps the snapshot. Precondition: the locks of
  // all tracked keys are released, as their records are given up here.
  virtual void Clear();
  // Takes the snapshot that SetSnapshotOnNextOperation() asked for, if one is due. The derived
  // class calls it while it tracks a key. The test is inline since every access to a key passes
  // here.
  void TakeDueSnapshot() {
    if (is_snapshot_due_) [[unlikely]]
      TakeDueSnapshotNow();
  }
  // Takes `snapshot` over from the engine, or with null only lets go of the current one. No
  // snapshot is due afterwards.
  void HoldSnapshot(const Snapshot* snapshot);
  // Adds the updates of a prepare section that was found in the log, as if the program had just
  // made them. Range deletions, and updates of families that were dropped since, are left out.
  Status AddUpdatesOf(const WriteBatch& section);
  // Tracks the keys of these updates only.
  Status TrackUpdatesOf(const WriteBatch& section);
  // Adds a record of an earlier batch, whose key is tracked and counted. False: it is of a kind
  // that has no place in an indexed batch.
  bool AddRecord(const WriteBatchRecord& record);
  // One iterator for each family, over the batch and the database, all as of one moment. They do
  // not pin their entries.
  virtual Status OpenIterators(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& families,
                               std::vector<std::unique_ptr<Iterator>>* iterators);
  // For an object that takes over from `other`: the numbers of updates, and the time of the
  // beginning.
  void CopyCounters(const TransactionBase& other) {
    counts_ = other.counts_;
    start_micros_ = other.start_micros_;
  }
  // Time of the database's clock, in microseconds.
  uint64_t NowMicros() const;
  uint64_t start_micros() const { return start_micros_; }
  // Null stands for the default family in the calls of a transaction.
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
  // Updates that the program wants to be written with the commit marker of a prepared transaction.
  // They are not seen by reads of the transaction, and are not locked.
  WriteBatch commit_time_batch_;
  // On the heap, because a prepared transaction hands the records over to another object, and the
  // lock table keeps pointers to them.
  std::unique_ptr<TrackedKeys> tracked_;
  // Null: the transaction reads and checks without a snapshot.
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
  // What RollbackToSavePoint() brings back, apart from the batch and the tracked keys, which keep
  // savepoints of their own.
  struct SavePointState {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<TransactionNotifier> notifier;
    bool is_snapshot_due;
    Counts counts;
  };

  void TakeDueSnapshotNow();
  // Where updates go: through the index, or past it into the plain batch.
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
  // Makes the update that a record of another batch describes.
  Status Replay(const WriteBatchRecord& record, ColumnFamilyHandle* family);
  // The part of GetForUpdate() that comes before the read.
  Status TrackForUpdate(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                        bool exclusive, bool do_validate);
  // Opens the iterators of several families, which pin their entries if the options ask for it.
  Status OpenCursors(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                     FamilyCursors* cursors);

  Counts counts_;
  // One for each savepoint, the latest last. The batch and `tracked_` have equally many.
  std::vector<SavePointState> save_points_;
  bool is_indexing_ = true;
  uint64_t start_micros_ = 0;
};

}  // namespace ashlar
