// SPDX-License-Identifier: Apache-2.0
//
// Splits a batch into sub-batches. Under the policies write-prepared and write-unprepared all
// records of a sub-batch share one sequence number. A memtable holds each pair of user key and
// sequence number once, so a sub-batch ends before a record whose key it holds already. A
// DeleteRange begins a further sub-batch too, unless it is the first record: it hides only versions
// with lower numbers.
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

// Returns the comparator of a family. Null: the comparator is unknown, and keys are compared byte
// by byte.
using ComparatorOfFamily = std::function<const Comparator*(uint32_t family)>;

class SubBatchFinder {
 public:
  // `comparator_of` outlives the object; it may be empty.
  explicit SubBatchFinder(const ComparatorOfFamily& comparator_of)
      : comparator_of_(comparator_of) {}

  // Takes the next counted record, whose bytes must stay valid. Returns true if the record begins a
  // further sub-batch.
  bool Take(const WriteBatchRecord& record);
  // Forgets the current sub-batch: the next record is the first one of another batch.
  void Restart();

 private:
  struct KeyLess {
    const Comparator* comparator;
    bool operator()(const Slice& a, const Slice& b) const;
  };
  bool Insert(const WriteBatchRecord& record);

  const ComparatorOfFamily& comparator_of_;
  std::map<uint32_t, const Comparator*> comparators_;  // results of comparator_of_ so far
  // The keys of the current sub-batch, by family. ordered_keys_ serves comparators that can call
  // keys with different bytes equal.
  std::map<uint32_t, std::unordered_set<std::string_view>> keys_;
  std::map<uint32_t, std::set<Slice, KeyLess>> ordered_keys_;
  size_t records_ = 0;  // of the current sub-batch
};

// Returns the offsets of the records in [begin, end) with which a further sub-batch begins, without
// the first record. Offsets count from the start of the batch, including its header.
std::vector<size_t> FindSubBatches(const Slice& batch, size_t begin, size_t end,
                                   const ComparatorOfFamily& comparator_of);

}  // namespace ashlar
