// SPDX-License-Identifier: Apache-2.0
//
// Event lines of the info log: which jobs begin and which files they make, under the names that
// tools for RocksDB's logs look for. Jobs say themselves how they ended.
//
// Any thread, without the DB mutex: a line is written to a file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/blob/blob_file.h"
#include "db/compaction/compaction_picker.h"
#include "db/output/output_writer.h"
#include "db/state/db_core.h"

namespace ashlar {

// What a family was when a job had ended.
struct FamilyShape {
  std::vector<uint64_t> tables;                         // by level
  uint64_t oldest_blob_file = 0, newest_blob_file = 0;  // 0: none
  uint64_t sealed_memtables = 0;
};
FamilyShape ShapeOf(const ColumnFamilyData& family) REQUIRES(db_mutex);
void AddShape(const FamilyShape& shape, EventLine* line);

void LogFlushStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const std::vector<MemTable*>& memtables, FlushReason reason);
// `oldest_snapshot`: none is told as -1.
void LogCompactionStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                          const CompactionPlan& plan,
                          std::optional<SequenceNumber> oldest_snapshot);
// Of tables that were relinked, once that has taken effect.
void LogTrivialMove(const DbCore& core, const ColumnFamilyData& family, int job_id,
                    const CompactionPlan& plan);
void LogTableCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const OutputTable& table);
void LogBlobFileCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                        const BlobFileAddition& file);

}  // namespace ashlar
