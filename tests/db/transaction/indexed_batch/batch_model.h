// SPDX-License-Identifier: Apache-2.0
//
// What a batch with an index shows, worked out in the plainest way: a list of updates, folded into
// a sorted map whenever somebody asks. Merge operands are joined with commas.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/utilities/write_batch_with_index.h"

namespace ashlar {

// A value, or columns; a value is the column without a name.
struct Cell {
  bool is_entity = false;
  std::map<std::string, std::string> columns;

  static Cell Value(const std::string& value) { return {.columns = {{"", value}}}; }
  std::string DefaultColumn() const;
  std::string ToString() const;
};

struct ByComparator {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
// The keys of a family.
using Table = std::map<std::string, Cell, ByComparator>;

struct Update {
  WriteType type = kPutRecord;
  uint32_t family = 0;
  std::string key;
  Cell cell;  // of a put or an entity; of a merge the operand as a value
};

// The cell of a key after an update; nothing: it has none.
std::optional<Cell> Apply(const Update& update, const std::optional<Cell>& before);
void Apply(const Update& update, Table* table);

// An update as an iterator over the batch shows it.
struct IndexedUpdate {
  Update update;
  uint32_t ordinal = 1;
  bool replaced_single_delete = false;
};

class BatchModel {
 public:
  explicit BatchModel(bool overwrites) : overwrites_(overwrites) {}

  const std::vector<Update>& updates() const { return updates_; }
  void Add(const Update& update) { updates_.push_back(update); }
  void Clear();
  void SetSavePoint() { save_points_.push_back(updates_.size()); }
  bool HasSavePoint() const { return !save_points_.empty(); }
  // True if that took updates back.
  bool Rollback();
  void PopSavePoint() { save_points_.pop_back(); }

  // A family's keys with the updates on top; those outside of the bounds, null for none, left out.
  Table Over(Table table, uint32_t family, const std::string* lower,
             const std::string* upper) const;
  // The updates of a family in the order of an iterator.
  std::vector<IndexedUpdate> Indexed(uint32_t family, const Comparator* comparator) const;
  // What GetFromBatch() answers: OK with a cell, NotFound, or MergeInProgress.
  Status Get(uint32_t family, const Comparator* comparator, const std::string& key,
             Cell* cell) const;
  uint32_t SubBatches(const std::map<uint32_t, const Comparator*>& comparators) const;

 private:
  const bool overwrites_;
  std::vector<Update> updates_;
  std::vector<size_t> save_points_;
};

}  // namespace ashlar
