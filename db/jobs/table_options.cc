// SPDX-License-Identifier: Apache-2.0
//
// The creation time is that of the beginning: what a job writes was there by then.
#include "db/jobs/table_options.h"

namespace ashlar {

TableOutputOptions TableOptionsFor(const DbCore& core, const ColumnFamilyData& family) {
  TableOutputOptions table;
  table.context = &core.outputs;
  table.family_options = family.shared_options();
  table.comparator = &family.comparator();
  table.family_name = family.name();
  table.family_id = family.id();
  table.dir = core.table_paths.front();
  table.creation_time = core.NowSeconds();
  table.oldest_ancestor_time = table.creation_time;
  return table;
}

FlushJobOptions BeginFlush(DbCore* core, ColumnFamilyData* family) {
  FlushJobOptions job;
  job.memtables = family->TakeForFlush();
  if (job.memtables.empty()) return job;
  job.snapshots = core->snapshots.SequenceNumbers();
  job.table = TableOptionsFor(*core, *family);
  job.table.level = 0;
  job.table.epoch_number = family->versions()->next_epoch++;
  job.table.file_number = core->versions->NewFileNumber();
  core->pending_outputs.insert(job.table.file_number);
  return job;
}

}  // namespace ashlar
