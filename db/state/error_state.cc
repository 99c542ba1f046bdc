// SPDX-License-Identifier: Apache-2.0
#include "db/state/error_state.h"

namespace ashlar {
namespace {

// A compaction that fails endangers nothing that is acknowledged, and is tried again. A flush, log
// or MANIFEST that cannot be written does. Damage found anywhere must be looked at before more is
// written over it.
Status::Severity SeverityOf(const Status& error, BackgroundErrorReason reason) {
  if (error.IsCorruption()) return Status::kUnrecoverableError;
  return reason == BackgroundErrorReason::kCompaction ? Status::kSoftError : Status::kHardError;
}

}  // namespace

bool ErrorState::Raise(const Status& error, BackgroundErrorReason reason) {
  if (error.ok() || error.IsShutdownInProgress() || error.IsColumnFamilyDropped()) return false;
  const Status::Severity severity = SeverityOf(error, reason);
  raised_count_.fetch_add(1, std::memory_order_relaxed);
  MutexLock lock(&mutex_);
  if (!error_.ok() && error_.severity() >= severity) return false;
  error_ = Status(error, severity);
  if (severity >= Status::kHardError) blocks_writes_.store(true, std::memory_order_release);
  return true;
}

void ErrorState::RaiseForLog(const Status& error, uint64_t log_number) {
  MutexLock lock(&mutex_);
  if (log_number < first_good_log_ || error.ok() || !log_error_.ok()) return;
  raised_count_.fetch_add(1, std::memory_order_relaxed);
  const Status::Severity severity = SeverityOf(error, BackgroundErrorReason::kWriteCallback);
  log_error_ = Status(error, severity);
  if (error_.ok() || error_.severity() < severity) error_ = log_error_;
  unreported_ = BackgroundErrorReason::kWriteCallback;
  has_log_error_.store(true, std::memory_order_release);
  blocks_writes_.store(true, std::memory_order_release);
}

void ErrorState::ForgetLogsBefore(uint64_t log_number) {
  MutexLock lock(&mutex_);
  first_good_log_ = log_number;
}

std::optional<ErrorState::Report> ErrorState::TakeReport() {
  MutexLock lock(&mutex_);
  if (!unreported_.has_value()) return std::nullopt;
  const BackgroundErrorReason reason = *unreported_;
  unreported_.reset();
  return Report{reason == BackgroundErrorReason::kWriteCallback ? log_error_ : error_, reason};
}

void ErrorState::RaiseFatal(const Status& error) {
  raised_count_.fetch_add(1, std::memory_order_relaxed);
  MutexLock lock(&mutex_);
  is_fatal_.store(true, std::memory_order_release);
  error_ = Status(error, Status::kFatalError);
  unreported_ = BackgroundErrorReason::kMemTable;
  blocks_writes_.store(true, std::memory_order_release);
}

void ErrorState::Clear() {
  MutexLock lock(&mutex_);
  error_ = log_error_ = Status::OK();
  has_log_error_.store(false, std::memory_order_release);
  blocks_writes_.store(false, std::memory_order_release);
}

void ErrorState::ClearSoft() {
  MutexLock lock(&mutex_);
  if (error_.severity() == Status::kSoftError) error_ = Status::OK();
}

Status ErrorState::Get() const {
  MutexLock lock(&mutex_);
  return error_;
}

}  // namespace ashlar
