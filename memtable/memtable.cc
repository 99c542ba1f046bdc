// SPDX-License-Identifier: Apache-2.0
//
// A memtable consists of a representation of its point entries (the B-link tree or another one),
// its range tombstones, an optional Bloom filter, and counters, all in one arena. This file
// combines them.
#include "memtable/memtable.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <utility>

#include "ashlar/system_clock.h"
#include "memtable/empty_ranges.h"
#include "table/iterator/internal_iterator.h"
#include "table/iterator/stamped_lookup.h"
#include "util/hash/hash.h"
#include "util/text/str_cat.h"
#include "util/threads/thread_number.h"

namespace ashlar {
namespace {

// Both sizes are stored in 32 bits.
constexpr size_t kMaxSliceBytes = std::numeric_limits<uint32_t>::max();

void AcquirePin(void* memtable) { static_cast<const MemTable*>(memtable)->Ref(); }
void ReleasePin(void* memtable, void* /*unused*/) {
  assert(memtable != nullptr);
  static_cast<const MemTable*>(memtable)->Unref();
}

// Raises or lowers `cell` to `value`, unless it is beyond already.
void RaiseTo(std::atomic<uint64_t>* cell, uint64_t value) {
  assert(cell != nullptr);
  uint64_t seen = cell->load(std::memory_order_relaxed);
  // A failed exchange loads the present value into `seen`, so the loop ends when somebody else has
  // gone beyond.
  while (seen < value && !cell->compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}
void LowerTo(std::atomic<uint64_t>* cell, uint64_t value) {
  assert(cell != nullptr);
  uint64_t seen = cell->load(std::memory_order_relaxed);
  while (seen > value && !cell->compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

[[gnu::cold]] MemTable::MemTable(const InternalKeyComparator& comparator,
                                 const MemTableOptions& options, uint64_t id)
    : comparator_(comparator),
      id_(id),
      bloom_whole_keys_(options.bloom_whole_keys),
      bloom_prefixes_(options.bloom_prefixes),
      checks_(options.checks),
      updates_in_place_(options.updates_in_place),
      in_place_callback_(options.in_place_callback),
      empty_ranges_(options.empty_ranges),
      clock_(options.clock),
      memory_report_(options.memory_manager),
      arena_(options.arena_block_bytes, options.blocks),
      tombstones_(comparator_, &arena_) {
  assert(options.arena_block_bytes != 0);
  other_ = NewOtherRep(comparator_, options, checks_.checksum_bytes, &arena_);
  if (other_ == nullptr) {
    tree_.emplace(comparator_, options.common_prefix, &arena_, BlinkTree::kMaxFanout,
                  checks_.checksum_bytes);
    if (updates_in_place_) {
      in_place_ = std::make_unique<InPlaceValues>(options.in_place_locks, checks_.checksum_bytes);
    }
  }
  has_plain_reads_ = !checks_.any() && in_place_ == nullptr;
  // Readers of keys with timestamps ask no filter of memtables.
  const bool has_lookups = comparator_.stamp_bytes() == 0;
  if (has_lookups && options.bloom_bits > 0 && (bloom_whole_keys_ || bloom_prefixes_ != nullptr)) {
    bloom_.emplace(options.bloom_bits, &arena_);
  }
  empty_bytes_ = ApproximateMemoryUsage();
  assert(tree_.has_value() != (other_ != nullptr));
}

MemTable::~MemTable() {
  // The last reference is gone, so no reader and no writer is left.
  assert(refs_.load(std::memory_order_relaxed) == 0);
#ifdef ASHLAR_INVARIANTS
  CheckInvariants();
#endif
}

// TryAgain if the key has an entry with this sequence number.
Status MemTable::Add(SequenceNumber seqno, ValueType type, const Slice& user_key,
                     const Slice& value, InsertHint* hint) {
  assert(seqno <= kMaxSequenceNumber);
  if (user_key.size() > kMaxSliceBytes || value.size() > kMaxSliceBytes) [[unlikely]] {
    return Status::InvalidArgument(StrCat("key of ", user_key.size(), " and value of ",
                                          value.size(), " bytes: each must be below 4 GiB"));
  }
  // An entry in a range that was known to be empty ends that knowledge before a reader can use it.
  if (empty_ranges_ != nullptr && !empty_ranges_->none() && !IsTombstone(type)) [[unlikely]]
    empty_ranges_->Break(user_key);
  if (type == kTypeValue) [[likely]] {
    // First, so that the checks of the other kinds cost the most frequent one nothing.
  } else if (type == kTypeDeletion && comparator_.stamp_bytes() != 0) {
    type = kTypeDeletionWithTimestamp;
  }
  if (type == kTypeRangeDeletion) [[unlikely]] {
    if (!AddTombstone(seqno, user_key, value)) return Status::OK();
  } else if (!AddPoint(PackTrailer(seqno, type), user_key, value, hint)) [[unlikely]] {
    return Status::TryAgain("the memtable holds this key with this sequence number already");
  }
  // The counters are added at the end of the batch, so that each entry costs no shared memory.
  const size_t bytes = user_key.size() + kTrailerBytes + value.size();
  if (hint != nullptr) [[likely]] {
    hint->pending.Note(seqno, type, bytes);
  } else {
    MemTableCounters added;
    added.Note(seqno, type, bytes);
    AddConcurrently(added);
  }
  return Status::OK();
}

// False if the same internal key is there already.
bool MemTable::AddPoint(uint64_t trailer, const Slice& user_key, const Slice& value,
                        const InsertHint* hint) {
  // The filter is filled before the entry can be found, so a reader that looks for the entry is not
  // sent away.
  if (bloom_.has_value()) AddToBloom(user_key);
  if (tree_.has_value()) [[likely]] {
    return tree_->Insert(tree_->At(user_key, trailer), value, hint != nullptr && hint->exclusive);
  }
  return other_->Insert(user_key, trailer, value);
}

// The newest version of the key, if a value of this type may overwrite it; else null. A range
// tombstone between the two versions would hide the overwritten value.
MemTableEntry* MemTable::FindToUpdate(SequenceNumber seqno, ValueType type,
                                      const Slice& user_key) const {
  // Other representations do not update in place; see the constructor.
  if (in_place_ == nullptr || tree_->IsEmpty()) return nullptr;
  // The newest version below this commit's number: earlier commits are visible, see
  // InsertInOrder().
  const BlinkTree::Cursor newest =
      tree_->Find(tree_->At(user_key, PackTrailer(seqno, kValueTypeForSeek)));
  if (newest.entry == nullptr || TrailerType(newest.entry->trailer()) != type) return nullptr;
  const bool is_covered = !tombstones_.empty() && tombstones_.MaxCoveringSeqno(user_key, seqno) >
                                                      TrailerSeqno(newest.entry->trailer());
  return is_covered ? nullptr : const_cast<MemTableEntry*>(newest.entry);
}

MemTable::InPlace MemTable::Update(SequenceNumber seqno, ValueType type, const Slice& user_key,
                                   Slice* value, std::string* made) {
  assert(updates_in_place_);
  assert(value != nullptr);
  assert((type == kTypeValue || type == kTypeWideColumnEntity));
  MemTableEntry* const entry = FindToUpdate(seqno, type, user_key);
  const InPlaceCallback callback = type == kTypeValue ? in_place_callback_ : nullptr;
  if (entry == nullptr) return callback == nullptr ? InPlace::kAdd : InPlace::kNeedsValue;
  if (callback != nullptr) {
    std::string existing = entry->value().ToString();
    // The callback may decide that the value stays as it is, or is not written at all.
    assert(made != nullptr);
    if (!MakeInPlaceValue(callback, &existing, *value, made)) return InPlace::kDone;
    *value = *made;
  }
  return in_place_->Overwrite(entry, *value) ? InPlace::kDone : InPlace::kAdd;
}

// Returns false if the range is empty, so that the tombstone would hide nothing.
bool MemTable::AddTombstone(SequenceNumber seqno, const Slice& begin, const Slice& end) {
  if (comparator_.OrderWithoutTimestamp(begin, end) >= 0) return false;
  assert(seqno <= kMaxSequenceNumber);
  tombstones_.Add({begin, end, seqno});
  return true;
}

void MemTable::AddCounters(InsertHint* hint) {
  assert(hint != nullptr);
  if (hint->pending.entries == 0) return;
  assert(hint->pending.smallest_seqno <= hint->pending.largest_seqno);
  if (hint->exclusive) {
    AddExclusively(hint->pending);
  } else {
    AddConcurrently(hint->pending);
  }
  hint->pending = MemTableCounters();
}

// Counters are divided into stripes by thread, so that threads do not write to the same cache line.
void MemTable::AddConcurrently(const MemTableCounters& added) {
  assert(added.entries != 0);
  assert(added.deletes <= added.entries);
  CounterStripe& stripe = stripes_[ThreadNumber() % kStripes];
  const uint64_t before = stripe.entries.fetch_add(added.entries, std::memory_order_relaxed);
  // Only the first entry of a stripe needs the time, so this branch is almost never taken.
  if (before == 0) [[unlikely]]
    NoteFirstEntry();
  if (added.deletes != 0) stripe.deletes.fetch_add(added.deletes, std::memory_order_relaxed);
  if (added.range_deletes != 0) [[unlikely]]
    stripe.range_deletes.fetch_add(added.range_deletes, std::memory_order_relaxed);
  stripe.raw_bytes.fetch_add(added.raw_bytes, std::memory_order_relaxed);
  LowerTo(&stripe.smallest_seqno, added.smallest_seqno);
  RaiseTo(&stripe.largest_seqno, added.largest_seqno);
}

// Adds to the counters without locked instructions, because no other thread writes.
void MemTable::AddExclusively(const MemTableCounters& added) {
  assert(added.entries != 0);
  assert(added.deletes <= added.entries);
  CounterStripe& stripe = stripes_[0];
  const auto bump = [](std::atomic<uint64_t>* cell, uint64_t n) {
    cell->store(cell->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  };
  if (stripe.entries.load(std::memory_order_relaxed) == 0) [[unlikely]]
    NoteFirstEntry();
  bump(&stripe.entries, added.entries);
  bump(&stripe.deletes, added.deletes);
  if (added.range_deletes != 0) [[unlikely]]
    bump(&stripe.range_deletes, added.range_deletes);
  bump(&stripe.raw_bytes, added.raw_bytes);
  // Plain stores after plain loads are right here, because this thread is the only writer.
  if (added.smallest_seqno < stripe.smallest_seqno.load(std::memory_order_relaxed)) {
    stripe.smallest_seqno.store(added.smallest_seqno, std::memory_order_relaxed);
  }
  if (added.largest_seqno > stripe.largest_seqno.load(std::memory_order_relaxed)) {
    stripe.largest_seqno.store(added.largest_seqno, std::memory_order_relaxed);
  }
}

// Called for the first entry of each stripe; reading the clock this rarely costs nothing that
// matters.
void MemTable::NoteFirstEntry() {
  if (clock_ == nullptr || oldest_entry_seconds() != 0) return;
  int64_t seconds = 0;
  if (!clock_->GetCurrentTime(&seconds).ok() || seconds <= 0) return;
  uint64_t unknown = 0;
  // Another thread may have been first; its time is as good.
  oldest_entry_seconds_.compare_exchange_strong(unknown, static_cast<uint64_t>(seconds),
                                                std::memory_order_relaxed);
}

// Range tombstones of this memtable also hide entries in older memtables and tables, so an
// undecided lookup ends here if it is covered.
bool MemTable::Get(const LookupKey& key, PointLookup* lookup) const {
  assert(lookup != nullptr);
  assert(!lookup->decided());
  if (tombstones_.empty()) [[likely]]
    return GetPoints(key, lookup);
  // The tombstone counts before the points, because it may be newer than all of them.
  Cover(lookup);
  if (!GetPoints(key, lookup) && lookup->is_covered()) lookup->EndCovered();
  return lookup->decided();
}

ValuePin MemTable::PinOfValues() const {
  if (in_place_ != nullptr) return {};
  return {AcquirePin, ReleasePin, const_cast<MemTable*>(this)};
}

bool MemTable::GetPoints(const LookupKey& key, PointLookup* lookup) const {
  assert(lookup != nullptr);
  if (bloom_.has_value() && !MayContain(key, lookup)) return false;
  if (!has_plain_reads_) [[unlikely]]
    return GetChecked(key, lookup);
  // The pin keeps the whole memtable alive, so the value needs no copy.
  const ValuePin pin{AcquirePin, ReleasePin, const_cast<MemTable*>(this)};
  return VisitVersions(
      key, [&](const auto& entry) { return lookup->Offer(entry.trailer(), entry.value(), pin); });
}

// BlinkTree::Find() finds only the timestamp of the target, so this is a seek.
void MemTable::GetStamped(StampedLookup* lookup) const {
  assert(lookup != nullptr);
  assert(comparator_.stamp_bytes() != 0);
  if (!tombstones_.empty() || !has_plain_reads_ || !tree_.has_value()) return lookup->GiveUp();
  if (tree_->IsEmpty()) return;
  const LookupKey& key = lookup->key();
  BlinkTree::Window window;
  for (tree_->Seek(tree_->At(key.user_key, key.trailer), &window); window.IsValid();
       tree_->Next(&window)) {
    const MemTableEntry& entry = *window.entries[window.index];
    if (!comparator_.SameKey(entry.user_key(), key.user_key)) return;
    if (lookup->Offer(entry.internal_key(), entry.value(), PinOfValues())) return;
  }
}

bool MemTable::HasOperandsOnTop(const LookupKey& key, size_t count) const {
  assert(count > 0);
  size_t found = 0;
  VisitVersions(key, [&found, count](const auto& entry) {
    // Stops at the first version that is no operand, or when enough were seen.
    return TrailerType(entry.trailer()) != kTypeMerge || ++found == count;
  });
  return found == count;
}

// A value that may be overwritten is copied, and cannot be pinned.
bool MemTable::GetChecked(const LookupKey& key, PointLookup* lookup) const {
  assert(lookup != nullptr);
  if (checks_.looks_around()) return GetByWalk(key, lookup);
  std::string copy;
  return VisitVersions(key, [&](const auto& entry) {
    const Slice value = ValueOf(entry, &copy);
    Status status;
    assert(in_place_ != nullptr || checks_.any());
    if (checks_.any()) {
      status = CheckEntry(entry.internal_key(), value, checks_.checksum_bytes);
    }
    if (status.ok()) return lookup->Offer(entry.trailer(), value, PinOfValues());
    lookup->Fail(std::move(status));
    return true;
  });
}

// If neighbours must be checked, the iterator that does that is used for the search.
bool MemTable::GetByWalk(const LookupKey& key, PointLookup* lookup) const {
  const ValuePin pin = PinOfValues();
  std::string target;
  AppendInternalKey(&target, key.user_key, key.trailer);
  assert(lookup != nullptr);
  const std::unique_ptr<InternalIterator> entries(NewIterator(nullptr));
  for (entries->Seek(target); entries->Valid(); entries->Next()) {
    if (!comparator_.SameKey(ExtractUserKey(entries->key()), key.user_key)) return false;
    if (lookup->Offer(ExtractTrailer(entries->key()), entries->value(), pin)) return true;
  }
  if (!entries->status().ok()) lookup->Fail(entries->status());
  return lookup->decided();
}

// Searches several keys at once, so that their cache misses overlap.
void MemTable::GetMany(PointLookup* const* lookups, size_t count) const {
  assert(lookups != nullptr || count == 0);
  const ValuePin pin{AcquirePin, ReleasePin, const_cast<MemTable*>(this)};
  PointLookup* batch[BlinkTree::kMaxBatch];
  BlinkTree::Position positions[BlinkTree::kMaxBatch];
  BlinkTree::Cursor found[BlinkTree::kMaxBatch];
  for (size_t next = 0; next < count;) {
    size_t batch_count = 0;
    for (; next < count && batch_count < BlinkTree::kMaxBatch; ++next) {
      PointLookup* lookup = lookups[next];
      const LookupKey& key = lookup->key();
      // Decided by a newer memtable.
      if (lookup->decided()) continue;
      if (!tree_.has_value() || !has_plain_reads_) {
        Get(key, lookup);  // Get() asks tombstones and filter itself
        continue;
      }
      if (!tombstones_.empty()) [[unlikely]]
        Cover(lookup);
      assert(batch_count < BlinkTree::kMaxBatch);
      if (bloom_.has_value() && !MayContain(key, lookup)) continue;
      if (tree_->IsEmpty()) continue;
      positions[batch_count] = tree_->At(key.user_key, key.trailer);
      batch[batch_count++] = lookup;
    }
    if (batch_count == 0) continue;
    assert(batch_count <= BlinkTree::kMaxBatch);
    tree_->FindMany(positions, batch_count, found);
    for (size_t i = 0; i < batch_count; ++i) {
      VisitFrom(found[i], batch[i]->key(), [&](const auto& entry) {
        return batch[i]->Offer(entry.trailer(), entry.value(), pin);
      });
    }
  }
  if (tombstones_.empty()) [[likely]]
    return;
  // What is covered by a tombstone and was not found here is deleted for older runs as well.
  for (size_t i = 0; i < count; ++i) {
    if (!lookups[i]->decided() && lookups[i]->is_covered()) lookups[i]->EndCovered();
  }
}

bool MemTable::MayContain(const LookupKey& key, PointLookup* lookup) const {
  assert(bloom_.has_value());
  assert(bloom_whole_keys_ || bloom_prefixes_ != nullptr);
  // A key outside of the domain has no prefix, so the filter says nothing about it.
  if (!bloom_whole_keys_ && !bloom_prefixes_->InDomain(key.user_key)) return true;
  const bool may_contain = bloom_->MayContain(
      bloom_whole_keys_ ? lookup->FilterHash()
                        : FilterHash64(bloom_prefixes_->Transform(key.user_key)));
  ++(may_contain ? lookup->counters.memtable_filter_positive
                 : lookup->counters.memtable_filter_useful);
  return may_contain;
}

void MemTable::AddToBloom(const Slice& user_key) {
  assert(bloom_whole_keys_ || bloom_prefixes_ != nullptr);
  assert(bloom_.has_value());
  if (bloom_whole_keys_) bloom_->Add(FilterHash64(user_key));
  if (bloom_prefixes_ != nullptr && bloom_prefixes_->InDomain(user_key)) {
    bloom_->Add(FilterHash64(bloom_prefixes_->Transform(user_key)));
  }
}

// Adds up the stripes. While writers insert, the sums may mix moments, since each counter is read
// by itself.
MemTableCounters MemTable::counters() const {
  MemTableCounters total;
  for (const CounterStripe& stripe : stripes_) {
    total.entries += stripe.entries.load(std::memory_order_relaxed);
    total.deletes += stripe.deletes.load(std::memory_order_relaxed);
    total.range_deletes += stripe.range_deletes.load(std::memory_order_relaxed);
    total.raw_bytes += stripe.raw_bytes.load(std::memory_order_relaxed);
    total.smallest_seqno =
        std::min(total.smallest_seqno, stripe.smallest_seqno.load(std::memory_order_relaxed));
    total.largest_seqno =
        std::max(total.largest_seqno, stripe.largest_seqno.load(std::memory_order_relaxed));
  }
  return total;
}

bool MemTable::IsEmpty() const {
  if (!tombstones_.empty()) return false;
  assert(tree_.has_value() || other_ != nullptr);
  return tree_.has_value() ? tree_->IsEmpty() : other_->IsEmpty();
}

std::string MemTable::CommonPrefix() const {
  return tree_.has_value() ? tree_->CommonPrefix() : "";
}

// The estimated number of the `entries` entries that are between the keys.
uint64_t MemTable::CountBetween(const Slice& begin, const Slice& end, uint64_t entries) const {
  if (!tree_.has_value()) return other_->CountBetween(begin, end);
  // The rank of the position before every version of a key.
  const auto rank_of = [&](const Slice& user_key) {
    const uint64_t trailer = PackTrailer(kMaxSequenceNumber, kValueTypeForSeek);
    const double fraction = tree_->FractionBefore(tree_->At(user_key, trailer));
    assert(fraction >= 0);
    return static_cast<uint64_t>(fraction * static_cast<double>(entries) + 0.5);
  };
  const uint64_t first = rank_of(begin), last = rank_of(end);
  return last > first ? last - first : 0;
}

MemTable::RangeEstimate MemTable::EstimateRange(const Slice& begin, const Slice& end) const {
  const MemTableCounters total = counters();
  const uint64_t found = CountBetween(begin, end, total.entries);
  if (total.entries == 0 || found == 0) return {};
  // The estimate of the tree may be above the number of entries.
  const uint64_t entries = std::min(found, total.entries);
  assert(entries <= total.entries);
  assert(entries != 0);
  return {entries, entries * (total.raw_bytes / total.entries)};
}

// A batch that failed half-way does not add its counters, so there may be more entries than are
// counted, but not fewer.
[[gnu::cold]] void MemTable::CheckInvariants() const {
  uint64_t entries = 0;
  if (tree_.has_value()) {
    tree_->CheckInvariants();
    BlinkTree::Window window;
    for (tree_->SeekToFirst(&window); window.IsValid(); tree_->Next(&window)) ++entries;
  } else {
    const std::unique_ptr<InternalIterator> all(NewPlainIterator(nullptr, nullptr, ValueUse::kAny));
    for (all->SeekToFirst(); all->Valid(); all->Next()) ++entries;
  }
  const MemTableCounters total = counters();
  // Range tombstones are not in the representation, but they count as entries.
  if (total.entries - total.range_deletes > entries) std::abort();
}

[[gnu::cold]] std::string MemTable::DebugString() const {
  const MemTableCounters total = counters();
  return StrCat("memtable ", id_, " ", tree_.has_value() ? "B-link tree" : other_->Name(),
                "\n  entries ", total.entries, "\n  deletes ", total.deletes, "\n  raw bytes ",
                total.raw_bytes, "\n  memory bytes ", ApproximateMemoryUsage(), "\n  seqnos ",
                total.smallest_seqno, "..", total.largest_seqno, "\n  ", tombstones_.DebugString(),
                "\n");
}

}  // namespace ashlar
