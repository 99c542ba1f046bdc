// SPDX-License-Identifier: Apache-2.0
//
// The creation time of a table is the time when its job began, because all its data existed by
// then.
#include "db/jobs/table_options.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "db/output/filter_bits.h"
#include "db/output/seqno_times.h"

namespace ashlar {
namespace {

uint64_t RawBytes(const std::vector<MemTable*>& memtables) {
  uint64_t bytes = 0;
  for (const MemTable* memtable : memtables) bytes += memtable->raw_bytes();
  return bytes;
}

// The time of the oldest entry, in seconds since the epoch. 0: unknown for at least one memtable.
uint64_t OldestEntrySeconds(const std::vector<MemTable*>& memtables) {
  uint64_t oldest = UINT64_MAX;
  for (const MemTable* memtable : memtables) {
    oldest = std::min(oldest, memtable->oldest_entry_seconds());
  }
  return oldest;
}

}  // namespace

// The options that flushes and compactions share. The caller sets number, level and epoch.
TableOutputOptions TableOptionsFor(const DbCore& core, const OutputFamily& family) {
  assert(family.comparator != nullptr && family.tables != nullptr);
  TableOutputOptions table;
  table.context = &core.environment.outputs;
  table.buffering = {.buffer_bytes = core.options->writable_file_max_buffer_size,
                     .bytes_per_sync = core.options->bytes_per_sync,
                     .is_strict = core.options->strict_bytes_per_sync};
  table.family_options = family.options;
  table.comparator = family.comparator;
  table.family_name = family.name;
  table.family_id = family.id;
  table.dir = table.blob_dir = family.tables->DirOf(0);
  table.blob_store = family.tables->blobs();
  table.creation_time = core.environment.NowSeconds();
  table.oldest_ancestor_time = table.creation_time;
  if (SecondsOfKeptTimes(*table.family_options) > 0) {
    SeqnoTimes times = core.write_times.Get();
    times.Add(core.pipeline->visible_seqno(), table.creation_time);
    table.seqno_times = std::make_shared<const SeqnoTimes>(std::move(times));
  }
  return table;
}

TableOutputOptions TableOptionsFor(const DbCore& core, const ColumnFamilyData& family) {
  return TableOptionsFor(core, OutputFamily{.id = family.id(),
                                            .name = family.name(),
                                            .options = family.shared_options(),
                                            .comparator = &family.comparator(),
                                            .tables = family.versions()->tables.get()});
}

MergeTools MergeToolsFor(const DbCore& core, const ColumnFamilyData& family) {
  MergeTools tools = MergeToolsOf(core);
  tools.merge_operator = family.merge_operator();
  return tools;
}

// The visible number is read first, so a decision that comes meanwhile counts as none.
SeqnoRanges UndecidedForJob(const DbCore& core) {
  SeqnoRanges ranges;
  if (!core.undecided.is_used()) return ranges;
  const SequenceNumber visible = core.pipeline->visible_seqno();
  const EpochGuard guard;
  for (const UndecidedRef& entry : core.undecided.Load()->entries()) {
    const SequenceNumber decided_at = entry->decided_at.load(std::memory_order_acquire);
    if (decided_at != 0 && decided_at <= visible) continue;
    ranges.push_back({.first = entry->first, .last = entry->last});
  }
  return ranges;
}

// Takes the memtables of a flush. They are marked as being flushed and the file number is protected
// in one critical section, so no other flush takes them and no purge deletes the file.
FlushJobOptions BeginFlush(DbCore* core, ColumnFamilyData* family, FlushScope scope) {
  assert(family != nullptr);
  assert(!family->is_dropped());
  FlushJobOptions job;
  job.memtables = family->TakeForFlush(scope);
  if (job.memtables.empty()) return job;
  job.snapshots = core->SnapshotsForJob();
  job.undecided = UndecidedForJob(*core);
  job.full_history_ts_low = family->versions()->full_history_ts_low.value_or("");
  job.merge = MergeToolsFor(*core, *family);
  job.verifies_count = core->options->flush_verify_memtable_count;
  job.table = TableOptionsFor(*core, *family);
  job.table.level = 0;
  job.table.oldest_key_time = OldestEntrySeconds(job.memtables);
  const ColumnFamilyOptions& options = family->options();
  // Universal compaction with a compression limit leaves the newest data uncompressed.
  if (options.compaction_style == kCompactionStyleUniversal &&
      options.compaction_options_universal.compression_size_percent >= 0) {
    job.table.compression = kNoCompression;
  }
  job.table.filter_shift_millibits =
      FilterShiftOfFlush(*family->current(), RawBytes(job.memtables));
  job.table.epoch_number = family->versions()->next_epoch++;
  job.table.file_number = core->versions->NewFileNumber();
  core->jobs.Protect(job.table.file_number);
  return job;
}

}  // namespace ashlar
