// SPDX-License-Identifier: Apache-2.0
//
// The memtables are merged like any other sorted runs; the count of entries is checked at the end.
#include "db/flush/flush_job.h"

#include "db/output/version_retention.h"
#include "table/iterator/merging_iterator.h"
#include "util/arena.h"
#include "util/str_cat.h"

namespace ashlar {

Status FlushJob::Run(FlushResult* result) {
  ASSIGN_OR_RETURN(std::unique_ptr<TableOutput> output, TableOutput::Create(options_.output));
  RETURN_IF_ERROR(WriteEntries(output.get(), result));
  if (output->entry_count() == 0) return Status::OK();
  FileMetadata meta;
  RETURN_IF_ERROR(output->Finish(&meta));
  result->properties = output->properties();
  result->file = std::move(meta);
  return Status::OK();
}

Status FlushJob::WriteEntries(TableOutput* output, FlushResult* result) {
  Arena arena;
  std::vector<InternalIterator*> children;
  uint64_t expected_entries = 0;
  for (MemTable* memtable : options_.memtables) {
    children.push_back(memtable->NewIterator(&arena));
    expected_entries += memtable->num_entries();
    result->input_deletes += memtable->num_deletes();
  }
  constexpr uint64_t kProgressSteps = 64;
  const uint64_t entries_a_step = expected_entries / kProgressSteps + 1;
  uint64_t next_step = UINT64_MAX;
  if (options_.on_progress != nullptr) {
    next_step = entries_a_step;
    options_.on_progress(0);
  }
  MergingIterator entries(options_.output.comparator, std::move(children), IteratorHome::kArena);
  VersionRetention retention(*options_.output.comparator, options_.snapshots, /*below=*/nullptr,
                             /*is_bottommost=*/false);
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    const Slice key = entries.key();
    const uint64_t trailer = ExtractTrailer(key);
    if (++result->input_entries == next_step) {
      next_step += entries_a_step;
      options_.on_progress(static_cast<double>(result->input_entries) /
                           static_cast<double>(expected_entries));
    }
    if (retention.Decide(ExtractUserKey(key), TrailerSeqno(trailer), TrailerType(trailer)) ==
        VersionRetention::Verdict::kDrop) {
      continue;
    }
    RETURN_IF_ERROR(output->Add(key, entries.value()));
    result->output_entries++;
  }
  RETURN_IF_ERROR(entries.status());
  if (result->input_entries != expected_entries) {
    return Status::Corruption(StrCat("flush: the memtables counted ", expected_entries,
                                     " entries, but ", result->input_entries, " were found"));
  }
  return Status::OK();
}

}  // namespace ashlar
