// SPDX-License-Identifier: Apache-2.0
//
// The memtables are merged like any other sorted runs; the count of entries is checked at the end.
#include "db/flush/flush_job.h"

#include <algorithm>
#include <utility>

#include "db/read/iterator_tower.h"
#include "util/arena.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

uint64_t CountEntries(const std::vector<MemTable*>& memtables) {
  uint64_t entries = 0;
  for (const MemTable* memtable : memtables) entries += memtable->num_entries();
  return entries;
}

// Nothing is below level 0 that a job could know of: anything may be.
EntryStreamOptions StreamOptionsFor(const FlushJobOptions& job, uint64_t expected_entries) {
  constexpr uint64_t kProgressSteps = 64;
  EntryStreamOptions stream;
  stream.comparator = job.table.comparator;
  stream.snapshots = job.snapshots;
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

}  // namespace

Status FlushJob::Run(OutputResult* result) {
  Arena arena;
  IteratorTower tower(options_.table.comparator, &arena);
  for (MemTable* memtable : options_.memtables) tower.AddMemTable(memtable);
  const uint64_t expected_entries = CountEntries(options_.memtables);
  EntryStream entries(StreamOptionsFor(options_, expected_entries), tower.TakeRuns());
  const OutputWriterOptions writer{
      .table = options_.table, .limits = {}, .new_file_number = [this] {
        return options_.table.file_number;
      }};
  Status status = OutputWriter(writer).WriteAll(&entries, result);
  if (status.ok() && result->input_entries != expected_entries) {
    status = Status::Corruption(StrCat("flush: the memtables counted ", expected_entries,
                                       " entries, but ", result->input_entries, " were found"));
  }
  if (!status.ok()) DeleteUnnamedTables(options_.table, result);
  return status;
}

}  // namespace ashlar
