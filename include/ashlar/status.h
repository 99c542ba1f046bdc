// SPDX-License-Identifier: Apache-2.0
//
// Status is the result of nearly every call: a code, with a subcode, a severity and an optional
// text. A default-constructed Status means success and needs no allocation.
//
// Threads: const members may be called from many threads; other calls need external locking.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/export.h"
#include "ashlar/slice.h"

// Makes the compiler warn about an ignored Status. The headers in rocksdb/ turn that off.
#ifndef ASHLAR_NODISCARD_CLASS
#define ASHLAR_NODISCARD_CLASS [[nodiscard]]
#endif

namespace ashlar {

// The result of a call.
class ASHLAR_EXPORT ASHLAR_NODISCARD_CLASS Status {
 public:
  Status() = default;
  ~Status() = default;
  // A copy copies the text; after a move the source is OK.
  Status(const Status& s);
  Status& operator=(const Status& s);
  Status(Status&& s) noexcept;
  Status& operator=(Status&& s) noexcept;

  // Compare only the codes.
  bool operator==(const Status& rhs) const { return code_ == rhs.code_; }
  bool operator!=(const Status& rhs) const { return code_ != rhs.code_; }

  // State that a status may be ignored, or must be checked. They have no effect: the compiler
  // checks.
  void PermitUncheckedError() const {}
  void PermitUncheckedOk() const {}
  void MustCheck() const {}

  // The kind of result. The numbers are visible in logs and in the C API.
  enum Code : unsigned char {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,
    kNotSupported = 3,
    kInvalidArgument = 4,
    kIOError = 5,
    kMergeInProgress = 6,
    kIncomplete = 7,
    kShutdownInProgress = 8,
    kTimedOut = 9,
    kAborted = 10,
    kBusy = 11,
    kExpired = 12,
    kTryAgain = 13,
    kCompactionTooLarge = 14,
    kColumnFamilyDropped = 15,
    kMaxCode
  };
  Code code() const { return code_; }

  // More details about the code.
  enum SubCode : unsigned char {
    kNone = 0,
    kMutexTimeout = 1,
    kLockTimeout = 2,
    kLockLimit = 3,
    kNoSpace = 4,
    kDeadlock = 5,
    kStaleFile = 6,
    kMemoryLimit = 7,
    kSpaceLimit = 8,
    kPathNotFound = 9,
    KMergeOperandsInsufficientCapacity = 10,
    kManualCompactionPaused = 11,
    kOverwritten = 12,
    kTxnNotPrepared = 13,
    kIOFenced = 14,
    kMergeOperatorFailed = 15,
    kMergeOperandThresholdExceeded = 16,
    kPrefetchLimitReached = 17,
    kNotExpectedCodePath = 18,
    kCompactionAborted = 19,
    kMaxSubCode
  };
  SubCode subcode() const { return subcode_; }

  // The severity of a background error. After kSoftError, reads and writes continue and the
  // database recovers by itself. After kHardError and kFatalError, writes are refused until
  // DB::Resume() or until the database is opened again.
  enum Severity : unsigned char {
    kNoError = 0,
    kSoftError = 1,
    kHardError = 2,
    kFatalError = 3,
    kUnrecoverableError = 4,
    kMaxSeverity
  };
  Severity severity() const { return sev_; }

  // Copies `s` with a different severity.
  Status(const Status& s, Severity sev);
  // For programs that implement interfaces and need to set every part.
  Status(Code _code, SubCode _subcode, Severity _sev, const Slice& msg);

  // Copies `s` and appends `delim` and `msg` to its text.
  static Status CopyAppendMessage(const Status& s, const Slice& delim, const Slice& msg);

  // The text, terminated by zero, or nullptr if there is none. Valid until this object changes.
  const char* getState() const { return state_.get(); }

  // Keeps the first error: assigns `s` only if this status is OK. Returns *this.
  Status& UpdateIfOk(Status&& s);
  Status& UpdateIfOk(const Status& s);

  static Status OK() { return Status(); }
  // Success; an older entry was replaced.
  static Status OkOverwritten() { return Status(kOk, kOverwritten); }
  // Success of a read that merged more operands than ReadOptions::merge_operand_count_threshold.
  static Status OkMergeOperandThresholdExceeded() {
    return Status(kOk, kMergeOperandThresholdExceeded);
  }

