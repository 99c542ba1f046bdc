// SPDX-License-Identifier: Apache-2.0
//
// The compaction of level 0 runs on a thread of its own, while the yielding thread waits for it. So
// the I/O and CPU counters of the two jobs, which are kept per thread, stay separate.
#include "db/jobs/level0_turns.h"

#include <cassert>

#include "util/threads/epoch.h"
#include "util/threads/thread_team.h"

namespace ashlar {

void Level0Turns::Yielder::Yield() {
  assert(!InEpoch());
  assert(turns_.run_ != nullptr);  // the thread waits, so it must not hold an epoch
  const uint64_t start_micros = turns_.clock_->NowNanos() / 1000;
  if (start_micros < earliest_micros_.load(std::memory_order_relaxed)) return;
  // Only one thread of the job runs level 0; its other threads continue.
  if (is_away_.exchange(true, std::memory_order_acquire)) return;
  {
    ThreadTeam other;  // if no thread can be started, nothing runs
    other.Start(1, [this](size_t) { turns_.run_(); });
  }
  const uint64_t end_micros = turns_.clock_->NowNanos() / 1000;
  // As much time as the pause took belongs to the long compaction before the next pause.
  earliest_micros_.store(end_micros + (end_micros - start_micros), std::memory_order_relaxed);
  is_away_.store(false, std::memory_order_release);
}

}  // namespace ashlar
