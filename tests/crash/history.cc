// SPDX-License-Identifier: Apache-2.0
//
// All states that a family may have are computed once per run, so checking an image takes a few
// lookups.
#include "tests/crash/history.h"

#include <algorithm>

namespace ashlar {

FamilyHashes HashesOf(const Contents& contents) {
  FamilyHashes hashes;
  for (const auto& [family, rows] : contents) hashes[family] = HashOf(rows);
  return hashes;
}

// ---- One family

void FamilyHistory::Write(uint64_t number, bool is_logged, const std::string& key,
                          const std::optional<std::string>& value) {
  std::optional<uint64_t> row_hash;
  if (value.has_value()) row_hash = HashOfRow(key, *value);
  StepFor(number, is_logged)->updates.push_back({key, row_hash, std::nullopt});
}

void FamilyHistory::DeleteRange(uint64_t number, bool is_logged, const DeletedRange& range) {
  StepFor(number, is_logged)->updates.push_back({range.begin, std::nullopt, range});
}

FamilyHistory::Step* FamilyHistory::StepFor(uint64_t number, bool is_logged) {
  if (steps_.empty() || steps_.back().number != number) steps_.push_back({number, is_logged, {}});
  last_write = number;
  return &steps_.back();
}

void FamilyHistory::Apply(const Step& step, RowHashes* rows, uint64_t* sum) {
  for (const Update& update : step.updates) {
    if (update.range.has_value()) {
      std::erase_if(*rows, [&](const auto& row) {
        if (!update.range->Holds(row.first)) return false;
        *sum -= row.second;
        return true;
      });
      continue;
    }
    const auto it = rows->find(update.key);
    if (it != rows->end()) {
      *sum -= it->second;
      rows->erase(it);
    }
    if (!update.row_hash.has_value()) continue;
    *sum += *update.row_hash;
    (*rows)[update.key] = *update.row_hash;
  }
}

void FamilyHistory::BuildIndex() const {
  if (indexed_steps_ == steps_.size()) return;
  indexed_steps_ = steps_.size();
  index_.clear();
  // If everything is in the log, flushes make no difference.
  const bool all_logged =
      std::all_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.is_logged; });
  RowHashes flushed_rows;
  uint64_t flushed_sum = 0;
  const auto count = static_cast<uint32_t>(steps_.size());
  for (uint32_t flushed = 0; flushed <= count; ++flushed) {
    if (flushed > 0) Apply(steps_[flushed - 1], &flushed_rows, &flushed_sum);
    index_[flushed_sum].emplace_back(flushed, flushed);
    if (all_logged) continue;
    RowHashes rows = flushed_rows;
    uint64_t sum = flushed_sum;
    for (uint32_t logged = flushed; logged < count; ++logged) {
      if (steps_[logged].is_logged) Apply(steps_[logged], &rows, &sum);
      index_[sum].emplace_back(flushed, logged + 1);
    }
  }
}

std::vector<bool> FamilyHistory::FittingPrefixes(uint64_t hash, uint64_t lowest_flushed,
                                                 uint64_t highest) const {
  BuildIndex();
  std::vector<bool> fitting(highest + 1);
  const auto known = index_.find(hash);
  if (known == index_.end()) return fitting;
  for (const auto& [flushed, logged] : known->second) {
    const uint64_t flushed_number = flushed == 0 ? 0 : steps_[flushed - 1].number;
    if (flushed_number < lowest_flushed) continue;
    const uint64_t from = logged == 0 ? 0 : steps_[logged - 1].number;
    const uint64_t to = logged < steps_.size() ? steps_[logged].number - 1 : highest;
    for (uint64_t w = std::max(from, flushed_number); w <= std::min(to, highest); ++w) {
      fitting[w] = true;
    }
  }
  return fitting;
}

// ---- All families

void History::CreateFamily(const std::string& name, uint64_t begin, uint64_t end) {
  families_.push_back(std::make_unique<FamilyHistory>(name));
  families_.back()->create_begin = begin;
  families_.back()->create_end = end;
}

void History::DropFamily(const std::string& name, uint64_t begin, uint64_t end) {
  FamilyHistory* family = Family(name);
  if (family == nullptr) return;
  family->drop_begin = begin;
  family->drop_end = end;
}

FamilyHistory* History::Family(const std::string& name) {
  for (const auto& family : families_) {
    if (family->name == name && family->drop_begin == UINT64_MAX) return family.get();
  }
  return nullptr;
}

