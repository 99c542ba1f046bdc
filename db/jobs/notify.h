// SPDX-License-Identifier: Apache-2.0
//
// Telling listeners what happened. Never called with the DB mutex held: a listener may call back
// into the database.
#pragma once

#include "db/compaction/compaction_job.h"
#include "db/flush/flush_job.h"
#include "db/state/db_core.h"
#include "db/state/notify_errors.h"
#include "util/file_number.h"

namespace ashlar {

struct FlushToTell {
  FileNumber file_number = 0;  // of the table that it writes, or would write
  FlushReason reason = FlushReason::kOthers;
};
void NotifyFlushBegin(DbCore* core, const ColumnFamilyData& family, const FlushToTell& flush);
// `flush` is what NotifyFlushBegin() announced, also if no table came of it.
void NotifyFlushCompleted(DbCore* core, const ColumnFamilyData& family, const FlushToTell& flush,
                          const OutputResult& result, const Status& status);
void NotifyCompactionBegin(DbCore* core, const ColumnFamilyData& family, const CompactionPlan& plan,
                           int job_id);
void NotifyCompactionCompleted(DbCore* core, const ColumnFamilyData& family,
                               const CompactionPlan& plan, const OutputResult& result,
                               const Status& status);
void NotifyTableDeleted(DbCore* core, const std::string& path, const Status& status);

}  // namespace ashlar
