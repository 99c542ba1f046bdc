// SPDX-License-Identifier: Apache-2.0
//
// Version::CheckAges() checks level 0: of two overlapping tables, the one that is searched first
// must have the newer entries.
//
// Overlapping ranges of keys and of sequence numbers are only a hint of a wrong order. Example: a
// memtable has keys on both sides of an ingested file but none inside its range, so the ingestion
// does not flush it. Later the memtable becomes a table with older sequence numbers that is
// searched before the ingested file, and hides no key of it. So for each suspicious pair the
// entries of the keys that both tables contain are compared, and the keys of each with the range
// tombstones of the other.
#include <algorithm>
#include <cassert>
#include <memory>
#include <vector>

#include "ashlar/options.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "table/iterator/internal_iterator.h"
#include "table/sst/read/table_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether the ranges of keys and of numbers overlap in a way that a wrong order would show.
bool IsSuspicious(const InternalKeyComparator& order, const FileMetadata& newer,
                  const FileMetadata& older) {
  return newer.largest_seqno < older.largest_seqno &&
         order.OrderWithoutTimestamp(newer.smallest_user_key(), older.largest_user_key()) <= 0 &&
         order.OrderWithoutTimestamp(older.smallest_user_key(), newer.largest_user_key()) <= 0;
}

void SeekFirst(const InternalKeyComparator& order, const Slice& user_key, InternalIterator* it) {
  assert(it != nullptr);
  it->Seek(order.FirstInternalKey(user_key));
}

// Checks that the largest sequence number in the MANIFEST is that of the table's entries, because
// the order of level 0 depends on it.
Status CompareWithRecord(const TableFile& file, const TableReader& table,
                         InternalIterator* points) {
  assert(points != nullptr);
  SequenceNumber greatest = 0;
  for (points->SeekToFirst(); points->Valid(); points->Next()) {
    greatest = std::max(greatest, TrailerSeqno(ExtractTrailer(points->key())));
  }
  RETURN_IF_ERROR(points->status());
  std::vector<RangeTombstone> tombstones;
  if (table.tombstones() != nullptr) table.tombstones()->AppendTo(&tombstones);
  for (const RangeTombstone& tombstone : tombstones) greatest = std::max(greatest, tombstone.seqno);
  if (greatest == file.meta.largest_seqno) return Status::OK();
  return Status::Corruption(StrCat("level 0: table ", file.meta.number,
                                   ": largest sequence number expected ", file.meta.largest_seqno,
                                   " as in the MANIFEST, found ", greatest));
}

// Compares the entries of the keys that both tables contain. The two iterators take turns: each
// seeks to the current key of the other, until both are at the same user key.
Status CompareEntries(const InternalKeyComparator& order, const TableFile& newer,
                      const TableFile& older, InternalIterator* of_newer,
                      InternalIterator* of_older) {
  assert(of_newer != nullptr);
  for (of_newer->SeekToFirst(); of_newer->Valid();) {
    SeekFirst(order, ExtractUserKey(of_newer->key()), of_older);
    if (!of_older->Valid()) break;
    const std::string key = ExtractUserKey(of_older->key()).ToString();
    if (order.OrderWithoutTimestamp(ExtractUserKey(of_newer->key()), key) != 0) {
      SeekFirst(order, key, of_newer);
      continue;
    }
    const SequenceNumber first = TrailerSeqno(ExtractTrailer(of_newer->key()));
    const SequenceNumber second = TrailerSeqno(ExtractTrailer(of_older->key()));
    if (first < second) {
      return Status::Corruption(StrCat(
          "level 0: table ", newer.meta.number, " is searched before table ", older.meta.number,
          ", but of key ", EscapeBytes(key), " it has ", first, ", and the other one ", second));
    }
    of_newer->Next();
  }
  RETURN_IF_ERROR(of_newer->status());
  return of_older->status();
}

// Checks that no range tombstone of the table that is searched later covers a newer table's key
// with a higher number: a lookup stops at the first table that has the key, and would not see the
// tombstone.
Status CompareTombstones(const TableFile& newer, const TableFile& older, InternalIterator* of_newer,
                         const FragmentedTombstones& of_older) {
  assert(of_newer != nullptr);
  for (of_newer->SeekToFirst(); of_newer->Valid(); of_newer->Next()) {
    const Slice key = ExtractUserKey(of_newer->key());
    const SequenceNumber seqno = TrailerSeqno(ExtractTrailer(of_newer->key()));
    const SequenceNumber covering = of_older.MaxCoveringSeqno(key, kMaxSequenceNumber);
    if (covering <= seqno) continue;
    return Status::Corruption(StrCat("level 0: table ", newer.meta.number,
                                     " is searched before table ", older.meta.number,
                                     ", but of key ", EscapeBytes(key), " it has ", seqno,
                                     ", and the other one a range tombstone with ", covering));
  }
  return of_newer->status();
}

// The blocks are not put into the cache, since a check would evict the blocks that readers need.
Status ComparePair(const Version& version, TableFile* newer, TableFile* older) {
  assert(newer != nullptr);
  assert(older != nullptr);
  assert(newer != older);
  ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  ASSIGN_OR_RETURN(const TableHandle first, version.tables()->Pin(newer));
  ASSIGN_OR_RETURN(const TableHandle second, version.tables()->Pin(older));
  const std::unique_ptr<InternalIterator> of_newer(first->NewIterator(options, nullptr));
  const std::unique_ptr<InternalIterator> of_older(second->NewIterator(options, nullptr));
  RETURN_IF_ERROR(CompareWithRecord(*newer, *first, of_newer.get()));
  RETURN_IF_ERROR(CompareWithRecord(*older, *second, of_older.get()));
  RETURN_IF_ERROR(
      CompareEntries(version.comparator(), *newer, *older, of_newer.get(), of_older.get()));
  if (second->tombstones() == nullptr) return Status::OK();
  return CompareTombstones(*newer, *older, of_newer.get(), *second->tombstones());
}

}  // namespace

Status Version::CheckAges() const {
  const std::vector<TableFile*>& files = levels_[0]->files;
  for (size_t newer = 0; newer < files.size(); newer++) {
    for (size_t older = newer + 1; older < files.size(); older++) {
      if (!IsSuspicious(comparator_, files[newer]->meta, files[older]->meta)) continue;
      RETURN_IF_ERROR(ComparePair(*this, files[newer], files[older]));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
