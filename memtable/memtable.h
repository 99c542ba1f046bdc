// SPDX-License-Identifier: Apache-2.0
//
// MemTable contains the newest entries of one column family in memory, in internal-key order, until
// they are flushed to a table.
//
// It counts references, because super versions, iterators and pinned values share it; readers
// inside an epoch need no reference. Memory comes from one arena and is freed only with the
// memtable. Threads: any number may insert and read at the same time, unless a function says
// otherwise. A reader sees every entry whose Add() returned before its call. It may or may not see
// entries that are added later, so it must read at or below a published sequence number.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "ashlar/slice.h"
#include "ashlar/slice_transform.h"
#include "ashlar/status.h"
#include "memtable/blink_tree.h"
#include "memtable/in_place.h"
#include "memtable/memory_report.h"
#include "memtable/memtable_bloom.h"
#include "memtable/memtable_checks.h"
#include "memtable/memtable_tombstones.h"
#include "memtable/other_rep.h"
#include "table/iterator/point_lookup.h"
#include "util/keys/file_number.h"
#include "util/keys/internal_key.h"
#include "util/memory/arena.h"

namespace ashlar {

class EmptyRanges;
class InternalIterator;
class SliceTransform;
class StampedLookup;
class SystemClock;

// Pointers outlive the insertions; null: not used.
struct MemTableOptions : RepresentationOptions {
  size_t arena_block_bytes = Arena::kHugePageBytes;
  BlockSource blocks;  // where the arena gets its blocks
  // A guess what most user keys will begin with, for example CommonPrefix() of the previous
  // memtable. A wrong guess only costs speed.
  std::string common_prefix;
  // Size of the Bloom filter in bits; 0: no filter. The filter contains whole user keys, prefixes,
  // or both.
  uint64_t bloom_bits = 0;
  bool bloom_whole_keys = false;
  std::shared_ptr<const SliceTransform> bloom_prefixes;  // null: no prefixes
  std::shared_ptr<WriteBufferManager> memory_manager;    // gets reports of the memory; null: none
  // The family's; insertions break its ranges. Null: the family keeps none.
  EmptyRanges* empty_ranges = nullptr;
  SystemClock* clock = nullptr;  // null: the age of the entries is not known
  MemTableChecks checks;
  // Options::inplace_update_support, inplace_update_num_locks and inplace_callback.
  bool updates_in_place = false;
  size_t in_place_locks = 1;
  InPlaceCallback in_place_callback = nullptr;
};

// Counters of the entries of a memtable.
struct MemTableCounters {
  uint64_t entries = 0;
  uint64_t deletes = 0;        // point tombstones
  uint64_t range_deletes = 0;  // range tombstones
  uint64_t raw_bytes = 0;      // bytes of internal keys and values
  // Greater than largest_seqno while there are no entries.
  SequenceNumber smallest_seqno = kMaxSequenceNumber;
  SequenceNumber largest_seqno = 0;

  // Counts one entry.
  void Note(SequenceNumber seqno, ValueType type, size_t bytes) {
    ++entries;
    deletes += IsTombstone(type) && type != kTypeRangeDeletion;
    range_deletes += type == kTypeRangeDeletion;
    raw_bytes += bytes;
    smallest_seqno = seqno < smallest_seqno ? seqno : smallest_seqno;
    largest_seqno = seqno > largest_seqno ? seqno : largest_seqno;
  }
};

// State that the insertions of one batch into one memtable share. Used by one thread.
struct InsertHint {
  // Set by the caller if no other thread calls Add() on this memtable until the batch is done;
  // makes insertion cheaper.
  bool exclusive = false;
  // Filled by Add(). The caller passes it to AddCounters() at the end of the batch.
  MemTableCounters pending;
};

class MemTable {
 public:
  // The user comparator outlives the memtable. The caller owns the first reference. `id` ascends
  // with the memtables of a family.
  MemTable(const InternalKeyComparator& comparator, const MemTableOptions& options, uint64_t id);
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // Adds a reference. The caller must hold one, or be protected by the owner of one.
  void Ref() const {
    [[maybe_unused]] const int before = refs_.fetch_add(1, std::memory_order_relaxed);
    // The caller's own reference, or that of a super version which the caller protects.
    assert(before > 0);
  }
  // Deletes the memtable with its last reference. Before the owner of a reference gives it up, it
  // waits for the readers in epochs that this reference protects.
  void Unref() const {
    const int before = refs_.fetch_sub(1, std::memory_order_acq_rel);
    assert(before > 0);
    if (before == 1) delete this;
  }

