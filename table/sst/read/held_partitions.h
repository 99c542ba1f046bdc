// SPDX-License-Identifier: Apache-2.0
//
// HeldPartitions keeps partitions of indexes and filters that a batch has read together, for its
// own keys: the cache may not be meant to keep them, there may be none, or they may leave it too
// soon.
//
// Few are held at a time, so they are looked for one by one. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstddef>
#include <vector>

#include "table/sst/read/table_objects.h"

namespace ashlar {

class HeldPartitions {
 public:
  HeldPartitions() = default;
  ~HeldPartitions() {
    for (const Entry& entry : entries_) entry.object->Unref();
  }
  HeldPartitions(const HeldPartitions&) = delete;
  HeldPartitions& operator=(const HeldPartitions&) = delete;

  // Entry `i` of the top level leads to the object, of which this takes a reference of its own. The
  // top level outlives this.
  void Add(const IndexBlock& top, size_t i, TableObject* object) {
    assert(object != nullptr && Find(top, i) == nullptr);
    entries_.push_back({&top, i, object});
    object->Ref();
  }
  // Without a reference; null if it is not held.
  TableObject* Find(const IndexBlock& top, size_t i) const {
    for (const Entry& entry : entries_) {
      if (entry.top == &top && entry.i == i) return entry.object;
    }
    return nullptr;
  }

 private:
  struct Entry {
    const IndexBlock* top;
    size_t i;
    TableObject* object;
  };
  std::vector<Entry> entries_;
};

}  // namespace ashlar
