// SPDX-License-Identifier: Apache-2.0
//
// Each table whose tombstones reach beyond its point keys is compared with the tables there, the
// nearest first, because the nearest one usually has the next part of the tombstone.
#include "db/repair/tombstone_limits.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <utility>

#include "util/rare_sort.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Reads every entry, without displacing blocks from a shared cache.
ReadOptions AllEntries() {
  ReadOptions read;
  read.fill_cache = false;
  read.total_order_seek = true;
  return read;
}

// Internal keys of the first and the last point entry.
struct PointBounds {
  std::string smallest, largest;
};

// The bounds of the point entries; no value if there is none.
Result<std::optional<PointBounds>> FindPointBounds(const TableReader& table) {
  const std::unique_ptr<InternalIterator> it(table.NewIterator(AllEntries(), nullptr));
  it->SeekToFirst();
  RETURN_IF_ERROR(it->status());
  if (!it->Valid()) return std::optional<PointBounds>();
  PointBounds bounds{.smallest = it->key().ToString(), .largest = {}};
  it->SeekToLast();
  RETURN_IF_ERROR(it->status());
  assert(it->Valid());
  bounds.largest = it->key().ToString();
  return std::optional(std::move(bounds));
}

// The keys between the points of a table and the end of its tombstones. Before the points, `end` is
// the first point, and a `begin` is a key in the gap; behind them, `begin` is the last point, and
// an `end` is the first key behind the gap.
struct Gap {
  bool is_before = false;
  std::optional<std::string> begin, end;
};

// A user key at which the tombstones of one table end behind its points, or begin before them.
// `key` is the first key that the tombstones do not cover any more, or the first one that they
// cover.
struct Limit {
  std::optional<std::string> key;  // none: they go on to the end of the gap
  bool is_unknown = false;         // because of a key without a sequence number
};

// What the tombstones of one table find in another table, in the order from the points outwards.
struct Meeting {
  Limit certain;
  std::optional<std::string> newer;  // the limit if the other table must lie below
  bool has_older = false;            // the tombstones hide a key of the other table
};

// Used once, for the tables of one family. Tables are opened for each comparison, because few have
// such tombstones.
class TombstoneLimits {
 public:
  TombstoneLimits(const TableReadContext& context, const PathOfTable& path_of,
                  std::vector<PlacedTable>* tables, std::vector<std::string>* notes)
      : context_(context),
        order_(*context.comparator),
        path_of_(path_of),
        tables_(*tables),
        notes_(*notes) {}

  // Sets the bounds of one table without a level.
  Status LimitTable(PlacedTable* table);

 private:
  using Reader = std::unique_ptr<TableReader>;
  // The table whose bounds are set, opened twice.
  struct Subject {
    const PlacedTable* table;
    Reader full;    // with all of its tombstones
    Reader within;  // with tombstones between its points only
  };

  bool IsBefore(const Slice& a, const Slice& b) const {
    return order_.OrderWithoutTimestamp(a, b) < 0;
  }
  // Whether a table with these bounds has keys in the gap.
  bool IsIn(const Gap& gap, const FileMetadata& meta) const {
    return (!gap.begin || IsBefore(*gap.begin, meta.largest_user_key())) &&
           (!gap.end || IsBefore(meta.smallest_user_key(), *gap.end));
  }
  // The tables with keys in the gap, except `but`, the nearest to the points first.
  std::vector<const PlacedTable*> TablesIn(const Gap& gap, const PlacedTable& but) const;
  Result<Reader> OpenWithinPoints(const PlacedTable& table) const;
  std::optional<std::string> SharedPartEnd(const TableReader& other, const Slice& key,
                                           SequenceNumber seqno) const;
  // Compares the tombstones in the gap with the keys of the other table.
  Status Meet(const FragmentedTombstones& tombstones, const Gap& gap, const TableReader& other,
              bool unknown_is_newer, Meeting* meeting) const;
  // Narrows *limit if the other table demands it.
  Status Narrow(const Subject& subject, const PlacedTable& other, const Gap& gap,
                Limit* limit) const;
  // The narrowest limit that any table in the gap demands; no key if none does.
  Result<Limit> FindLimit(const Subject& subject, Gap gap) const;

  const TableReadContext& context_;
  const InternalKeyComparator& order_;
  const PathOfTable& path_of_;
  std::vector<PlacedTable>& tables_;
  std::vector<std::string>& notes_;
};

std::vector<const PlacedTable*> TombstoneLimits::TablesIn(const Gap& gap,
                                                          const PlacedTable& but) const {
  std::vector<const PlacedTable*> found;
  for (const PlacedTable& table : tables_) {
    if (&table != &but && IsIn(gap, table.meta)) found.push_back(&table);
  }
  SortRarely(&found, [&](const PlacedTable* a, const PlacedTable* b) {
    return gap.is_before ? order_.Compare(a->meta.largest, b->meta.largest) > 0
                         : order_.Compare(a->meta.smallest, b->meta.smallest) < 0;
  });
  return found;
}

