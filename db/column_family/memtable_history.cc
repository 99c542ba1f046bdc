// SPDX-License-Identifier: Apache-2.0
//
// References go from the oldest on.
#include "db/column_family/memtable_history.h"

#include <cassert>

namespace ashlar {

void MemTableHistory::Keep(MemTable* flushed) {
  assert(memtables_.empty() || memtables_.back()->id() < flushed->id());
  memtables_.push_back(flushed);
  bytes_ += flushed->ApproximateMemoryUsage();
  flushed->ReportKept();
}

// A sealed memtable does not grow: what goes is what came.
void MemTableHistory::Trim(uint64_t target_bytes, uint64_t other_bytes) {
  while (!memtables_.empty()) {
    MemTable* const oldest = memtables_.front();
    const uint64_t oldest_bytes = oldest->ApproximateMemoryUsage();
    assert(oldest_bytes <= bytes_);
    if (bytes_ - oldest_bytes + other_bytes < target_bytes) return;
    bytes_ -= oldest_bytes;
    memtables_.pop_front();
    oldest->Unref();  // readers that hold an older super version hold it through that
  }
  assert(bytes_ == 0);
}

}  // namespace ashlar
