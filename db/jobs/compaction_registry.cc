// SPDX-License-Identifier: Apache-2.0
//
// Few compactions run at once, so linear search is good enough.
#include "db/jobs/compaction_registry.h"

#include <algorithm>
#include <cassert>

#include "util/text/str_cat.h"

namespace ashlar {

void CompactionRegistry::Add(const Running& running) {
  assert(running.family != nullptr);
  assert(running.plan != nullptr);
  assert(running.is_aborted != nullptr);
  running_.push_back(running);
}

// The plan is part of the job, so its address identifies the job.
void CompactionRegistry::Remove(const CompactionPlan* plan) {
  [[maybe_unused]] const size_t removed =
      std::erase_if(running_, [plan](const Running& running) { return running.plan == plan; });
  assert(removed == 1);
}

// Pickers treat a reservation like a running compaction, but it cannot be aborted. The plan stays
// valid until ReleaseLocked().
void CompactionRegistry::ReserveLocked(const ColumnFamilyData* family, const CompactionPlan* plan) {
  assert(family != nullptr);
  assert(plan != nullptr);
  assert(plan->output_level > 0);
  assert(plan->InputFileCount() > 0);
  reserved_.emplace_back(family, plan);
}

void CompactionRegistry::ReleaseLocked(const CompactionPlan* plan) {
  [[maybe_unused]] const size_t released =
      std::erase_if(reserved_, [plan](const auto& entry) { return entry.second == plan; });
  assert(released == 1);
}

// The plans of the family that a new compaction must not conflict with: those of running jobs, and
// the reserved ones.
CompactionRegistry::Plans CompactionRegistry::PlansLocked(const ColumnFamilyData* family) const {
  assert(family != nullptr);
  Plans plans;
  for (const Running& running : running_) {
    if (running.family == family) plans.push_back(running.plan);
  }
  for (const auto& [holder, plan] : reserved_) {
    if (holder == family) plans.push_back(plan);
  }
  return plans;
}

// Null asks about all families.
bool CompactionRegistry::IsRunningLocked(const ColumnFamilyData* family) const {
  return std::any_of(running_.begin(), running_.end(), [family](const Running& running) {
    return family == nullptr || running.family == family;
  });
}

// Each file of level 0 is a sorted run of its own.
uint64_t CompactionRegistry::SortedRunsLocked() const {
  uint64_t runs = 0;
  for (const Running& running : running_) {
    for (const LevelFiles& level : running.plan->inputs) {
      runs += level.level == 0 ? level.files.size() : 1;
    }
  }
  return runs;
}

// Sets the abort flag of running compactions; a null family means all. Calls are counted, so a
// Resume() of one call does not end the abort of another.
void CompactionRegistry::AbortLocked(const ColumnFamilyData* family) {
  assert(abort_all_count_ >= 0);
  (family == nullptr ? abort_all_count_ : abort_counts_[family->id()])++;
  for (const Running& running : running_) {
    if (family != nullptr && running.family != family) continue;
    running.is_aborted->store(true, std::memory_order_release);
  }
}

// Takes back one AbortLocked(). Without such a call before it, the function does nothing.
void CompactionRegistry::ResumeLocked(const ColumnFamilyData* family) {
  if (family == nullptr) {
    if (abort_all_count_ > 0) abort_all_count_--;
    return;
  }
  const auto count = abort_counts_.find(family->id());
  assert(count == abort_counts_.end() || count->second > 0);
  if (count != abort_counts_.end() && --count->second == 0) abort_counts_.erase(count);
}

uint64_t CompactionRegistry::AbortCountLocked(const ColumnFamilyData& family) const {
  const auto count = abort_counts_.find(family.id());
  return static_cast<uint64_t>(abort_all_count_ +
                               (count == abort_counts_.end() ? 0 : count->second));
}

std::string CompactionRegistry::DebugStringLocked() const {
  std::string text;
  for (const Running& running : running_) {
    StrAppend(&text, "running in ", running.family->name(), ": ", running.plan->DebugString(),
              "\n");
  }
  if (abort_all_count_ > 0) StrAppend(&text, "aborted in all families: ", abort_all_count_, "\n");
  for (const auto& [family, count] : abort_counts_) {
    StrAppend(&text, "aborted in family ", family, ": ", count, "\n");
  }
  return text;
}

}  // namespace ashlar
