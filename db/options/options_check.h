// SPDX-License-Identifier: Apache-2.0
//
// Checks whether options are supported and consistent, and computes the values that replace
// "automatic". Pure functions.
#pragma once

#include <string>

#include "db/options/option_table.h"

namespace ashlar {

// Called when a database is opened or a family created, with the options as the program gave them,
// before anything is changed on disk. NotSupported names the first option with a value that is not
// built yet; InvalidArgument names one that is invalid or contradicts another.
Status CheckOptionsSupported(const DBOptions& db_options, const ColumnFamilyOptions& cf_options);
// Checks that a family uses nothing that the options of its database exclude. Both were checked by
// themselves before.
Status CheckFamilyFits(const DBOptions& db_options, const ColumnFamilyOptions& cf_options);
// The parts of CheckOptionsSupported(), for callers that have one of the structs only.
Status CheckDbOptionsSupported(const DBOptions& db_options);
Status CheckColumnFamilyOptionsSupported(const ColumnFamilyOptions& cf_options);
Status CheckTableOptionsSupported(const BlockBasedTableOptions& options);
// Also checks that they are compatible with the options of the family.
Status CheckTableOfFamily(const BlockBasedTableOptions& table, const ColumnFamilyOptions& options);

// The same for ReadOptions and WriteOptions. Called for every read and write, so that the checks
// are a few comparisons.
Status CheckReadOptionsSupported(const ReadOptions& options);
// For families with timestamps, without the timestamps.
Status CheckStampedReadOptionsSupported(const ReadOptions& options);
Status CheckIteratorOptionsSupported(const ReadOptions& options);  // for NewIterator(s)
// Whether an iterator with such options may read a family. The options themselves were checked
// before.
Status CheckIteratorFits(const ReadOptions& options, const ColumnFamilyOptions& family);
Status CheckWriteOptionsSupported(const WriteOptions& options);

// Whether DBOptions::write_compatible_with asks for RocksDB 7.8.
bool WritesForRocksDb78(const DBOptions& options);
// The table options for writing: the given ones without what write_compatible_with excludes.
BlockBasedTableOptions WrittenTableOptions(const DBOptions& db_options,
                                           const BlockBasedTableOptions& options);

// The options with every "automatic" replaced by the value that is used, and with values that are
// too small or too large replaced by the nearest valid ones. An open database reports these
// options.
DBOptions SanitizeDbOptions(const DBOptions& options);
ColumnFamilyOptions SanitizeColumnFamilyOptions(const DBOptions& db_options,
                                                const ColumnFamilyOptions& options);
// The two steps of SanitizeColumnFamilyOptions(). The first is done once, when a family is opened
// or created: it unifies the options about the age of tables, of which one may stand for another,
// and creates missing objects. SetOptions() changes its result.
ColumnFamilyOptions SettleColumnFamilyOptions(const DBOptions& db_options,
                                              const ColumnFamilyOptions& options);
// The second step is done after every change, always on a copy: so a value that was adjusted
// because of another option returns when that option changes back.
ColumnFamilyOptions SanitizeSettledOptions(const DBOptions& db_options,
                                           const ColumnFamilyOptions& settled);

// The value that arena_block_size = 0 stands for.
size_t AutomaticArenaBlockBytes(size_t write_buffer_size);

// The number of threads for flushes and for compactions, derived from max_background_jobs and the
// two older options.
struct BackgroundJobLimits {
  int flushes = 1;
  int compactions = 1;
};
BackgroundJobLimits GetBackgroundJobLimits(const DBOptions& options);

// The name of the first option whose text differs; empty if there is none.
std::string FirstDifference(OptionTable table, const ConfigOptions& config, const void* a,
                            const void* b);

}  // namespace ashlar
