// SPDX-License-Identifier: Apache-2.0
//
// StopFlags are the reasons to end a compaction before it is complete. The compaction checks them
// after about every thousand entries.
#pragma once

#include <atomic>

#include "ashlar/status.h"

namespace ashlar {

struct StopFlags {
  // Set (release) by the thread that stops the compaction, read (acquire) by the compaction. Null:
  // never set. The flag outlives the compaction.
  using Flag = const std::atomic<bool>*;

  Flag background_cancelled = nullptr;  // ShutdownInProgress
  Flag aborted = nullptr;               // Incomplete(kCompactionAborted)
  Flag manual_disabled = nullptr;       // Incomplete(kManualCompactionPaused)
  Flag cancelled_by_caller = nullptr;   // Incomplete(kManualCompactionPaused)

  // OK, or the reason to stop.
  Status Check() const {
    if (IsSet(background_cancelled)) return Status::ShutdownInProgress();
    if (IsSet(aborted)) return Status::Incomplete(Status::kCompactionAborted);
    if (IsSet(manual_disabled) || IsSet(cancelled_by_caller)) {
      return Status::Incomplete(Status::kManualCompactionPaused);
    }
    return Status::OK();
  }

 private:
  static bool IsSet(Flag flag) { return flag != nullptr && flag->load(std::memory_order_acquire); }
};

}  // namespace ashlar
