// SPDX-License-Identifier: Apache-2.0
//
// The names of the reasons in listener.h, for the event log and the statistics.
#include "ashlar/listener.h"

#include <cstddef>
#include <iterator>

namespace ashlar {
namespace {

constexpr const char* kCompactionReasons[] = {
    "Unknown",
    "LevelL0FilesNum",
    "LevelMaxLevelSize",
    "UniversalSizeAmplification",
    "UniversalSizeRatio",
    "UniversalSortedRunNum",
    "FIFOMaxSize",
    "FIFOReduceNumFiles",
    "FIFOTtl",
    "ManualCompaction",
    "FilesMarkedForCompaction",
    "BottommostFiles",
    "Ttl",
    "Flush",
    "ExternalSstIngestion",
    "PeriodicCompaction",
    "ChangeTemperature",
    "ForcedBlobGC",
    "RoundRobinTtl",
    "RefitLevel",
    "ReadTriggered",
};
static_assert(std::size(kCompactionReasons) ==
              static_cast<size_t>(CompactionReason::kNumOfReasons));

constexpr const char* kFlushReasons[] = {
    "Other Reasons",
    "Get Live Files",
    "Shut down",
    "External File Ingestion",
    "Manual Compaction",
    "Write Buffer Manager",
    "Write Buffer Full",
    "Test",
    "Delete Files",
    "Auto Compaction",
    "Manual Flush",
    "Error Recovery",
    "Error Recovery Retry Flush",
    "WAL Full",
    "Catch Up After Error Recovery",
    "Memtable Max Range Deletions",
};
static_assert(std::size(kFlushReasons) ==
              static_cast<size_t>(FlushReason::kMemtableMaxRangeDeletions) + 1);

}  // namespace

const char* GetCompactionReasonString(CompactionReason compaction_reason) {
  const auto index = static_cast<size_t>(compaction_reason);
  return index < std::size(kCompactionReasons) ? kCompactionReasons[index] : "Invalid";
}

const char* GetFlushReasonString(FlushReason flush_reason) {
  const auto index = static_cast<size_t>(flush_reason);
  return index < std::size(kFlushReasons) ? kFlushReasons[index] : "Invalid";
}

}  // namespace ashlar
