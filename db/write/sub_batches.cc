// SPDX-License-Identifier: Apache-2.0
//
// The finder keeps a set of the keys of the current sub-batch for each family.
#include "db/write/sub_batches.h"

#include "ashlar/comparator.h"

namespace ashlar {

bool SubBatchFinder::KeyLess::operator()(const Slice& a, const Slice& b) const {
  return comparator->Compare(a, b) < 0;
}

void SubBatchFinder::Restart() {
  keys_.clear();
  ordered_keys_.clear();
  records_ = 0;
}

// Adds the key of the record to the current sub-batch. Returns false if it holds the key already.
bool SubBatchFinder::Insert(const WriteBatchRecord& record) {
  const auto [known, is_new] = comparators_.try_emplace(record.family, nullptr);
  if (is_new && comparator_of_) known->second = comparator_of_(record.family);
  const Comparator* const comparator = known->second;
  // Most comparators call keys equal only if their bytes are equal, and then a hash set is enough.
  if (comparator == nullptr || !comparator->CanKeysWithDifferentByteContentsBeEqual()) {
    return keys_[record.family].emplace(record.key.data(), record.key.size()).second;
  }
  const auto found = ordered_keys_.try_emplace(record.family, KeyLess{comparator}).first;
  return found->second.insert(record.key).second;
}

// A range deletion hides only versions with lower sequence numbers. So it cannot share its number
// with updates before it, and it begins a sub-batch unless it is the first record.
bool SubBatchFinder::Take(const WriteBatchRecord& record) {
  bool begins = records_ > 0 && record.type == kTypeRangeDeletion;
  if (!begins && record.type != kTypeRangeDeletion) begins = !Insert(record);
  if (!begins) {
    records_++;
    return false;
  }
  Restart();
  if (record.type != kTypeRangeDeletion) Insert(record);
  records_ = 1;
  return true;
}

// The first sub-batch begins at `begin` and is not in the result, which has only the begins of the
// others.
std::vector<size_t> FindSubBatches(const Slice& batch, size_t begin, size_t end,
                                   const ComparatorOfFamily& comparator_of) {
  std::vector<size_t> begins;
  SubBatchFinder finder(comparator_of);
  WriteBatchReader reader(batch, begin);
  for (WriteBatchRecord record; reader.next_offset() < end && reader.Next(&record);) {
    if (record.IsCounted() && finder.Take(record)) begins.push_back(reader.record_offset());
  }
  return begins;
}

}  // namespace ashlar
