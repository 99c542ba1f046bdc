// SPDX-License-Identifier: Apache-2.0
//
// A table is noted under the last live version that holds it: no later version holds the table.
// When this version ends, only the next older live version must be checked to see whether the table
// is still held.
#include "db/version/live_versions.h"

#include <cassert>
#include <utility>

#include "util/text/str_cat.h"

namespace ashlar {

LiveVersions::Place LiveVersions::NewPlace() {
  Holds holds;
  holds[0];
  return holds.extract(holds.begin());
}

// Must not fail: the change is already in the MANIFEST. So the place was allocated before.
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
  assert(tables.empty());
  assert(removed.front()->first_version <= newest);
  tables = std::move(removed);
}

// Returns the tables that no live version holds any more. The caller closes and deletes them.
std::vector<TableFile*> LiveVersions::Remove(uint64_t version_number) {
  assert(version_number != 0);  // versions are numbered from 1
  const auto it = last_holds_.find(version_number);
  assert(it != last_holds_.end());
  const bool has_older = it != last_holds_.begin();
  std::vector<TableFile*> unreachable;
  unreachable.reserve(it->second.size());
  if (has_older) {
    std::vector<TableFile*>& older = std::prev(it)->second;
    older.reserve(older.size() + it->second.size());
  }
  // From here on nothing allocates.
  for (TableFile* file : it->second) {
    if (!has_older || std::prev(it)->first < file->first_version) {
      unreachable.push_back(file);
    } else {
      std::prev(it)->second.push_back(file);
    }
  }
  last_holds_.erase(it);
  return unreachable;
}

uint64_t LiveVersions::RetiredBytes() const {
  uint64_t bytes = 0;
  for (const auto& [version_number, tables] : last_holds_) {
    for (const TableFile* file : tables) bytes += file->meta.file_size;
  }
  return bytes;
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
