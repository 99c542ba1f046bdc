// SPDX-License-Identifier: Apache-2.0
//
// CompactFiles() compacts in the thread of its caller. The caller may be a thread of the Env's own
// pool, and there waiting for another thread of the pool could last for ever.
#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/convenience.h"
#include "db/jobs/manual_compaction.h"
#include "db/state/job_thread.h"
#include "env/filename.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// The number of a table that the program has named. The name may be a path, or only the file name
// as in the metadata.
Result<FileNumber> NumberOfTable(const std::string& name) {
  FileNumber number;
  FileType type;
  if (ParseFileName(BaseNameOf(name), &number, &type) && type == kTableFile) return number;
  return Status::InvalidArgument(StrCat("CompactFiles: ", name, " is not the name of a table"));
}

// Converts the arguments of the call. The files themselves are checked when the plan is made. A
// compression that this library was built without is refused here.
Result<FilesToCompact> Understand(const CompactFilesCall& call) {
  const std::vector<CompressionType> linked = GetSupportedCompressions();
  if (call.options.compression != kDisableCompressionOption &&
      std::find(linked.begin(), linked.end(), call.options.compression) == linked.end()) {
    return Status::InvalidArgument("CompactFiles: the compression is not linked into this library");
  }
  FilesToCompact files;
  for (const std::string& name : call.input_file_names) {
    FileNumber number;
    ASSIGN_OR_RETURN(number, NumberOfTable(name));
    files.numbers.push_back(number);
  }
  files.output_level = Level{call.output_level};
  files.target_file_bytes = call.options.output_file_size_limit;
  files.compression = call.options.compression;
  files.temperature = call.options.output_temperature_override;
  files.allow_trivial_move = call.options.allow_trivial_move;
  if (call.output_path_id >= 0) files.output_path_id = static_cast<uint32_t>(call.output_path_id);
  return files;
}

}  // namespace

// The job is counted like one of the scheduler, so that Pause() and closing wait for it.
Status ManualCompactions::CompactFiles(const CompactFilesCall& call, ColumnFamilyData* family,
                                       std::vector<std::string>* output_file_names,
                                       CompactionJobInfo* info) {
  assert(family != nullptr);
  assert(!InEpoch());
  FilesToCompact files;
  ASSIGN_OR_RETURN(files, Understand(call));
  if (files.output_path_id.has_value()) {
    RETURN_IF_ERROR(CheckPath(*family, "CompactFiles: output_path_id", *files.output_path_id));
  }
  ManualCompaction manual;
  manual.family = family;
  manual.max_subcompactions = call.options.max_subcompactions;
  manual.stop = FlagsFor(&manual, call.options.canceled);
  std::unique_ptr<BackgroundCompaction> job;
  // Callbacks run from the begin of the job to its end: those of the pressure, and of files that
  // are deleted after it.
  const JobThread mark(core_, JobThread::Job::kCompaction);
  {
    MutexLock lock(&core_->mutex);
    RETURN_IF_ERROR(CheckMayBeginLocked(*family, call.options.canceled));
    RETURN_IF_ERROR(scheduler_->CheckMayStartLocked());
    ASSIGN_OR_RETURN(job, compactions_->BeginFilesLocked(&manual, files));
    scheduler_->JobOfCallBeginsLocked();
  }
  // The compaction runs without the DB mutex, in this thread.
  Status status = jobs_->Run(job.get());
  // Describe() reads the job, so it comes before the job releases its version.
  const CompactionJobInfo done = job->Describe(status);
  job.reset();
  core_->services.cleaner->DeleteObsoleteFiles();
  if (output_file_names != nullptr && status.ok()) {
    *output_file_names = done.output_files;
    for (const BlobFileAdditionInfo& blob : done.blob_file_addition_infos) {
      output_file_names->push_back(blob.blob_file_path);
    }
  }
  if (info != nullptr) *info = done;
  // Last, because afterwards closing the database no longer waits for this call.
  MutexLock lock(&core_->mutex);
  manual.is_done = true;
  queue_->RemoveLocked(&manual);
  core_->conditions.ManualChanged();
  scheduler_->JobOfCallEndsLocked(family);
  return status;
}

}  // namespace ashlar