  // Inserts one entry. TryAgain if the same internal key is there already (a vector does not notice
  // that), InvalidArgument for a key or value of 4 GiB or more. A range tombstone has its begin as
  // key and its end as value; an empty or reversed one is ignored. With a hint the counters are
  // collected in it; without one they are added at once.
  Status Add(SequenceNumber seqno, ValueType type, const Slice& user_key, const Slice& value,
             InsertHint* hint = nullptr);
  // True if the caller must try Update() before it adds a value, and must do all insertions one at
  // a time, in the order of their sequence numbers.
  bool UpdatesInPlace() const { return updates_in_place_; }
  InPlaceCallback in_place_callback() const { return in_place_callback_; }
  // The result of Update() for a value or an entity:
  //   kDone        the newest value of the key was overwritten, or the callback wants it unchanged
  //   kAdd         *value must be added; the callback may have put it into *made
  //   kNeedsValue  the callback needs the present value of the key, which is not in this memtable:
  //                the caller must find it and call the callback
  enum class InPlace : uint8_t { kDone, kAdd, kNeedsValue };
  InPlace Update(SequenceNumber seqno, ValueType type, const Slice& user_key, Slice* value,
                 std::string* made);
  bool SupportsSnapshots() const {
    return !updates_in_place_ && (other_ == nullptr || other_->SupportsSnapshots());
  }

  // Adds the counters that a batch has collected, and clears the hint.
  void AddCounters(InsertHint* hint);

  // Offers the versions of key.user_key at or below key.trailer to the lookup, newest first, until
  // it is decided; true if it is. Large values are pinned with a reference to the memtable.
  bool Get(const LookupKey& key, PointLookup* lookup) const;

  // In a family with timestamps: offers the versions of the key that are not in front of
  // lookup->key(), until one is taken. The lookup gives up if entries need checks, or may be hidden
  // by a range tombstone.
  void GetStamped(StampedLookup* lookup) const;

  // Get() for several lookups at once, so that their cache misses overlap. Lookups that are decided
  // already are skipped.
  void GetMany(PointLookup* const* lookups, size_t count) const;

  // All range tombstones whose Add() returned before the call; null if there are none.
  std::shared_ptr<const FragmentedTombstones> Tombstones() const { return tombstones_.All(); }

  // True if the newest `count` versions of the key, at least one, are merge operands.
  bool HasOperandsOnTop(const LookupKey& key, size_t count) const;

  // An iterator over the point entries, with the checks of the options. The memtable must outlive
  // it. With an arena it is built there. If `prefixes` is not null, then after a seek to a key with
  // a prefix the caller only wants entries with the same prefix; others may appear. `use`:
  // kCopiesAll is for a flush, which reads all values; they are then prefetched.
  enum class ValueUse : bool { kAny, kCopiesAll };
  InternalIterator* NewIterator(Arena* arena, const SliceTransform* prefixes = nullptr,
                                ValueUse use = ValueUse::kAny) const;

  // Bytes of the arena and of tombstones that are in use; they are compared with the limits of
  // write buffers. Cheap.
  size_t ApproximateMemoryUsage() const {
    return arena_.ApproximateMemoryUsage() + tombstones_.MemoryBytes() +
           (other_ != nullptr ? other_->FillBytes() : 0);
  }
  // ApproximateMemoryUsage() before the first entry: mostly the Bloom filter or the hash buckets.
  size_t EmptyBytes() const { return empty_bytes_; }
  // Bytes that were allocated from the system.
  size_t MemoryAllocatedBytes() const {
    return arena_.MemoryAllocatedBytes() + tombstones_.MemoryBytes() +
           (other_ != nullptr ? other_->AllocatedBytes() : 0);
  }
  // Called when no insertion runs and none will follow: the memtable is immutable.
  void Seal() {
    if (other_ != nullptr) other_->Seal();
  }

