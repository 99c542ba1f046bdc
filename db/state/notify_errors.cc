// SPDX-License-Identifier: Apache-2.0
//
// Errors of logs are raised first and told later, all others the other way round: a listener may
// overrule them.
#include "db/state/notify_errors.h"

namespace ashlar {

void NotifyBackgroundError(DbCore* core, const Status& error, BackgroundErrorReason reason) {
  Status seen = error;
  ForEachListener(*core,
                  [&](EventListener* listener) { listener->OnBackgroundError(reason, &seen); });
  if (seen.ok()) return;
  Error(core->info_log, "background error: %s", seen.ToString().c_str());
  if (core->errors.Raise(seen, reason) && core->errors.BlocksWrites()) {
    core->pipeline->RequestAttention();
  }
  MutexLock lock(&core->mutex);
  core->conditions.ErrorChanged();
}

void NoteLogError(DbCore* core, const Status& error, uint64_t log_number) {
  core->errors.RaiseForLog(error, log_number);
  core->pipeline->RequestAttention();
}

void NotifyUnreportedError(DbCore* core) {
  const std::optional<ErrorState::Report> report = core->errors.TakeReport();
  if (!report.has_value()) return;
  {
    MutexLock lock(&core->mutex);
    core->conditions.ErrorChanged();
  }
  Error(core->info_log, "background error: %s", report->error.ToString().c_str());
  ForEachListener(*core, [&](EventListener* listener) {
    Status seen = report->error;
    listener->OnBackgroundError(report->reason, &seen);
    seen.PermitUncheckedError();
  });
}

void NotifyRecoveryEnd(DbCore* core, const Status& old_error, const Status& status) {
  core->events->Event("error_recovery")
      .Add("error", old_error.ToString())
      .Add("status", status.ToString());
  BackgroundErrorRecoveryInfo info;
  info.old_bg_error = old_error;
  info.new_bg_error = status;
  ForEachListener(*core, [&](EventListener* listener) {
    if (status.ok()) listener->OnErrorRecoveryCompleted(old_error);
    listener->OnErrorRecoveryEnd(info);
  });
}

}  // namespace ashlar
