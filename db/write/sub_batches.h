// SPDX-License-Identifier: Apache-2.0
//
// Under the policies write-prepared and write-unprepared the records of a sub-batch share one
// sequence number. A sub-batch ends before a key that occurs in it already, as a memtable holds an
// internal key once. A DeleteRange begins another sub-batch too, unless it is the first record: it
// hides versions with lower numbers only.
//
// Replays find the same sub-batches as the writer, from the same bytes. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "db/write/write_batch_reader.h"

namespace ashlar {

class Comparator;

// The comparator of a family; null: it is unknown, and its keys are compared byte by byte.
using ComparatorOfFamily = std::function<const Comparator*(uint32_t family)>;

class SubBatchFinder {
 public:
  // `comparator_of` outlives the object; it may be empty.
  explicit SubBatchFinder(const ComparatorOfFamily& comparator_of)
      : comparator_of_(comparator_of) {}

  // Takes the next counted record, whose bytes stay. True: it begins another sub-batch.
  bool Take(const WriteBatchRecord& record);
  // The next record is the first one of a batch.
  void Restart();

 private:
  struct KeyLess {
    const Comparator* comparator;
    bool operator()(const Slice& a, const Slice& b) const;
  };
  bool Insert(const WriteBatchRecord& record);

  const ComparatorOfFamily& comparator_of_;
  std::map<uint32_t, const Comparator*> comparators_;  // that were asked for
  // Of the current sub-batch. Where unequal bytes may be equal keys, the comparator decides.
  std::map<uint32_t, std::unordered_set<std::string_view>> keys_;
  std::map<uint32_t, std::set<Slice, KeyLess>> ordered_keys_;
  size_t records_ = 0;
};

// Offsets in the batch, with its header, of the records that begin another sub-batch; without the
// first record. Looks at the records in [begin, end).
std::vector<size_t> FindSubBatches(const Slice& batch, size_t begin, size_t end,
                                   const ComparatorOfFamily& comparator_of);

}  // namespace ashlar
