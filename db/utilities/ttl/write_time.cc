// SPDX-License-Identifier: Apache-2.0
//
// The errors, which reads and writes report.
#include "db/utilities/ttl/write_time.h"

#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

// Refuses times before the first release with TTL: such bytes are not a time, so the value was not
// written by a DBWithTTL.
Status CheckWriteTime(const Slice& stored) {
  if (stored.size() < kWriteTimeBytes) {
    return Status::Corruption(StrCat("DBWithTTL: the value has ", stored.size(),
                                     " bytes, less than its time of write needs"));
  }
  if (HasWriteTime(stored)) return Status::OK();
  return Status::Corruption(StrCat("DBWithTTL: the time of write of the value is ",
                                   WriteTimeOf(stored), ", before ", kOldestWriteTime));
}

int64_t PresentSeconds(SystemClock* clock) {
  assert(clock != nullptr);
  int64_t seconds = 0;
  // 0 is before every write, so nothing is expired if the clock fails.
  return clock->GetCurrentTime(&seconds).ok() ? seconds : 0;
}

Status ReadWriteTime(SystemClock* clock, int64_t* seconds) {
  assert(seconds != nullptr);
  assert(clock != nullptr);
  Status status = clock->GetCurrentTime(seconds);
  if (!status.ok()) return status;
  // The stored form is a number of 32 bits, and older times mean a value without a time.
  if (*seconds >= kOldestWriteTime && *seconds <= int64_t{UINT32_MAX}) return status;
  return Status::InvalidArgument(
      StrCat("DBWithTTL: values cannot be stored with the time of the clock, ", *seconds));
}

}  // namespace ashlar
