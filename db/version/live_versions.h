// SPDX-License-Identifier: Apache-2.0
//
// LiveVersions knows, for one column family, which tables some version still holds.
//
// Versions follow each other; a table is held by all of them from the one that added it to the one
// before its removal. So nobody counts references on tables: when a table is removed, it is noted
// under the newest version that holds it. When that version goes, the table is noted under the next
// older one that is left and holds it, and if there is none, it is obsolete.
//
// A new version costs what its edit changes, and the end of a version what is noted under it.
// Threads: the caller's lock.
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
  // By number of a live version: the tables whose newest holder it is, among those retired.
  using Holds = std::map<uint64_t, std::vector<TableFile*>>;
  // Room for one more version. Made before a change is recorded, so that Add() does not fail.
  using Place = Holds::node_type;
  static Place NewPlace();

  // The next version, which holds what the newest one does and `added`. Allocates nothing.
  void Add(uint64_t version_number, Place place,
           const std::vector<std::unique_ptr<TableFile>>& added) noexcept;
  // Versions to come do not hold these tables. There is a version that does. Called once for each
  // version at most, before the next one is added. Allocates nothing.
  void Retire(std::vector<TableFile*> removed) noexcept;
  // Nobody uses the version any more. Returns the tables that no version holds now, at most as many
  // as were noted under it. If memory runs out, it stays, and what is noted under it.
  std::vector<TableFile*> Remove(uint64_t version_number);
  size_t CountNoted(uint64_t version_number) const { return last_holds_.at(version_number).size(); }
  // Hands over the tables of versions that stayed, once nobody uses any. Allocates nothing.
  template <typename Take>
  void TakeAll(const Take& take) {
    for (const auto& [version_number, tables] : last_holds_) {
      for (TableFile* file : tables) take(file);
    }
    last_holds_.clear();
  }

  // Of all retired tables that a version still holds.
  uint64_t RetiredBytes() const;
  size_t size() const { return last_holds_.size(); }
  bool empty() const { return last_holds_.empty(); }
  // Each live version, oldest first, with the retired tables whose newest holder it is; a line
  // each.
  std::string DebugString() const;

 private:
  Holds last_holds_;
};

}  // namespace ashlar
