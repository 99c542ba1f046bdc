// SPDX-License-Identifier: Apache-2.0
//
// The part of WriteControl that stalls writes: the decision for each family, the notification of
// listeners, and the waits of writers.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/compaction/compaction_picker.h"
#include "db/state/job_thread.h"
#include "db/state/notify_errors.h"
#include "db/state/write_control.h"
#include "db/version/version.h"

namespace ashlar {
namespace {

constexpr uint64_t kDefaultDelayedRate = 16 << 20;
// Bytes per second of all low-priority writes together while compactions are behind.
constexpr uint64_t kLowPriorityRate = 1 << 20;
// Waits are divided into pieces of this length, so that a writer notices early when its stall ends.
constexpr uint64_t kLongestWaitMicros = 100 * 1000;

}  // namespace

// For a dropped family, the debt of the version that its readers see.
WriteDebt DebtOf(ColumnFamilyData* family) {
  assert(family != nullptr);
  WriteDebt debt;
  debt.immutable_memtables = static_cast<int>(family->immutables().size());
  debt.level0_files = RunsThatSlowWrites(family->last_version(), family->options());
  debt.pending_compaction_bytes = family->PendingCompactionBytes();
  return debt;
}

// The worst stall of all families applies to all writers.
void WriteControl::UpdateStallLocked() {
  StallDecision worst;
  bool is_compaction_behind = false;
  const uint64_t now_micros = core_->environment.NowMicros();
  for (ColumnFamilyData* family : core_->families.All()) {
    if (family->is_dropped()) continue;
    const WriteDebt debt = DebtOf(family);
    const StallDecision stall = DecideStall(debt, family->options());
    family->work.forecast.Note(now_micros, StallProximity(debt, family->options()));
    NoteStallLocked(family, stall);
    worst = WorseOf(worst, stall);
    is_compaction_behind |= IsCompactionBehind(debt, family->options());
  }
  is_compaction_behind_.store(is_compaction_behind, std::memory_order_relaxed);
  // When compactions have caught up, the debt of earlier low-priority writes is forgotten.
  if (!is_compaction_behind) low_priority_pace_ = Pace();
  const bool has_changed = worst.condition != stall_.condition;
  stall_ = worst;
  assert(worst.severity >= 0);
  assert(worst.severity <= 1);
  const uint64_t full_rate = core_->options->delayed_write_rate > 0
                                 ? core_->options->delayed_write_rate
                                 : kDefaultDelayedRate;
  rate_ = worst.condition == WriteStallCondition::kDelayed ? DelayedRate(worst, full_rate) : 0;
  if (rate_ == 0) delayed_pace_ = Pace();
  if (worst.condition != WriteStallCondition::kNormal) core_->pipeline->RequestAttention();
  WatchLogSizeLocked();
  if (has_changed) core_->conditions.StallChanged();
}

// Counts the stall, and queues the change for listeners.
void WriteControl::NoteStallLocked(ColumnFamilyData* family, const StallDecision& now) {
  assert(family != nullptr);
  assert(!family->is_dropped());
  const StallDecision before = std::exchange(family->stall, now);
  const bool has_changed = now.condition != before.condition;
  if (now.condition != WriteStallCondition::kNormal && (has_changed || now.cause != before.cause)) {
    const Version& version = *family->current();
    const size_t idle = family->versions()->claims.IdleOn(version, 0).files;
    family->work.stalls.Count(now, /*is_level0_compacting=*/idle < version.files(0).size());
  }
  if (!has_changed || core_->services.listeners.empty()) return;
  WriteStallInfo& change = stall_changes_.emplace_back();
  change.cf_name = family->name();
  change.condition = {.cur = now.condition, .prev = before.condition};
}

void WriteControl::NotifyOfStalls() {
  MutexLock lock(&core_->mutex);
  NotifyOfStallsLocked();
}

// A listener that writes may reach this function again; it then returns at once.
void WriteControl::NotifyOfStallsLocked() {
  if (is_notifying_ || stall_changes_.empty()) return;
  is_notifying_ = true;
  while (!stall_changes_.empty()) {
    const std::vector<WriteStallInfo> changes = std::exchange(stall_changes_, {});
    MutexUnlock unlock(&core_->mutex);
    NotifyStallChanges(core_->services, changes);
  }
  is_notifying_ = false;
}

// Whether a memtable fills up faster than the flush before it proceeds.
bool WriteControl::IsAheadOfFlushLocked() const {
  for (const ColumnFamilyData* family : core_->families.All()) {
    if (family->is_dropped()) continue;
    const uint64_t bytes = family->mem()->ApproximateMemoryUsage();
    if (bytes >= family->paced_bytes() && bytes < family->write_buffer_bytes()) return true;
  }
  return false;
}

// The flush signals after each step.
void WriteControl::AwaitFlushProgressLocked() {
  while (IsAheadOfFlushLocked() && !JobThread::HoldsUpFlushes(core_) &&
         !core_->shutdown.is_background_cancelled() && !core_->errors.BlocksWrites()) {
    core_->conditions.writers.Wait();
  }
}

// Whether the memtable of a family is full, and only a flush can make room for another one. These
// are the families that SwitchFullMemTablesLocked() leaves, so AwaitStallLocked() never spins.
bool WriteControl::WaitsForBufferLocked() const {
  for (ColumnFamilyData* family : core_->families.All()) {
    if (family->HasFullMemTable() && family->HasNoFreeBuffer()) return true;
  }
  return false;
}

bool WriteControl::AreWritesStoppedLocked() const {
  return stall_.condition == WriteStallCondition::kStopped || WaitsForBufferLocked();
}

// Stopped: waits until the debt falls. Delayed: waits until the earlier writes have used up their
// time at the current rate.
Status WriteControl::AwaitStallLocked(const WriteOptions& options, uint64_t batch_bytes) {
  const uint64_t errors_before = core_->errors.raised_count();
  while (true) {
    if (core_->shutdown.is_closing()) return Status::ShutdownInProgress();
    if (core_->errors.BlocksWrites()) return core_->errors.Get();
    RETURN_IF_ERROR(SwitchFullMemTablesLocked());
    if (!AreWritesStoppedLocked()) {
      // A commit in flight may have filled a memtable meanwhile, for which there is a buffer.
      if (has_full_memtable_.load(std::memory_order_acquire)) continue;
      break;
    }
    if (options.no_slowdown) return Status::Incomplete("Write stall");
    const bool awaits_flush = stall_.condition != WriteStallCondition::kStopped ||
                              stall_.cause == WriteStallCause::kMemtableLimit;
    if (awaits_flush ? JobThread::HoldsUpFlushes(core_) : JobThread::HoldsUpCompactions(core_))
      return JobThread::OwnJob("Write stall");
    if (core_->shutdown.is_background_cancelled()) {
      return Status::ShutdownInProgress("no flush or compaction will end the stall");
    }
    RETURN_IF_ERROR(ErrorOfStallLocked(errors_before));
    core_->conditions.writers.Wait();
  }
  if (stall_.condition != WriteStallCondition::kDelayed || rate_ == 0) return Status::OK();
  if (options.no_slowdown) return Status::Incomplete("Write stall");
  const uint64_t start = TakeTurnLocked(&delayed_pace_, batch_bytes, rate_);
  while (stall_.condition == WriteStallCondition::kDelayed && WaitPieceLocked(start)) {
  }
  return Status::OK();
}

// Returns the error if the flush or compaction that would end the stall has failed again and may do
// so for ever, or waits for a call of DB::Resume(). The first failure during the wait does not
// count: the job may have begun before the cause was removed.
Status WriteControl::ErrorOfStallLocked(uint64_t errors_before) const {
  const bool is_tried_again =
      !core_->errors.AwaitsResume() && core_->errors.raised_count() < errors_before + 2;
  return is_tried_again ? Status::OK() : core_->errors.Get();
}

// Reserves time for `bytes` at `rate`. Returns the time, in microseconds, at which they may be
// written.
uint64_t WriteControl::TakeTurnLocked(Pace* pace, uint64_t bytes, uint64_t rate) {
  assert(pace != nullptr);
  assert(rate > 0);
  const uint64_t start = std::max(core_->environment.NowMicros(), pace->next_micros);
  pace->next_micros = start + bytes * 1000000 / rate;
  return start;
}

// Waits for a part of the time until `start`; returns false once it has come.
bool WriteControl::WaitPieceLocked(uint64_t start) {
  // Shorter waits are not worth sleeping for: they add up and are slept together.
  constexpr uint64_t kShortestSleepMicros = 1000;
  const uint64_t now = core_->environment.NowMicros();
  if (now + kShortestSleepMicros >= start) return false;
  if (core_->shutdown.is_closing()) return false;
  core_->conditions.writers.WaitFor(std::min(start - now, kLongestWaitMicros));
  return true;
}

// All low-priority writes share one rate while compactions are behind.
Status WriteControl::AdmitLowPriority(const WriteOptions& options, uint64_t batch_bytes) {
  if (!is_compaction_behind_.load(std::memory_order_relaxed)) return Status::OK();
  if (options.no_slowdown) {
    return Status::Incomplete("Low priority write stall", "compactions lag behind");
  }
  MutexLock lock(&core_->mutex);
  const uint64_t start = TakeTurnLocked(&low_priority_pace_, batch_bytes, kLowPriorityRate);
  while (is_compaction_behind_.load(std::memory_order_relaxed) && !core_->errors.BlocksWrites() &&
         WaitPieceLocked(start)) {
  }
  return Status::OK();
}

}  // namespace ashlar
