// SPDX-License-Identifier: Apache-2.0
//
// Exclusive locks on files: fcntl(2) against other processes, a table of our own against this one,
// because fcntl locks do not exclude their owner and vanish when *any* descriptor of the file is
// closed. Any thread.
#pragma once

#include <string>

#include "ashlar/env.h"
#include "ashlar/io_status.h"

namespace ashlar {

// Never waits. A held lock gives an IOError that names the holder.
IOStatus AcquirePosixLock(const std::string& path, FileLock** lock);
IOStatus ReleasePosixLock(FileLock* lock);

}  // namespace ashlar
