// SPDX-License-Identifier: Apache-2.0
//
// The file that an ingestion which replaces a range (IngestExternalFileArg::atomic_replace_range)
// puts before its files: a table with one range tombstone. It is installed together with the other
// files, and hides all older data in the range.
//
// Threads: one at a time; without locks. Crash: the next opening deletes a staged file.
#pragma once

#include <string>

#include "ashlar/options.h"
#include "db/ingestion/external_file.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// InvalidArgument or NotSupported if the range is invalid or not compatible with other options of
// the call. `files` are the files that replace it.
Status CheckReplacedRange(const IngestExternalFileArg& arg, const InternalKeyComparator& comparator,
                          const std::vector<ExternalFile>& files);

// The file is staged under `number`; its source is its own path.
Result<ExternalFile> WriteRangeFile(const DbCore& core, const InspectOptions& inspect,
                                    const ColumnFamilyOptions& options, const RangeOpt& range,
                                    FileNumber number);

}  // namespace ashlar
