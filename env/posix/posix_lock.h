// SPDX-License-Identifier: Apache-2.0
//
// Exclusive locks on files. fcntl(2) locks exclude other processes. A table of our own excludes
// this process, because fcntl locks do not exclude their owner and are released when *any*
// descriptor of the file is closed. Any thread.
#pragma once

#include <string>

#include "ashlar/env.h"
#include "ashlar/io_status.h"

namespace ashlar {

// Never waits. If the lock is held already, by this process or another, returns an IOError that
// names the holder. On success the caller owns `*lock` until ReleasePosixLock() frees it; on an
// error it is null. The file is created if it is missing. The kernel releases the lock when the
// process ends.
IOStatus AcquirePosixLock(const std::string& path, FileLock** lock);
// `lock` is from AcquirePosixLock() and is freed even if an error is returned.
IOStatus ReleasePosixLock(FileLock* lock);

}  // namespace ashlar
