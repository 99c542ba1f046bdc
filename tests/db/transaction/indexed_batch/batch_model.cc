// SPDX-License-Identifier: Apache-2.0
//
// Each question is answered from the list of updates.
#include "tests/db/transaction/indexed_batch/batch_model.h"

namespace ashlar {

std::string Cell::DefaultColumn() const {
  const auto found = columns.find("");
  return found == columns.end() ? "" : found->second;
}

std::string Cell::ToString() const {
  std::string text;
  for (const auto& [name, value] : columns) text += name + ":" + value + " ";
  return text;
}

std::optional<Cell> Apply(const Update& update, const std::optional<Cell>& before) {
  if (update.type == kDeleteRecord || update.type == kSingleDeleteRecord) return std::nullopt;
  if (update.type != kMergeRecord) return update.cell;
  if (!before.has_value()) return update.cell;
  Cell merged = *before;
  const bool has_default = merged.columns.contains("");
  std::string& column = merged.columns[""];
  column = (has_default ? column + "," : "") + update.cell.DefaultColumn();
  return merged;
}

void Apply(const Update& update, Table* table) {
  const auto found = table->find(update.key);
  std::optional<Cell> before;
  if (found != table->end()) before = found->second;
  const std::optional<Cell> after = Apply(update, before);
  // The bytes of the key are those of its newest update.
  if (found != table->end()) table->erase(found);
  if (after.has_value()) table->emplace(update.key, *after);
}

void BatchModel::Clear() {
  updates_.clear();
  save_points_.clear();
}

bool BatchModel::Rollback() {
  const bool takes_back = updates_.size() != save_points_.back();
  updates_.resize(save_points_.back());
  save_points_.pop_back();
  return takes_back;
}

Table BatchModel::Over(Table table, uint32_t family, const std::string* lower,
                       const std::string* upper) const {
  const Comparator* const comparator = table.key_comp().comparator;
  for (const Update& update : updates_) {
    if (update.family != family) continue;
    if (lower != nullptr && comparator->Compare(update.key, *lower) < 0) continue;
    if (upper != nullptr && comparator->Compare(update.key, *upper) >= 0) continue;
    Apply(update, &table);
  }
  return table;
}

std::vector<IndexedUpdate> BatchModel::Indexed(uint32_t family,
                                               const Comparator* comparator) const {
  std::map<std::string, std::vector<IndexedUpdate>, ByComparator> keys{ByComparator{comparator}};
  for (const Update& update : updates_) {
    if (update.family != family) continue;
    std::vector<IndexedUpdate>& list = keys[update.key];
    IndexedUpdate indexed{.update = update};
    if (!list.empty()) {
      const IndexedUpdate& newest = list.back();
      indexed.ordinal = newest.ordinal + 1;
      if (overwrites_ && update.type != kMergeRecord) {
        indexed.replaced_single_delete =
            newest.replaced_single_delete || newest.update.type == kSingleDeleteRecord;
        list.pop_back();
      }
    }
    list.push_back(indexed);
  }
  std::vector<IndexedUpdate> all;
  for (const auto& [key, list] : keys) all.insert(all.end(), list.rbegin(), list.rend());
  return all;
}

Status BatchModel::Get(uint32_t family, const Comparator* comparator, const std::string& key,
                       Cell* cell) const {
  std::optional<Cell> state;
  bool is_known = false;
  bool has_operands = false;
  for (const Update& update : updates_) {
    if (update.family != family || comparator->Compare(update.key, key) != 0) continue;
    state = Apply(update, state);
    is_known = is_known || update.type != kMergeRecord;
    has_operands = true;
  }
  if (!has_operands) return Status::NotFound();
  if (!is_known) return Status::MergeInProgress();
  if (!state.has_value()) return Status::NotFound();
  *cell = *state;
  return Status::OK();
}

uint32_t BatchModel::SubBatches(const std::map<uint32_t, const Comparator*>& comparators) const {
  uint32_t count = 1;
  size_t begin = 0;
  for (size_t i = 0; i < updates_.size(); ++i) {
    for (size_t j = begin; j < i; ++j) {
      const bool is_same =
          updates_[j].family == updates_[i].family &&
          comparators.at(updates_[i].family)->Compare(updates_[j].key, updates_[i].key) == 0;
      if (!is_same) continue;
      ++count;
      begin = i;
      break;
    }
  }
  return count;
}

}  // namespace ashlar