// Opens a table with only those tombstones that certainly apply: all, if its bounds are known, and
// otherwise the parts between its points.
Result<TombstoneLimits::Reader> TombstoneLimits::OpenWithinPoints(const PlacedTable& table) const {
  const std::string path = path_of_(table.meta);
  ASSIGN_OR_RETURN(Reader reader, OpenTableForRepair(context_, path, &table.meta));
  if (table.level || reader->tombstones() == nullptr) return reader;
  ASSIGN_OR_RETURN(const auto points, FindPointBounds(*reader));
  if (!points) return reader;
  FileMetadata meta = table.meta;
  meta.smallest = points->smallest;
  meta.largest = points->largest;
  return OpenTableForRepair(context_, path, &meta);
}

// Calls `visit` with each user key in [begin, end) and the sequence number of its newest version,
// until it returns false.
template <typename Visit>
Status VisitKeys(const InternalKeyComparator& order, const Slice& begin, const Slice& end,
                 bool is_backwards, InternalIterator* it, const Visit& visit) {
  assert(it != nullptr);
  const std::string from = order.FirstInternalKey(begin);
  const std::string to = order.FirstInternalKey(end);
  std::string key;
  SequenceNumber seqno = 0;
  bool has_key = false;
  if (is_backwards) {
    it->SeekForPrev(to);
  } else {
    it->Seek(from);
  }
  for (; it->Valid(); is_backwards ? it->Prev() : it->Next()) {
    if (order.Compare(it->key(), from) < 0 || order.Compare(it->key(), to) >= 0) break;
    const Slice found = ExtractUserKey(it->key());
    const bool is_same = has_key && order.OrderWithoutTimestamp(found, key) == 0;
    // Forwards the newest version comes first, backwards last.
    if (is_same && !is_backwards) continue;
    if (has_key && !is_same && !visit(key, seqno)) return it->status();
    key = found.ToString();
    seqno = TrailerSeqno(ExtractTrailer(it->key()));
    has_key = true;
  }
  RETURN_IF_ERROR(it->status());
  // The last key is visited at the end, because a key is complete only when the next one begins.
  if (has_key) visit(key, seqno);
  return Status::OK();
}

// If the other table has a tombstone with this sequence number for the key, returns its end.
// Otherwise no value.
std::optional<std::string> TombstoneLimits::SharedPartEnd(const TableReader& other,
                                                          const Slice& key,
                                                          SequenceNumber seqno) const {
  std::optional<std::string> end;
  if (other.tombstones() == nullptr) return end;
  // Adjacent fragments with the number are one tombstone.
  const FragmentedTombstones& tombstones = *other.tombstones();
  for (size_t i = tombstones.Find(key); i < tombstones.size(); i++) {
    const FragmentedTombstones::Fragment part = tombstones.fragment(i);
    if (IsBefore(end ? Slice(*end) : key, part.begin)) break;
    if (std::find(part.seqnos.begin(), part.seqnos.end(), seqno) == part.seqnos.end()) break;
    end = part.end.ToString();
  }
  return end;
}

Status TombstoneLimits::Meet(const FragmentedTombstones& tombstones, const Gap& gap,
                             const TableReader& other, bool unknown_is_newer,
                             Meeting* meeting) const {
  const std::unique_ptr<InternalIterator> it(other.NewIterator(AllEntries(), nullptr));
  std::optional<std::string> last = gap.is_before ? gap.end : std::nullopt;  // key before this one
  // From the points outwards: backwards before the points, forwards behind them. The first certain
  // limit ends the walk.
  for (size_t n = 0; n < tombstones.size() && !meeting->certain.key; n++) {
    const FragmentedTombstones::Fragment part =
        tombstones.fragment(gap.is_before ? tombstones.size() - 1 - n : n);
    const SequenceNumber deleted_at = part.seqnos.front();
    const auto visit = [&](const std::string& key, SequenceNumber seqno) {
      if (gap.begin && gap.is_before && IsBefore(key, *gap.begin)) return false;
      if (gap.begin && !gap.is_before && !IsBefore(*gap.begin, key)) return true;
      if (gap.end && !IsBefore(key, *gap.end)) return gap.is_before;
      const auto shared_end = SharedPartEnd(other, key, deleted_at);
      const bool is_unknown = seqno == 0 && unknown_is_newer;
      std::string limit = gap.is_before ? *last : key;
      last = key;
      if (shared_end || is_unknown) {
        if (shared_end && gap.is_before && IsBefore(key, *shared_end) &&
            IsBefore(*shared_end, limit)) {
          limit = *shared_end;
        }
        meeting->certain = {.key = std::move(limit), .is_unknown = !shared_end};
        return false;
      }
      meeting->has_older |= seqno < deleted_at;
      if (seqno > deleted_at && !meeting->newer) meeting->newer = std::move(limit);
      return true;
    };
    Slice begin = part.begin, end = part.end;
    if (gap.begin && IsBefore(begin, *gap.begin)) begin = *gap.begin;
    if (gap.end && IsBefore(*gap.end, end)) end = *gap.end;
    if (!IsBefore(begin, end)) continue;
    RETURN_IF_ERROR(VisitKeys(order_, begin, end, gap.is_before, it.get(), visit));
  }
  return Status::OK();
}

