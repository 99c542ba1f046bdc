// SPDX-License-Identifier: Apache-2.0
//
// Event lines of the info log: which jobs begin and which files they make, under the names that
// tools for RocksDB's logs look for. Jobs say themselves how they ended.
//
// Any thread, without the DB mutex: a line is written to a file.
#pragma once

#include <vector>

#include "db/blob/blob_file.h"
#include "db/compaction/compaction_picker.h"
#include "db/output/output_writer.h"
#include "db/state/db_core.h"

namespace ashlar {

void LogFlushStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const std::vector<MemTable*>& memtables, FlushReason reason);
void LogCompactionStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                          const CompactionPlan& plan);
void LogTableCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const OutputTable& table);
void LogBlobFileCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                        const BlobFileAddition& file);

}  // namespace ashlar
