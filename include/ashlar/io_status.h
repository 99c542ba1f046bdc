// SPDX-License-Identifier: Apache-2.0
//
// IOStatus is a Status of a file system, with additional facts: whether a retry may help, whether
// data was lost, and how far the damage reaches. It converts to Status implicitly.
#pragma once

#include <utility>

#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

// The result of a call of a file system.
class ASHLAR_NODISCARD_CLASS IOStatus : public Status {
 public:
  using Code = Status::Code;
  using SubCode = Status::SubCode;

  // What an I/O error affects: the whole file system, one file, or a range of a file.
  enum IOErrorScope : unsigned char {
    kIOErrorScopeFileSystem,
    kIOErrorScopeFile,
    kIOErrorScopeRange,
    kIOErrorScopeMax,
  };

  IOStatus() = default;
  IOStatus(const IOStatus& s) = default;
  IOStatus& operator=(const IOStatus& s) = default;
  IOStatus(IOStatus&& s) noexcept = default;
  IOStatus& operator=(IOStatus&& s) noexcept = default;

  // Compare only the codes.
  bool operator==(const IOStatus& rhs) const { return code_ == rhs.code_; }
  bool operator!=(const IOStatus& rhs) const { return code_ != rhs.code_; }

  void SetRetryable(bool retryable) { retryable_ = retryable; }
  void SetDataLoss(bool data_loss) { data_loss_ = data_loss; }
  void SetScope(IOErrorScope scope) { scope_ = static_cast<unsigned char>(scope); }
  bool GetRetryable() const { return retryable_; }
  bool GetDataLoss() const { return data_loss_; }
  IOErrorScope GetScope() const { return static_cast<IOErrorScope>(scope_); }

  static IOStatus OK() { return IOStatus(); }

  // As for Status: the message is "msg: msg2", or `msg` if msg2 is empty.
  static IOStatus NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotSupported, msg, msg2);
  }
  static IOStatus NotSupported(SubCode msg = kNone) { return IOStatus(kNotSupported, msg); }
  static IOStatus NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kNotFound, msg, msg2);
  }
  static IOStatus NotFound(SubCode msg = kNone) { return IOStatus(kNotFound, msg); }
  static IOStatus Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kCorruption, msg, msg2);
  }
  static IOStatus Corruption(SubCode msg = kNone) { return IOStatus(kCorruption, msg); }
  static IOStatus InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kInvalidArgument, msg, msg2);
  }
  static IOStatus InvalidArgument(SubCode msg = kNone) { return IOStatus(kInvalidArgument, msg); }
  static IOStatus IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, msg, msg2);
  }
  static IOStatus IOError(SubCode msg = kNone) { return IOStatus(kIOError, msg); }
  static IOStatus Busy(SubCode msg = kNone) { return IOStatus(kBusy, msg); }
  static IOStatus Busy(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kBusy, msg, msg2);
  }
  static IOStatus TimedOut(SubCode msg = kNone) { return IOStatus(kTimedOut, msg); }
  static IOStatus TimedOut(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kTimedOut, msg, msg2);
  }
  static IOStatus NoSpace() { return IOStatus(kIOError, kNoSpace); }
  static IOStatus NoSpace(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kNoSpace, msg, msg2);
  }
  static IOStatus PathNotFound() { return IOStatus(kIOError, kPathNotFound); }
  static IOStatus PathNotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kPathNotFound, msg, msg2);
  }
  static IOStatus IOFenced() { return IOStatus(kIOError, kIOFenced); }
  static IOStatus IOFenced(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kIOError, kIOFenced, msg, msg2);
  }
  static IOStatus Aborted(SubCode msg = kNone) { return IOStatus(kAborted, msg); }
  static IOStatus Aborted(const Slice& msg, const Slice& msg2 = Slice()) {
    return IOStatus(kAborted, msg, msg2);
  }

 private:
  friend IOStatus status_to_io_status(Status&& status);

  explicit IOStatus(Status&& status) : Status(std::move(status)) {}
  explicit IOStatus(Code code, SubCode subcode = kNone) : Status(code, subcode) {}
  IOStatus(Code code, SubCode subcode, const Slice& msg, const Slice& msg2)
      : Status(code, subcode, msg, msg2) {}
  IOStatus(Code code, const Slice& msg, const Slice& msg2) : Status(code, msg, msg2) {}
};

// Converts a status: not retryable, no data lost, scope is the whole file system.
inline IOStatus status_to_io_status(Status&& status) { return IOStatus(std::move(status)); }

}  // namespace ashlar
