// SPDX-License-Identifier: Apache-2.0
//
// The bounds of a table: those of its points come from both ends of an iterator, those of its range
// tombstones from the list of tombstones.
#include "db/table_cache/table_bounds.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "table/sst/read/key_weight.h"
#include "table/sst/read/table_reader.h"

namespace ashlar {
namespace {

// Widens the bounds to include these keys.
void Widen(const InternalKeyComparator& comparator, std::string smallest, std::string largest,
           TableBounds* bounds) {
  assert(comparator.Compare(smallest, largest) <= 0);
  const bool is_first = bounds->empty();
  if (is_first || comparator.Compare(smallest, bounds->smallest) < 0) {
    bounds->smallest = std::move(smallest);
  }
  if (is_first || comparator.Compare(largest, bounds->largest) > 0) {
    bounds->largest = std::move(largest);
  }
}

Status AddPoints(const InternalKeyComparator& comparator, InternalIterator* it,
                 TableBounds* bounds) {
  assert(it != nullptr);
  it->SeekToFirst();
  RETURN_IF_ERROR(it->status());
  if (!it->Valid()) return Status::OK();
  std::string smallest = it->key().ToString();
  it->SeekToLast();
  RETURN_IF_ERROR(it->status());
  if (!it->Valid() || comparator.Compare(smallest, it->key()) > 0) {
    return Status::Corruption("the first key of the table is behind its last one");
  }
  Widen(comparator, std::move(smallest), it->key().ToString(), bounds);
  return Status::OK();
}

// The end of the last tombstone is exclusive. The sentinel expresses this in an internal key.
void AddTombstones(const InternalKeyComparator& comparator, const FragmentedTombstones& tombstones,
                   TableBounds* bounds) {
  if (tombstones.empty()) return;
  const FragmentedTombstones::Fragment first = tombstones.fragment(0);
  std::string begin, end;
  comparator.AppendFirst(&begin, first.begin,
                         PackTrailer(first.seqnos.front(), kTypeRangeDeletion));
  comparator.AppendFirst(&end, tombstones.fragment(tombstones.size() - 1).end,
                         kRangeTombstoneSentinel);
  Widen(comparator, std::move(begin), std::move(end), bounds);
}

// Finds the sequence numbers of a table that has entries: from its global number, from its
// properties or, if it has neither, from all entries.
Status FindSeqnos(const TableReader& table, InternalIterator* it, TableBounds* bounds) {
  const SequenceNumber global = table.global_seqno();
  const TableProperties& properties = table.properties();
  if (global != BlockKeyFormat::kOwnSeqnos) {
    bounds->smallest_seqno = bounds->largest_seqno = global;
    return Status::OK();
  }
  if (properties.HasKeySmallestSeqno() && properties.HasKeyLargestSeqno()) {
    bounds->smallest_seqno = properties.key_smallest_seqno;
    bounds->largest_seqno = properties.key_largest_seqno;
    return Status::OK();
  }
  SequenceNumber smallest = kMaxSequenceNumber, largest = 0;
  const auto add = [&](SequenceNumber seqno) {
    smallest = std::min(smallest, seqno);
    largest = std::max(largest, seqno);
  };
  for (it->SeekToFirst(); it->Valid(); it->Next()) add(TrailerSeqno(ExtractTrailer(it->key())));
  RETURN_IF_ERROR(it->status());
  if (table.tombstones() != nullptr && !table.tombstones()->empty()) {
    add(table.tombstones()->smallest_seqno());
    add(table.tombstones()->largest_seqno());
  }
  bounds->smallest_seqno = std::min(smallest, largest);
  bounds->largest_seqno = largest;
  return Status::OK();
}

}  // namespace

Result<TableBounds> FindTableBounds(const TableReader& table,
                                    const InternalKeyComparator& comparator) {
  ReadOptions read;
  read.fill_cache = false;
  const std::unique_ptr<InternalIterator> it(table.NewIterator(read, nullptr));
  TableBounds bounds;
  RETURN_IF_ERROR(AddPoints(comparator, it.get(), &bounds));
  if (table.tombstones() != nullptr) AddTombstones(comparator, *table.tombstones(), &bounds);
  if (!bounds.empty()) RETURN_IF_ERROR(FindSeqnos(table, it.get(), &bounds));
  return bounds;
}

// Bounds that contain all keys, without reading data blocks: the smallest key is empty, and the
// largest is at or behind the last key.
Result<TableBounds> FindWidestBounds(const TableReader& table,
                                     const InternalKeyComparator& comparator) {
  if (comparator.user_comparator() != BytewiseComparator()) {
    return Status::NotSupported("bounds without reading, in another order than the bytewise one");
  }
  std::vector<KeyWeight> separators;
  RETURN_IF_ERROR(table.SampleKeys(1, &separators));
  TableBounds bounds;
  if (!separators.empty()) {  // the last separator is the one of the last block
    std::string largest;
    AppendInternalKey(&largest, separators.back().user_key, PackTrailer(0, kTypeDeletion));
    Widen(comparator, MakeInternalKey(Slice(), kMaxSequenceNumber, kValueTypeForSeek),
          std::move(largest), &bounds);
  }
  if (table.tombstones() != nullptr) AddTombstones(comparator, *table.tombstones(), &bounds);
  bounds.largest_seqno = kMaxSequenceNumber;
  return bounds;
}

}  // namespace ashlar
