// SPDX-License-Identifier: Apache-2.0
//
// What was sorted for an earlier reader stays sorted: only the entries that came later are sorted,
// and merged with it.
#include "memtable/vector_rep.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace ashlar {

void VectorRep::Insert(const Slice& user_key, uint64_t trailer, const Slice& value) {
  char* memory = arena_->AllocateAligned(MemTableEntry::BytesFor(user_key, value, checksum_bytes_));
  MemTableEntry* entry = new (memory) MemTableEntry;
  entry->Fill(user_key, trailer, value, checksum_bytes_);
  MutexLock lock(&mutex_);
  entries_.push_back(entry);
}

std::shared_ptr<const VectorRep::Entries> VectorRep::Sorted() const {
  MutexLock lock(&mutex_);
  const size_t sorted_count = sorted_ == nullptr ? 0 : sorted_->size();
  assert(sorted_count <= entries_.size());
  if (sorted_ != nullptr && sorted_count == entries_.size()) return sorted_;
  auto fresh = std::make_shared<Entries>();
  fresh->reserve(entries_.size());
  if (sorted_ != nullptr) fresh->assign(sorted_->begin(), sorted_->end());
  const auto first_new = entries_.begin() + static_cast<ptrdiff_t>(sorted_count);
  fresh->insert(fresh->end(), first_new, entries_.end());
  const auto is_less = [this](const MemTableEntry* a, const MemTableEntry* b) {
    return IsLess(a, b);
  };
  const auto middle = fresh->begin() + static_cast<ptrdiff_t>(sorted_count);
  if (!std::is_sorted(middle, fresh->end(), is_less)) {
    std::stable_sort(middle, fresh->end(), is_less);
  }
  std::inplace_merge(fresh->begin(), middle, fresh->end(), is_less);
  assert(std::is_sorted(fresh->begin(), fresh->end(), is_less));
  assert(fresh->size() == entries_.size());
  sorted_ = std::move(fresh);
  return sorted_;
}

size_t VectorRep::LowerBound(const Entries& entries, const Slice& user_key,
                             uint64_t trailer) const {
  const auto is_before = [&](const MemTableEntry* entry, const Slice& key) {
    const int order = comparator_.OrderWithTimestamp(entry->user_key(), key);
    return order != 0 ? order < 0 : entry->trailer() > trailer;
  };
  const auto found = std::lower_bound(entries.begin(), entries.end(), user_key, is_before);
  return static_cast<size_t>(found - entries.begin());
}

}  // namespace ashlar
