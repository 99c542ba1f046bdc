// SPDX-License-Identifier: Apache-2.0
//
// Lists are short: the parts of transactions in flight, and a few that are decided. Each change
// makes a new one.
#include "db/transaction/visibility/undecided.h"

#include <algorithm>
#include <cassert>

namespace ashlar {
namespace {

// Room for the first entries, so that most lists are made without a copy.
constexpr size_t kLeastSlots = 8;

SequenceNumber DecisionOf(const UndecidedEntry& entry) {
  return entry.decided_at.load(std::memory_order_acquire);
}

bool IsDecidedBy(const UndecidedEntry& entry, SequenceNumber seqno) {
  const SequenceNumber decided_at = DecisionOf(entry);
  return decided_at != 0 && decided_at <= seqno;
}

// Of ascending entries the one that covers the number; null: none.
const UndecidedEntry* FindIn(std::span<const UndecidedRef> entries, SequenceNumber seqno) {
  const auto behind = std::upper_bound(
      entries.begin(), entries.end(), seqno,
      [](SequenceNumber number, const UndecidedRef& entry) { return number < entry->first; });
  if (behind == entries.begin()) return nullptr;
  assert((*std::prev(behind))->first <= seqno);
  const UndecidedEntry* const entry = std::prev(behind)->get();
  return seqno <= entry->last ? entry : nullptr;
}

// Whether one of the ascending numbers lies in [begin, end).
bool HasNumberIn(std::span<const SequenceNumber> numbers, SequenceNumber begin,
                 SequenceNumber end) {
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), begin);
  return found != numbers.end() && *found < end;
}

// Up to which number a reader sees anything: its own versions may be newer than its snapshot.
SequenceNumber BoundOf(SequenceNumber seqno, const DecidedVersions::Own* own) {
  return own == nullptr || own->empty() ? seqno : std::max(seqno, own->back()->last);
}

// Versions below this number are visible without a question; see ReadCallback.
SequenceNumber FirstAskedOf(const UndecidedList& list, SequenceNumber seqno) {
  return std::min(list.FirstHiddenAt(seqno), seqno + 1);
}

}  // namespace

const UndecidedEntry* UndecidedList::Find(SequenceNumber seqno) const {
  return FindIn(entries_, seqno);
}

// The entries ascend, so the first one that is hidden has the smallest number.
SequenceNumber UndecidedList::FirstHiddenAt(SequenceNumber bound) const {
  for (const UndecidedRef& entry : entries_) {
    if (entry->first > bound) break;
    if (!IsDecidedBy(*entry, bound)) return entry->first;
  }
  return bound + 1;
}

DecidedVersions::DecidedVersions(const UndecidedList* list, SequenceNumber seqno, const Own* own)
    : ReadCallback(FirstAskedOf(*list, seqno), BoundOf(seqno, own)),
      list_(list),
      seqno_(seqno),
      own_(own),
      sees_all_(bound() == seqno && list->FirstHiddenAt(seqno) > seqno) {
  assert(list_ != nullptr);
  list_->Ref();
}

bool DecidedVersions::IsOwn(const Own& own, SequenceNumber seqno) {
  return FindIn(own, seqno) != nullptr;
}

// A decision that is stored later has a number above the reader's, so the answer never changes.
bool DecidedVersions::IsCommitted(SequenceNumber seqno) const {
  if (own_ != nullptr && IsOwn(*own_, seqno)) return true;
  if (seqno > seqno_) return false;
  const UndecidedEntry* const entry = list_->Find(seqno);
  return entry == nullptr || IsDecidedBy(*entry, seqno_);
}

// No reader is left when the table is destroyed, so its own reference is dropped at once.
UndecidedTable::~UndecidedTable() {
  RetireReplaced();
  const UndecidedList* const list = list_.load(std::memory_order_relaxed);
  if (list != nullptr) list->Unref();
}

// The list that is replaced may be in use by readers that have not taken a reference yet.
void UndecidedTable::PublishLocked(UndecidedList* list) {
  UndecidedList* const old = list_.exchange(list, std::memory_order_acq_rel);
  if (old == nullptr) return;
  old->next_retired = replaced_;
  replaced_ = old;
}

void UndecidedTable::RetireReplaced() {
  UndecidedList* list = nullptr;
  {
    // The mutex is released before the retiring, which may run deleters.
    MutexLock lock(&mutex_);
    list = std::exchange(replaced_, nullptr);
  }
  while (list != nullptr) {
    auto* const next = static_cast<UndecidedList*>(list->next_retired);
    list->next_retired = nullptr;
    // The table's reference is dropped when all readers have left the epoch in which they may have
    // loaded the pointer.
    EpochRetire(list, [](EpochRetired* object) { static_cast<UndecidedList*>(object)->Unref(); });
    list = next;
  }
}

