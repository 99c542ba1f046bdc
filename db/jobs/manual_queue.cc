// SPDX-License-Identifier: Apache-2.0
//
// An exclusive compaction waits until no other compaction runs in its family, and no call removes
// tables. Other manual compactions wait only for exclusive ones that were queued before them.
#include "db/jobs/manual_queue.h"

#include <algorithm>
#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

void ManualQueue::AddLocked(ManualCompaction* manual) {
  assert(manual != nullptr);
  assert(manual->family != nullptr);
  assert(!manual->is_taken);
  assert(!manual->is_done);
  assert(manual->input_level <= manual->output_level);
  if (running_->IsAbortedLocked(*manual->family)) {
    manual->is_aborted.store(true, std::memory_order_release);
  }
  queue_.push_back(manual);
}

void ManualQueue::RemoveLocked(ManualCompaction* manual) {
  assert(manual != nullptr);
  assert(!manual->is_taken || manual->is_done);
  const auto found = std::find(queue_.begin(), queue_.end(), manual);
  assert(found != queue_.end());
  queue_.erase(found);
}

// Whether the compaction may begin now. An earlier one in the queue prevents this only if both are
// of the same family and at least one is exclusive.
bool ManualQueue::CanTake(const ManualCompaction& manual) const {
  if (manual.is_taken || manual.is_done) return false;
  for (const ManualCompaction* other : queue_) {
    if (other == &manual) break;
    if (other->family == manual.family && !other->is_done &&
        (other->is_exclusive || manual.is_exclusive)) {
      return false;
    }
  }
  if (!manual.is_exclusive) return true;
  // DeleteFilesInRanges() claims tables without a plan.
  return running_->PlansLocked(manual.family).empty() &&
         !manual.family->versions()->claims.AreAny();
}

// How many compactions a thread of the scheduler could take now.
int ManualQueue::WaitingLocked() const {
  int waiting = 0;
  for (const ManualCompaction* manual : queue_) {
    waiting += !manual->is_of_caller && CanTake(*manual) ? 1 : 0;
  }
  return waiting;
}

// Takes the first compaction that may begin; null if there is none. Compactions that run on the
// thread of their call are not handed to the scheduler.
ManualCompaction* ManualQueue::TakeLocked() {
  for (ManualCompaction* manual : queue_) {
    if (manual->is_of_caller || !CanTake(*manual)) continue;
    manual->is_taken = true;
    return manual;
  }
  return nullptr;
}

// Marks the compaction as done. The call that waits for it removes the entry from the queue.
void ManualQueue::FinishLocked(ManualCompaction* manual) {
  assert(manual != nullptr);
  assert(manual->is_taken);
  assert(!manual->is_done);
  manual->is_done = true;
  conditions_->ManualChanged();
}

// Waits until a compaction that runs on the calling thread may begin.
Status ManualQueue::AwaitTurnLocked(ManualCompaction* manual) {
  assert(manual != nullptr);
  assert(manual->is_of_caller);
  // A caller that sets its own flag does not signal, so the flag is polled.
  constexpr uint64_t kLookAgainMicros = 50 * 1000;
  while (!CanTake(*manual)) {
    RETURN_IF_ERROR(manual->stop.Check());
    if (manual->stop.cancelled_by_caller == nullptr) {
      conditions_->jobs.Wait();
    } else {
      conditions_->jobs.WaitFor(kLookAgainMicros);
    }
  }
  manual->is_taken = true;
  return manual->family->is_dropped() ? Status::ColumnFamilyDropped() : manual->stop.Check();
}

bool ManualQueue::HasLocked(const ColumnFamilyData* family) const {
  return std::any_of(queue_.begin(), queue_.end(), [family](const ManualCompaction* manual) {
    return family == nullptr || manual->family == family;
  });
}

bool ManualQueue::HasExclusiveLocked(const ColumnFamilyData* family) const {
  return std::any_of(queue_.begin(), queue_.end(), [family](const ManualCompaction* manual) {
    return manual->family == family && manual->is_exclusive && !manual->is_done;
  });
}

void ManualQueue::AbortLocked(const ColumnFamilyData* family) {
  for (ManualCompaction* manual : queue_) {
    if (family != nullptr && manual->family != family) continue;
    manual->is_aborted.store(true, std::memory_order_release);
  }
}

std::string ManualQueue::DebugStringLocked() const {
  std::string text;
  for (const ManualCompaction* manual : queue_) {
    StrAppend(&text, manual->is_taken ? "taken" : "waiting", " for a call in ",
              manual->family->name(), ": L", manual->input_level, " -> L", manual->output_level,
              manual->is_exclusive ? ", exclusive\n" : "\n");
  }
  return text;
}

}  // namespace ashlar
