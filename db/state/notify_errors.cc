// SPDX-License-Identifier: Apache-2.0
//
// Errors of logs are raised first and reported later. For all other errors listeners are notified
// first, because a listener may overrule them.
#include "db/state/notify_errors.h"

#include <cassert>

#include "util/statistics/statistics.h"
#include "util/status_flags.h"
#include "util/threads/epoch.h"

namespace ashlar {

namespace {

// Errors of I/O are counted by kind as well.
void CountError(const DbCore& core, const Status& error) {
  Statistics* const statistics = core.services.statistics.get();
  RecordTick(statistics, ERROR_HANDLER_BG_ERROR_COUNT);
  if (!error.IsIOError()) return;
  RecordTick(statistics, ERROR_HANDLER_BG_IO_ERROR_COUNT);
  if (StatusFlags::IsRetryable(error)) {
    RecordTick(statistics, ERROR_HANDLER_BG_RETRYABLE_IO_ERROR_COUNT);
  }
}

// Asks the listeners whether the database repeats the work automatically. The first one that leaves
// it to DB::Resume() decides; those after it are not asked.
ErrorState::Recovery AskForRecovery(const DbCore& core, const Status& error,
                                    BackgroundErrorReason reason) {
  bool is_automatic = true;
  ForEachListener(core.services, [&](EventListener* listener) {
    if (is_automatic) listener->OnErrorRecoveryBegin(reason, error, &is_automatic);
  });
  return is_automatic ? ErrorState::Recovery::kAutomatic : ErrorState::Recovery::kByResume;
}

// Which component recovers from an error that stops writes or flushes.
enum class Helper : uint8_t { kNobody, kSpace, kRetries, kBusyRetries };

// If the error may go away, the database recovers automatically. After a full disk, an
// SstFileManager starts the recovery when it finds free space.
Helper HelperFor(const DbCore& core, const Status& error) {
  if (!core.errors.BlocksFlushes()) return Helper::kNobody;
  if (core.services.shortage != nullptr && error.IsNoSpace()) return Helper::kSpace;
  if (core.services.retries == nullptr) return Helper::kNobody;
  const AutomaticRecovery::Answer answer = core.services.retries->Wants(error);
  return answer == AutomaticRecovery::Answer::kYes  ? Helper::kRetries
         : answer == AutomaticRecovery::Answer::kNo ? Helper::kNobody
                                                    : Helper::kBusyRetries;
}

// Retries that run already (kBusyRetries) will notify listeners of the end themselves.
void RecoverByItself(DbCore* core, const Status& error, BackgroundErrorReason reason,
                     Helper helper) {
  if (helper == Helper::kBusyRetries) return;
  if (helper == Helper::kNobody ||
      AskForRecovery(*core, error, reason) == ErrorState::Recovery::kByResume) {
    LeaveToResume(core);
    return;
  }
  RecordTick(core->services.statistics.get(), ERROR_HANDLER_AUTORESUME_COUNT);
  if (helper == Helper::kSpace) {
    core->services.shortage->OnDiskFull();
  } else {
    core->services.retries->Begin();
  }
}

// Raises an error of which listeners have been notified, with its severity.
void RaiseNotified(DbCore* core, const Status& seen, BackgroundErrorReason reason)
    EXCLUDES(db_mutex) {
  assert(!seen.ok());
  CountError(*core, seen);
  Error(core->services.info_log, "background error: %s", seen.ToString().c_str());
  // A compaction is repeated at once; a flush is repeated by the timer after its error is raised.
  ErrorState::Recovery recovery = ErrorState::Recovery::kAutomatic;
  const bool has_begun =
      reason == BackgroundErrorReason::kCompaction && core->errors.WouldBeSoft(seen, reason);
  if (has_begun) recovery = AskForRecovery(*core, seen, reason);
  if (has_begun && recovery == ErrorState::Recovery::kAutomatic) {
    RecordTick(core->services.statistics.get(), ERROR_HANDLER_AUTORESUME_COUNT);
  }
  const Status before = core->errors.Get();
  const bool were_flushes_held = core->errors.HoldsFlushes();
  const bool awaited_resume = core->errors.AwaitsResume();
  const bool is_current = core->errors.Raise(seen, reason, recovery);
  if (is_current && core->errors.BlocksWrites()) core->pipeline->RequestAttention();
  {
    MutexLock lock(&core->mutex);
    KeepUnflushed(core);  // where flushes wait already: the memtables of a flush that still ran
    core->conditions.ErrorChanged();
  }
  // The recovery that listeners heard of has ended: the earlier error has become worse, or a worse
  // one, which needs a call of DB::Resume(), was raised while listeners were being notified.
  if (has_begun && !is_current) NotifyRecoveryEnd(core->services, seen, core->errors.Get());
  if (has_begun || !is_current) return;
  const Helper helper = HelperFor(*core, seen);
  const bool goes_on = were_flushes_held && (awaited_resume || helper == Helper::kBusyRetries);
  const bool was_recovering = before.severity() == Status::kSoftError && !goes_on;
  if (was_recovering) NotifyRecoveryEnd(core->services, before, seen);
  RecoverByItself(core, seen, reason, helper);
}

}  // namespace

void NotifyBackgroundError(DbCore* core, const Status& error, BackgroundErrorReason reason) {
  assert(core != nullptr);
  Status seen = WithSeverity(error, reason);
  ForEachListener(core->services,
                  [&](EventListener* listener) { listener->OnBackgroundError(reason, &seen); });
  if (seen.ok()) return;
  RaiseNotified(core, WithSeverity(seen, reason), reason);  // a listener may have replaced it
}

void NotifyLastingError(DbCore* core, const Status& error, BackgroundErrorReason reason) {
  assert(core != nullptr);
  const Status raised = WithSeverity(error, reason);
  ForEachListener(core->services, [&](EventListener* listener) {
    Status seen = raised;
    listener->OnBackgroundError(reason, &seen);
    seen.PermitUncheckedError();
  });
  RaiseNotified(core, raised, reason);
}

void LeaveToResume(DbCore* core) {
  assert(core != nullptr);
  core->errors.LeaveFlushToResume();
  MutexLock lock(&core->mutex);
  KeepUnflushed(core);
  core->conditions.ErrorChanged();
}

// The memtables stay reported like this while DB::Resume() flushes them: nobody waits for that.
void KeepUnflushed(DbCore* core) {
  assert(core != nullptr);
  if (!core->errors.FlushesAwaitResume()) return;
  for (ColumnFamilyData* family : core->families.All()) family->KeepImmutables();
}

void NoteLogError(DbCore* core, const Status& error, FileNumber log_number) {
  assert(core != nullptr);
  core->errors.RaiseForLog(error, log_number);
  core->pipeline->RequestAttention();
}

// Called without the mutex, because listeners are code of the program. Of several threads that call
// this after one error only the one that takes the report notifies. Waiting threads are woken
// first, since a listener may take long.
void NotifyUnreportedError(DbCore* core) {
  assert(core != nullptr);
  const std::optional<ErrorState::Report> report = core->errors.TakeReport();
  if (!report.has_value()) return;
  {
    MutexLock lock(&core->mutex);
    core->conditions.ErrorChanged();
  }
  CountError(*core, report->error);
  Error(core->services.info_log, "background error: %s", report->error.ToString().c_str());
  ForEachListener(core->services, [&](EventListener* listener) {
    Status seen = report->error;
    listener->OnBackgroundError(report->reason, &seen);
    seen.PermitUncheckedError();
  });
  RecoverByItself(core, report->error, report->reason, HelperFor(*core, report->error));
}

void NotifyMemTablesSealed(const DbServices& services, const std::vector<MemTableInfo>& sealed) {
  assert(!InEpoch());
  for (const MemTableInfo& info : sealed) {
    ForEachListener(services, [&](EventListener* listener) { listener->OnMemTableSealed(info); });
  }
}

void NotifyStallChanges(const DbServices& services, const std::vector<WriteStallInfo>& changes) {
  assert(!InEpoch());
  for (const WriteStallInfo& info : changes) {
    assert(info.condition.cur != info.condition.prev);
    ForEachListener(services,
                    [&](EventListener* listener) { listener->OnStallConditionsChanged(info); });
  }
}

void NotifyManualFlush(const DbServices& services, const ManualFlushInfo& flush) {
  assert(!InEpoch());
  ForEachListener(services, [&](EventListener* listener) {
    listener->OnManualFlushScheduled(services.db, {flush});
  });
}

// OnErrorRecoveryCompleted() is called only after a success, OnErrorRecoveryEnd() always. Called
// without locks.
void NotifyRecoveryEnd(const DbServices& services, const Status& old_error, const Status& status) {
  services.events->Event("error_recovery")
      .Add("error", old_error.ToString())
      .Add("status", status.ToString());
  BackgroundErrorRecoveryInfo info;
  info.old_bg_error = old_error;
  info.new_bg_error = status;
  ForEachListener(services, [&](EventListener* listener) {
    if (status.ok()) listener->OnErrorRecoveryCompleted(old_error);
    listener->OnErrorRecoveryEnd(info);
  });
}

}  // namespace ashlar
