// SPDX-License-Identifier: Apache-2.0
//
// HeldPartitions keeps partitions of indexes and filters that a batch has read together for its own
// keys, or of which a verification will ask again for the next key. The batch cannot rely on the
// cache: there may be none, the options may not permit filling it, or partitions may be evicted too
// soon.
//
// Only few are held at a time, so Find() searches one by one. Threads: one at a time.
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

  // Adds the object of entry `i` of the top level and takes a reference of its own. The top level
  // outlives this object.
  void Add(const IndexBlock& top, size_t i, TableObject* object) {
    assert(object != nullptr);
    assert(Find(top, i) == nullptr);
    entries_.push_back({&top, i, object});
    object->Ref();
  }
  // The same, in place of the entry of this top level that is held, if there is one: for keys that
  // come in order.
  void Replace(const IndexBlock& top, size_t i, TableObject* object) {
    std::erase_if(entries_, [&top](const Entry& entry) {
      if (entry.top != &top) return false;
      entry.object->Unref();
      return true;
    });
    Add(top, i, object);
  }
  // The object without a reference; null if it is not held.
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
