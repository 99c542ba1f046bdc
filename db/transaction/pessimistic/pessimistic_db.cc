// SPDX-License-Identifier: Apache-2.0
//
// Transactions, snapshots, families; opening is in pessimistic_open.cc.
#include "db/transaction/pessimistic/pessimistic_db.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/db_impl.h"
#include "db/transaction/pessimistic/pessimistic_transaction.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

PessimisticDb::PessimisticDb(DB* db, DBImpl* impl, const TransactionDBOptions& options)
    : GuardedWrites(db), state_(std::make_unique<PessimisticState>(impl, options)) {
  assert(impl != nullptr);
  state_->facade = this;
  // From here on the engine keeps what tells transactions of conflicts, before the first of them
  // begins.
  impl->conflict_floors()->ExpectTransactions();
  if (state_->writes_before_commit()) impl->NumberSubBatches();
}

// The program deletes its own transactions before. Those that the database owns (shells) are
// deleted here and stay undecided in the log, where the next opening finds them. The order matters:
// the snapshots go back to the engine while it is open; then the engine is closed, which still
// looks at the prepare sections of the shells; last the shells are deleted.
PessimisticDb::~PessimisticDb() {
  // A shell that is deleted from here on does not make another shell of itself.
  state_->is_ending.store(true, std::memory_order_release);
  state_->snapshots.ReleaseOlderThan(kMaxTxnTimestamp);
  const std::vector<PessimisticTransaction*> shells = state_->registry.Shells();
  for (PessimisticTransaction* shell : shells) shell->GiveBackSnapshots();
  delete std::exchange(db_, nullptr);
  for (PessimisticTransaction* shell : shells) delete shell;
}

namespace {

using Sections = std::span<std::unique_ptr<OwnedSection>>;
using SectionPolicy = PreparedSection::Policy;

// A write-unprepared transaction that is not prepared has no section of another kind.
bool IsPrepared(Sections sections) {
  assert(!sections.empty());
  return sections.back()->section.policy() != SectionPolicy::kWriteUnprepared;
}

// Those of one transaction follow each other.
std::vector<Sections> ByTransaction(Sections sections) {
  std::vector<Sections> transactions;
  while (!sections.empty()) {
    size_t count = 1;
    const std::string& xid = sections.front()->section.xid();
    // Sections of one transaction have the same name, and the log has them in the order of its
    // parts.
    while (count < sections.size() && sections[count]->section.xid() == xid) count++;
    assert(count <= sections.size());
    transactions.push_back(sections.first(count));
    sections = sections.subspan(count);
  }
  return transactions;
}

}  // namespace

// Transactions that were not prepared are rolled back before anything else may touch their keys.
//
// Called once, before the program has the database. If it fails, the destructor gets the sections
// that have no transaction, from `recovered_`.
Status PessimisticDb::Recover() {
  // The engine hands the sections over; from now on this object must keep or delete them.
  recovered_ = state_->db->TakeRecoveredSections();
  for (const std::unique_ptr<OwnedSection>& section : recovered_) {
    const SectionPolicy policy = section->section.policy();
    const bool is_unprepared = state_->policy == SectionPolicy::kWriteUnprepared;
    const bool fits =
        policy == state_->policy || (is_unprepared && policy == SectionPolicy::kWritePrepared);
    if (fits) continue;
    return Status::NotSupported(
        "TransactionDB: the log has transactions of another write policy that are undecided");
  }
  std::vector<Sections> transactions = ByTransaction(recovered_);
  // Stable, so that within both groups the order is that of the log.
  std::stable_partition(transactions.begin(), transactions.end(),
                        [](Sections sections) { return !IsPrepared(sections); });
  for (const Sections& sections : transactions) {
    const bool is_prepared = IsPrepared(sections);
    auto transaction = std::make_unique<PessimisticTransaction>(state_.get());
    const Status status =
        is_prepared ? transaction->Recover(sections) : transaction->RecoverAndRollBack(sections);
    // A shell: the registry knows it, and its sections outlive the engine.
    if (transaction->is_shell()) transaction.release();
    RETURN_IF_ERROR(status);
  }
  return Status::OK();
}

Transaction* PessimisticDb::BeginTransaction(const WriteOptions& write_options,
                                             const TransactionOptions& options,
                                             Transaction* old_txn) {
  // An object that the program hands back is used again, with its memory.
  auto* transaction = static_cast<PessimisticTransaction*>(old_txn);
  if (transaction == nullptr) transaction = new PessimisticTransaction(state_.get());
  // Everything of the last use is given up by Begin(), not here.
  transaction->Begin(write_options, options);
  return transaction;
}

