// SPDX-License-Identifier: Apache-2.0
//
// A file system that notifies listeners of each operation on the tables, logs, MANIFESTs and blob
// files of a database: EventListener::OnFileReadFinish() and similar functions, and OnIOError() for
// failures.
//
// It is used only if a listener asks for it (ShouldBeNotifiedOnFileIO()), so other databases pay
// nothing. Listeners are called after the operation, by the thread that did it, with all locks that
// this thread holds. An exception of a listener is logged and goes no further.
//
// Like every wrapper it offers no mapped logs, because stores to these could not be observed: logs
// are written with calls, of which listeners are notified. Threads: any, like the file system
// below.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/listener.h"

namespace ashlar {

// The file system for a database with these listeners: `fs` itself if no listener asks for it.
// `*info_log` may be null, may be set later, and outlives all files.
std::shared_ptr<FileSystem> WithFileListeners(
    const std::shared_ptr<FileSystem>& fs,
    const std::vector<std::shared_ptr<EventListener>>& listeners,
    const std::shared_ptr<Logger>* info_log);

}  // namespace ashlar
