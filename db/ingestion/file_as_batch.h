// SPDX-License-Identifier: Apache-2.0
//
// FilesAsBatch makes one write of small external files: for those that writers overlap again and
// again, where the flush that has to go before an installation would hold the writers up.
//
// What comes of it is the same as of an installation: all entries of all families at one moment,
// newer than everything before, durable when the write is, which is synced. The files are not in
// the database then, but what they hold is in its log. Threads: one at a time; no lock needed.
#pragma once

#include <cstdint>

#include "ashlar/write_batch.h"
#include "db/ingestion/external_file.h"

namespace ashlar {

// As much is written; larger files are installed.
uint64_t MaxBytesAsBatch(uint64_t write_buffer_bytes);

// Appends the entries of a staged file for this family. NotSupported if one of them cannot be
// written by a batch.
Status AppendFile(const InspectOptions& options, const ExternalFile& file, WriteBatch* batch);

}  // namespace ashlar