UndecidedRef UndecidedTable::Add(SequenceNumber first, SequenceNumber last) {
  assert(first <= last);
  auto entry = std::make_shared<UndecidedEntry>(first, last);
  MutexLock lock(&mutex_);
  const UndecidedList* const old = ListLocked();
  const std::span<const UndecidedRef> entries =
      old == nullptr ? std::span<const UndecidedRef>() : old->entries_;
  const SequenceNumber forgotten_up_to = old == nullptr ? 0 : old->forgotten_up_to_;
  // Transactions may be added out of order, as they are prepared in parallel.
  const auto place = std::upper_bound(
      entries.begin(), entries.end(), first,
      [](SequenceNumber number, const UndecidedRef& other) { return number < other->first; });
  // The newest list has all slots that are taken.
  assert(old == nullptr || old->slots_->size() == entries.size());
  if (old != nullptr && place == entries.end() && old->slots_->capacity() > entries.size()) {
    // Nothing throws behind this allocation.
    auto* const list = new UndecidedList(old->slots_, entries.size() + 1, forgotten_up_to);
    old->slots_->push_back(entry);
    PublishLocked(list);
    return entry;
  }
  auto slots = std::make_shared<Slots>();
  slots->reserve(std::max<size_t>(kLeastSlots, 2 * (entries.size() + 1)));
  slots->assign(entries.begin(), place);
  slots->push_back(entry);
  slots->insert(slots->end(), place, entries.end());
  PublishLocked(new UndecidedList(slots, slots->size(), forgotten_up_to));
  return entry;
}

void UndecidedTable::Trim(SequenceNumber visible, std::span<const SequenceNumber> snapshots) {
  TrimList(visible, snapshots);
  RetireReplaced();
}

void UndecidedTable::TrimList(SequenceNumber visible, std::span<const SequenceNumber> snapshots) {
  assert(std::is_sorted(snapshots.begin(), snapshots.end()));
  MutexLock lock(&mutex_);
  const UndecidedList* const old = ListLocked();
  if (old == nullptr) return;
  decided_.store(0, std::memory_order_relaxed);
  auto kept = std::make_shared<Slots>();
  SequenceNumber forgotten_up_to = old->forgotten_up_to_;
  // Entries that are decided for every reader and every snapshot are forgotten; nobody asks for
  // them.
  for (const UndecidedRef& entry : old->entries_) {
    const SequenceNumber decided_at = DecisionOf(*entry);
    const bool is_needed =
        decided_at == 0 || decided_at > visible || HasNumberIn(snapshots, entry->first, decided_at);
    if (is_needed) {
      kept->push_back(entry);
    } else {
      forgotten_up_to = std::max(forgotten_up_to, decided_at);
    }
  }
  // Nothing can be forgotten, so readers keep their list.
  if (kept->size() == old->entries_.size()) return;
  PublishLocked(new UndecidedList(kept, kept->size(), forgotten_up_to));
}

// Decisions above `visible` count as none: a reader between the two does not see the data yet.
void UndecidedTable::AddBoundaries(SequenceNumber visible,
                                   std::vector<SequenceNumber>* snapshots) const {
  assert(snapshots != nullptr);
  MutexLock lock(&mutex_);
  const UndecidedList* const list = ListLocked();
  if (list == nullptr) return;
  std::vector<SequenceNumber> added;
  for (const UndecidedRef& entry : list->entries_) {
    const SequenceNumber decided_at = DecisionOf(*entry);
    const bool is_decided = decided_at != 0 && decided_at <= visible;
    if (is_decided && !HasNumberIn(*snapshots, entry->first, decided_at)) continue;
    // The two numbers enclose the data: everything between them is seen by a reader as a whole or
    // not at all.
    assert(entry->first > 0 && entry->first <= entry->last);
    added.push_back(entry->first - 1);
    added.push_back(entry->last);
  }
  snapshots->insert(snapshots->end(), added.begin(), added.end());
  std::sort(snapshots->begin(), snapshots->end());
  snapshots->erase(std::unique(snapshots->begin(), snapshots->end()), snapshots->end());
}

size_t UndecidedTable::count() const {
  MutexLock lock(&mutex_);
  const UndecidedList* const list = ListLocked();
  return list == nullptr ? 0 : list->entries_.size();
}

}  // namespace ashlar
