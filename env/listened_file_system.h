// SPDX-License-Identifier: Apache-2.0
//
// A file system that tells listeners of each operation on the tables, logs, MANIFESTs and blob
// files of a database: EventListener::OnFileReadFinish() and its like, and OnIOError() of what
// failed.
//
// It is there only if a listener asks for it (ShouldBeNotifiedOnFileIO()), so databases without one
// pay nothing. Listeners are called by the thread that did the operation, after it, with whatever
// locks that thread holds; what they throw is logged and goes no further.
//
// Like every wrapper it has no mapped logs, whose stores would pass it by: logs are written with
// calls, of which listeners hear. Threads: any, like the file system below.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/listener.h"

namespace ashlar {

// The file system that a database with these listeners uses: `fs` itself if none asks. `*info_log`,
// which may be null and may be set later, outlives all files.
std::shared_ptr<FileSystem> WithFileListeners(
    const std::shared_ptr<FileSystem>& fs,
    const std::vector<std::shared_ptr<EventListener>>& listeners,
    const std::shared_ptr<Logger>* info_log);

}  // namespace ashlar
