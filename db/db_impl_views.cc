// SPDX-License-Identifier: Apache-2.0
//
// Iterators over several families, snapshots, what iterators report of dead ranges, and what
// becomes obsolete when views are released.
#include <cassert>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "db/api/family_iterators.h"
#include "db/db_impl.h"
#include "db/files/obsolete_files.h"
#include "db/options/options_check.h"
#include "db/own_moment.h"
#include "db/version/version.h"
#include "memtable/empty_ranges.h"
#include "util/result.h"
#include "util/threads/epoch.h"

namespace ashlar {

// All iterators see the database at one moment. After an error no iterator is returned.
Status DBImpl::NewIterators(const ReadOptions& options,
                            const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) {
  assert(iterators != nullptr);
  iterators->clear();
  RETURN_IF_ERROR(CheckHandles(handles));
  for (ColumnFamilyHandle* handle : handles) {
    if (IsStamped(handle)) continue;
    RETURN_IF_ERROR(CheckIteratorOptionsSupported(options));
  }
  // Decisions behind the views are not forgotten before all iterators have looked for them. The
  // views are those that the snapshot holds, where it holds any: newer ones would be behind it.
  std::optional<OwnMoment> moment;
  if (core_.undecided.is_used()) moment.emplace(this, options.snapshot);
  const Snapshot* const snapshot = moment.has_value() ? moment->snapshot() : options.snapshot;
  std::vector<ReadView> views;
  {
    // Super versions are replaced under the mutex, so all views are of one moment.
    MutexLock lock(&core_.mutex);
    for (ColumnFamilyHandle* handle : handles) {
      views.push_back(FamilyOf(handle)->AcquireViewFor(snapshot));
    }
  }
  // When the first sequence number was taken, every super version was already in force or has not
  // changed since.
  SequenceNumber seqno = views.empty() ? 0 : views.front().seqno();
  if (moment.has_value()) seqno = moment->snapshot()->GetSequenceNumber();
  for (const ReadView& view : views) {
    RETURN_IF_ERROR(CheckIteratorFits(options, view.super_version()->options()));
  }
  for (size_t i = 0; i < views.size(); i++) {
    // Views of a database that another process writes are of one moment as they are.
    if (!core_.mode.is_following()) views[i].ReadAsOf(seqno);
    if (IsStamped(handles[i])) {
      auto iterator = MakeStampedIterator(options, handles[i], std::move(views[i]));
      if (!iterator.ok()) {
        for (const Iterator* made : *iterators) delete made;
        iterators->clear();
        return iterator.status();
      }
      iterators->push_back(iterator->release());
      continue;
    }
    iterators->push_back(MakeIterator(options, handles[i], std::move(views[i]),
                                      {.is_view_held = moment.has_value()}));
  }
  return Status::OK();
}

// If an iterator of a family cannot be opened, the call returns an iterator that has no entries and
// the error as its status.
std::unique_ptr<Iterator> DBImpl::NewCoalescingIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  FamilyCursors cursors;
  const Status status = OpenFamilyCursors(this, options, handles, &cursors);
  if (!status.ok()) return std::unique_ptr<Iterator>(NewErrorIterator(status));
  return std::make_unique<CoalescingIterator>(std::move(cursors));
}

std::unique_ptr<AttributeGroupIterator> DBImpl::NewAttributeGroupIterator(
    const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  FamilyCursors cursors;
  const Status status = OpenFamilyCursors(this, options, handles, &cursors);
  if (!status.ok()) return NewAttributeGroupErrorIterator(status);
  return std::make_unique<GroupingIterator>(std::move(cursors));
}

// UINT64_MAX: without a timestamp.
const Snapshot* DBImpl::GetSnapshot() { return GetSnapshotWithTimestamp(UINT64_MAX); }

// Null if a family's memtable cannot keep old versions (inplace_update_support).
const Snapshot* DBImpl::GetSnapshotWithTimestamp(uint64_t timestamp) {
  {
    const EpochGuard guard;
    if (!core_.families.SupportSnapshots()) return nullptr;
  }
  return TakeMoment(timestamp);
}

// Where memtables keep no old versions, the moment still keeps the decisions behind it known.
const Snapshot* DBImpl::TakeMoment(uint64_t timestamp) {
  const auto unix_time = static_cast<int64_t>(core_.environment.NowSeconds());
  const auto seqno = [this] { return VisibleSeqno(); };
  if (!core_.mode.is_following()) [[likely]]
    return core_.snapshots.Take(seqno, unix_time, timestamp);
  MutexLock lock(&core_.mutex);
  return core_.snapshots.Take(seqno, unix_time, timestamp, HoldViewsLocked());
}