  // Reports the memory to the memory manager; OwesMemoryReport() is true if it has grown enough for
  // another report. See MemoryReport. ReportMemory() is called by one thread at a time, outside of
  // epochs.
  bool OwesMemoryReport() const { return memory_report_.IsDue(MemoryAllocatedBytes()); }
  void ReportMemory() { memory_report_.Tell(MemoryAllocatedBytes()); }
  // Reports that the memtable is immutable and waits for its flush. Calling it again changes
  // nothing.
  void ReportImmutable() { memory_report_.Seal(MemoryAllocatedBytes()); }
  // Reports that the memtable was flushed, or will never be, and stays as long as it has readers.
  void ReportKept() { memory_report_.Keep(); }

  // Sums of all counters that were added.
  MemTableCounters counters() const;
  uint64_t num_entries() const { return counters().entries; }
  uint64_t num_deletes() const { return counters().deletes; }
  uint64_t num_range_deletes() const { return counters().range_deletes; }
  uint64_t raw_bytes() const { return counters().raw_bytes; }
  SequenceNumber smallest_seqno() const { return counters().smallest_seqno; }
  SequenceNumber largest_seqno() const { return counters().largest_seqno; }
  // When the first entry was counted, in seconds since 1970; 0: there is no entry, or the time is
  // not known.
  uint64_t oldest_entry_seconds() const {
    return oldest_entry_seconds_.load(std::memory_order_relaxed);
  }
  // Records a log with a prepare section whose committed updates are in this memtable; the oldest
  // such log counts. It must be kept until the memtable is flushed. Any thread may call this,
  // before the updates become visible. prepared_log() is 0 if there is no such log.
  void NotePreparedLog(FileNumber log) {
    uint64_t oldest = prepared_log_.load(std::memory_order_relaxed);
    while ((oldest == 0 || log.value() < oldest) &&
           !prepared_log_.compare_exchange_weak(oldest, log.value(), std::memory_order_release,
                                                std::memory_order_relaxed)) {
    }
  }
  FileNumber prepared_log() const {
    return FileNumber{prepared_log_.load(std::memory_order_acquire)};
  }
  // True if nothing was ever inserted. Exact, while the counters lack batches that are not
  // finished.
  bool IsEmpty() const;

  uint64_t id() const { return id_; }
  const InternalKeyComparator& comparator() const { return comparator_; }
  // A guess what the keys of the next memtable will begin with, from the keys of this one; empty if
  // they are few. Inexact while insertions continue.
  std::string CommonPrefix() const;

  struct RangeEstimate {
    uint64_t entries = 0;
    uint64_t bytes = 0;  // bytes of keys and values
  };
  // Estimates the entries with user keys in [begin, end).
  RangeEstimate EstimateRange(const Slice& begin, const Slice& end) const;

  std::string DebugString() const;
  // Aborts the program if entries are out of order or fewer than counted. Only while no thread
  // inserts; builds with invariant checks call it in the destructor.
  void CheckInvariants() const;

 private:
  // Each thread counts its insertions in one of a few cache lines, so that threads rarely share
  // one.
  static constexpr size_t kStripes = 8;
  struct alignas(64) CounterStripe {
    std::atomic<uint64_t> entries{0};
    std::atomic<uint64_t> deletes{0};
    std::atomic<uint64_t> range_deletes{0};
    std::atomic<uint64_t> raw_bytes{0};
    std::atomic<SequenceNumber> smallest_seqno{kMaxSequenceNumber};
    std::atomic<SequenceNumber> largest_seqno{0};
  };

  ~MemTable();  // called by Unref()

