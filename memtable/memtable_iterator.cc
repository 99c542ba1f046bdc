// SPDX-License-Identifier: Apache-2.0
//
// Iterators over the two representations. Keys and values point into the memtable.
//
// A skip list has no links back. A step backwards takes the next node out of a window of
// predecessors that one search has collected (SkipList::BackwardWindow), so a reverse scan costs
// one search per some ten nodes. Nodes inserted into the window's range meanwhile are missed, as an
// iterator may: they are newer than the sequence number it reads at.
#include <cassert>
#include <memory>

#include "memtable/memtable.h"
#include "table/iterator/internal_iterator.h"

namespace ashlar {

class MemTableIterator final : public InternalIterator {
 public:
  explicit MemTableIterator(const SkipList* list) : list_(list) { assert(list_ != nullptr); }

  void SeekToFirst() override { Show(list_->First()); }
  void SeekToLast() override { Show(list_->Last()); }
  void Seek(const Slice& internal_key) override { Show(list_->Seek(PositionOf(internal_key))); }
  void SeekForPrev(const Slice& internal_key) override {
    Show(list_->SeekForPrev(PositionOf(internal_key)));
  }

 protected:
  void NextSlow() override {
    assert(node_ != nullptr);  // only a valid iterator moves
    Show(node_->Next());
    // The node after arrives while the caller looks at this one.
    if (valid_) __builtin_prefetch(node_->Next());
  }
  void PrevSlow() override {
    assert(node_ != nullptr);
    if (window_count_ == 0) {
      window_count_ = list_->BackwardWindow(node_, window_, kWindow);
      ShowFromWindow();
      return;
    }
    ShowFromWindow();
  }

 private:
  static constexpr int kWindow = 32;

  SkipList::Position PositionOf(const Slice& internal_key) const {
    assert(internal_key.size() >= kTrailerBytes);
    return list_->At(ExtractUserKey(internal_key), ExtractTrailer(internal_key));
  }
  // Every move but a step backwards makes the window useless.
  void Show(const SkipList::Node* node) {
    window_count_ = 0;
    Expose(node);
  }
  void ShowFromWindow() {
    assert(window_count_ <= kWindow);
    Expose(window_count_ == 0 ? nullptr : window_[--window_count_]);
    if (window_count_ > 0) __builtin_prefetch(window_[window_count_ - 1]);
  }
  void Expose(const SkipList::Node* node) {
    node_ = node;
    valid_ = node != nullptr;
    if (!valid_) return;
    key_ = node->internal_key();
    value_ = node->value();
  }

  const SkipList* const list_;             // of the memtable, which outlives the iterator
  const SkipList::Node* node_ = nullptr;   // null: not valid
  int window_count_ = 0;                   // predecessors not yet shown
  const SkipList::Node* window_[kWindow];  // predecessors of node_, the nearest last
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
  if (list_.has_value()) {
    if (arena == nullptr) return new MemTableIterator(&*list_);
    return new (arena->AllocateAligned(sizeof(MemTableIterator))) MemTableIterator(&*list_);
  }
  if (arena == nullptr) return new VectorRepIterator(&*vector_);
  return new (arena->AllocateAligned(sizeof(VectorRepIterator))) VectorRepIterator(&*vector_);
}

}  // namespace ashlar
