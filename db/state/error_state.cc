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
  if (reason == BackgroundErrorReason::kWriteCallback) {
    needs_new_log_.store(true, std::memory_order_release);
  }
  if (!error_.ok() && error_.severity() >= severity) return false;
  error_ = Status(error, severity);
  if (severity >= Status::kHardError) blocks_writes_.store(true, std::memory_order_release);
  return true;
}

void ErrorState::RaiseFatal(const Status& error) {
  raised_count_.fetch_add(1, std::memory_order_relaxed);
  MutexLock lock(&mutex_);
  is_fatal_.store(true, std::memory_order_release);
  error_ = Status(error, Status::kFatalError);
  blocks_writes_.store(true, std::memory_order_release);
}

void ErrorState::Clear() {
  MutexLock lock(&mutex_);
  error_ = Status::OK();
  needs_new_log_.store(false, std::memory_order_release);
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
