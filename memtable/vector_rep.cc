// SPDX-License-Identifier: Apache-2.0
//
// Entries that were sorted for an earlier reader stay sorted: only later entries are sorted, and
// merged with them.
#include "memtable/vector_rep.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "util/memory/arena.h"

namespace ashlar {
namespace {

class SortedEntriesIterator final : public InternalIterator {
 public:
  explicit SortedEntriesIterator(const SortedEntries* list)
      : list_(list), entries_(list->Sorted()) {
    assert(list != nullptr);
  }

  void SeekToFirst() override { Show(0); }
  void SeekToLast() override { Show(entries_->size() - 1); }
  void Seek(const Slice& internal_key) override { Show(LowerBound(internal_key)); }
  void SeekForPrev(const Slice& internal_key) override {
    const size_t index = LowerBound(internal_key);
    const bool is_there =
        index < entries_->size() &&
        list_->comparator().Compare((*entries_)[index]->internal_key(), internal_key) == 0;
    Show(is_there ? index : index - 1);
  }
  ValuePin PinOfValue() const override { return ValuePin::Lasting(list_); }

 protected:
  void NextSlow() override { Show(index_ + 1); }
  void PrevSlow() override { Show(index_ - 1); }

 private:
  size_t LowerBound(const Slice& internal_key) const {
    assert(internal_key.size() >= kTrailerBytes);
    return list_->LowerBound(*entries_, ExtractUserKey(internal_key), ExtractTrailer(internal_key));
  }
  // An index before the first entry wraps around, so it is out of range like an index behind the
  // last entry.
  void Show(size_t index) {
    index_ = index;
    valid_ = index < entries_->size();
    if (!valid_) return;
    key_ = (*entries_)[index]->internal_key();
    value_ = (*entries_)[index]->value();
  }

  const SortedEntries* const list_;
  const std::shared_ptr<const SortedEntries::Entries> entries_;
  size_t index_ = 0;
};

}  // namespace

void SortedEntries::Add(const MemTableEntry* entry) {
  assert(entry != nullptr);
  MutexLock lock(&mutex_);
  const size_t capacity = entries_.capacity();
  entries_.push_back(entry);
  if (entries_.capacity() != capacity) CountMemoryLocked();
}

// Inserters wait only while the new part of the list is copied, never for a sort. Several readers
// may sort the same part at the same time; the longest result is kept.
std::shared_ptr<const SortedEntries::Entries> SortedEntries::Sorted() const {
  std::shared_ptr<const Entries> base;
  Entries added;
  {
    MutexLock lock(&mutex_);
    const size_t sorted_count = sorted_ == nullptr ? 0 : sorted_->size();
    assert(sorted_count <= entries_.size());
    if (sorted_ != nullptr && sorted_count == entries_.size()) return sorted_;
    base = sorted_;
    added.assign(entries_.begin() + static_cast<ptrdiff_t>(sorted_count), entries_.end());
  }
  const auto is_less = [this](const MemTableEntry* a, const MemTableEntry* b) {
    return IsLess(a, b);
  };
  if (!std::is_sorted(added.begin(), added.end(), is_less)) {
    std::stable_sort(added.begin(), added.end(), is_less);
  }
  auto fresh = std::make_shared<Entries>();
  if (base == nullptr) {
    *fresh = std::move(added);
  } else {
    fresh->resize(base->size() + added.size());
    std::merge(base->begin(), base->end(), added.begin(), added.end(), fresh->begin(), is_less);
  }
  assert(std::is_sorted(fresh->begin(), fresh->end(), is_less));
  MutexLock lock(&mutex_);
  if (sorted_ == nullptr || sorted_->size() < fresh->size()) {
    sorted_ = fresh;
    CountMemoryLocked();
  }
  return fresh;
}

size_t SortedEntries::LowerBound(const Entries& entries, const Slice& user_key,
                                 uint64_t trailer) const {
  const auto is_before = [&](const MemTableEntry* entry, const Slice& key) {
    const int order = comparator_.OrderWithTimestamp(entry->user_key(), key);
    return order != 0 ? order < 0 : entry->trailer() > trailer;
  };
  const auto found = std::lower_bound(entries.begin(), entries.end(), user_key, is_before);
  return static_cast<size_t>(found - entries.begin());
}

InternalIterator* SortedEntries::NewIterator(Arena* arena) const {
  if (arena == nullptr) return new SortedEntriesIterator(this);
  return new (arena->AllocateAligned(sizeof(SortedEntriesIterator))) SortedEntriesIterator(this);
}

bool SortedEntries::VisitVersions(const LookupKey& key, void* argument,
                                  OtherRep::Visit visit) const {
  assert(visit != nullptr);
  const auto entries = Sorted();
  for (size_t i = LowerBound(*entries, key.user_key, key.trailer); i < entries->size(); ++i) {
    const MemTableEntry& entry = *(*entries)[i];
    if (!comparator_.SameKey(entry.user_key(), key.user_key)) return false;
    if (visit(argument, entry.internal_key(), entry.value())) return true;
  }
  return false;
}

bool SortedEntries::IsEmpty() const {
  MutexLock lock(&mutex_);
  return entries_.empty();
}

uint64_t SortedEntries::CountBetween(const Slice& begin, const Slice& end) const {
  // The position before every version of a key.
  const uint64_t trailer = PackTrailer(kMaxSequenceNumber, kValueTypeForSeek);
  const auto entries = Sorted();
  const size_t first = LowerBound(*entries, begin, trailer);
  const size_t last = LowerBound(*entries, end, trailer);
  return last > first ? last - first : 0;
}

bool VectorRep::Insert(const Slice& user_key, uint64_t trailer, const Slice& value) {
  assert(user_key.size() <= UINT32_MAX);
  assert(value.size() <= UINT32_MAX);
  char* memory =
      allocator_->AllocateAligned(MemTableEntry::BytesFor(user_key, value, checksum_bytes_));
  MemTableEntry* entry = new (memory) MemTableEntry;
  entry->Fill(user_key, trailer, value, checksum_bytes_);
  entries_.Add(entry);
  return true;
}

}  // namespace ashlar
