// SPDX-License-Identifier: Apache-2.0
//
// Event lines of the info log about jobs that begin and files that they create. The names of events
// and fields are those that tools for RocksDB's logs look for. Each job writes the line about its
// own end itself (Report()).
//
// Any thread, without the DB mutex, because a line is written to a file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "db/blob/blob_file.h"
#include "db/compaction/compaction_picker.h"
#include "db/output/output_writer.h"
#include "db/state/db_core.h"

namespace ashlar {

// The shape of a family's tree at the end of a job.
struct FamilyShape {
  std::vector<uint64_t> tables;                         // by level
  uint64_t oldest_blob_file = 0, newest_blob_file = 0;  // 0: none
  uint64_t immutable_memtables = 0;
};
FamilyShape ShapeOf(const ColumnFamilyData& family) REQUIRES(db_mutex);
// Adds the shape to the event line of a job that has ended.
void AddShape(const FamilyShape& shape, EventLine* line);

// Written when the job begins, before any of its files is created.
void LogFlushStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const std::vector<MemTable*>& memtables, FlushReason reason);
// `oldest_snapshot`: no snapshot is logged as -1.
void LogCompactionStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                          const CompactionPlan& plan,
                          std::optional<SequenceNumber> oldest_snapshot);
// Called when the move of the tables to another level has taken effect.
void LogTrivialMove(const DbCore& core, const ColumnFamilyData& family, int job_id,
                    const CompactionPlan& plan);
void LogTableCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const OutputTable& table);
void LogBlobFileCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                        const BlobFileAddition& file);

}  // namespace ashlar
