// SPDX-License-Identifier: Apache-2.0
//
// Hooks into a write, for DB::WriteWithCallback.
#pragma once

#include "ashlar/export.h"

namespace ashlar {

// Called by the writing thread, outside the database mutex. The object must outlive the write. It
// must not call the database, not even to read: a thread that waits for the writes under way may
// hold what the call needs, and both would wait for ever. An exception does not stop the write: it
// leaves the call that wrote, once all is done as if it had not been thrown.
class ASHLAR_EXPORT UserWriteCallback {
 public:
  virtual ~UserWriteCallback() = default;

  // The write has its place in the order of writes.
  virtual void OnWriteEnqueued() = 0;
  // The write's record is in the WAL and not yet visible to readers. With WriteOptions::sync it is
  // not synced yet, and where the log fails before it, it never will be: the write says so.
  virtual void OnWalWriteFinish() = 0;
};

}  // namespace ashlar
