// SPDX-License-Identifier: Apache-2.0
//
// FamilyQueue holds the families that wait for a flush or a compaction, in the order in which they
// came. A family is in the queue at most once; the queue holds a reference on it.
//
// All functions need the DB mutex. A reference must be released without the mutex, because
// releasing the last one may delete files: so families that leave the queue are handed to the
// caller.
#pragma once

#include <cassert>
#include <deque>
#include <unordered_set>
#include <utility>

#include "db/column_family/column_family_data.h"
#include "db/column_family/family_ref.h"
#include "util/threads/mutex.h"

namespace ashlar {

class FamilyQueue {
 public:
  // Does nothing if the family is in the queue already.
  void Add(ColumnFamilyData* family) REQUIRES(db_mutex) {
    assert(family != nullptr);
    if (ids_.insert(family->id()).second) queue_.emplace_back(family);
  }
  bool Has(const ColumnFamilyData& family) const REQUIRES(db_mutex) {
    return ids_.count(family.id()) > 0;
  }
  // Takes the first family for which `is_wanted(family)` is true. Returns an empty reference if
  // there is none.
  template <typename IsWanted>
  FamilyRef TakeFirst(const IsWanted& is_wanted) REQUIRES(db_mutex) {
    for (auto each = queue_.begin(); each != queue_.end(); ++each) {
      if (!is_wanted(each->get())) continue;
      FamilyRef family = std::move(*each);
      queue_.erase(each);
      [[maybe_unused]] const size_t erased = ids_.erase(family->id());
      assert(erased == 1);
      return family;
    }
    return FamilyRef();
  }
  FamilyRef TakeFront() REQUIRES(db_mutex) {
    return TakeFirst([](const ColumnFamilyData*) { return true; });
  }
  // Takes all families, in order.
  std::deque<FamilyRef> TakeAll() REQUIRES(db_mutex) {
    ids_.clear();
    return std::exchange(queue_, {});
  }
  bool IsEmpty() const REQUIRES(db_mutex) { return queue_.empty(); }
  int Count() const REQUIRES(db_mutex) { return static_cast<int>(queue_.size()); }
  const std::deque<FamilyRef>& families() const REQUIRES(db_mutex) { return queue_; }

 private:
  std::deque<FamilyRef> queue_ GUARDED_BY(db_mutex);
  std::unordered_set<uint32_t> ids_ GUARDED_BY(db_mutex);  // of those in the queue
};

}  // namespace ashlar
