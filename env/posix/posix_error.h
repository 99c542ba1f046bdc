// SPDX-License-Identifier: Apache-2.0
//
// errno as a status, and a file descriptor that closes itself. Any thread.
#pragma once

#include <cerrno>
#include <string>
#include <utility>

#include "ashlar/io_status.h"
#include "util/result.h"

namespace ashlar {

// "<what>: <path>: <text of the error>". ENOSPC and EDQUOT give NoSpace, ENOENT PathNotFound; the
// retryable flag is set where trying again may help.
IOStatus PosixError(const char* what, const std::string& path, int error);

// What posix calls do when a signal comes in between: again.
template <typename Call>
auto RetryOnSignal(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  // Gives the descriptor away.
  int Release() { return std::exchange(fd_, -1); }
  // 0, or the errno of close(2), which is not repeated: the descriptor is gone either way.
  int Close();

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC; signals are retried.
Result<UniqueFd> OpenFd(const char* what, const std::string& path, int flags, int mode = 0644);

}  // namespace ashlar
