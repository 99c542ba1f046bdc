// SPDX-License-Identifier: Apache-2.0
//
// Converts errno to a status.
#include "env/posix/posix_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <system_error>

#include "env/io_rule.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Errors that other code reacts to get their own codes, the rest is an IOError. The message names
// the call and the path.
IOStatus PosixError(const char* what, const std::string& path, int error) {
  assert(what != nullptr);
  assert(error > 0);
  const std::string context = StrCat(what, ": ", path);
  const std::string text = std::generic_category().message(error);
  IOStatus status;
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      // Space may be freed while the database is open, so that background work may try again.
      status = IOStatus::NoSpace(context, text);
      status.SetRetryable(true);
      return status;
    case ENOENT: return IOStatus::PathNotFound(context, text);
    // NFS: the file was deleted or replaced on the server. Another attempt with this descriptor
    // cannot succeed.
    case ESTALE: {
      status = IOStatus::IOError(IOStatus::kStaleFile);
      return status_to_io_status(
          Status::CopyAppendMessage(status, "", StrCat(context, ": ", text)));
    }
    // Limits of the process or of the system, which other work may give back.
    case EMFILE:
    case ENFILE:
    case EAGAIN:
    case ENOMEM:
      status = IOStatus::IOError(context, text);
      status.SetRetryable(true);
      return status;
    // Concerns this file alone; the caller decides whether the database may go on.
    default:
      status = IOStatus::IOError(context, text);
      status.SetScope(IOStatus::kIOErrorScopeFile);
      return status;
  }
}

UniqueFd::~UniqueFd() {
  // The error is lost here. Writers that must know it call Close() first.
  if (is_open()) close(fd_);
}

int UniqueFd::Close() {
  const int fd = std::exchange(fd_, -1);
  // Linux closes the descriptor even if a signal interrupts the call. To close it again could close
  // a file that another thread has just opened.
  return fd < 0 || close(fd) == 0 || errno == EINTR ? 0 : errno;
}

Result<UniqueFd> OpenFd(const char* what, const std::string& path, int flags, int mode) {
  AssertIoAllowed();
  const int fd = RetryOnSignal([&] { return open(path.c_str(), flags | O_CLOEXEC, mode); });
  if (fd < 0) return PosixError(what, path, errno);
  return UniqueFd(fd);
}

}  // namespace ashlar
