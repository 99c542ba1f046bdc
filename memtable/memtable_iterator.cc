// SPDX-License-Identifier: Apache-2.0
//
// Iterators over the two representations. Keys and values point into the memtable.
//
// In a tree the iterator stands on a copy of one leaf's entries (BlinkTree::Window): a step within
// it reads nothing that others write. Entries inserted into the range of the copy meanwhile are
// missed, as an iterator may: they are newer than the sequence number it reads at.
#include <cassert>
#include <memory>

#include "memtable/memtable.h"
#include "table/iterator/internal_iterator.h"
#include "util/perf_level_impl.h"

namespace ashlar {

class MemTableIterator final : public InternalIterator {
 public:
  explicit MemTableIterator(const BlinkTree* tree) : tree_(tree) { assert(tree_ != nullptr); }
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
  ValuePin PinOfValue() const override { return ValuePin::Lasting(tree_); }

 protected:
  void NextSlow() override {
    ++nexts_;
    tree_->Next(&window_);
    PrefetchAt(window_.index + kAhead);
    Expose();
  }
  void PrevSlow() override {
    ++prevs_;
    tree_->Prev(&window_);
    PrefetchAt(window_.index - kAhead);
    Expose();
  }

 private:
  static constexpr uint32_t kAhead = 4;  // entries under way while the caller looks at this one

  BlinkTree::Position PositionOf(const Slice& internal_key) const {
    assert(internal_key.size() >= kTrailerBytes);
    return tree_->At(ExtractUserKey(internal_key), ExtractTrailer(internal_key));
  }
  void PrefetchAt(uint32_t index) const {
    if (index < window_.count) __builtin_prefetch(window_.entries[index]);
  }
  void Expose() {
    valid_ = window_.IsValid();
    if (!valid_) return;
    const MemTableEntry* entry = window_.entries[window_.index];
    key_ = entry->internal_key();
    value_ = entry->value();
  }

  const BlinkTree* const tree_;  // of the memtable, which outlives the iterator
  BlinkTree::Window window_;
  uint64_t nexts_ = 0;  // told to the thread's perf context at the end
  uint64_t prevs_ = 0;
};

class VectorRepIterator final : public InternalIterator {
 public:
  explicit VectorRepIterator(const VectorRep* vector)
      : vector_(vector), entries_(vector->Sorted()) {}

  void SeekToFirst() override { Show(0); }
  void SeekToLast() override { Show(entries_->size() - 1); }
  void Seek(const Slice& internal_key) override { Show(LowerBound(internal_key)); }
  void SeekForPrev(const Slice& internal_key) override {
    const size_t index = LowerBound(internal_key);
    const bool is_there =
        index < entries_->size() &&
        vector_->comparator().Compare((*entries_)[index]->internal_key(), internal_key) == 0;
    Show(is_there ? index : index - 1);
  }
  ValuePin PinOfValue() const override { return ValuePin::Lasting(vector_); }

 protected:
  void NextSlow() override { Show(index_ + 1); }
  void PrevSlow() override { Show(index_ - 1); }

 private:
  size_t LowerBound(const Slice& internal_key) const {
    assert(internal_key.size() >= kTrailerBytes);
    return vector_->LowerBound(*entries_, ExtractUserKey(internal_key),
                               ExtractTrailer(internal_key));
  }
  // One before the first index wraps around and is out of range like one behind the last.
  void Show(size_t index) {
    index_ = index;
    valid_ = index < entries_->size();
    if (!valid_) return;
    key_ = (*entries_)[index]->internal_key();
    value_ = (*entries_)[index]->value();
  }

  const VectorRep* const vector_;
  const std::shared_ptr<const VectorRep::Entries> entries_;
  size_t index_ = 0;
};

InternalIterator* MemTable::NewIterator(Arena* arena) const {
  InternalIterator* const plain = NewPlainIterator(arena);
  return checks_.any() ? NewCheckedIterator(plain, checks_, comparator_, arena) : plain;
}

InternalIterator* MemTable::NewPlainIterator(Arena* arena) const {
  if (tree_.has_value()) {
    if (arena == nullptr) return new MemTableIterator(&*tree_);
    return new (arena->AllocateAligned(sizeof(MemTableIterator))) MemTableIterator(&*tree_);
  }
  if (arena == nullptr) return new VectorRepIterator(&*vector_);
  return new (arena->AllocateAligned(sizeof(VectorRepIterator))) VectorRepIterator(&*vector_);
}

}  // namespace ashlar
