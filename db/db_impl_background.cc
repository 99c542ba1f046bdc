// SPDX-License-Identifier: Apache-2.0
//
// Flushes and compactions on request, and waits for background work: db/jobs does the work.
//
// Each of these calls may wait for a job and must be made without the DB mutex. The calls check
// their arguments first, so an error of the caller never starts a job.
#include <cassert>

#include "db/db_impl.h"
#include "util/keys/stored_key.h"

namespace ashlar {

// The memtable of one family.
Status DBImpl::Flush(const FlushOptions& options, ColumnFamilyHandle* handle) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  return manual_flushes_.Flush(options, {FamilyOf(handle)});
}

// The memtables of several families, together with atomic_flush.
Status DBImpl::Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandles(handles));
  std::vector<ColumnFamilyData*> families;
  for (ColumnFamilyHandle* handle : handles) families.push_back(FamilyOf(handle));
  return manual_flushes_.Flush(options, families);
}

// Compactions on request fail in a read-only database, because their result could not be recorded.
Status DBImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                            const Slice* begin, const Slice* end) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  ColumnFamilyData* const family = FamilyOf(handle);
  CompactRangeOptions asked = options;
  if (options.full_history_ts_low != nullptr) {
    if (begin != nullptr || end != nullptr) {
      return Status::InvalidArgument(
          "CompactRangeOptions::full_history_ts_low: it needs the range of all keys");
    }
    const Status raised = IncreaseHistoryLow(family, options.full_history_ts_low->ToString());
    if (!raised.ok() && !raised.IsTryAgain()) return raised;
    asked.full_history_ts_low = nullptr;
  }
  const StoredKey first(family->comparator(), begin), last(family->comparator(), end);
  return manual_compactions_.CompactRange(asked, family, first.get(), last.get());
}

// The names are looked up in the newest version under the DB mutex; a name that is not that of a
// live table gives InvalidArgument.
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

// Only marks the tables of the range; the background threads compact them later, and the call
// returns at once.
Status DBImpl::SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin,
                                   const Slice* end) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  const InternalKeyComparator& order = FamilyOf(handle)->comparator();
  const StoredKey first(order, begin), last(order, end);
  return manual_compactions_.Suggest(FamilyOf(handle), first.get(), last.get());
}

// Moves all tables of level 0 down by a change of the MANIFEST, without rewriting them. That needs
// tables that do not overlap each other.
Status DBImpl::PromoteL0(ColumnFamilyHandle* handle, int target_level) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckHandle(handle));
  return manual_compactions_.PromoteLevel0(FamilyOf(handle), target_level);
}

// Fails in a thread that runs a background job of this database.
Status DBImpl::PauseBackgroundWork() { return scheduler_.Pause(); }

// Pauses nest: background work goes on after as many calls as there were pauses.
Status DBImpl::ContinueBackgroundWork() {
  return scheduler_.Continue() ? Status::OK()
                               : Status::InvalidArgument("background work is not paused");
}

// A change of the option like any other, so it also updates the OPTIONS file.
Status DBImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& handles) {
  RETURN_IF_ERROR(CheckHandles(handles));
  for (ColumnFamilyHandle* handle : handles) {
    RETURN_IF_ERROR(SetOptions(handle, {{"disable_auto_compactions", "false"}}));
  }
  return Status::OK();
}

// Compactions on request that are running end early, and new ones fail, until as many calls of
// EnableManualCompaction() as there were of this function.
void DBImpl::DisableManualCompaction() { manual_compactions_.Disable(); }
void DBImpl::EnableManualCompaction() { manual_compactions_.Enable(); }
// Stops all running compactions, automatic ones too, and lets none begin until
// ResumeAllCompactions(). A null family means all families.
void DBImpl::AbortAllCompactions() { manual_compactions_.Abort(nullptr); }
void DBImpl::ResumeAllCompactions() { manual_compactions_.Resume(nullptr); }

// A null handle does nothing, because the call has no status.
void DBImpl::AbortCompactions(ColumnFamilyHandle* handle) {
  if (handle != nullptr) manual_compactions_.Abort(FamilyOf(handle));
}

void DBImpl::ResumeCompactions(ColumnFamilyHandle* handle) {
  if (handle != nullptr) manual_compactions_.Resume(FamilyOf(handle));
}

// Waits until no flush or compaction is running or wanted. `timeout` 0 means no limit.
Status DBImpl::WaitForCompact(const WaitForCompactOptions& options) {
  RETURN_IF_ERROR(CheckWritable());
  // A caller that closes the database ignores errors until then: it has no other way out.
  const Status flushed = options.flush ? manual_flushes_.FlushAll(FlushOptions()) : Status::OK();
  if (!options.close_db) RETURN_IF_ERROR(flushed);
  const uint64_t timeout_micros = static_cast<uint64_t>(options.timeout.count());
  // An error here says that the database was not closed, so it comes before that of the flush.
  RETURN_IF_ERROR(scheduler_.AwaitIdle(timeout_micros, options.abort_on_pause,
                                       /*minds_error=*/!options.close_db));
  DeleteObsoleteFiles();
  if (!options.close_db) return Status::OK();
  const Status closed = Close();
  return flushed.ok() || !is_closed() ? closed : flushed;
}

// Requests a compaction because sampled reads search too many tables.
void DBImpl::RequestReadCompaction(ColumnFamilyData* family) {
  if (core_.mode.is_read_only) return;
  assert(family != nullptr);
  MutexLock lock(&core_.mutex);
  family->is_read_compaction_wanted = true;
  scheduler_.RequestCompactionLocked(family);
}

}  // namespace ashlar
