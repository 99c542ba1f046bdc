// SPDX-License-Identifier: Apache-2.0
//
// What a file system said of an error with it (IOStatus), asked of the Status that it has become on
// its way up: Status carries the flags and does not show them.
#pragma once

#include "ashlar/status.h"

namespace ashlar {

class StatusFlags : private Status {
 public:
  // The same call may succeed later.
  static bool IsRetryable(const Status& status) { return status.*(&StatusFlags::retryable_); }
  // Bytes that were written before are gone.
  static bool SaysDataLoss(const Status& status) { return status.*(&StatusFlags::data_loss_); }
};

}  // namespace ashlar