Transaction* PessimisticDb::GetTransactionByName(const TransactionName& name) {
  return state_->registry.Find(name);
}

void PessimisticDb::GetAllPreparedTransactions(std::vector<Transaction*>* transactions) {
  assert(transactions != nullptr);
  transactions->clear();
  for (PessimisticTransaction* transaction : state_->registry.Prepared()) {
    transactions->push_back(transaction);
  }
}

std::unordered_multimap<uint32_t, KeyLockInfo> PessimisticDb::GetLockStatusData() {
  return state_->locks->Describe();
}
std::vector<DeadlockPath> PessimisticDb::GetDeadlockInfoBuffer() {
  return state_->locks->GetDeadlocks();
}
void PessimisticDb::SetDeadlockInfoBufferSize(uint32_t target_size) {
  state_->locks->SetMaxDeadlocks(target_size);
}

std::pair<Status, std::shared_ptr<const Snapshot>> PessimisticDb::CreateTimestampedSnapshot(
    TxnTimestamp ts) {
  return state_->CreateTimestampedSnapshot(ts);
}
std::shared_ptr<const Snapshot> PessimisticDb::GetTimestampedSnapshot(TxnTimestamp ts) const {
  return state_->snapshots.Get(ts);
}
void PessimisticDb::ReleaseTimestampedSnapshotsOlderThan(TxnTimestamp ts) {
  state_->snapshots.ReleaseOlderThan(ts);
}
Status PessimisticDb::GetTimestampedSnapshots(
    TxnTimestamp ts_lb, TxnTimestamp ts_ub,
    std::vector<std::shared_ptr<const Snapshot>>& timestamped_snapshots) const {
  timestamped_snapshots.clear();
  if (ts_lb >= ts_ub) {
    return Status::InvalidArgument(
        "GetTimestampedSnapshots: the lower bound must be below the upper one");
  }
  state_->snapshots.Collect(ts_lb, ts_ub, &timestamped_snapshots);
  return Status::OK();
}

void PessimisticDb::AddFamilies(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* family : families) {
    state_->locks->AddFamily(family->GetID(), family->GetComparator());
  }
}

Status PessimisticDb::Write(const WriteOptions& options,
                            const TransactionDBWriteOptimizations& optimizations,
                            WriteBatch* updates) {
  // The program promises that the keys of the batch collide with no transaction.
  if (optimizations.skip_concurrency_control) return state_->db->Write(options, updates);
  return Write(options, updates);
}

Status PessimisticDb::DropColumnFamily(ColumnFamilyHandle* family) {
  return DropColumnFamilies({family});
}

Status PessimisticDb::DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families) {
  for (ColumnFamilyHandle* family : families) {
    // First the family itself: if that fails, its keys can still be locked.
    RETURN_IF_ERROR(db_->DropColumnFamily(family));
    // The keys of a dropped family can no longer be locked, and the memory of its locks is given
    // back.
    state_->locks->DropFamily(family->GetID());
  }
  return Status::OK();
}

bool PessimisticDb::GetProperty(ColumnFamilyHandle* family, const Slice& property,
                                std::string* value) {
  // The one property that this layer answers itself.
  if (property == Slice("ashlar.transactions")) {
    assert(value != nullptr);
    *value = DescribeTransactions();
    return true;
  }
  return db_->GetProperty(family, property, value);
}

std::string PessimisticDb::DescribeTransactions() const {
  const TransactionRegistry::Totals totals = state_->registry.GetTotals();
  const KeyLocks::Totals locks = state_->locks->GetTotals();
  const uint64_t now = state_->db->clock()->NowMicros();
  const auto seconds_since = [now](uint64_t begin_micros) {
    // A begin in the future comes from a clock that went back, and counts as now.
    return begin_micros == 0 || begin_micros > now ? 0 : (now - begin_micros) / 1'000'000;
  };
  std::string text = StrCat("transactions: open ", totals.open, ", prepared ", totals.prepared,
                            ", batch bytes ", totals.batch_bytes, "\n");
  StrAppend(&text, "locks: keys ", locks.keys, ", waiters ", locks.waiters, ", table bytes ",
            locks.table_bytes, "\n");
  StrAppend(&text, "oldest: seconds ", seconds_since(totals.oldest_micros), "\n");
  if (totals.prepared > 0) {
    StrAppend(&text, "oldest prepared: ", totals.oldest_prepared, ", log ",
              totals.oldest_prepared_log, ", seconds ",
              seconds_since(totals.oldest_prepared_micros), "\n");
  }
  return text;
}

}  // namespace ashlar
