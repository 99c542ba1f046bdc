// SPDX-License-Identifier: Apache-2.0
//
// References go from the oldest on.
#include "db/column_family/memtable_history.h"

#include <cassert>

namespace ashlar {

void MemTableHistory::Keep(MemTable* flushed) {
  assert(kept_.empty() || kept_.back().memtable->id() < flushed->id());
  kept_.push_back({.memtable = flushed, .bytes = flushed->ApproximateMemoryUsage()});
  bytes_ += kept_.back().bytes;
  flushed->ReportKept();
}

// A memtable may still grow when somebody reads it, a program's own at any time: so what goes is
// what came, not what it has by now.
void MemTableHistory::Trim(uint64_t target_bytes, uint64_t other_bytes) {
  while (!kept_.empty()) {
    const auto [oldest, oldest_bytes] = kept_.front();
    assert(oldest_bytes <= bytes_);
    if (bytes_ - oldest_bytes + other_bytes < target_bytes) return;
    bytes_ -= oldest_bytes;
    kept_.pop_front();
    oldest->Unref();  // readers that hold an older super version hold it through that
  }
  assert(bytes_ == 0);
}

}  // namespace ashlar
