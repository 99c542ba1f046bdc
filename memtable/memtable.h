// SPDX-License-Identifier: Apache-2.0
//
// MemTable holds the newest entries of one column family in memory, in internal-key order, until
// they are flushed to a table.
//
// It counts references, since super versions, iterators and pinned values share it; readers inside
// an epoch need none. Memory comes from one arena and is freed with the memtable, never earlier.
// Threads: any number may insert and read at once, unless a function says otherwise. A reader sees
// every entry whose Add() happened before its call; entries added meanwhile it may or may not see,
// which is why it reads at or below a published sequence number.
#pragma once

#include <atomic>
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
class SystemClock;

struct MemTableOptions : RepresentationOptions {
  size_t arena_block_bytes = Arena::kHugePageBytes;
  BlockSource blocks;  // where such blocks come from
  // What most user keys begin with, as far as anybody knows: CommonPrefix() of the memtable before
  // this one, for example. A wrong guess costs speed only.
  std::string common_prefix;
  // Size of the Bloom filter; 0 = none. It holds whole user keys, or prefixes, or both.
  uint64_t bloom_bits = 0;
  bool bloom_whole_keys = false;
  std::shared_ptr<const SliceTransform> bloom_prefixes;  // null = no prefixes
  std::shared_ptr<WriteBufferManager> memory_manager;    // told of the memory; null = nobody is
  EmptyRanges* empty_ranges =
      nullptr;                   // the family's; outlives insertions; null = nobody keeps any
  SystemClock* clock = nullptr;  // outlives insertions; null = the age is not known
  MemTableChecks checks;
  bool updates_in_place = false;
  size_t in_place_locks = 1;
  InPlaceCallback in_place_callback = nullptr;
};

// What a memtable counts about its entries.
struct MemTableCounters {
  uint64_t entries = 0;
  uint64_t deletes = 0;                                // point tombstones among them
  uint64_t range_deletes = 0;                          // range tombstones among them
  uint64_t raw_bytes = 0;                              // internal keys and values
  SequenceNumber smallest_seqno = kMaxSequenceNumber;  // above largest_seqno while empty
  SequenceNumber largest_seqno = 0;

  void Note(SequenceNumber seqno, ValueType type, size_t bytes) {
    ++entries;
    deletes += IsTombstone(type) && type != kTypeRangeDeletion;
    range_deletes += type == kTypeRangeDeletion;
    raw_bytes += bytes;
    smallest_seqno = seqno < smallest_seqno ? seqno : smallest_seqno;
    largest_seqno = seqno > largest_seqno ? seqno : largest_seqno;
  }
};

// What the insertions of one batch into one memtable share. Belongs to one thread.
struct InsertHint {
  // The caller's promise that no other Add() on this memtable runs until this batch is done; makes
  // insertion cheaper.
  bool exclusive = false;
  // Collected by Add(); the caller hands it over with AddCounters() at the end of the batch.
  MemTableCounters pending;
};

class MemTable {
 public:
  // The comparator's user comparator outlives the memtable. One reference is the caller's.
  MemTable(const InternalKeyComparator& comparator, const MemTableOptions& options, uint64_t id);
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  void Ref() const {
    [[maybe_unused]] const int before = refs_.fetch_add(1, std::memory_order_relaxed);
    assert(before > 0);  // the caller's own, or that of a super version it protects
  }
  // Deletes the memtable with the last reference. Readers in an epoch are protected by the owner of
  // a reference, who waits for them before giving it up.
  void Unref() const {
    const int before = refs_.fetch_sub(1, std::memory_order_acq_rel);
    assert(before > 0);
    if (before == 1) delete this;
  }

  // Inserts one entry. TryAgain if this very internal key is there already (not in a vector),
  // InvalidArgument for a key or value of 4 GiB or more. A range tombstone has the begin as its key
  // and the end as its value; an empty or reversed one is not kept. With a hint the counters wait
  // in it; without, they are added at once.
  Status Add(SequenceNumber seqno, ValueType type, const Slice& user_key, const Slice& value,
             InsertHint* hint = nullptr);
  // Whether puts go through Update() first, and all insertions come one at a time, in the order of
  // their sequence numbers.
  bool UpdatesInPlace() const { return updates_in_place_; }
  InPlaceCallback in_place_callback() const { return in_place_callback_; }
  // Of a value or an entity that is put.
  //   kDone        the key's newest value was overwritten; or the callback wants it to stay
  //   kAdd         *value, which the callback may have put into *made, is to be added
  //   kNeedsValue  the callback is to be given the key's value, which is not here; the rest is the
  //                caller's
  enum class InPlace : uint8_t { kDone, kAdd, kNeedsValue };
  InPlace Update(SequenceNumber seqno, ValueType type, const Slice& user_key, Slice* value,
                 std::string* made);
  bool SupportsSnapshots() const {
    return !updates_in_place_ && (other_ == nullptr || other_->SupportsSnapshots());
  }

