// SPDX-License-Identifier: Apache-2.0
//
// A family needs the logs from its oldest unflushed write on; the database, those of any family. A
// busy family's log is as long as its memtables are large: a limit below that would flush early.
#include "db/state/log_needs.h"

#include <algorithm>
#include <cassert>

namespace ashlar {
namespace {

constexpr uint64_t kLogBytesOfBudget = 4;
constexpr uint64_t kMostForManyFamilies = uint64_t{1} << 30;

}  // namespace

FileNumber OldestLogNeeded(const DbCore& core, std::span<const LogsOfFamily> after) {
  const FileNumber current_log = core.wals->current_number();
  // The undecided sections first: a commit notes the log in its memtables before the section leaves
  // the list.
  FileNumber oldest = std::min(current_log, core.prepared_logs.Oldest());
  for (const ColumnFamilyData* family : core.families.All()) {
    if (family->is_dropped()) continue;
    const auto changed = std::find_if(after.begin(), after.end(),
                                      [family](const auto& logs) { return logs.family == family; });
    oldest = std::min(oldest, changed != after.end() ? changed->log_number
                                                     : family->OldestLogNeeded(current_log));
    oldest = std::min(oldest,
                      changed != after.end() ? changed->prepared_log : family->OldestPreparedLog());
  }
  assert(oldest <= current_log);
  return oldest;
}

FileNumber OldestLogOfManifest(const VersionSet& versions) {
  const FileNumber recorded = versions.min_log_number_to_keep();
  return recorded > 0 ? recorded : versions.LowestLogNumber();
}

uint64_t LogLimit(uint64_t asked_for, const std::vector<uint64_t>& budgets, uint64_t most_of_log) {
  if (asked_for > 0) return std::min(asked_for, most_of_log);
  uint64_t sum = 0, largest = 0;
  for (const uint64_t budget : budgets) {
    sum += budget;
    largest = std::max(largest, budget);
  }
  return std::min({kLogBytesOfBudget * sum,
                   std::max(kMostForManyFamilies, kLogBytesOfBudget * largest), most_of_log});
}

}  // namespace ashlar