uint64_t History::BeginWrite(uint64_t begin_call, bool is_logged) {
  writes_.push_back({begin_call, UINT64_MAX, is_logged});
  return writes_.size();
}

void History::Update(const std::string& family, const std::string& key,
                     const std::optional<std::string>& value) {
  FamilyHistory* history = Family(family);
  if (history != nullptr) history->Write(writes_.size(), writes_.back().is_logged, key, value);
}

void History::DeleteRange(const std::string& family, const DeletedRange& range) {
  FamilyHistory* history = Family(family);
  if (history != nullptr) history->DeleteRange(writes_.size(), writes_.back().is_logged, range);
}

void History::NoteFlushed(const std::string& family, uint64_t call) {
  FamilyHistory* history = Family(family);
  if (history != nullptr) history->flushed.emplace_back(call, history->last_write);
}

void History::NoteAllKept(uint64_t call) {
  NoteSynced(call);
  for (const auto& family : families_) {
    if (family->drop_begin == UINT64_MAX) family->flushed.emplace_back(call, family->last_write);
  }
}

uint64_t History::LowestFlushed(const FamilyHistory& family, uint64_t index) {
  uint64_t lowest = 0;
  for (const auto& [call, number] : family.flushed) {
    if (call <= index) lowest = std::max(lowest, number);
  }
  return lowest;
}

History::Bounds History::BoundsAt(uint64_t index, CrashPolicy policy) const {
  Bounds bounds;
  for (uint64_t n = 1; n <= writes_.size(); ++n) {
    if (writes_[n - 1].begin <= index) bounds.highest = n;
  }
  const auto raise = [&](const std::vector<std::pair<uint64_t, uint64_t>>& notes) {
    for (const auto& [call, number] : notes) {
      if (call <= index) bounds.lowest = std::max(bounds.lowest, number);
    }
  };
  raise(synced_);
  // The death of the process alone loses nothing that reached the kernel.
  if (policy == CrashPolicy::kAll) raise(delivered_);
  return bounds;
}

std::string History::JudgeFamilies(const FamilyHashes& found, uint64_t index) const {
  FamilyHashes unexplained = found;
  for (const auto& family : families_) {
    const bool may = family->create_begin <= index && index < family->drop_end;
    const bool must = family->create_end <= index && index <= family->drop_begin;
    if (must && found.count(family->name) == 0) return "family " + family->name + " is gone";
    if (may) unexplained.erase(family->name);
  }
  unexplained.erase("default");
  return unexplained.empty() ? "" : "family " + unexplained.begin()->first + " is back";
}

std::string History::Judge(const FamilyHashes& found, uint64_t index, CrashPolicy policy) const {
  std::string wrong = JudgeFamilies(found, index);
  if (!wrong.empty()) return wrong;
  const Bounds bounds = BoundsAt(index, policy);
  std::vector<bool> fitting(bounds.highest + 1, true);
  for (const auto& family : families_) {
    const auto state = found.find(family->name);
    if (state == found.end() || family->create_begin > index || index >= family->drop_end) continue;
    const std::vector<bool> here =
        family->FittingPrefixes(state->second, LowestFlushed(*family, index), bounds.highest);
    for (uint64_t w = 0; w <= bounds.highest; ++w) fitting[w] = fitting[w] && here[w];
  }
  for (uint64_t w = bounds.highest + 1; w-- > bounds.lowest;) {
    if (fitting[w]) return "";
  }
  return Explain(found, bounds, index);
}

std::string History::Explain(const FamilyHashes& found, const Bounds& bounds,
                             uint64_t index) const {
  std::string text = "no such prefix; allowed " + std::to_string(bounds.lowest) + ".." +
                     std::to_string(bounds.highest) + "; fitting by family:";
  for (const auto& family : families_) {
    const auto state = found.find(family->name);
    if (state == found.end()) continue;
    const uint64_t lowest_flushed = LowestFlushed(*family, index);
    text += " " + family->name + " (flushed " + std::to_string(lowest_flushed) + ") ";
    for (const uint64_t lowest : {lowest_flushed, uint64_t{0}}) {
      const std::vector<bool> here = family->FittingPrefixes(state->second, lowest, writes_.size());
      for (uint64_t w = 0; w < here.size(); ++w) {
        if (here[w]) text += std::to_string(w) + ",";
      }
      if (lowest == 0) break;
      text += " or with less flushed ";
    }
  }
  return text;
}

}  // namespace ashlar