  // Functions that create a status, one group per code. The text is "msg: msg2", or `msg` if msg2
  // is empty.
  static Status NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, msg, msg2);
  }
  static Status NotFound(SubCode msg = kNone) { return Status(kNotFound, msg); }
  static Status NotFound(SubCode sc, const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, sc, msg, msg2);
  }
  static Status Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, msg, msg2);
  }
  static Status Corruption(SubCode msg = kNone) { return Status(kCorruption, msg); }
  static Status Corruption(const char* msg) { return Status(kCorruption, msg); }
  static Status NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotSupported, msg, msg2);
  }
  static Status NotSupported(SubCode msg = kNone) { return Status(kNotSupported, msg); }
  static Status NotSupported(const char* msg) { return Status(kNotSupported, msg); }
  static Status InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, msg, msg2);
  }
  static Status InvalidArgument(SubCode msg = kNone) { return Status(kInvalidArgument, msg); }
  static Status InvalidArgument(const char* msg) { return Status(kInvalidArgument, msg); }
  static Status IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, msg, msg2);
  }
  static Status IOError(SubCode msg = kNone) { return Status(kIOError, msg); }
  static Status MergeInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kMergeInProgress, msg, msg2);
  }
  static Status MergeInProgress(SubCode msg = kNone) { return Status(kMergeInProgress, msg); }
  static Status Incomplete(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIncomplete, msg, msg2);
  }
  static Status Incomplete(SubCode msg = kNone) { return Status(kIncomplete, msg); }
  static Status ShutdownInProgress(SubCode msg = kNone) { return Status(kShutdownInProgress, msg); }
  static Status ShutdownInProgress(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kShutdownInProgress, msg, msg2);
  }
  static Status Aborted(SubCode msg = kNone) { return Status(kAborted, msg); }
  static Status Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, msg, msg2);
  }
  static Status Busy(SubCode msg = kNone) { return Status(kBusy, msg); }
  static Status Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kBusy, msg, msg2);
  }
  static Status TimedOut(SubCode msg = kNone) { return Status(kTimedOut, msg); }
  static Status TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTimedOut, msg, msg2);
  }
  static Status Expired(SubCode msg = kNone) { return Status(kExpired, msg); }
  static Status Expired(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kExpired, msg, msg2);
  }
  static Status TryAgain(SubCode msg = kNone) { return Status(kTryAgain, msg); }
  static Status TryAgain(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kTryAgain, msg, msg2);
  }
  static Status CompactionTooLarge(SubCode msg = kNone) { return Status(kCompactionTooLarge, msg); }
  static Status CompactionTooLarge(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCompactionTooLarge, msg, msg2);
  }
  static Status ColumnFamilyDropped(SubCode msg = kNone) {
    return Status(kColumnFamilyDropped, msg);
  }
  static Status ColumnFamilyDropped(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kColumnFamilyDropped, msg, msg2);
  }

  // Frequent combinations of code and subcode.
  static Status NoSpace() { return Status(kIOError, kNoSpace); }
  static Status NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kNoSpace, msg, msg2);
  }
  static Status MemoryLimit() { return Status(kAborted, kMemoryLimit); }
  static Status MemoryLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kAborted, kMemoryLimit, msg, msg2);
  }
  static Status SpaceLimit() { return Status(kIOError, kSpaceLimit); }
  static Status SpaceLimit(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kSpaceLimit, msg, msg2);
  }
  static Status PathNotFound() { return Status(kIOError, kPathNotFound); }
  static Status PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, kPathNotFound, msg, msg2);
  }
  static Status TxnNotPrepared() { return Status(kInvalidArgument, kTxnNotPrepared); }
  static Status TxnNotPrepared(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, kTxnNotPrepared, msg, msg2);
  }
  static Status LockLimit() { return Status(kAborted, kLockLimit); }
  static Status PrefetchLimitReached() { return Status(kIncomplete, kPrefetchLimitReached); }

  // Whether the code is kOk, regardless of the subcode.
  bool ok() const { return code_ == kOk; }
  // Aborts the program in debug builds if this is an error.
  void AssertOK() const { assert(ok()); }

  bool IsOkOverwritten() const { return Is(kOk, kOverwritten); }
  bool IsOkMergeOperandThresholdExceeded() const { return Is(kOk, kMergeOperandThresholdExceeded); }
  bool IsNotFound() const { return code_ == kNotFound; }
  bool IsCorruption() const { return code_ == kCorruption; }
  bool IsNotSupported() const { return code_ == kNotSupported; }
  bool IsInvalidArgument() const { return code_ == kInvalidArgument; }
  bool IsIOError() const { return code_ == kIOError; }
  bool IsMergeInProgress() const { return code_ == kMergeInProgress; }
  bool IsIncomplete() const { return code_ == kIncomplete; }
  bool IsShutdownInProgress() const { return code_ == kShutdownInProgress; }
  bool IsTimedOut() const { return code_ == kTimedOut; }
  bool IsAborted() const { return code_ == kAborted; }
  bool IsLockLimit() const { return Is(kAborted, kLockLimit); }
  bool IsBusy() const { return code_ == kBusy; }
  bool IsDeadlock() const { return Is(kBusy, kDeadlock); }
  bool IsExpired() const { return code_ == kExpired; }
  bool IsTryAgain() const { return code_ == kTryAgain; }
  bool IsCompactionTooLarge() const { return code_ == kCompactionTooLarge; }
  bool IsColumnFamilyDropped() const { return code_ == kColumnFamilyDropped; }
  bool IsNoSpace() const { return Is(kIOError, kNoSpace); }
  bool IsMemoryLimit() const { return Is(kAborted, kMemoryLimit); }
  bool IsSpaceLimit() const { return Is(kIOError, kSpaceLimit); }
  // Also true for NotFound(kPathNotFound), which some file systems return.
  bool IsPathNotFound() const {
    return (code_ == kIOError || code_ == kNotFound) && subcode_ == kPathNotFound;
  }
  bool IsManualCompactionPaused() const { return Is(kIncomplete, kManualCompactionPaused); }
  bool IsCompactionAborted() const { return Is(kIncomplete, kCompactionAborted); }
  bool IsTxnNotPrepared() const { return Is(kInvalidArgument, kTxnNotPrepared); }
  bool IsIOFenced() const { return Is(kIOError, kIOFenced); }
  bool IsPrefetchLimitReached() const { return Is(kIncomplete, kPrefetchLimitReached); }

  // Returns "OK", or the name of the code ("NotFound: ", "Corruption: ", "IO error: " and so on)
  // followed by the meaning of the subcode and by the text. The names of the codes do not change.
  std::string ToString() const;

 protected:
  explicit Status(Code _code, SubCode _subcode = kNone) : code_(_code), subcode_(_subcode) {}
  explicit Status(Code _code, SubCode _subcode, bool retryable, bool data_loss, unsigned char scope)
      : code_(_code),
        subcode_(_subcode),
        retryable_(retryable),
        data_loss_(data_loss),
        scope_(scope) {}
  // Marked cold so that the compiler optimizes branches that fail with a text for size.
  [[gnu::cold]] Status(Code _code, SubCode _subcode, const Slice& msg, const Slice& msg2,
                       Severity sev = kNoError);
  Status(Code _code, const Slice& msg, const Slice& msg2) : Status(_code, kNone, msg, msg2) {}
  // For literals: calls are half as long, and there are hundreds.
  [[gnu::cold]] Status(Code _code, const char* msg);

  // Copies a zero-terminated text; nullptr for nullptr.
  static std::unique_ptr<const char[]> CopyState(const char* s);
  void MarkChecked() const {}

  bool Is(Code code, SubCode subcode) const { return code_ == code && subcode_ == subcode; }

  Code code_ = kOk;
  SubCode subcode_ = kNone;
  Severity sev_ = kNoError;
  // Used by IOStatus only.
  bool retryable_ = false;
  bool data_loss_ = false;
  unsigned char scope_ = 0;
  std::unique_ptr<const char[]> state_;  // terminated by zero, or nullptr
};

