// SPDX-License-Identifier: Apache-2.0
//
// One function derives the severity of an error from its kind and from the failed operation.
#include "db/state/error_state.h"

#include <cassert>
#include <utility>

#include "util/status_flags.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The reasons of a failed flush whose logs are intact and synced and whose memtables still exist.
bool IsOfFlushAlone(BackgroundErrorReason reason) {
  return reason == BackgroundErrorReason::kFlushNoWAL ||
         reason == BackgroundErrorReason::kManifestWriteNoWAL;
}

// A full disk stays full for a while, and the logs are on it, too, so it is not one of these.
bool MayComeOnce(const Status& error) {
  return error.IsIOError() && !error.IsNoSpace() && StatusFlags::IsRetryable(error);
}

// A compaction that fails endangers nothing that was acknowledged, so it is repeated, and so is a
// flush if the file system says that it may succeed. Any other failed flush, log or MANIFEST write
// stops writes. Corruption must be examined before anything more is written over it.
Status::Severity SeverityOf(const Status& error, BackgroundErrorReason reason) {
  if (error.IsCorruption() || StatusFlags::SaysDataLoss(error)) return Status::kUnrecoverableError;
  if (error.IsIOFenced()) return Status::kFatalError;   // another process owns the files now
  if (error.IsSpaceLimit()) return Status::kHardError;  // the user's limit: nothing more is written
  if (IsOfFlushAlone(reason) && MayComeOnce(error)) return Status::kSoftError;
  return reason == BackgroundErrorReason::kCompaction ? Status::kSoftError : Status::kHardError;
}

// A job that was stopped, or whose family was dropped, has not failed.
bool IsError(const Status& status) {
  return !status.ok() && !status.IsShutdownInProgress() && !status.IsColumnFamilyDropped();
}

}  // namespace

Status WithSeverity(const Status& error, BackgroundErrorReason reason) {
  return error.ok() ? error : Status(error, SeverityOf(error, reason));
}

// Makes the decision that Raise() would make, but changes nothing.
bool ErrorState::WouldBeSoft(const Status& error, BackgroundErrorReason reason) const {
  if (!IsError(error) || SeverityOf(error, reason) != Status::kSoftError) return false;
  MutexLock lock(&mutex_);
  return WouldStandLocked(Status::kSoftError, reason);
}

// A more severe error replaces the current one. Of equal ones the first stays, except that a soft
// error of a flush replaces that of a compaction.
bool ErrorState::WouldStandLocked(Status::Severity severity, BackgroundErrorReason reason) const {
  if (error_.ok() || error_.severity() < severity) return true;
  const bool is_soft = severity == Status::kSoftError && error_.severity() == severity;
  return is_soft && IsOfFlushAlone(reason) && !HoldsFlushes();
}

// All flags are set under mutex_, so a reader of one flag may see it a moment before the others.
bool ErrorState::Raise(const Status& error, BackgroundErrorReason reason, Recovery recovery) {
  if (!IsError(error)) return false;
  const Status::Severity severity = SeverityOf(error, reason);
  raised_count_.fetch_add(1, std::memory_order_relaxed);
  MutexLock lock(&mutex_);
  if (!WouldStandLocked(severity, reason)) return false;
  error_ = Status(error, severity);
  assert(error_.severity() > Status::kNoError);
  const bool is_soft = severity < Status::kHardError;
  if (!is_soft) blocks_writes_.store(true, std::memory_order_release);
  awaits_resume_.store(is_soft && recovery == Recovery::kByResume, std::memory_order_release);
  holds_flushes_.store(is_soft && IsOfFlushAlone(reason), std::memory_order_release);
  return true;
}

