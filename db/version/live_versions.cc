// SPDX-License-Identifier: Apache-2.0
//
// Every table under a version was removed by an edit after it and is held by it: so whether another
// live version holds the table is asked of the next older one alone.
#include "db/version/live_versions.h"

#include <cassert>
#include <utility>

#include "util/str_cat.h"

namespace ashlar {

LiveVersions::Place LiveVersions::NewPlace() {
  Holds holds;
  holds[0];
  return holds.extract(holds.begin());
}

void LiveVersions::Add(uint64_t version_number, Place place,
                       const std::vector<std::unique_ptr<TableFile>>& added) noexcept {
  assert(empty() || last_holds_.rbegin()->first < version_number);
  assert(!place.empty());
  for (const auto& file : added) file->first_version = version_number;
  place.key() = version_number;
  last_holds_.insert(std::move(place));
}

void LiveVersions::Retire(std::vector<TableFile*> removed) noexcept {
  if (removed.empty()) return;
  assert(!empty());
  auto& [newest, tables] = *last_holds_.rbegin();
  assert(tables.empty() && removed.front()->first_version <= newest);
  tables = std::move(removed);
}

std::vector<TableFile*> LiveVersions::Remove(uint64_t version_number) {
  assert(version_number != 0);  // they are counted from 1
  const auto it = last_holds_.find(version_number);
  assert(it != last_holds_.end());
  const std::vector<TableFile*> tables = std::move(it->second);
  const auto older_end = last_holds_.erase(it);
  std::vector<TableFile*> unreachable;
  for (TableFile* file : tables) {
    if (older_end == last_holds_.begin() || std::prev(older_end)->first < file->first_version) {
      unreachable.push_back(file);
    } else {
      std::prev(older_end)->second.push_back(file);
    }
  }
  return unreachable;
}

std::string LiveVersions::DebugString() const {
  std::string text;
  for (const auto& [version_number, tables] : last_holds_) {
    StrAppend(&text, "version ", version_number, ":");
    for (const TableFile* file : tables) StrAppend(&text, " #", file->meta.number);
    StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace ashlar
