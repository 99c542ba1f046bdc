// SPDX-License-Identifier: Apache-2.0
//
// The worker reads the database from its MANIFEST, which may be newer than the input. This is safe:
// the job has claimed its inputs, so they are still on their levels, and no other job can have
// placed data below them in their key range.
#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "db/column_family/column_family_data.h"
#include "db/jobs/remote/remote_compaction.h"
#include "db/jobs/table_options.h"
#include "db/output/seqno_times.h"
#include "db/version/version_ref.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/new_entries.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Returns a number above those of all files in the directory. An earlier attempt may have left
// files there.
Result<FileNumber> FirstFreeNumber(FileSystem* fs, const std::string& dir) {
  std::vector<std::string> names;
  ASSIGN_OR_RETURN(names, ListDirectory(fs, dir));
  FileNumber first = 1;
  for (const std::string& name : names) {
    FileNumber number;
    FileType type;
    if (ParseFileName(name, &number, &type)) first = std::max(first, number.Next());
  }
  return first;
}

// Copies the results that the database adds to its own statistics.
void Report(const OutputResult& done, RemoteResult* result) {
  assert(result != nullptr);
  for (const OutputTable& table : done.tables) {
    result->tables.push_back({.meta = table.meta, .is_young = table.is_young});
  }
  result->input_entries = done.input_entries;
  result->output_entries = done.output_entries;
  result->hidden_dropped = done.hidden_dropped;
  result->covered_dropped = done.covered_dropped;
  result->tombstones_dropped = done.tombstones_dropped;
  result->filtered = done.filtered;
  result->range_tombstones_dropped = done.range_tombstones_dropped;
  result->bytes_written = done.bytes_written;
  result->cpu_micros = done.cpu_micros;
}

// The options of the family for the tables of a worker. Its values stay in them: the protocol has
// no blob files. The OPTIONS file or the program's worker may have another opinion than the
// database.
std::shared_ptr<const ColumnFamilyOptions> WithoutBlobFiles(const ColumnFamilyOptions& options) {
  auto result = std::make_shared<ColumnFamilyOptions>(options);
  result->enable_blob_files = false;
  return result;
}

// The worker decides which entries are young as the database would. It may have been opened long
// after the writes, so it knows nothing itself.
Status TakeTimes(const RemoteInput& input, TableOutputOptions* table) {
  assert(table != nullptr);
  table->creation_time = table->oldest_ancestor_time = input.now_seconds;
  if (table->seqno_times == nullptr) return Status::OK();
  SeqnoTimes times;
  if (!input.write_times.empty()) RETURN_IF_ERROR(times.MergeEncoded(input.write_times));
  table->seqno_times = std::make_shared<const SeqnoTimes>(std::move(times));
  return Status::OK();
}

}  // namespace

// An error of the job is part of the result. The function itself fails only if the job cannot
// begin.
Status RunForService(DbCore* core, const RemoteInput& input, const std::string& output_dir,
                     const StopFlags& stop, RemoteResult* result) {
  assert(core != nullptr);
  assert(result != nullptr);
  if (input.db_id != core->identity.db_id) {
    return Status::InvalidArgument(StrCat("remote compaction: for database ", input.db_id,
                                          ", but this is ", core->identity.db_id));
  }
  RETURN_IF_ERROR(CreateDirectories(core->environment.fs.get(), output_dir));
  FileNumber next_number = 0;
  ASSIGN_OR_RETURN(next_number, FirstFreeNumber(core->environment.fs.get(), output_dir));
  Mutex number_mutex{LockRank::kLeaf};

  CompactionPlan plan;
  CompactionJobOptions work;
  FamilyRef family;
  VersionRef version;
  {
    MutexLock lock(&core->mutex);
    ColumnFamilyData* const found = core->families.FindByName(input.family);
    if (found == nullptr) {
      return Status::InvalidArgument("remote compaction: no family", input.family);
    }
    family = FamilyRef(found);
    version = VersionRef(family->current(), core->versions.get());
    ASSIGN_OR_RETURN(plan, PlanFromInput(input, *version));
    work.table = TableOptionsFor(*core, *family);
    work.table.family_options = WithoutBlobFiles(*work.table.family_options);
    work.merge = MergeToolsFor(*core, *family);
    work.max_subcompactions = core->options->max_subcompactions;
    work.readahead_bytes = core->options->compaction_readahead_size;
    work.verify_record_count = core->options->compaction_verify_record_count;
  }
  RETURN_IF_ERROR(TakeTimes(input, &work.table));
  work.table.is_flush = false;
  work.table.dir = work.table.blob_dir = output_dir;
  work.plan = &plan;
  work.version = version.get();
  work.snapshots = input.snapshots;
  work.undecided = input.undecided;
  work.on_merge_failure = input.fails_on_merge ? OperandFold::OnFailure::kAsOperatorSays
                                               : OperandFold::OnFailure::kKeepOperands;
  work.new_file_number = [&] {
    MutexLock lock(&number_mutex);
    const FileNumber number = next_number;
    next_number = number.Next();
    return number;
  };
  work.stop = stop;
  work.env = core->environment.env;
  work.may_use_helper = true;  // no other job runs in this process
  assert(plan.InputFileCount() > 0);
  OutputResult done;
  const NewEntries tables(core->environment.fs.get(), output_dir);
  result->status = CompactionJob(work).Run(&done);
  if (result->status.ok()) result->status = tables.Sync();
  result->output_dir = output_dir;
  if (result->status.ok()) Report(done, result);
  return Status::OK();
}

}  // namespace ashlar
