// SPDX-License-Identifier: Apache-2.0
//
// Tables are placed one after the other, the oldest first, each as deep as the tables below allow
// that overlap it: a database without obsolete tables has its levels again, or better ones.
#include "db/repair/table_order.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "db/version/level_tables.h"
#include "util/rare_sort.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Used once, for the tables of one family.
class Placement {
 public:
  Placement(const PlacementOptions& options, std::vector<PlacedTable>* tables)
      : options_(options), tables_(*tables), nodes_(tables->size()) {}

  // Whether the given levels are possible: they exist, and tables of one level below level 0 do not
  // overlap.
  bool IsSound() const;
  // Determines for each pair of overlapping tables which one is newer.
  Status FindOrder(const AgeQuestion& compare);
  // Gives each table its level. FindOrder() comes first.
  void Place(std::vector<std::string>* notes);

 private:
  // A node has the index that its table has in tables_.
  struct Node {
    std::optional<Level> given;  // the level before
    std::vector<size_t> overlapping;
    std::vector<size_t> newer;  // tables that must be placed after this one
    size_t older_count = 0;     // tables that must be placed before this one and are not yet
    bool is_placed = false;
  };

  Slice Smallest(size_t i) const { return tables_[i].meta.smallest_user_key(); }
  Slice Largest(size_t i) const { return tables_[i].meta.largest_user_key(); }
  int Order(const Slice& a, const Slice& b) const {
    return options_.comparator->OrderWithoutTimestamp(a, b);
  }
  std::vector<size_t> BySmallest() const;
  // Whether both were on one level below level 0. Then they share at most one key.
  bool ShareLevel(size_t a, size_t b) const {
    return nodes_[a].given && nodes_[a].given == nodes_[b].given && *nodes_[a].given > 0;
  }
  // Which of two overlapping tables is newer.
  Result<NewerTable> Compare(size_t a, size_t b, const AgeQuestion& compare) const;
  // Records that the tables overlap, and which one is newer.
  Status AddPair(size_t a, size_t b, const AgeQuestion& compare);
  size_t NextToPlace(std::vector<std::string>* notes) const;
  // The deepest level for the table above all older tables that overlap it and are placed already.
  Level LevelFor(size_t i) const;

  const PlacementOptions& options_;
  std::vector<PlacedTable>& tables_;
  std::vector<Node> nodes_;
  bool is_sound_ = false;  // the given levels say which of two tables is newer
};