  // An entry in the memory of another representation than the tree.
  struct ForeignEntry {
    Slice key, contents;
    Slice internal_key() const { return key; }
    uint64_t trailer() const { return ExtractTrailer(key); }
    Slice value() const { return contents; }
  };
  // Calls visit(entry) for the versions of key.user_key at or below key.trailer, newest first,
  // until it returns true. True if it did.
  template <typename Visit>
  bool VisitVersions(const LookupKey& key, Visit&& visit) const;
  // Like the function above, but begins at the position of a cursor in the tree.
  template <typename Visit>
  bool VisitFrom(BlinkTree::Cursor cursor, const LookupKey& key, Visit&& visit) const;
  // Searches point entries only.
  bool GetPoints(const LookupKey& key, PointLookup* lookup) const;
  // GetPoints() with checks, or with values that may be overwritten.
  bool GetChecked(const LookupKey& key, PointLookup* lookup) const;
  bool GetByWalk(const LookupKey& key, PointLookup* lookup) const;
  InternalIterator* NewPlainIterator(Arena* arena, const SliceTransform* prefixes,
                                     ValueUse use) const;
  // How lookups pin a value of this memtable.
  ValuePin PinOfValues() const;
  // The value of an entry. It is copied to `copy` if it may be overwritten.
  Slice ValueOf(const MemTableEntry& entry, std::string* copy) const {
    return in_place_ == nullptr ? entry.value() : in_place_->Read(entry, copy);
  }
  Slice ValueOf(const ForeignEntry& entry, std::string* /*copy*/) const { return entry.value(); }
  // The entry whose value may be overwritten by an update; null if there is none.
  MemTableEntry* FindToUpdate(SequenceNumber seqno, ValueType type, const Slice& user_key) const;
  bool AddPoint(uint64_t trailer, const Slice& user_key, const Slice& value,
                const InsertHint* hint);
  bool AddTombstone(SequenceNumber seqno, const Slice& begin, const Slice& end);
  // Tells the lookup which range tombstone covers its key.
  void Cover(PointLookup* lookup) const {
    lookup->CoverByNewest([&](SequenceNumber upper_seqno) {
      return tombstones_.MaxCoveringSeqno(lookup->key().user_key, upper_seqno);
    });
  }
  // Asks the Bloom filter and counts the answer.
  bool MayContain(const LookupKey& key, PointLookup* lookup) const;
  void AddToBloom(const Slice& user_key);
  void AddConcurrently(const MemTableCounters& added);
  void AddExclusively(const MemTableCounters& added);
  // Records the time of the first entry.
  void NoteFirstEntry();
  uint64_t CountBetween(const Slice& begin, const Slice& end, uint64_t entries) const;

  const InternalKeyComparator comparator_;
  const uint64_t id_;            // ascends with the memtables of a family
  const bool bloom_whole_keys_;  // the filter contains user keys
  const std::shared_ptr<const SliceTransform> bloom_prefixes_;  // null: it contains no prefixes
  const MemTableChecks checks_;
  const bool updates_in_place_;
  const InPlaceCallback in_place_callback_;  // may be null
  EmptyRanges* const empty_ranges_;          // null: the family keeps none
  SystemClock* const clock_;                 // may be null
  // The values that may be overwritten; null: values are never overwritten.
  std::unique_ptr<InPlaceValues> in_place_;
  // True if entries are read without checks or locks.
  bool has_plain_reads_ = true;
  mutable std::atomic<int> refs_{1};
  MemoryReport memory_report_;  // destroyed after the arena, when the memory is free
  // Contains every entry and the Bloom filter, but nothing that needs a destructor.
  ConcurrentArena arena_;
  MemTableTombstones tombstones_;
  // Exactly one of these two is set.
  std::optional<BlinkTree> tree_;
  std::unique_ptr<OtherRep> other_;
  std::optional<MemTableBloom> bloom_;
  CounterStripe stripes_[kStripes];
  // Set once, by the thread that counts the first entry.
  std::atomic<uint64_t> oldest_entry_seconds_{0};
  std::atomic<uint64_t> prepared_log_{0};  // see prepared_log()
  size_t empty_bytes_ = 0;                 // see EmptyBytes(); set by the constructor
};

template <typename Visit>
bool MemTable::VisitFrom(BlinkTree::Cursor cursor, const LookupKey& key, Visit&& visit) const {
  while (cursor.entry != nullptr) {
    if (visit(*cursor.entry)) return true;
    tree_->Next(&cursor);
    if (cursor.entry == nullptr) return false;
    if (!comparator_.SameKey(cursor.entry->user_key(), key.user_key)) return false;
  }
  return false;
}

template <typename Visit>
bool MemTable::VisitVersions(const LookupKey& key, Visit&& visit) const {
  if (tree_.has_value()) [[likely]] {
    if (tree_->IsEmpty()) return false;
    return VisitFrom(tree_->Find(tree_->At(key.user_key, key.trailer)), key, visit);
  }
  using Callable = std::remove_reference_t<Visit>;
  return other_->VisitVersions(
      key, &visit, [](void* callable, const Slice& internal_key, const Slice& value) {
        return (*static_cast<Callable*>(callable))(ForeignEntry{internal_key, value});
      });
}

}  // namespace ashlar
