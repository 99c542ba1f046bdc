// SPDX-License-Identifier: Apache-2.0
//
// Flushes and compactions on request, and waiting for background work: routed to db/jobs.
#include "db/db_impl.h"

namespace ashlar {

Status DBImpl::Flush(const FlushOptions& options, ColumnFamilyHandle* handle) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  return manual_flushes_.Flush(options, {FamilyOf(handle)});
}

Status DBImpl::Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandles(handles));
  std::vector<ColumnFamilyData*> families;
  for (ColumnFamilyHandle* handle : handles) families.push_back(FamilyOf(handle));
  return manual_flushes_.Flush(options, families);
}

Status DBImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                            const Slice* begin, const Slice* end) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  return manual_compactions_.CompactRange(options, FamilyOf(handle), begin, end);
}

Status DBImpl::CompactFiles(const CompactionOptions& options, ColumnFamilyHandle* handle,
                            const std::vector<std::string>& input_file_names, int output_level,
                            int output_path_id, std::vector<std::string>* output_file_names,
                            CompactionJobInfo* info) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  const CompactFilesCall call{.options = options,
                              .input_file_names = input_file_names,
                              .output_level = output_level,
                              .output_path_id = output_path_id};
  return manual_compactions_.CompactFiles(call, FamilyOf(handle), output_file_names, info);
}

Status DBImpl::SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin,
                                   const Slice* end) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  return manual_compactions_.Suggest(FamilyOf(handle), begin, end);
}

Status DBImpl::PromoteL0(ColumnFamilyHandle* handle, int target_level) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  return manual_compactions_.PromoteLevel0(FamilyOf(handle), target_level);
}

Status DBImpl::PauseBackgroundWork() { return scheduler_.Pause(); }

Status DBImpl::ContinueBackgroundWork() {
  return scheduler_.Continue() ? Status::OK()
                               : Status::InvalidArgument("background work is not paused");
}

Status DBImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& handles) {
  RETURN_IF_ERROR(CheckHandles(handles));
  for (ColumnFamilyHandle* handle : handles) {
    RETURN_IF_ERROR(SetOptions(handle, {{"disable_auto_compactions", "false"}}));
  }
  return Status::OK();
}

void DBImpl::DisableManualCompaction() { manual_compactions_.Disable(); }
void DBImpl::EnableManualCompaction() { manual_compactions_.Enable(); }
void DBImpl::AbortAllCompactions() { manual_compactions_.Abort(nullptr); }
void DBImpl::ResumeAllCompactions() { manual_compactions_.Resume(nullptr); }

void DBImpl::AbortCompactions(ColumnFamilyHandle* handle) {
  if (handle != nullptr) manual_compactions_.Abort(FamilyOf(handle));
}

void DBImpl::ResumeCompactions(ColumnFamilyHandle* handle) {
  if (handle != nullptr) manual_compactions_.Resume(FamilyOf(handle));
}

Status DBImpl::WaitForCompact(const WaitForCompactOptions& options) {
  RETURN_IF_ERROR(CheckWritable());
  if (options.flush) RETURN_IF_ERROR(manual_flushes_.FlushAll(FlushOptions()));
  const uint64_t timeout_micros = static_cast<uint64_t>(options.timeout.count());
  // Whoever closes has no other way out of an error.
  RETURN_IF_ERROR(scheduler_.AwaitIdle(timeout_micros, options.abort_on_pause,
                                       /*minds_error=*/!options.close_db));
  DeleteObsoleteFiles();
  return options.close_db ? Close() : Status::OK();
}

}  // namespace ashlar
