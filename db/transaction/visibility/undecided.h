// SPDX-License-Identifier: Apache-2.0
//
// UndecidedTable knows the transactions whose data is in memtables or tables before they are
// decided (write-prepared and write-unprepared). For each of them it has the range of sequence
// numbers of the data, and the number at which it was committed or rolled back.
//
// A version with sequence number v is visible in a snapshot S if v <= S, and if no entry covers v,
// or the entry that does was decided at a number c <= S. This is exact: nothing is evicted, and no
// size has to be chosen.
//
// An entry is added before its data becomes visible (by number), and decided before its decision
// does. So a reader that has read the visible number S finds the entries of all data up to S, and
// all decisions up to S. An entry is forgotten when its decision is visible and no live snapshot
// lies between its data and its decision. A reader that read its S before and looks into the table
// after would take such data for data of its time; it notices that by `forgotten_up_to` and reads
// the visible number again.
//
// Where no transaction writes before it commits, the table stays unused, which readers check by one
// load. Threads: any. Readers take no lock.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ashlar/types.h"
#include "util/keys/internal_key.h"
#include "util/keys/read_callback.h"
#include "util/threads/epoch.h"
#include "util/threads/mutex.h"

namespace ashlar {

// The data of one transaction, or one part of it, that was written together.
struct UndecidedEntry {
  UndecidedEntry(SequenceNumber first_seqno, SequenceNumber last_seqno)
      : first(first_seqno), last(last_seqno) {
    assert(first > 0 && first <= last);
  }
  // The range of sequence numbers of the data; both ends belong to it.
  const SequenceNumber first;
  const SequenceNumber last;
  // The number of the commit or rollback; 0: undecided. Stored once (release), before that number
  // is visible.
  std::atomic<SequenceNumber> decided_at{0};
};
using UndecidedRef = std::shared_ptr<UndecidedEntry>;

// What a table has held at one moment: immutable, apart from decisions. Counted references.
class UndecidedList final : private EpochRetired {
 public:
  UndecidedList(std::vector<UndecidedRef> entries, SequenceNumber forgotten_up_to)
      : entries_(std::move(entries)), forgotten_up_to_(forgotten_up_to) {}
  UndecidedList(const UndecidedList&) = delete;
  UndecidedList& operator=(const UndecidedList&) = delete;

  // Ascending; no two ranges overlap.
  std::span<const UndecidedRef> entries() const { return entries_; }
  // The greatest number of a decision that was forgotten. A reader whose number is lower must not
  // use the list, unless its number is that of a live snapshot.
  SequenceNumber forgotten_up_to() const { return forgotten_up_to_; }
  // Null: none covers the number.
  const UndecidedEntry* Find(SequenceNumber seqno) const;
  // The smallest number of an entry that is not visible at `bound`; none: above `bound`.
  SequenceNumber FirstHiddenAt(SequenceNumber bound) const;

  // Within the epoch in which the pointer was loaded, or while another reference is held.
  void Ref() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() const {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  friend class UndecidedTable;
  ~UndecidedList() = default;

  const std::vector<UndecidedRef> entries_;
  const SequenceNumber forgotten_up_to_;
  // One reference belongs to the table, as long as the list is the current one or is not retired
  // yet.
  mutable std::atomic<int> refs_{1};
};

// Which versions one reader sees: those of decided transactions, and its own. It holds the list.
class DecidedVersions final : public ReadCallback {
 public:
  // The reader's own versions that are not decided yet; ascending ranges.
  using Own = std::vector<UndecidedRef>;

  // `list` is loaded in the current epoch. `own` may be null; else it outlives the object.
  DecidedVersions(const UndecidedList* list, SequenceNumber seqno, const Own* own = nullptr);
  ~DecidedVersions() override { list_->Unref(); }
  DecidedVersions(const DecidedVersions&) = delete;
  DecidedVersions& operator=(const DecidedVersions&) = delete;

  // Whether all versions up to bound() are visible. If so, a read needs no callback.
  bool SeesAll() const { return sees_all_; }

 private:
  bool IsCommitted(SequenceNumber seqno) const override;

  const UndecidedList* const list_;
  const SequenceNumber seqno_;  // that the reader reads at; bound() may be greater by its own
  const Own* const own_;
  const bool sees_all_;
};

// The table of a database. A change copies the list, changes the copy and publishes it, so a reader
// always has a complete list.
class UndecidedTable {
 public:
  UndecidedTable() = default;
  // No reader is left.
  ~UndecidedTable();
  UndecidedTable(const UndecidedTable&) = delete;
  UndecidedTable& operator=(const UndecidedTable&) = delete;

  // Whether there ever was an entry: only then readers need a DecidedVersions. Hot: one load.
  bool is_used() const { return list_.load(std::memory_order_relaxed) != nullptr; }

  // Adds the data with these numbers. Called before they are visible, or while no reader exists.
  // Throws bad_alloc without any effect. It may be called by a commit in flight: the list that is
  // replaced is kept until RetireReplaced() is called, as retiring may run deleters.
  UndecidedRef Add(SequenceNumber first, SequenceNumber last);
  // Gives up the lists that were replaced. Called without locks, by no commit in flight.
  void RetireReplaced();
  // Called before the number `at` is visible, once for each entry.
  static void Decide(UndecidedEntry* entry, SequenceNumber at) {
    assert(at > entry->last && entry->decided_at.load(std::memory_order_relaxed) == 0);
    entry->decided_at.store(at, std::memory_order_release);
  }

  // The list of this moment, for a reader: within an epoch; null if the table is not used. For a
  // reader without a snapshot, call it after the visible number was read.
  const UndecidedList* Load() const {
    assert(InEpoch());
    return list_.load(std::memory_order_acquire);
  }

  // Forgets entries that no reader needs any more, if enough of them were decided since the last
  // time. `visible`: the visible number, read before `snapshots`, which are the numbers of all live
  // snapshots, ascending.
  bool IsTrimDue() const { return decided_.load(std::memory_order_relaxed) >= kTrimAt; }
  void NoteDecided() { decided_.fetch_add(1, std::memory_order_relaxed); }
  void Trim(SequenceNumber visible, std::span<const SequenceNumber> snapshots);

  // For a flush or compaction, whose inputs are visible: adds to the numbers of snapshots those
  // between which it must not drop anything, so that the data of each transaction that some reader
  // does not see lies between two of them. Then a rule that knows snapshots only is exact: a reader
  // sees all or nothing of what lies between two numbers. `visible`: the visible number, read
  // before `snapshots` were listed; both ascending.
  void AddBoundaries(SequenceNumber visible, std::vector<SequenceNumber>* snapshots) const;
  // The number of entries.
  size_t count() const;

 private:
  // Decisions after which forgetting is worth a copy of the list.
  static constexpr size_t kTrimAt = 8;

  // Makes a new list the current one, and keeps the old one for RetireReplaced().
  void PublishLocked(std::vector<UndecidedRef> entries, SequenceNumber forgotten_up_to)
      REQUIRES(mutex_);
  // The part of Trim() that is done under the mutex.
  void TrimList(SequenceNumber visible, std::span<const SequenceNumber> snapshots);
  const UndecidedList* ListLocked() const REQUIRES(mutex_) {
    return list_.load(std::memory_order_relaxed);
  }

  mutable Mutex mutex_{LockRank::kLeaf};
  // Written under the mutex (release: readers see the entries); null until the first entry.
  std::atomic<UndecidedList*> list_{nullptr};
  std::atomic<size_t> decided_{0};  // since the last trim; a hint
  // Lists that readers cannot find any more; linked by next_retired.
  UndecidedList* replaced_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace ashlar