  // Adds what a batch has collected and clears it.
  void AddCounters(InsertHint* hint);

  // Offers the versions of key.user_key at or below key.trailer, newest first, until the lookup is
  // decided; true if it is. Large values are pinned through a reference on the memtable.
  bool Get(const LookupKey& key, PointLookup* lookup) const;

  // The same for several lookups at once, whose cache misses overlap. Lookups that are decided
  // already are left alone.
  void GetMany(PointLookup* const* lookups, size_t count) const;

  // The range tombstones, null if there are none: at least those whose Add() happened before.
  std::shared_ptr<const FragmentedTombstones> Tombstones() const { return tombstones_.All(); }

  // Whether the newest `count` versions of the same are merge operands. At least one.
  bool HasOperandsOnTop(const LookupKey& key, size_t count) const;

  // Over the point entries, checked if the options say so. The memtable must outlive the iterator.
  // With an arena the iterator is built there. `prefixes`, if not null: behind a seek to a key that
  // has a prefix only entries with the same one are wanted; there may be others. `use`: a flush
  // says that it takes all values, which are then fetched ahead.
  enum class ValueUse : bool { kAny, kCopiesAll };
  InternalIterator* NewIterator(Arena* arena, const SliceTransform* prefixes = nullptr,
                                ValueUse use = ValueUse::kAny) const;

  // Bytes of the arena and of tombstones in use; what the write buffer limits are compared with.
  // Cheap.
  size_t ApproximateMemoryUsage() const {
    return arena_.ApproximateMemoryUsage() + tombstones_.MemoryBytes() +
           (other_ != nullptr ? other_->FillBytes() : 0);
  }
  // Bytes taken from the system.
  size_t MemoryAllocatedBytes() const {
    return arena_.MemoryAllocatedBytes() + tombstones_.MemoryBytes() +
           (other_ != nullptr ? other_->AllocatedBytes() : 0);
  }
  // No insertion is under way, and none comes.
  void Seal() {
    if (other_ != nullptr) other_->Seal();
  }

  // What the memory manager is told, and whether it is to be told more. See MemoryReport; telling
  // is for one thread at a time, outside of epochs.
  bool OwesMemoryReport() const { return memory_report_.IsDue(MemoryAllocatedBytes()); }
  void ReportMemory() { memory_report_.Tell(MemoryAllocatedBytes()); }
  // No insertion is under way, none comes, and a flush is due. A second call changes nothing.
  void ReportSealed() { memory_report_.Seal(MemoryAllocatedBytes()); }
  // Flushed, but kept.
  void ReportKept() { memory_report_.Keep(); }

  // Sums over all entries whose counters were added.
  MemTableCounters counters() const;
  uint64_t num_entries() const { return counters().entries; }
  uint64_t num_deletes() const { return counters().deletes; }
  uint64_t num_range_deletes() const { return counters().range_deletes; }
  uint64_t raw_bytes() const { return counters().raw_bytes; }
  SequenceNumber smallest_seqno() const { return counters().smallest_seqno; }
  SequenceNumber largest_seqno() const { return counters().largest_seqno; }
  // When the first entry was counted, in seconds since 1970; 0: there is none, or nobody knows.
  uint64_t oldest_entry_seconds() const {
    return oldest_entry_seconds_.load(std::memory_order_relaxed);
  }
  // The oldest log with a prepare section whose committed updates this memtable holds: the log must
  // stay until the memtable is flushed. 0: no such log. Any thread; noted before the updates become
  // visible.
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
  // Whether nothing was ever inserted. Exact, unlike the counters of batches under way.
  bool IsEmpty() const;

  uint64_t id() const { return id_; }
  const InternalKeyComparator& comparator() const { return comparator_; }
  // What the keys of the next memtable may be expected to begin with, judged by these, if they are
  // many. Only a guess while insertions go on.
  std::string CommonPrefix() const;

  struct RangeEstimate {
    uint64_t entries = 0;
    uint64_t bytes = 0;  // of keys and values
  };
  // About what lies in [begin, end) of user keys.
  RangeEstimate EstimateRange(const Slice& begin, const Slice& end) const;

