// SPDX-License-Identifier: Apache-2.0
//
// The memtables are merged like other sorted runs. The number of entries read is checked at the
// end.
#include "db/flush/flush_job.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "db/read/iterator_builder.h"
#include "util/memory/arena.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The number of point entries.
uint64_t CountEntries(const std::vector<MemTable*>& memtables) {
  uint64_t entries = 0;
  for (const MemTable* memtable : memtables) {
    const MemTableCounters counters = memtable->counters();
    entries += counters.entries - counters.range_deletes;
  }
  return entries;
}

// The range tombstones of all memtables; empty if there are none.
std::shared_ptr<const FragmentedTombstones> TombstonesOf(const std::vector<MemTable*>& memtables,
                                                         const InternalKeyComparator& comparator) {
  assert(!memtables.empty());
  if (memtables.size() == 1) {
    if (auto tombstones = memtables.front()->Tombstones()) return tombstones;
  }
  std::vector<RangeTombstone> all;
  for (const MemTable* memtable : memtables) {
    if (const auto tombstones = memtable->Tombstones()) tombstones->AppendTo(&all);
  }
  return std::make_shared<const FragmentedTombstones>(comparator, std::move(all));
}

// The job does not know the levels below, so they may hold any key. Operands that cannot be merged
// are kept, because a flush needs no merged value, and a failed flush would stop all writes.
EntryStreamOptions StreamOptionsFor(const FlushJobOptions& job, uint64_t expected_entries) {
  constexpr uint64_t kProgressSteps = 64;
  EntryStreamOptions stream;
  stream.comparator = job.table.comparator;
  stream.snapshots = job.snapshots;
  stream.undecided = job.undecided;
  stream.full_history_ts_low = job.full_history_ts_low;
  stream.merge = job.merge;
  stream.on_merge_failure = OperandFold::OnFailure::kKeepOperands;
  stream.entries_a_step = expected_entries / kProgressSteps + 1;
  if (job.on_progress) {
    stream.on_progress = [&job, expected_entries](uint64_t read) {
      job.on_progress(static_cast<double>(read) /
                      static_cast<double>(std::max<uint64_t>(expected_entries, 1)));
      return Status::OK();
    };
  }
  return stream;
}

// The program's filter for flushes; null: none.
Result<std::unique_ptr<EntryFilter>> FilterFor(const FlushJobOptions& job) {
  if (!job.may_filter) return std::unique_ptr<EntryFilter>();
  CompactionFilter::Context context;
  context.is_full_compaction = context.is_manual_compaction = false;
  context.column_family_id = job.table.family_id;
  context.reason = TableFileCreationReason::kFlush;
  return EntryFilter::Make(*job.table.family_options, context,
                           job.table.context->writer_options.statistics);
}

}  // namespace

// Runs without the mutex. The entries that were found are compared with the counts of the
// memtables, so that a memtable which lost an entry does not become a table. After an error the
// files that were written are deleted; no MANIFEST names them yet.
Status FlushJob::Run(OutputResult* result) {
  assert(result != nullptr);
  assert(!options_.memtables.empty());
  assert(result->tables.empty());
  Arena arena;
  IteratorBuilder tower(options_.table.comparator, &arena);
  tower.FetchValuesAhead();
  for (MemTable* memtable : options_.memtables) tower.AddMemTable(memtable);
  const uint64_t expected_entries = CountEntries(options_.memtables);
  const auto tombstones = TombstonesOf(options_.memtables, *options_.table.comparator);
  assert(tombstones != nullptr);
  const auto kept = TombstonesToKeep(
      *tombstones,
      {.snapshots = options_.snapshots, .full_history_ts_low = options_.full_history_ts_low});
  EntryStreamOptions stream = StreamOptionsFor(options_, expected_entries);
  stream.tombstones = tombstones.get();
  BlobFlow blobs(BlobFlowOptionsFor(options_.table, {.new_file_number = options_.new_blob_number,
                                                     .observer = options_.blob_observer,
                                                     .relocated_share = std::nullopt}));
  if (blobs.IsNeeded()) stream.blobs = &blobs;
  std::unique_ptr<EntryFilter> filter;
  ASSIGN_OR_RETURN(filter, FilterFor(options_));
  stream.filter = filter.get();
  EntryStream entries(stream, tower.TakeRuns());
  const OutputWriterOptions writer{.table = options_.table,
                                   .limits = {},
                                   .tombstones = kept.get(),
                                   .new_file_number = [this] { return options_.table.file_number; },
                                   .blobs = stream.blobs};
  Status status = OutputWriter(writer).WriteAll(&entries, result);
  const bool is_comparable = options_.verifies_count && !result->has_skipped;
  if (status.ok() && is_comparable && result->input_entries != expected_entries) {
    status = Status::Corruption(StrCat("flush: the memtables counted ", expected_entries,
                                       " entries, but ", result->input_entries, " were found"));
  }
  if (!status.ok()) DeleteUnnamedFiles(options_.table, result);
  return status;
}

}  // namespace ashlar
