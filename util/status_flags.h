// SPDX-License-Identifier: Apache-2.0
//
// The flags that a file system sets in an IOStatus. They stay in the Status that is made from it,
// but Status has no functions to read them.
#pragma once

#include "ashlar/status.h"

namespace ashlar {

class StatusFlags : private Status {
 public:
  // Whether the same call may succeed later.
  static bool IsRetryable(const Status& status) { return status.*(&StatusFlags::retryable_); }
  // Whether bytes that were written before are lost.
  static bool SaysDataLoss(const Status& status) { return status.*(&StatusFlags::data_loss_); }
};

}  // namespace ashlar
