// SPDX-License-Identifier: Apache-2.0
//
// RecoveryPoint selects a MANIFEST and the part of it to apply. Best-efforts recovery
// (db/opening/best_efforts.h) uses it to go back to a state in which all files exist; a normal
// opening applies the whole MANIFEST that CURRENT names. A plain value.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ashlar {

struct RecoveryPoint {
  std::string manifest;  // the name of the file
  // Number of changes to read from the start of the MANIFEST; an atomic group is one change. These
  // changes determine which families exist and their ids.
  uint64_t changes = 0;
  // By family id: the number of changes that are applied to the files of the family; at most
  // `changes`.
  std::map<uint32_t, uint64_t> family_changes;

  // Whether the change with this index applies to the files of the family.
  bool CountsForFiles(uint32_t family, uint64_t change) const {
    const auto limit = family_changes.find(family);
    return limit == family_changes.end() || change < limit->second;
  }
};

}  // namespace ashlar
