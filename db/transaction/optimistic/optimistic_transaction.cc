// SPDX-License-Identifier: Apache-2.0
//
// Numbers at first use, checks at commit.
//
// Nothing is locked while the transaction runs. For each key it notes a sequence number from which
// on nobody else may write the key. A commit asks the engine for the newest number of each key, and
// fails with Busy if one is greater than the noted number.
#include "db/transaction/optimistic/optimistic_transaction.h"

#include <algorithm>
#include <cassert>

#include "db/db_impl.h"
#include "db/transaction/validation/key_conflicts.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "util/result.h"
#include "util/scope_exit.h"

namespace ashlar {

OptimisticTransaction::OptimisticTransaction(DBImpl* db, LockBuckets* buckets)
    : TransactionBase(db),
      // The floor tells flushes and compactions from which number on this transaction needs
      // evidence.
      floor_(db->conflict_floors()->Take()),
      buckets_(buckets),
      held_(buckets) {
  assert(floor_ != nullptr);
}

// The slot of the floor belongs to the database; a later transaction uses it again.
OptimisticTransaction::~OptimisticTransaction() {
  db_->WithdrawFloor(floor_);
  db_->conflict_floors()->GiveBack(floor_);
}

void OptimisticTransaction::Begin(const WriteOptions& write_options,
                                  const OptimisticTransactionOptions& options) {
  Clear();
  Start(write_options);
  if (options.set_snapshot) SetSnapshot();
}

Status OptimisticTransaction::Prepare() {
  return Status::InvalidArgument(
      "Transaction::Prepare: optimistic transactions have no two-phase commit");
}

Status OptimisticTransaction::SetName(const TransactionName&) {
  return Status::InvalidArgument("Transaction::SetName: optimistic transactions have no names");
}

Status OptimisticTransaction::Rollback() {
  Clear();
  return Status::OK();
}

// From here on flushes and compactions may drop the evidence that this transaction needed.
void OptimisticTransaction::Clear() {
  TransactionBase::Clear();
  db_->WithdrawFloor(floor_);
  evidence_ = nullptr;
  has_unchecked_keys_ = false;
}

// Flushes and compactions keep what tells of later writes for the oldest number that was given. A
// rollback to a savepoint may bring back a snapshot that is older than the floor and than the
// snapshots used since.
SequenceNumber OptimisticTransaction::NumberToTrack() {
  const auto visible = [this] { return db_->GetLatestSequenceNumber(); };
  if (snapshot_ != nullptr) {
    const SequenceNumber seqno = snapshot_->GetSequenceNumber();
    if (evidence_ == nullptr || seqno < evidence_->GetSequenceNumber()) evidence_ = snapshot_;
    return seqno;
  }
  // The first key without a snapshot announces a floor: from then on the engine keeps all evidence
  // from that number on, so later keys need not announce anything.
  const bool is_kept = floor_->is_announced() || evidence_ != nullptr;
  return is_kept ? visible() : floor_->Announce(visible);
}

Status OptimisticTransaction::TrackKey(ColumnFamilyHandle* family, const Slice& key,
                                       const Access& access) {
  // A blind write. It needs no check, but its bucket is taken at commit, see AddBucketsOfWrites().
  if (!access.is_validated) {
    has_unchecked_keys_ |= access.use == TrackedKeys::Use::kWrite;
    return Status::OK();
  }
  TakeDueSnapshot();
  assert(family != nullptr);
  tracked().Track(tracked().FindOrAdd(family->GetID(), key), access.use, NumberToTrack());
  return Status::OK();
}

Status OptimisticTransaction::Commit() {
  // The batch has its header only.
  if (batch_.GetWriteBatch()->GetDataSize() == kWriteBatchHeaderBytes) {
    // Nothing is written, so the check needs to hold at one moment only.
    CollectKeys();
    RETURN_IF_ERROR(CheckConflicts(Reach::kFiles, 0));
  } else if (buckets_ != nullptr) {
    RETURN_IF_ERROR(CommitBesideOthers());
  } else {
    CollectKeys();
    RETURN_IF_ERROR(db_->WriteObserved(write_options_, batch_.GetWriteBatch(),
                                       {.callback = nullptr, .hook = nullptr, .check = this}));
  }
  Clear();
  return Status::OK();
}

Status OptimisticTransaction::CommitBesideOthers() {
  assert(buckets_ != nullptr);
  CollectKeys();
  const ScopeExit unlock([this] { held_.Unlock(); });  // a comparator of the program may throw
  RETURN_IF_ERROR(CheckAndHoldBuckets());
  return db_->WriteObserved(write_options_, batch_.GetWriteBatch(),
                            {.callback = nullptr, .hook = this, .check = nullptr});
}

// Visible, and perhaps not durable yet: whoever builds on it comes later in the log.
void OptimisticTransaction::OnVisible(SequenceNumber, SequenceNumber) { held_.Unlock(); }

void OptimisticTransaction::CollectKeys() {
  // The list is kept between commits for its memory only.
  keys_.clear();
  tracked().ForEach([this](TrackedKeys::Key* key) { keys_.push_back(key); });
  // By family, as one question to the engine is for one family; and by key, so that neighbours are
  // looked up together.
  std::sort(keys_.begin(), keys_.end(), [](TrackedKeys::Key* a, TrackedKeys::Key* b) {
    if (a->family() != b->family()) return a->family() < b->family();
    return a->key().compare(b->key()) < 0;
  });
}

// Files are read before the buckets are taken, so that nobody waits for a disk; what is checked
// under them came since, and is in memory nearly always.
Status OptimisticTransaction::CheckAndHoldBuckets() {
  assert(buckets_ != nullptr);
  // A memtable may be flushed between the two checks; then the second one would have to read files
  // and answers Incomplete. After four such tries the check reads files with the buckets held.
  constexpr int kTries = 4;
  for (int i = 1;; ++i) {
    const SequenceNumber checked = db_->GetLatestSequenceNumber();
    RETURN_IF_ERROR(CheckConflicts(Reach::kFiles, 0));
    // By hash, so two keys may share a bucket; the list has it once after Lock().
    for (TrackedKeys::Key* key : keys_) held_.Add(key->lock()->hash());
    if (has_unchecked_keys_) AddBucketsOfWrites();
    held_.Lock();
    const Status status = CheckConflicts(i < kTries ? Reach::kMemory : Reach::kFiles, checked);
    if (status.ok()) return status;
    // The files are read again without the buckets, so that nobody waits for this thread meanwhile.
    held_.Unlock();
    if (!status.IsIncomplete()) return status;
  }
}

// Keys that this transaction writes without a check must not be written between the check and the
// write of another one.
void OptimisticTransaction::AddBucketsOfWrites() {
  WriteBatchReader reader(WriteBatchInternal::Contents(*batch_.GetWriteBatch()));
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (record.IsCounted()) held_.Add(KeyLock::Hash(record.family, record.key));
  }
}

Status OptimisticTransaction::CheckConflicts(Reach reach, SequenceNumber checked) {
  ReadOptions options;
  if (reach == Reach::kMemory) options.read_tier = kBlockCacheTier;
  // Invariant: keys_ is sorted by family, so [begin, end) are all keys of one family.
  for (size_t begin = 0, end = 0; begin < keys_.size(); begin = end) {
    const uint32_t family = keys_[begin]->family();
    // One question for all keys of a family.
    queries_.clear();
    for (; end < keys_.size() && keys_[end]->family() == family; ++end) {
      queries_.push_back(
          {.key = keys_[end]->key(), .above = std::max(keys_[end]->seqno(), checked)});
    }
    RETURN_IF_ERROR(db_->FindLatestSeqnos(options, family, queries_));
    assert(begin < end);
    assert(queries_.size() == end - begin);
    for (const SeqnoQuery& query : queries_) {
      // 0: no version above the number was found, so nobody else has written the key.
      if (query.latest != 0) return ConflictOn(*db_, family, query.key, query.above, query.latest);
    }
  }
  return Status::OK();
}

}  // namespace ashlar
