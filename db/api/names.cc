// SPDX-License-Identifier: Apache-2.0
//
// The names of the properties of a database, and of the keys in the write stall maps. Dashboards
// match these names.
#include "ashlar/db.h"

namespace ashlar {

// Tables by level: these are followed by the number of a level.
const std::string DB::Properties::kNumFilesAtLevelPrefix = "rocksdb.num-files-at-level";
const std::string DB::Properties::kCompressionRatioAtLevelPrefix =
    "rocksdb.compression-ratio-at-level";
// Reports for people, of several lines.
const std::string DB::Properties::kStats = "rocksdb.stats";
const std::string DB::Properties::kSSTables = "rocksdb.sstables";
const std::string DB::Properties::kCFStats = "rocksdb.cfstats";
const std::string DB::Properties::kCFStatsNoFileHistogram = "rocksdb.cfstats-no-file-histogram";
const std::string DB::Properties::kCFFileHistogram = "rocksdb.cf-file-histogram";
const std::string DB::Properties::kCFWriteStallStats = "rocksdb.cf-write-stall-stats";
const std::string DB::Properties::kDBWriteStallStats = "rocksdb.db-write-stall-stats";
const std::string DB::Properties::kDBStats = "rocksdb.dbstats";
const std::string DB::Properties::kLevelStats = "rocksdb.levelstats";
const std::string DB::Properties::kBlockCacheEntryStats = "rocksdb.block-cache-entry-stats";
const std::string DB::Properties::kFastBlockCacheEntryStats =
    "rocksdb.fast-block-cache-entry-stats";
// Counts of memtables, flushes, compactions and errors.
const std::string DB::Properties::kNumImmutableMemTable = "rocksdb.num-immutable-mem-table";
const std::string DB::Properties::kNumImmutableMemTableFlushed =
    "rocksdb.num-immutable-mem-table-flushed";
const std::string DB::Properties::kMemTableFlushPending = "rocksdb.mem-table-flush-pending";
const std::string DB::Properties::kNumRunningFlushes = "rocksdb.num-running-flushes";
const std::string DB::Properties::kCompactionPending = "rocksdb.compaction-pending";
const std::string DB::Properties::kNumRunningCompactions = "rocksdb.num-running-compactions";
const std::string DB::Properties::kNumRunningCompactionSortedRuns =
    "rocksdb.num-running-compaction-sorted-runs";
const std::string DB::Properties::kCompactionAbortCount = "rocksdb.compaction-abort-count";
const std::string DB::Properties::kNumUnscheduledCompactions =
    "rocksdb.num-unscheduled-compactions";
const std::string DB::Properties::kBackgroundErrors = "rocksdb.background-errors";
// Sizes of memtables in bytes, and the entries in them.
const std::string DB::Properties::kCurSizeActiveMemTable = "rocksdb.cur-size-active-mem-table";
const std::string DB::Properties::kCurSizeAllMemTables = "rocksdb.cur-size-all-mem-tables";
const std::string DB::Properties::kSizeAllMemTables = "rocksdb.size-all-mem-tables";
const std::string DB::Properties::kNumEntriesActiveMemTable =
    "rocksdb.num-entries-active-mem-table";
const std::string DB::Properties::kNumEntriesImmMemTables = "rocksdb.num-entries-imm-mem-tables";
const std::string DB::Properties::kNumDeletesActiveMemTable =
    "rocksdb.num-deletes-active-mem-table";
const std::string DB::Properties::kNumDeletesImmMemTables = "rocksdb.num-deletes-imm-mem-tables";
const std::string DB::Properties::kEstimateNumKeys = "rocksdb.estimate-num-keys";
const std::string DB::Properties::kEstimateTableReadersMem = "rocksdb.estimate-table-readers-mem";
const std::string DB::Properties::kIsFileDeletionsEnabled = "rocksdb.is-file-deletions-enabled";
const std::string DB::Properties::kNumSnapshots = "rocksdb.num-snapshots";
const std::string DB::Properties::kOldestSnapshotTime = "rocksdb.oldest-snapshot-time";
const std::string DB::Properties::kOldestSnapshotSequence = "rocksdb.oldest-snapshot-sequence";
const std::string DB::Properties::kNumLiveVersions = "rocksdb.num-live-versions";
const std::string DB::Properties::kCurrentSuperVersionNumber =
    "rocksdb.current-super-version-number";
const std::string DB::Properties::kEstimateLiveDataSize = "rocksdb.estimate-live-data-size";
const std::string DB::Properties::kMinLogNumberToKeep = "rocksdb.min-log-number-to-keep";
const std::string DB::Properties::kMinObsoleteSstNumberToKeep =
    "rocksdb.min-obsolete-sst-number-to-keep";
// Sizes of tables in bytes, and what compactions and writes are doing.
const std::string DB::Properties::kTotalSstFilesSize = "rocksdb.total-sst-files-size";
const std::string DB::Properties::kLiveSstFilesSize = "rocksdb.live-sst-files-size";
const std::string DB::Properties::kObsoleteSstFilesSize = "rocksdb.obsolete-sst-files-size";
const std::string DB::Properties::kLiveSstFilesSizeAtTemperature =
    "rocksdb.live-sst-files-size-at-temperature";
const std::string DB::Properties::kBaseLevel = "rocksdb.base-level";
const std::string DB::Properties::kEstimatePendingCompactionBytes =
    "rocksdb.estimate-pending-compaction-bytes";
const std::string DB::Properties::kAggregatedTableProperties =
    "rocksdb.aggregated-table-properties";
const std::string DB::Properties::kAggregatedTablePropertiesAtLevel =
    "rocksdb.aggregated-table-properties-at-level";
const std::string DB::Properties::kActualDelayedWriteRate = "rocksdb.actual-delayed-write-rate";
const std::string DB::Properties::kIsWriteStopped = "rocksdb.is-write-stopped";
const std::string DB::Properties::kEstimateOldestKeyTime = "rocksdb.estimate-oldest-key-time";
// The block cache of the family, in bytes.
const std::string DB::Properties::kBlockCacheCapacity = "rocksdb.block-cache-capacity";
const std::string DB::Properties::kBlockCacheUsage = "rocksdb.block-cache-usage";
const std::string DB::Properties::kBlockCachePinnedUsage = "rocksdb.block-cache-pinned-usage";
const std::string DB::Properties::kOptionsStatistics = "rocksdb.options-statistics";
// Blob files and their cache, in bytes.
const std::string DB::Properties::kNumBlobFiles = "rocksdb.num-blob-files";
const std::string DB::Properties::kBlobStats = "rocksdb.blob-stats";
const std::string DB::Properties::kTotalBlobFileSize = "rocksdb.total-blob-file-size";
const std::string DB::Properties::kLiveBlobFileSize = "rocksdb.live-blob-file-size";
const std::string DB::Properties::kLiveBlobFileGarbageSize = "rocksdb.live-blob-file-garbage-size";
const std::string DB::Properties::kBlobCacheCapacity = "rocksdb.blob-cache-capacity";
const std::string DB::Properties::kBlobCacheUsage = "rocksdb.blob-cache-usage";
const std::string DB::Properties::kBlobCachePinnedUsage = "rocksdb.blob-cache-pinned-usage";

}  // namespace ashlar
