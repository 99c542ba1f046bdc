// SPDX-License-Identifier: Apache-2.0
//
// Converts small external files into one write. This is used if writers overlap the files again and
// again, so that the flush before an installation would stall the writers.
//
// The result is the same as that of an installation: all entries of all families become visible at
// one moment, are newer than everything before, and are durable, because the write is synced. The
// files themselves do not enter the database; their entries are in the log. Threads: one at a time;
// no lock needed.
#pragma once

#include <cstdint>

#include "ashlar/write_batch.h"
#include "db/ingestion/external_file.h"

namespace ashlar {

// The largest size that is converted into a write; larger files are installed.
uint64_t MaxBytesAsBatch(uint64_t write_buffer_bytes);

// Appends the entries of a staged file for its family. NotSupported if a batch cannot express one
// of them.
Status AppendFile(const InspectOptions& options, const ExternalFile& file, WriteBatch* batch);

}  // namespace ashlar