// The other table must lie below this one if the entries and tombstones between the points of both
// say so. If these decide nothing, it must lie below because a tombstone in the gap hides one of
// its keys.
Status TombstoneLimits::Narrow(const Subject& subject, const PlacedTable& other, const Gap& gap,
                               Limit* limit) const {
  const FragmentedTombstones& tombstones = *subject.full->tombstones();
  const FileMetadata& meta = other.meta;
  const bool has_unknown = meta.smallest_seqno == 0 && meta.number > subject.table->meta.number;
  // The other table is older than all tombstones, so that they may hide all of it.
  if (meta.largest_seqno < tombstones.smallest_seqno() && !has_unknown) return Status::OK();
  ASSIGN_OR_RETURN(const Reader reader, OpenWithinPoints(other));
  Meeting meeting;
  RETURN_IF_ERROR(Meet(tombstones, gap, *reader, has_unknown, &meeting));
  if (meeting.newer) {
    ASSIGN_OR_RETURN(const NewerTable newer, CompareTableAges(context_, *subject.within, *reader));
    const bool is_below =
        newer == NewerTable::kFirst || (newer == NewerTable::kEqual && meeting.has_older);
    if (is_below) meeting.certain = {.key = std::move(meeting.newer), .is_unknown = false};
  }
  if (meeting.certain.key) *limit = std::move(meeting.certain);
  return Status::OK();
}

Result<Limit> TombstoneLimits::FindLimit(const Subject& subject, Gap gap) const {
  Limit limit;
  for (const PlacedTable* const other : TablesIn(gap, *subject.table)) {
    if (!IsIn(gap, other->meta)) continue;
    RETURN_IF_ERROR(Narrow(subject, *other, gap, &limit));
    // The gap becomes smaller, so that farther tables need not be opened.
    if (limit.key) (gap.is_before ? gap.begin : gap.end) = limit.key;
  }
  return limit;
}

Status TombstoneLimits::LimitTable(PlacedTable* table) {
  assert(table != nullptr);
  FileMetadata& meta = table->meta;
  const std::string path = path_of_(meta);
  Subject subject{.table = table, .full = nullptr, .within = nullptr};
  ASSIGN_OR_RETURN(subject.full, OpenTableForRepair(context_, path, nullptr));
  // Without tombstones, or without points, the bounds are those that were found by reading.
  if (subject.full->tombstones() == nullptr) return Status::OK();
  ASSIGN_OR_RETURN(const auto points, FindPointBounds(*subject.full));
  if (!points) return Status::OK();
  const std::string first = ExtractUserKey(points->smallest).ToString();
  const std::string last = ExtractUserKey(points->largest).ToString();
  ASSIGN_OR_RETURN(subject.within, OpenWithinPoints(*table));
  Limit before, behind;
  if (IsBefore(meta.smallest_user_key(), first)) {
    ASSIGN_OR_RETURN(before, FindLimit(subject, {.is_before = true, .begin = {}, .end = first}));
  }
  if (IsBefore(last, meta.largest_user_key())) {
    ASSIGN_OR_RETURN(behind, FindLimit(subject, {.is_before = false, .begin = last, .end = {}}));
  }
  // The new smallest key is the beginning of the tombstone part that still applies, or the first
  // point.
  if (before.key) {
    const FragmentedTombstones& tombstones = *subject.full->tombstones();
    const size_t part = tombstones.Find(*before.key);
    meta.smallest = points->smallest;
    if (part < tombstones.size() && IsBefore(tombstones.fragment(part).begin, first)) {
      const Slice begin = tombstones.fragment(part).begin;
      std::string smallest;
      order_.AppendFirst(&smallest, IsBefore(begin, *before.key) ? Slice(*before.key) : begin,
                         PackTrailer(tombstones.fragment(part).seqnos.front(), kTypeRangeDeletion));
      if (order_.Compare(smallest, meta.smallest) < 0) meta.smallest = smallest;
    }
  }
  // The sentinel makes the end exclusive.
  if (behind.key) {
    meta.largest.clear();
    order_.AppendFirst(&meta.largest, *behind.key, kRangeTombstoneSentinel);
  }
  if (before.is_unknown || behind.is_unknown) {
    notes_.push_back(StrCat(path, ": range tombstones beyond its keys are not applied to keys ",
                            "without sequence numbers, which may be newer, nor beyond them"));
  }
  return Status::OK();
}

}  // namespace

Status LimitTombstones(const TableReadContext& context, const PathOfTable& path_of,
                       std::vector<PlacedTable>* tables, std::vector<std::string>* notes) {
  assert(tables != nullptr);
  TombstoneLimits limits(context, path_of, tables, notes);
  for (PlacedTable& table : *tables) {
    if (!table.level) RETURN_IF_ERROR(limits.LimitTable(&table));
  }
  return Status::OK();
}

}  // namespace ashlar
