// SPDX-License-Identifier: Apache-2.0
//
// Functions that are called during a write, see DB::WriteWithCallback().
#pragma once

#include "ashlar/export.h"

namespace ashlar {

// Called by the writing thread, without the database mutex. The object must live until the write
// returns. It must not call the database, not even to read: the call could need a lock whose holder
// waits for this write, and both would wait for ever. If a function throws an exception, the write
// is completed, and then the exception leaves the call that wrote.
class ASHLAR_EXPORT UserWriteCallback {
 public:
  virtual ~UserWriteCallback() = default;

  // The write has received its place in the order of writes.
  virtual void OnWriteEnqueued() = 0;
  // The record of the write is in the WAL, but not visible to readers yet. With WriteOptions::sync
  // it is not synced yet. If the WAL fails at an earlier record, this one is never made durable,
  // and the write returns the error.
  virtual void OnWalWriteFinish() = 0;
};

}  // namespace ashlar
