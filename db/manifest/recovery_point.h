// SPDX-License-Identifier: Apache-2.0
//
// RecoveryPoint says how much of which MANIFEST counts, where that is not all of the one that
// CURRENT names: best-efforts recovery (db/opening/best_efforts.h) goes back to where all files are
// there. A plain value.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ashlar {

struct RecoveryPoint {
  std::string manifest;  // the name of the file
  // Of its changes (an atomic group is one) those that are read: families come, go and have their
  // numbers by these.
  uint64_t changes = 0;
  // Of these, those that count for the files of a family, by its id. Never more.
  std::map<uint32_t, uint64_t> family_changes;

  bool CountsForFiles(uint32_t family, uint64_t change) const {
    const auto limit = family_changes.find(family);
    return limit == family_changes.end() || change < limit->second;
  }
};

}  // namespace ashlar
