// SPDX-License-Identifier: Apache-2.0
//
// The other compaction has a thread of its own, so that neither is charged for what the other one
// reads, writes and computes.
#include "db/jobs/level0_turns.h"

#include <cassert>

#include "util/threads/epoch.h"
#include "util/threads/thread_team.h"

namespace ashlar {

void Level0Turns::Yielder::Yield() {
  assert(!InEpoch() && turns_.run_ != nullptr);  // it waits
  const uint64_t start_micros = turns_.clock_->NowNanos() / 1000;
  if (start_micros < earliest_micros_.load(std::memory_order_relaxed)) return;
  if (is_away_.exchange(true, std::memory_order_acquire)) return;
  {
    ThreadTeam other;  // where no thread is to be had, nothing runs
    other.Start(1, [this](size_t) { turns_.run_(); });
  }
  const uint64_t end_micros = turns_.clock_->NowNanos() / 1000;
  earliest_micros_.store(end_micros + (end_micros - start_micros), std::memory_order_relaxed);
  is_away_.store(false, std::memory_order_release);
}

}  // namespace ashlar
