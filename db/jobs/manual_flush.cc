// SPDX-License-Identifier: Apache-2.0
//
// Makes the memtables immutable, requests their flush, and waits until they are gone.
#include "db/jobs/manual_flush.h"

#include <algorithm>
#include <cassert>

#include "db/state/job_thread.h"
#include "db/state/notify_errors.h"
#include "util/threads/epoch.h"

namespace ashlar {

// With atomic_flush all families are flushed together, unless a user has named the families.
Status ManualFlushes::Flush(const FlushOptions& options,
                            const std::vector<ColumnFamilyData*>& families, FlushReason reason) {
  if (core_->mode.atomic_flush && reason != FlushReason::kManualFlush) {
    return FlushAll(options, reason);
  }
  return FlushThese(options, families, reason);
}

// Listeners are notified when the flushes are scheduled, before this waits for them.
Status ManualFlushes::FlushThese(const FlushOptions& options,
                                 const std::vector<ColumnFamilyData*>& families,
                                 FlushReason reason) {
  std::vector<Target> targets;
  RETURN_IF_ERROR(Begin(options, families, reason, &targets));
  if (!core_->services.listeners.empty()) NotifyScheduled(targets, reason);
  return options.wait ? AwaitFlushed(targets) : Status::OK();
}

// Collects in `*targets` what AwaitFlushed() has to wait for.
Status ManualFlushes::Begin(const FlushOptions& options,
                            const std::vector<ColumnFamilyData*>& families, FlushReason reason,
                            std::vector<Target>* targets) {
  assert(targets != nullptr);
  assert(targets->empty());
  assert(!InEpoch());
  MutexLock lock(&core_->mutex);
  if (core_->errors.BlocksFlushes()) return core_->errors.Get();
  for (const ColumnFamilyData* family : families) {
    if (family->is_dropped()) return Status::ColumnFamilyDropped();
  }
  if (!options.allow_write_stall) RETURN_IF_ERROR(AwaitRoomForImmutableLocked(families));
  if (core_->errors.HoldsFlushes()) return core_->errors.Get();
  const bool together = core_->mode.atomic_flush || options.force_atomic_flush;
  RETURN_IF_ERROR(writes_->SwitchMemTablesLocked(
      families, reason, together ? FlushTogether::kYes : FlushTogether::kNo));
  for (ColumnFamilyData* family : families) {
    if (family->is_dropped()) return Status::ColumnFamilyDropped();
    const bool has_immutables = !family->immutables().empty();
    targets->push_back({family, has_immutables ? family->immutables().back().mem->id() : 0});
    family->RequireFlush();
    if (has_immutables) scheduler_->RequestFlushLocked(family);
  }
  return Status::OK();
}

// One notification for each family that has something to flush, like RocksDB.
void ManualFlushes::NotifyScheduled(const std::vector<Target>& targets, FlushReason reason) {
  for (const Target& target : targets) {
    if (target.newest_memtable == 0) continue;
    NotifyManualFlush(
        core_->services,
        {.cf_id = target.family->id(), .cf_name = target.family->name(), .flush_reason = reason});
  }
}

// Flushes all families of this moment. If one of them is dropped meanwhile, the call is repeated
// without it.
Status ManualFlushes::FlushAll(const FlushOptions& options, FlushReason reason) {
  Status status;
  do {
    std::vector<FamilyRef> pinned;
    {
      MutexLock lock(&core_->mutex);
      pinned = core_->families.PinAll();
    }
    std::vector<ColumnFamilyData*> families;
    for (const FamilyRef& family : pinned) families.push_back(family.get());
    status = FlushThese(options, families, reason);
  } while (status.IsColumnFamilyDropped());
  return status;
}

namespace {

// Whether one more immutable memtable would stop the writers of the family.
bool IsFullOfImmutables(const ColumnFamilyData& family) REQUIRES(db_mutex) {
  return !family.is_dropped() && !family.mem()->IsEmpty() &&
         static_cast<int>(family.immutables().size()) + 1 >=
             family.options().max_write_buffer_number;
}

}  // namespace

// A requested flush must not stall the writers. Waits until neither one more immutable memtable nor
// the table that is made of it would stop them.
Status ManualFlushes::AwaitRoomForImmutableLocked(const std::vector<ColumnFamilyData*>& families) {
  while (!core_->errors.BlocksFlushes() && !scheduler_->is_paused() &&
         !core_->shutdown.is_background_cancelled()) {
    bool is_full = false, has_immutables = false, awaits_compaction = false;
    for (ColumnFamilyData* family : families) {
      is_full |= IsFullOfImmutables(*family);
      if (!family->is_dropped() && !family->mem()->IsEmpty()) {
        awaits_compaction |=
            scheduler_->WillMakeRoomLocked(family, family->immutables().size() + 1);
      }
      if (family->immutables().empty()) continue;
      has_immutables = true;
    }
    if (!awaits_compaction && !(is_full && has_immutables)) break;
    if (JobThread::HoldsUpFlushes(core_) ||
        (awaits_compaction && JobThread::HoldsUpCompactions(core_))) {
      return JobThread::OwnJob("Flush without allow_write_stall");
    }
    for (ColumnFamilyData* family : families) {
      family->RequireFlush();
      if (family->is_flush_due()) scheduler_->RequestFlushLocked(family);
    }
    core_->conditions.flushes.Wait();  // for a flush or compaction to end
  }
  return Status::OK();
}

// Waits until all targets are flushed. The ids of memtables ascend, so a family is done when its
// oldest immutable memtable is newer than the target.
Status ManualFlushes::AwaitFlushed(const std::vector<Target>& targets) {
  MutexLock lock(&core_->mutex);
  for (const Target& target : targets) {
    assert(target.family != nullptr);  // the caller holds a reference
    const ColumnFamilyData& family = *target.family;
    while (!family.immutables().empty() &&
           family.immutables().front().mem->id() <= target.newest_memtable) {
      if (family.is_dropped()) return Status::ColumnFamilyDropped();
      // The flush that reaches the limit of space raises its error before it takes effect.
      const Status error = core_->errors.Get();
      const bool is_flushing = family.immutables().front().is_flushing;
      const bool may_end = is_flushing && (error.IsSpaceLimit() || core_->errors.HoldsFlushes());
      if (!error.ok() && core_->errors.BlocksFlushes() && !may_end) return error;
      if (core_->shutdown.is_background_cancelled()) return Status::ShutdownInProgress();
      if (JobThread::HoldsUpFlushes(core_)) return JobThread::OwnJob("Flush with wait");
      core_->conditions.flushes.Wait();  // for a flush to end
    }
  }
  // After a flush that reached the limit of space, no further write fits.
  const Status error = core_->errors.Get();
  return error.IsSpaceLimit() ? error : Status::OK();
}

}  // namespace ashlar
