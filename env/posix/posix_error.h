// SPDX-License-Identifier: Apache-2.0
//
// Converts errno to a status, and wraps a file descriptor so that it is closed. Any thread.
#pragma once

#include <cerrno>
#include <string>
#include <utility>

#include "ashlar/io_status.h"
#include "util/result.h"

namespace ashlar {

// Converts `error`, an errno that is not 0. The message is "<what>: <path>: <text of the error>".
// ENOSPC and EDQUOT give NoSpace, ENOENT gives PathNotFound. The status is retryable if another
// attempt may succeed. `what` names the failed call and is copied.
IOStatus PosixError(const char* what, const std::string& path, int error);

// Repeats a POSIX call as long as a signal interrupts it (-1 with EINTR). Not for close(2), which
// must not be repeated.
template <typename Call>
auto RetryOnSignal(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

// Owns one file descriptor and closes it at the end of its life. -1 means that it owns none. Not
// synchronized.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  // Swaps, so that the old descriptor is closed when `other` is destroyed.
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Returns the descriptor, which the caller must close.
  int Release() { return std::exchange(fd_, -1); }
  // Returns 0 or the errno of close(2). The call is not repeated, because the descriptor is closed
  // even if it fails.
  int Close();

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC, so that programs which a child executes do not inherit the file. The call
// is repeated if a signal interrupts it. `mode` counts only for files that are created; the umask
// reduces it. May wait for the disk, so that it is not allowed where I/O is forbidden
// (env/io_rule.h).
Result<UniqueFd> OpenFd(const char* what, const std::string& path, int flags, int mode = 0644);

}  // namespace ashlar