  std::string DebugString() const;
  // Stops if entries are out of order or fewer than counted. Only while nobody inserts; invariant
  // builds call it when the memtable dies.
  void CheckInvariants() const;

 private:
  // Insertion counts go to one of a few cache lines, by thread.
  static constexpr size_t kStripes = 8;
  struct alignas(64) CounterStripe {
    std::atomic<uint64_t> entries{0};
    std::atomic<uint64_t> deletes{0};
    std::atomic<uint64_t> range_deletes{0};
    std::atomic<uint64_t> raw_bytes{0};
    std::atomic<SequenceNumber> smallest_seqno{kMaxSequenceNumber};
    std::atomic<SequenceNumber> largest_seqno{0};
  };

  ~MemTable();  // by Unref()

  // An entry that lies where a representation keeps it.
  struct ForeignEntry {
    Slice key, contents;
    Slice internal_key() const { return key; }
    uint64_t trailer() const { return ExtractTrailer(key); }
    Slice value() const { return contents; }
  };
  // Calls visit(entry) for the versions of key.user_key at or below key.trailer, newest first,
  // until it returns true; true if it did.
  template <typename Visit>
  bool VisitVersions(const LookupKey& key, Visit&& visit) const;
  template <typename Visit>
  bool VisitFrom(BlinkTree::Cursor cursor, const LookupKey& key, Visit&& visit) const;
  // The point entries alone.
  bool GetPoints(const LookupKey& key, PointLookup* lookup) const;
  bool GetChecked(const LookupKey& key, PointLookup* lookup) const;
  bool GetByWalk(const LookupKey& key, PointLookup* lookup) const;
  InternalIterator* NewPlainIterator(Arena* arena, const SliceTransform* prefixes,
                                     ValueUse use) const;
  ValuePin PinOfValues() const;
  // May be a copy.
  Slice ValueOf(const MemTableEntry& entry, std::string* copy) const {
    return in_place_ == nullptr ? entry.value() : in_place_->Read(entry, copy);
  }
  Slice ValueOf(const ForeignEntry& entry, std::string* /*copy*/) const { return entry.value(); }
  MemTableEntry* FindToUpdate(SequenceNumber seqno, ValueType type, const Slice& user_key) const;
  bool AddPoint(uint64_t trailer, const Slice& user_key, const Slice& value,
                const InsertHint* hint);
  bool AddTombstone(SequenceNumber seqno, const Slice& begin, const Slice& end);
  void Cover(PointLookup* lookup) const {
    lookup->CoverByNewest([&](SequenceNumber upper_seqno) {
      return tombstones_.MaxCoveringSeqno(lookup->key().user_key, upper_seqno);
    });
  }
  bool MayContain(const LookupKey& key, PointLookup* lookup) const;
  void AddToBloom(const Slice& user_key);
  void AddConcurrently(const MemTableCounters& added);
  void AddExclusively(const MemTableCounters& added);
  void NoteFirstEntry();
  uint64_t CountBetween(const Slice& begin, const Slice& end, uint64_t entries) const;

  const InternalKeyComparator comparator_;
  const uint64_t id_;            // ascends with the memtables of a family
  const bool bloom_whole_keys_;  // whether the filter holds user keys
  const std::shared_ptr<const SliceTransform> bloom_prefixes_;  // null: it holds no prefixes
  const MemTableChecks checks_;
  const bool updates_in_place_;
  const InPlaceCallback in_place_callback_;  // may be null
  EmptyRanges* const empty_ranges_;          // told of what may be alive; null: nobody is
  SystemClock* const clock_;                 // may be null
  // Null: values are never overwritten.
  std::unique_ptr<InPlaceValues> in_place_;
  // Entries are read without checks or locks.
  bool has_plain_reads_ = true;
  mutable std::atomic<int> refs_{1};
  MemoryReport memory_report_;  // dies after the arena: the memory is free by then
  // Holds every entry, the Bloom filter, and nothing that needs a destructor.
  ConcurrentArena arena_;
  MemTableTombstones tombstones_;
  // Exactly one of the two is there.
  std::optional<BlinkTree> tree_;
  std::unique_ptr<OtherRep> other_;
  std::optional<MemTableBloom> bloom_;
  CounterStripe stripes_[kStripes];
  std::atomic<uint64_t> oldest_entry_seconds_{0};  // once, by the first who counts an entry
  std::atomic<uint64_t> prepared_log_{0};          // see prepared_log()
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
