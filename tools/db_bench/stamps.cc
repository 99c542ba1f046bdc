// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's db_bench counts timestamps from 0 in each process. The clock is used here instead, so
// that a process reads what earlier ones wrote.
#include "tools/db_bench/stamps.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>

#include "ashlar/comparator.h"
#include "ashlar/env.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

// The size of the timestamps of BytewiseComparatorWithU64Ts().
constexpr int kStampBytes = 8;

bool HasStamps() { return FLAGS_user_timestamp_size > 0; }

// The last timestamp that a write got. Relaxed: it orders nothing else.
std::atomic<uint64_t> newest_stamp{0};

// The clock may stand still between two writes, or be set back.
uint64_t NextStamp() {
  const uint64_t now = Env::Default()->NowMicros();
  uint64_t newest = newest_stamp.load(std::memory_order_relaxed);
  uint64_t next = 0;
  do {
    next = std::max(now, newest + 1);
  } while (!newest_stamp.compare_exchange_weak(newest, next, std::memory_order_relaxed));
  return next;
}

}  // namespace

bool IsTimestampSizeValid() {
  return FLAGS_user_timestamp_size == 0 || FLAGS_user_timestamp_size == kStampBytes;
}

void SetComparator(ColumnFamilyOptions* options) {
  assert(options != nullptr);
  if (HasStamps()) options->comparator = BytewiseComparatorWithU64Ts();
}

void StampBatch(WriteBatch* batch) {
  assert(batch != nullptr);
  if (!HasStamps()) return;
  std::string bytes;
  const Slice stamp = EncodeU64Ts(NextStamp(), &bytes);
  RequireOk(batch->UpdateTimestamps(stamp, [](uint32_t) { return size_t{kStampBytes}; }),
            "timestamp");
}

Status PutStamped(DB* db, const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                  const Slice& value) {
  assert(db != nullptr);
  if (!HasStamps()) return db->Put(options, family, key, value);
  std::string bytes;
  return db->Put(options, family, key, EncodeU64Ts(NextStamp(), &bytes), value);
}

ReadStamp::ReadStamp(ReadOptions* options) {
  assert(options != nullptr);
  if (!HasStamps()) return;
  options->timestamp = &slice_;
  MoveToNow();
}

void ReadStamp::MoveToNow() {
  if (!HasStamps()) return;
  // Not before the newest write, which may be ahead of the clock.
  const uint64_t newest = newest_stamp.load(std::memory_order_relaxed);
  slice_ = EncodeU64Ts(std::max<uint64_t>(Env::Default()->NowMicros(), newest), &bytes_);
}

}  // namespace bench
}  // namespace ashlar
