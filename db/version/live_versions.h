// SPDX-License-Identifier: Apache-2.0
//
// LiveVersions knows, for one column family, which tables are held by at least one version.
//
// Versions form a sequence. A table is held by every version from the one that added it to the last
// one before its removal, so no reference count per table is needed. When a table is removed, it is
// noted under the newest version that holds it. When that version is released, the table is noted
// under the next older live version that holds it. If there is no such version, the table is
// obsolete.
//
// Cost: adding a version is proportional to its edit; removing a version is proportional to the
// number of tables that are noted under it. Threads: the caller holds a lock
// (VersionSet::obsolete_mutex_).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/manifest/file_metadata.h"

namespace ashlar {

class LiveVersions {
 public:
  // By number of a live version: the retired tables whose newest live holder is this version.
  using Holds = std::map<uint64_t, std::vector<TableFile*>>;
  // A preallocated map node for one more version. The caller makes it before the change is written
  // to the MANIFEST, so that Add() cannot fail afterwards.
  using Place = Holds::node_type;
  static Place NewPlace();

  // Adds the next version, which holds `added` and all tables of the newest version that were not
  // retired. Allocates nothing.
  void Add(uint64_t version_number, Place place,
           const std::vector<std::unique_ptr<TableFile>>& added) noexcept;
  // Later versions do not hold these tables. Preconditions: at least one version is live, and
  // Retire() has not been called since the last Add(). Allocates nothing.
  void Retire(std::vector<TableFile*> removed) noexcept;
  // Removes a version that has no references any more. Returns the tables that no version holds
  // now, at most as many as were noted under this version. If memory runs out, the version stays,
  // with all tables noted under it.
  std::vector<TableFile*> Remove(uint64_t version_number);
  size_t CountNoted(uint64_t version_number) const { return last_holds_.at(version_number).size(); }
  // Passes to `take` the tables of all versions that remain, when no version is in use any more.
  // Allocates nothing.
  template <typename Take>
  void TakeAll(const Take& take) {
    for (const auto& [version_number, tables] : last_holds_) {
      for (TableFile* file : tables) take(file);
    }
    last_holds_.clear();
  }

  // Calls `call` with each retired table that a version still holds.
  template <typename Call>
  void ForEachRetired(const Call& call) const {
    for (const auto& [version_number, tables] : last_holds_) {
      for (const TableFile* file : tables) call(*file);
    }
  }
  // Total size in bytes of the retired tables that a version still holds.
  uint64_t RetiredBytes() const;
  size_t size() const { return last_holds_.size(); }
  bool empty() const { return last_holds_.empty(); }
  // One line for each live version, oldest first: the version and the retired tables whose newest
  // holder it is.
  std::string DebugString() const;

 private:
  Holds last_holds_;
};

}  // namespace ashlar
