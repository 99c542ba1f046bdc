// SPDX-License-Identifier: Apache-2.0
//
// The time of its write that a DBWithTTL stores at the end of each value: seconds since 1970 as a
// fixed32. RocksDB reads it as signed; read as unsigned it lasts until 2106. Pure functions.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/system_clock.h"
#include "ashlar/wide_columns.h"
#include "util/keys/coding.h"

namespace ashlar {

inline constexpr size_t kWriteTimeBytes = sizeof(uint32_t);
// No value has an older time (May 2013), so four other bytes are often recognized.
inline constexpr int64_t kOldestWriteTime = 1368146402;

// The TTL of one family, in seconds; 0 or less: values do not expire. Shared by the open database
// and the filters of the family; SetTtl() changes it at any time, and the order of that relative to
// other memory does not matter.
struct TtlSetting {
  explicit TtlSetting(int32_t ttl) : seconds(ttl) {}
  std::atomic<int32_t> seconds;
};

inline bool HasWriteTime(const Slice& stored) {
  return stored.size() >= kWriteTimeBytes &&
         DecodeFixed32(stored.data() + stored.size() - kWriteTimeBytes) >= kOldestWriteTime;
}

// Corruption if the value cannot have been written by a DBWithTTL.
Status CheckWriteTime(const Slice& stored);

// The time at the end of a stored value of at least kWriteTimeBytes bytes.
inline int64_t WriteTimeOf(const Slice& stored) {
  assert(stored.size() >= kWriteTimeBytes);
  return DecodeFixed32(stored.data() + stored.size() - kWriteTimeBytes);
}
inline Slice WithoutWriteTime(const Slice& stored) {
  assert(stored.size() >= kWriteTimeBytes);
  return Slice(stored.data(), stored.size() - kWriteTimeBytes);
}

// Precondition: the time fits 32 bits, as ReadWriteTime() has checked.
inline void AppendWriteTime(std::string* value, int64_t seconds) {
  PutFixed32(value, static_cast<uint32_t>(seconds));
}

// All three in seconds. write_time + ttl cannot overflow: the sum of two 32-bit numbers fits 64
// bits.
inline bool IsExpired(int64_t write_time, int32_t ttl, int64_t now) {
  return ttl > 0 && write_time + ttl < now;
}

// A plain value is shown as one column with the default name, whose value ends in a time. Entities
// have no times: a DBWithTTL of RocksDB stores them as they are. An entity whose only column is the
// default one looks like a plain value.
inline bool IsPlainValue(const WideColumns& columns) {
  return columns.size() == 1 && columns.front().name() == kDefaultWideColumnName;
}

// Seconds since 1970 for values that are read now; 0, at which no value has expired, if the clock
// fails.
int64_t PresentSeconds(SystemClock* clock);

// The time for new values. An error if the clock fails or shows a time that cannot be stored.
Status ReadWriteTime(SystemClock* clock, int64_t* seconds);

}  // namespace ashlar