std::vector<size_t> Placement::BySmallest() const {
  std::vector<size_t> order(tables_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  SortRarely(&order, [this](size_t a, size_t b) {
    return options_.comparator->Compare(tables_[a].meta.smallest, tables_[b].meta.smallest) < 0;
  });
  return order;
}

// Whether the levels from the MANIFEST are possible: they exist, and below level 0 no two tables of
// a level overlap. Tables without a level are ignored.
bool Placement::IsSound() const {
  std::vector<const FileMetadata*> last(static_cast<size_t>(options_.num_levels), nullptr);
  for (const size_t i : BySmallest()) {
    if (!tables_[i].level) continue;
    const Level level = *tables_[i].level;
    if (level < 0 || level >= options_.num_levels) return false;
    if (level == 0) continue;
    if (options_.uses_level0_only) return false;
    const FileMetadata*& before = last[static_cast<size_t>(level)];
    if (before != nullptr &&
        options_.comparator->Compare(before->largest, tables_[i].meta.smallest) >= 0) {
      return false;
    }
    before = &tables_[i].meta;
  }
  return true;
}

Result<NewerTable> Placement::Compare(size_t a, size_t b, const AgeQuestion& compare) const {
  const PlacedTable& first = tables_[a];
  const PlacedTable& second = tables_[b];
  if (is_sound_ && first.level && second.level) {
    if (*first.level != *second.level) {
      return *first.level < *second.level ? NewerTable::kFirst : NewerTable::kSecond;
    }
    // On a deeper level they share at most one key, and the first one has its newer versions.
    const bool is_first = *first.level == 0 ? IsNewer(first.meta, second.meta)
                                            : options_.comparator->Compare(
                                                  first.meta.smallest, second.meta.smallest) < 0;
    return is_first ? NewerTable::kFirst : NewerTable::kSecond;
  }
  // Ranges of sequence numbers that do not overlap order the tables without reading them.
  if (first.meta.smallest_seqno > second.meta.largest_seqno) return NewerTable::kFirst;
  if (second.meta.smallest_seqno > first.meta.largest_seqno) return NewerTable::kSecond;
  return compare(first.meta, second.meta);
}

Status Placement::AddPair(size_t a, size_t b, const AgeQuestion& compare) {
  nodes_[a].overlapping.push_back(b);
  nodes_[b].overlapping.push_back(a);
  ASSIGN_OR_RETURN(const NewerTable newer, Compare(a, b, compare));
  if (newer == NewerTable::kEqual) return Status::OK();
  const size_t older = newer == NewerTable::kFirst ? b : a;
  const size_t younger = newer == NewerTable::kFirst ? a : b;
  nodes_[older].newer.push_back(younger);
  nodes_[younger].older_count++;
  return Status::OK();
}

Status Placement::FindOrder(const AgeQuestion& compare) {
  is_sound_ = IsSound();
  // Contradictory levels say nothing.
  if (!is_sound_) {
    for (PlacedTable& table : tables_) table.level.reset();
  }
  for (size_t i = 0; i < tables_.size(); i++) nodes_[i].given = tables_[i].level;
  // A sweep over the keys: only tables that overlap at some key become pairs.
  std::vector<size_t> open;  // tables that reach to the current key or behind it
  for (const size_t i : BySmallest()) {
    std::erase_if(open, [&](size_t other) { return Order(Largest(other), Smallest(i)) < 0; });
    for (const size_t other : open) RETURN_IF_ERROR(AddPair(other, i, compare));
    open.push_back(i);
  }
  return Status::OK();
}

// The oldest table of those that wait for no other table. If every table waits for another one, the
// tables contradict each other.
size_t Placement::NextToPlace(std::vector<std::string>* notes) const {
  const size_t none = tables_.size();
  size_t next = none, any = none;
  const auto is_older = [this](size_t a, size_t b) {
    return tables_[a].meta.largest_seqno < tables_[b].meta.largest_seqno;
  };
  for (size_t i = 0; i < tables_.size(); i++) {
    if (nodes_[i].is_placed) continue;
    if (any == none || is_older(i, any)) any = i;
    if (nodes_[i].older_count > 0) continue;
    if (next == none || is_older(i, next)) next = i;
  }
  assert(notes != nullptr);
  assert(any != none);
  if (next != none) return next;
  notes->push_back(StrCat("table ", tables_[any].meta.number,
                          ": newer than another table for one key and older for another key; ",
                          "its place goes by its sequence numbers"));
  return any;
}

// The deepest level at which the table is above all tables that it overlaps and that have their
// places already, or beside those with which it may share a level. The table never moves deeper
// than its level before.
Level Placement::LevelFor(size_t i) const {
  if (options_.uses_level0_only) return Level();
  int deepest = options_.num_levels - 1;
  if (options_.reserves_last_level && !tables_[i].level) deepest--;
  for (const size_t other : nodes_[i].overlapping) {
    if (!nodes_[other].is_placed) continue;
    const int below = *tables_[other].level;
    deepest = std::min(deepest, ShareLevel(i, other) ? below : below - 1);
  }
  deepest = std::max(deepest, 0);
  if (tables_[i].level) deepest = std::min<int>(*tables_[i].level, deepest);
  return Level{deepest};
}

void Placement::Place(std::vector<std::string>* notes) {
  uint64_t epoch = 1;
  // New epochs are greater than all old ones, so that a table which is placed later is searched
  // first.
  for (const PlacedTable& table : tables_) epoch = std::max(epoch, table.meta.epoch_number);
  for (size_t placed = 0; placed < tables_.size(); placed++) {
    const size_t i = NextToPlace(notes);
    PlacedTable& table = tables_[i];
    const Level level = LevelFor(i);
    table.level = level;
    if (level == 0) {
      table.meta.epoch_number = ++epoch;
    } else if (table.meta.epoch_number == 0) {
      // Below level 0 the number does not matter, but 0 means "unknown".
      table.meta.epoch_number = 1;
    }
    nodes_[i].is_placed = true;
    for (const size_t newer : nodes_[i].newer) {
      // The count may be 0 already after a contradiction.
      if (nodes_[newer].older_count > 0) nodes_[newer].older_count--;
    }
  }
}

}  // namespace

Status PlaceTables(const PlacementOptions& options, const AgeQuestion& compare,
                   std::vector<PlacedTable>* tables, std::vector<std::string>* notes) {
  assert(tables != nullptr);
  assert(options.comparator != nullptr);
  assert(options.num_levels > 0);
  Placement placement(options, tables);
  const bool has_levels = std::all_of(tables->begin(), tables->end(), [](const PlacedTable& table) {
    return table.level.has_value();
  });
  // Sound levels from a MANIFEST are kept as they are.
  if (has_levels && placement.IsSound()) return Status::OK();
  RETURN_IF_ERROR(placement.FindOrder(compare));
  placement.Place(notes);
  return Status::OK();
}

}  // namespace ashlar
