// SPDX-License-Identifier: Apache-2.0
//
// The keys of the maps that tell of write stalls.
#include <string>

#include "ashlar/db.h"

namespace ashlar {

const std::string& WriteStallStatsMapKeys::TotalStops() {
  static const auto* key = new std::string("total-stops");
  return *key;
}
const std::string& WriteStallStatsMapKeys::TotalDelays() {
  static const auto* key = new std::string("total-delays");
  return *key;
}
const std::string& WriteStallStatsMapKeys::CFL0FileCountLimitDelaysWithOngoingCompaction() {
  static const auto* key = new std::string("cf-l0-file-count-limit-delays-with-ongoing-compaction");
  return *key;
}
const std::string& WriteStallStatsMapKeys::CFL0FileCountLimitStopsWithOngoingCompaction() {
  static const auto* key = new std::string("cf-l0-file-count-limit-stops-with-ongoing-compaction");
  return *key;
}

std::string WriteStallStatsMapKeys::CauseConditionCount(WriteStallCause cause,
                                                        WriteStallCondition condition) {
  const char* cause_name =
      cause == WriteStallCause::kMemtableLimit             ? "memtable-limit"
      : cause == WriteStallCause::kL0FileCountLimit        ? "l0-file-count-limit"
      : cause == WriteStallCause::kPendingCompactionBytes  ? "pending-compaction-bytes"
      : cause == WriteStallCause::kWriteBufferManagerLimit ? "write-buffer-manager-limit"
                                                           : nullptr;
  const char* condition_name = condition == WriteStallCondition::kDelayed   ? "delays"
                               : condition == WriteStallCondition::kStopped ? "stops"
                                                                            : nullptr;
  if (cause_name == nullptr || condition_name == nullptr) return "";
  return std::string(cause_name) + "-" + condition_name;
}

}  // namespace ashlar
