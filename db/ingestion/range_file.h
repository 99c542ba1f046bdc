// SPDX-License-Identifier: Apache-2.0
//
// What an ingestion that replaces a range (IngestExternalFileArg::atomic_replace_range) puts before
// its files: a table of its own with one range tombstone, which comes with them or not at all, and
// hides all that was there from everybody who sees them.
//
// Threads: one at a time; without locks. Crash: a name that the next open deletes.
#pragma once

#include <string>

#include "ashlar/options.h"
#include "db/ingestion/external_file.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// InvalidArgument or NotSupported for a range, or for other options of the call, that do not go
// with it. `files` are those that come in its place.
Status CheckReplacedRange(const IngestExternalFileArg& arg, const InternalKeyComparator& comparator,
                          const std::vector<ExternalFile>& files);

// Staged under this number; its source is its own path.
Result<ExternalFile> WriteRangeFile(const DbCore& core, const InspectOptions& inspect,
                                    const ColumnFamilyOptions& options, const RangeOpt& range,
                                    FileNumber number);

}  // namespace ashlar
