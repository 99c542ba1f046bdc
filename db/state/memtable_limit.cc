// SPDX-License-Identifier: Apache-2.0
//
// The part of WriteControl that keeps the memtables within the limit of a WriteBufferManager, which
// other databases may share. It reports the memory of the memtables, flushes the largest one in
// time, and, where the manager stalls writes, lets writers wait until memory is freed.
#include <cassert>

#include "db/state/job_thread.h"
#include "db/state/write_control.h"
#include "memtable/memory_report.h"

namespace ashlar {
namespace {

// One waiting writer. The thread that frees a memtable, of any database, releases it while it may
// hold any lock, so the mutex here is a leaf. The wait is limited, so that the writer notices when
// its database is closed.
class HeldWriter final : public StallInterface {
 public:
  void Block() override {
    constexpr uint64_t kLongestWaitMicros = 100 * 1000;
    MutexLock lock(&mutex_);
    if (!is_released_) condition_.WaitFor(kLongestWaitMicros);
  }
  void Signal() override {
    MutexLock lock(&mutex_);
    is_released_ = true;
    condition_.Signal();
  }
  bool is_released() {
    MutexLock lock(&mutex_);
    return is_released_;
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  CondVar condition_{&mutex_};
  bool is_released_ GUARDED_BY(mutex_) = false;
};

}  // namespace

// Frees memory before active memtables are flushed: flushes the immutable memtables whose flush is
// not due yet.
void WriteControl::FreeWaitingMemoryLocked() {
  for (ColumnFamilyData* family : core_->families.All()) {
    if (family->is_dropped() || family->is_flush_due()) continue;
    family->RequireFlush();
    if (family->is_flush_due()) flushes_->RequestFlushLocked(family);
  }
}

Status WriteControl::LimitMemoryLocked() {
  const WriteBufferManager* const manager = core_->resources.memory_manager.get();
  if (manager == nullptr) return Status::OK();
  // Without a limit every amount is above the threshold, but no memory has to be freed.
  const bool has_limit = manager->enabled();
  if (has_limit && (manager->ShouldFlush() || manager->IsStallThresholdExceeded())) {
    FreeWaitingMemoryLocked();
  }
  ColumnFamilyData* largest = nullptr;
  for (ColumnFamilyData* family : core_->families.All()) {
    family->mem()->ReportMemory();
    if (family->is_dropped() || family->mem()->IsEmpty() || family->HasNoFreeBuffer()) continue;
    if (largest == nullptr ||
        family->mem()->MemoryAllocatedBytes() > largest->mem()->MemoryAllocatedBytes()) {
      largest = family;
    }
  }
  if (largest == nullptr || !manager->ShouldFlush()) return Status::OK();
  // Other databases may hold most of the memory while they are idle; flushing tiny memtables of
  // this one would not change that.
  if (largest->mem()->MemoryAllocatedBytes() < MemoryReport::MeanActiveBytes(*manager) / 2) {
    return Status::OK();
  }
  return SwitchUnaskedLocked({largest}, FlushReason::kWriteBufferManager);
}

Status WriteControl::AwaitMemoryLocked(const WriteOptions& options) {
  WriteBufferManager* const manager = core_->resources.memory_manager.get();
  if (manager == nullptr) return Status::OK();
  const uint64_t errors_before = core_->errors.raised_count();
  bool has_waited = false;
  // Set when the writer was released although the limit is still exceeded: no memory is about to be
  // freed, so it continues.
  bool is_released = false;
  while (!is_released && manager->ShouldStall()) {
    if (core_->shutdown.is_background_cancelled()) {
      return Status::ShutdownInProgress("no flush will end the stall of the write buffer manager");
    }
    if (core_->errors.BlocksWrites()) return core_->errors.Get();
    if (options.no_slowdown || JobThread::HoldsUpFlushes(core_)) {
      // Flushes that an error of this database holds up would hold up the write, too.
      const bool must_wait = manager->IsFreeing() || core_->errors.HoldsFlushes();
      return must_wait ? Status::Incomplete("Write stall", "write buffer manager") : Status::OK();
    }
    if (core_->errors.HoldsFlushes()) RETURN_IF_ERROR(ErrorOfStallLocked(errors_before));
    if (!has_waited) ++memory_stops_;
    has_waited = true;
    HeldWriter writer;
    MutexUnlock unlock(&core_->mutex);
    manager->BeginWriteStall(&writer);
    writer.Block();
    is_released = writer.is_released();
    manager->RemoveDBFromQueue(&writer);
  }
  return Status::OK();
}

}  // namespace ashlar
