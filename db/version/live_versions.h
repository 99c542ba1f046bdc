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
#include <vector>

#include "db/version/file_metadata.h"

namespace ashlar {

class LiveVersions {
 public:
  // The next version, which holds what the newest one does and `added`.
  void Add(uint64_t version_number, const std::vector<TableFile*>& added);
  // Versions to come do not hold these tables. There is a version that does.
  void Retire(const std::vector<TableFile*>& removed);
  // Nobody uses the version any more. Returns the tables that no version holds now.
  std::vector<TableFile*> Remove(uint64_t version_number);

  bool empty() const { return last_holds_.empty(); }

 private:
  // By number of a live version: the tables whose newest holder it is, among those retired.
  std::map<uint64_t, std::vector<TableFile*>> last_holds_;
};

}  // namespace ashlar