// Only the first error of the logs since the last recovery is kept.
void ErrorState::RaiseForLog(const Status& error, FileNumber log_number) {
  MutexLock lock(&mutex_);
  if (log_number < first_good_log_ || error.ok() || !log_error_.ok()) return;
  raised_count_.fetch_add(1, std::memory_order_relaxed);
  const Status::Severity severity = SeverityOf(error, BackgroundErrorReason::kWriteCallback);
  log_error_ = Status(error, severity);
  has_log_error_.store(true, std::memory_order_release);
  blocks_writes_.store(true, std::memory_order_release);
  if (error_.ok() || error_.severity() < severity) {
    error_ = log_error_;
    awaits_resume_.store(false, std::memory_order_release);
    holds_flushes_.store(false, std::memory_order_release);
  }
  unreported_ = Report{log_error_, BackgroundErrorReason::kWriteCallback};
}

void ErrorState::ForgetLogsBefore(FileNumber log_number) {
  MutexLock lock(&mutex_);
  assert(log_number >= first_good_log_);
  first_good_log_ = log_number;
}

std::optional<ErrorState::Report> ErrorState::TakeReport() {
  MutexLock lock(&mutex_);
  assert(!unreported_.has_value() || !unreported_->error.ok());
  return std::exchange(unreported_, std::nullopt);
}

// Replaces every other error.
void ErrorState::RaiseFatal(const Status& error) {
  assert(!error.ok());
  raised_count_.fetch_add(1, std::memory_order_relaxed);
  MutexLock lock(&mutex_);
  is_fatal_.store(true, std::memory_order_release);
  error_ = Status(error, Status::kFatalError);
  unreported_ = Report{error_, BackgroundErrorReason::kMemTable};
  blocks_writes_.store(true, std::memory_order_release);
}

// Called by a recovery, when everything in memory is durable.
void ErrorState::Clear() {
  MutexLock lock(&mutex_);
  if (error_.severity() >= Status::kFatalError) return;
  error_ = log_error_ = Status::OK();
  has_log_error_.store(false, std::memory_order_release);
  awaits_resume_.store(false, std::memory_order_release);
  holds_flushes_.store(false, std::memory_order_release);
  blocks_writes_.store(false, std::memory_order_release);
}

Status ErrorState::ClearSoftLocked() {
  if (error_.severity() != Status::kSoftError) return Status::OK();
  assert(!blocks_writes_.load(std::memory_order_relaxed));
  awaits_resume_.store(false, std::memory_order_release);
  holds_flushes_.store(false, std::memory_order_release);
  return std::exchange(error_, Status::OK());
}

Status ErrorState::ClearSoft() {
  MutexLock lock(&mutex_);
  return ClearSoftLocked();
}

Status ErrorState::ClearCompactionError() {
  MutexLock lock(&mutex_);
  return HoldsFlushes() ? Status::OK() : ClearSoftLocked();
}

// Writers that wait for the flush then return its error.
void ErrorState::LeaveFlushToResume() {
  MutexLock lock(&mutex_);
  if (!BlocksFlushes()) return;
  awaits_resume_.store(true, std::memory_order_release);
}

Status ErrorState::Get() const {
  MutexLock lock(&mutex_);
  return error_;
}

Status ErrorState::Unrecoverable() const {
  MutexLock lock(&mutex_);
  return error_.severity() >= Status::kFatalError ? error_ : Status::OK();
}

std::string ErrorState::DebugString() const {
  MutexLock lock(&mutex_);
  std::string text = StrCat("error: ", error_.ToString(), "\n");
  if (!log_error_.ok()) StrAppend(&text, "of a log: ", log_error_.ToString(), "\n");
  if (first_good_log_ > 0) StrAppend(&text, "logs before ", first_good_log_, " are replaced\n");
  if (unreported_.has_value()) text += "listeners are yet to be told\n";
  if (IsFatal()) text += "only reopening helps\n";
  if (BlocksWrites()) text += "writes are refused\n";
  if (HoldsFlushes()) text += "flushes wait\n";
  if (AwaitsResume()) text += "compactions wait for Resume\n";
  return text;
}

}  // namespace ashlar
