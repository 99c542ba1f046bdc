// SPDX-License-Identifier: Apache-2.0
//
// A transaction that locks nothing: it remembers for each key from which number on nobody else may
// have changed it, and looks whether that is so when it commits.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/utilities/optimistic_transaction_db.h"
#include "db/read/conflict_floors.h"
#include "db/read/latest_seqno.h"
#include "db/transaction/base/transaction_base.h"
#include "db/transaction/optimistic/lock_buckets.h"
#include "db/write/commit_pipeline.h"

namespace ashlar {

// Threads: one at a time. The database outlives the object.
class OptimisticTransaction final : public TransactionBase,
                                    private CommitHook,
                                    private CommitCheck {
 public:
  // `buckets` outlive it; null: commits are checked one at a time, against all writers.
  OptimisticTransaction(DBImpl* db, LockBuckets* buckets);
  ~OptimisticTransaction() override;

  void Begin(const WriteOptions& write_options, const OptimisticTransactionOptions& options);

  Status Prepare() override;
  Status Commit() override;
  Status Rollback() override;
  Status SetName(const TransactionName& name) override;

 private:
  // How far a check may look.
  // kMemory: only memtables and cached blocks; kFiles: files may be read.
  enum class Reach : uint8_t { kMemory, kFiles };

  Status TrackKey(ColumnFamilyHandle* family, const Slice& key, const Access& access) override;
  void Untrack(TrackedKeys::Key*) override {}
  void Clear() override;
  void OnVisible(SequenceNumber first_seqno, SequenceNumber last_seqno) override;
  // Called by the pipeline in a pause, with no other commit in flight (the serial policy).
  Status MayCommit() override { return CheckConflicts(Reach::kFiles, 0); }

  SequenceNumber NumberToTrack();
  // Fills `keys_` from the tracked keys, sorted by family and key.
  void CollectKeys();
  // Busy if one of the collected keys was written since it was tracked, and above `checked`, up to
  // which they have been checked before. With kMemory Incomplete if files would have to be read.
  Status CheckConflicts(Reach reach, SequenceNumber checked);
  // Checks, takes the buckets, and checks what came in between. OK: the buckets are held.
  Status CheckAndHoldBuckets();
  void AddBucketsOfWrites();
  Status CommitBesideOthers();

  ConflictFloors::Slot* const floor_;         // announced while there are keys without a snapshot
  std::shared_ptr<const Snapshot> evidence_;  // the oldest snapshot that keys were tracked by
  bool has_unchecked_keys_ = false;           // keys of Put...Untracked()
  LockBuckets* const buckets_;
  // Held between a successful check and the moment at which the commit is visible.
  HeldBuckets held_;
  // Working memory of a commit. As members the vectors keep their memory for the next commit.
  std::vector<TrackedKeys::Key*> keys_;  // by family
  std::vector<SeqnoQuery> queries_;
};

}  // namespace ashlar
