// SPDX-License-Identifier: Apache-2.0
//
// Whether options can be honoured, whether they fit together, and what is put in for "automatic".
// Pure functions.
#pragma once

#include <string>

#include "db/options/option_table.h"

namespace ashlar {

// Called at open and at the creation of a family, with options as the program gave them.
// NotSupported names the first option with a value that is not built yet; InvalidArgument, one that
// makes no sense or contradicts another. Nothing has been touched then.
Status CheckOptionsSupported(const DBOptions& db_options, const ColumnFamilyOptions& cf_options);
// That a family has nothing which the database rules out.
Status CheckFamilyFits(const DBOptions& db_options, const ColumnFamilyOptions& cf_options);
Status CheckDbOptionsSupported(const DBOptions& db_options);
Status CheckColumnFamilyOptionsSupported(const ColumnFamilyOptions& cf_options);
Status CheckTableOptionsSupported(const BlockBasedTableOptions& options);
// The same, and that they go with the family's.
Status CheckTableOfFamily(const BlockBasedTableOptions& table, const ColumnFamilyOptions& options);

// ReadOptions and WriteOptions: the same, per call. Cheap.
Status CheckReadOptionsSupported(const ReadOptions& options);
Status CheckIteratorOptionsSupported(const ReadOptions& options);  // for NewIterator(s)
// Whether an iterator may read a family with such options; the options themselves were checked.
Status CheckIteratorFits(const ReadOptions& options, const ColumnFamilyOptions& family);
Status CheckWriteOptionsSupported(const WriteOptions& options);

// What DBOptions::write_compatible_with says.
bool WritesForRocksDb78(const DBOptions& options);
// The table options to write by: the given ones, as far as write_compatible_with allows.
BlockBasedTableOptions WrittenTableOptions(const DBOptions& db_options,
                                           const BlockBasedTableOptions& options);

// The options with every "automatic" replaced by the value that is used, and with values that are
// too small or too large moved to the nearest that works: what an open database reports.
DBOptions SanitizeDbOptions(const DBOptions& options);
ColumnFamilyOptions SanitizeColumnFamilyOptions(const DBOptions& db_options,
                                                const ColumnFamilyOptions& options);
// Its two steps. Once, when a family is opened or made: how old tables may get, as one option says
// it for another, and objects that are missing. SetOptions() changes what comes out.
ColumnFamilyOptions SettleColumnFamilyOptions(const ColumnFamilyOptions& options);
// After every change, always on a copy: a value that was moved because of another one is back when
// that one is.
ColumnFamilyOptions SanitizeSettledOptions(const DBOptions& db_options,
                                           const ColumnFamilyOptions& settled);

// What arena_block_size = 0 becomes.
size_t AutomaticArenaBlockBytes(size_t write_buffer_size);

// Threads for flushes and for compactions, from max_background_jobs and the two older options.
struct BackgroundJobLimits {
  int flushes = 1;
  int compactions = 1;
};
BackgroundJobLimits GetBackgroundJobLimits(const DBOptions& options);

// Name of the first option whose text differs; empty if there is none.
std::string FirstDifference(OptionTable table, const ConfigOptions& config, const void* a,
                            const void* b);

}  // namespace ashlar