inline Status::Status(const Status& s)
    : code_(s.code_),
      subcode_(s.subcode_),
      sev_(s.sev_),
      retryable_(s.retryable_),
      data_loss_(s.data_loss_),
      scope_(s.scope_),
      state_(s.state_ == nullptr ? nullptr : CopyState(s.state_.get())) {}

inline Status::Status(const Status& s, Severity sev) : Status(s) { sev_ = sev; }

inline Status& Status::operator=(const Status& s) {
  if (this != &s) *this = Status(s);
  return *this;
}

inline Status::Status(Status&& s) noexcept
    : code_(std::exchange(s.code_, kOk)),
      subcode_(std::exchange(s.subcode_, kNone)),
      sev_(std::exchange(s.sev_, kNoError)),
      retryable_(std::exchange(s.retryable_, false)),
      data_loss_(std::exchange(s.data_loss_, false)),
      scope_(std::exchange(s.scope_, static_cast<unsigned char>(0))),
      state_(std::move(s.state_)) {}

inline Status& Status::operator=(Status&& s) noexcept {
  if (this == &s) return *this;
  code_ = std::exchange(s.code_, kOk);
  subcode_ = std::exchange(s.subcode_, kNone);
  sev_ = std::exchange(s.sev_, kNoError);
  retryable_ = std::exchange(s.retryable_, false);
  data_loss_ = std::exchange(s.data_loss_, false);
  scope_ = std::exchange(s.scope_, static_cast<unsigned char>(0));
  state_ = std::move(s.state_);
  return *this;
}

inline Status& Status::UpdateIfOk(Status&& s) {
  if (ok()) *this = std::move(s);
  return *this;
}

inline Status& Status::UpdateIfOk(const Status& s) {
  if (ok()) *this = s;
  return *this;
}

}  // namespace ashlar