// References to the super versions of all families as they are now. A snapshot of a followed
// database needs them, because catching up replaces the memtables that it reads.
std::vector<HeldView> DBImpl::HoldViewsLocked() {
  std::vector<HeldView> held;
  const EpochGuard guard;
  for (ColumnFamilyData* family : core_.families.All()) {
    SuperVersion* const super_version = family->super_version();
    held.push_back(
        {super_version, ReadView(family, SuperVersionRef(super_version), VisibleSeqno())});
  }
  return held;
}

// The release of the oldest snapshot may make tables due for a rewrite (KeptForSnapshots).
void DBImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot != nullptr && core_.snapshots.Release(snapshot)) RequestDueTables();
}

// Once per transaction; nearly always no table waits, and no lock is taken.
void DBImpl::WithdrawFloor(ConflictFloors::Slot* slot) {
  assert(slot != nullptr);
  const SequenceNumber floor = slot->Withdraw();
  const SequenceNumber due = compaction_registry_.next_table_due();
  if (due != KeptForSnapshots::kNever && floor < due) RequestDueTables();
}

// The first check is without the mutex and may miss a table that becomes due at this moment; the
// next release of a snapshot finds it.
void DBImpl::RequestDueTables() {
  if (core_.SeenByAll() < compaction_registry_.next_table_due()) return;
  MutexLock lock(&core_.mutex);
  scheduler_.RequestDueTablesLocked();
}

// Makes a range tombstone in the memtable of a row of tombstones that a scan has passed. All older
// runs are older than a tombstone of the memtable (TombstoneSlab). So the view's memtable must
// still be the active one, and contain something that the view sees: the other runs were then
// written before, unless external files were added since. This is not a write: it takes no sequence
// number and is not logged, because a reader that sees the tombstone sees nothing in the range
// anyway.
void DBImpl::CoverDeadRange(const ReadView& view, const Slice& begin, const Slice& end) {
  auto* const family = static_cast<ColumnFamilyData*>(view.source());
  MutexLock lock(&core_.mutex);
  MemTable* const memtable = family->mem();
  // A transaction would take it for a write.
  if (core_.floors.expects_transactions()) return;
  if (!family->HasNoExternalChangeSince(*view.super_version())) return;
  if (memtable != view.super_version()->mem() || memtable->smallest_seqno() > view.seqno()) return;
  InsertHint uncounted;
  IgnoreError(memtable->Add(view.seqno(), kTypeRangeDeletion, begin, end, &uncounted),
              "the scan continues without the tombstone");
}

// Remembers that a range is empty. A view's sequence number may be newer than its memtables, so the
// range is known to be empty only as long as no memtable has become immutable since. Does not take
// the DB mutex, because the scan may be made by a callback of a commit in flight.
void DBImpl::LearnDeadRange(const ReadView& view, const Slice& begin, const Slice& end) {
  auto* const family = static_cast<ColumnFamilyData*>(view.source());
  const SuperVersion& seen = *view.super_version();
  if (family->mem() != seen.mem()) return;
  family->empty_ranges()->Learn(
      {.begin = begin, .end = end, .seqno = view.seqno(), .version = seen.version()->number()},
      [this] { return core_.pipeline->last_reserved_seqno(); });
}

// Files of an old super version may be deleted when no iterator uses them. Called by destructors.
void DBImpl::OnViewReleased(Purge purge) {
  if (core_.versions->HasObsolete()) PurgeObsolete(purge);
}

// The last super version of the family waits for the epoch, and perhaps for a reader that is just
// leaving it.
void DBImpl::OnFamilyGone(Purge purge) {
  if (EpochReclaimAll()) return OnViewReleased(purge);
  PurgeObsolete(Purge::kInBackground);
}

// Deletes obsolete files now or in a background thread. The call may come from a destructor, which
// cannot return errors.
void DBImpl::PurgeObsolete(Purge purge) {
  if (core_.shutdown.is_closing()) return;
  try {
    purge == Purge::kNow ? PurgeObsoleteFiles(&core_) : scheduler_.RequestPurge();
  } catch (const std::bad_alloc&) {
    // The next purge, or the next opening, deletes the files.
  }
}

}  // namespace ashlar
