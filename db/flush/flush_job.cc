// SPDX-License-Identifier: Apache-2.0
//
// The memtables are merged like any other sorted runs; the count of entries is checked at the end.
#include "db/flush/flush_job.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "db/read/iterator_tower.h"
#include "util/memory/arena.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Point entries.
uint64_t CountEntries(const std::vector<MemTable*>& memtables) {
  uint64_t entries = 0;
  for (const MemTable* memtable : memtables) {
    const MemTableCounters counters = memtable->counters();
    entries += counters.entries - counters.range_deletes;
  }
  return entries;
}

std::shared_ptr<const FragmentedTombstones> TombstonesOf(const std::vector<MemTable*>& memtables,
                                                         const InternalKeyComparator& comparator) {
  if (memtables.size() == 1) {
    if (auto tombstones = memtables.front()->Tombstones()) return tombstones;
  }
  std::vector<RangeTombstone> all;
  for (const MemTable* memtable : memtables) {
    if (const auto tombstones = memtable->Tombstones()) tombstones->AppendTo(&all);
  }
  return std::make_shared<const FragmentedTombstones>(comparator, std::move(all));
}

// Nothing is below level 0 that a job could know of: anything may be. A flush needs no value, so
// operands that cannot be merged are no reason for it to fail, which would stop all writes.
EntryStreamOptions StreamOptionsFor(const FlushJobOptions& job, uint64_t expected_entries) {
  constexpr uint64_t kProgressSteps = 64;
  EntryStreamOptions stream;
  stream.comparator = job.table.comparator;
  stream.snapshots = job.snapshots;
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

// Null: nothing is to be filtered.
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

Status FlushJob::Run(OutputResult* result) {
  assert(!options_.memtables.empty() && result->tables.empty());
  Arena arena;
  IteratorTower tower(options_.table.comparator, &arena);
  tower.FetchValuesAhead();
  for (MemTable* memtable : options_.memtables) tower.AddMemTable(memtable);
  const uint64_t expected_entries = CountEntries(options_.memtables);
  const auto tombstones = TombstonesOf(options_.memtables, *options_.table.comparator);
  const auto kept = TombstonesToKeep(*tombstones, {.snapshots = options_.snapshots});
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
