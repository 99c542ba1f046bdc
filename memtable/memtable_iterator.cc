// SPDX-License-Identifier: Apache-2.0
//
// The iterator over the tree. Keys and values point into the memtable.
//
// The iterator works on a copy of the entry pointers of one leaf (BlinkTree::Window), so a step
// within a leaf reads nothing that other threads write. Entries that are inserted into the range of
// the copy later are missed. That is allowed, because their sequence numbers are above the number
// at which the iterator reads.
#include <cassert>
#include <memory>
#include <string>

#include "memtable/memtable.h"
#include "table/iterator/internal_iterator.h"
#include "util/memory/prefetch.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

// Three kinds of values: they never change; the same, but the caller will read all of them; they
// may be overwritten.
struct FixedValues {
  static Slice Of(const MemTableEntry& entry) { return entry.value(); }
  static ValuePin Pin(const BlinkTree* tree) { return ValuePin::Lasting(tree); }
  static void Prefetch(const MemTableEntry& /*entry*/) {}
};

struct CopiedValues : FixedValues {
  static void Prefetch(const MemTableEntry& entry) {
    const Slice value = entry.value();
    PrefetchToRead(value.data(), value.size());
  }
};

// The value is a copy, made when the iterator reached the entry.
struct OverwrittenValues {
  Slice Of(const MemTableEntry& entry) { return in_place->Read(entry, &copy); }
  static ValuePin Pin(const BlinkTree* /*tree*/) { return {}; }
  static void Prefetch(const MemTableEntry& /*entry*/) {}

  const InPlaceValues* in_place;
  std::string copy;
};

// `Values` returns the value of an entry and its pin, and prefetches the value if that pays.
template <typename Values>
class MemTableIterator final : public InternalIterator {
 public:
  MemTableIterator(const BlinkTree* tree, const Values& values) : tree_(tree), values_(values) {
    assert(tree_ != nullptr);
  }
  ~MemTableIterator() override {
    AddPerfCount(&PerfContextBase::next_on_memtable_count, nexts_);
    AddPerfCount(&PerfContextBase::prev_on_memtable_count, prevs_);
  }

  void SeekToFirst() override {
    tree_->SeekToFirst(&window_);
    Expose();
  }
  void SeekToLast() override {
    tree_->SeekToLast(&window_);
    Expose();
  }
  void Seek(const Slice& internal_key) override {
    AddPerfCount(&PerfContextBase::seek_on_memtable_count);
    const PerfTimer timer(&PerfContextBase::seek_on_memtable_time);
    tree_->Seek(PositionOf(internal_key), &window_);
    Expose();
  }
  void SeekForPrev(const Slice& internal_key) override {
    AddPerfCount(&PerfContextBase::seek_on_memtable_count);
    const PerfTimer timer(&PerfContextBase::seek_on_memtable_time);
    tree_->SeekForPrev(PositionOf(internal_key), &window_);
    Expose();
  }
  ValuePin PinOfValue() const override { return values_.Pin(tree_); }

 protected:
  void NextSlow() override {
    ++nexts_;
    tree_->Next(&window_);
    PrefetchAt(window_.index + kAhead);
    if (window_.index == 0) {  // the first entry of a new leaf: nothing of it was prefetched yet
      for (uint32_t i = 1; i < kAhead; ++i) PrefetchAt(i);
    } else if (const uint32_t next = window_.index + kValuesAhead; next < window_.count) {
      Values::Prefetch(*window_.entries[next]);
    }
    Expose();
  }
  void PrevSlow() override {
    ++prevs_;
    tree_->Prev(&window_);
    PrefetchAt(window_.index - kAhead);
    Expose();
  }

 private:
  // Entries that are prefetched while the caller uses this one.
  static constexpr uint32_t kAhead = 4;
  // Values that are prefetched on the way forward, for a flush; their entries were prefetched
  // before.
  static constexpr uint32_t kValuesAhead = 2;

  BlinkTree::Position PositionOf(const Slice& internal_key) const {
    assert(internal_key.size() >= kTrailerBytes);
    return tree_->At(ExtractUserKey(internal_key), ExtractTrailer(internal_key));
  }
  void PrefetchAt(uint32_t index) const {
    if (index < window_.count) __builtin_prefetch(window_.entries[index]);
  }
  // Shows the entry at the position of the window.
  void Expose() {
    valid_ = window_.IsValid();
    if (!valid_) return;
    const MemTableEntry* entry = window_.entries[window_.index];
    key_ = entry->internal_key();
    value_ = values_.Of(*entry);
  }

  const BlinkTree* const tree_;  // belongs to the memtable, which outlives the iterator
  [[no_unique_address]] Values values_;
  BlinkTree::Window window_;
  uint64_t nexts_ = 0;  // added to the thread's perf context at the end
  uint64_t prevs_ = 0;
};

namespace {

template <typename Values>
InternalIterator* NewTreeIterator(const BlinkTree* tree, const Values& values, Arena* arena) {
  using Walk = MemTableIterator<Values>;
  if (arena == nullptr) return new Walk(tree, values);
  return new (arena->AllocateAligned(sizeof(Walk))) Walk(tree, values);
}

}  // namespace

InternalIterator* MemTable::NewIterator(Arena* arena, const SliceTransform* prefixes,
                                        ValueUse use) const {
  InternalIterator* const plain = NewPlainIterator(arena, prefixes, use);
  return checks_.any() ? NewCheckedIterator(plain, checks_, comparator_, arena) : plain;
}

InternalIterator* MemTable::NewPlainIterator(Arena* arena, const SliceTransform* prefixes,
                                             ValueUse use) const {
  if (!tree_.has_value()) return other_->NewIterator(arena, prefixes);
  if (in_place_ != nullptr) [[unlikely]] {
    return NewTreeIterator(&*tree_, OverwrittenValues{.in_place = in_place_.get()}, arena);
  }
  if (use == ValueUse::kCopiesAll) return NewTreeIterator(&*tree_, CopiedValues(), arena);
  return NewTreeIterator(&*tree_, FixedValues(), arena);
}

}  // namespace ashlar
