// SPDX-License-Identifier: Apache-2.0
//
// The interval is a hundredth of the shortest period, and samples are kept for the longest one.
#include "db/jobs/time_sampler.h"

#include <algorithm>
#include <vector>

#include "db/table_cache/table_cache.h"
#include "db/version/version_ref.h"
#include "env/info_log.h"
#include "util/rare_sort.h"

namespace ashlar {

void TimeSampler::Start() {
  constexpr uint64_t kSamplesInPeriod = 100;
  constexpr uint64_t kSecondMicros = 1'000'000;
  bool has_thread = true;
  {
    // The mutex is held until the timer is set, so that of two calls the later one decides.
    MutexLock lock(&core_->mutex);
    // Stop() removes the task once, so a task that is set now would stay.
    if (is_stopped_) return;
    uint64_t shortest = 0, longest = 0;
    for (const ColumnFamilyData* family : core_->families.All()) {
      const uint64_t seconds = SecondsOfKeptTimes(family->options());
      if (seconds == 0) continue;
      shortest = shortest == 0 ? seconds : std::min(shortest, seconds);
      longest = std::max(longest, seconds);
    }
    core_->write_times.KeepFor(longest);
    SampleLocked();
    // A period of 0 sets no task. A longer period than a year would not be served by one process.
    constexpr uint64_t kYearSeconds = uint64_t{365} * 24 * 3600;
    const uint64_t interval =
        shortest == 0 ? 0 : std::clamp<uint64_t>(shortest / kSamplesInPeriod, 1, kYearSeconds);
    has_thread = PeriodicTimer::Default()->Set(this, interval * kSecondMicros);
  }
  if (!has_thread) Warn(core_->services.info_log, "no thread to sample the times of writes");
}

void TimeSampler::Stop() {
  {
    MutexLock lock(&core_->mutex);
    is_stopped_ = true;
  }
  PeriodicTimer::Default()->Forget(this);
}

void TimeSampler::RunPeriodically() {
  MutexLock lock(&core_->mutex);
  SampleLocked();
}

// Time passes without any write, so compactions that move old data to the last level are requested
// here.
void TimeSampler::SampleLocked() {
  const uint64_t now = core_->environment.NowSeconds();
  core_->write_times.Note(core_->pipeline->visible_seqno(), now);
  SeqnoTimes times;
  for (ColumnFamilyData* family : core_->families.All()) {
    const uint64_t seconds = family->options().preclude_last_level_data_seconds;
    if (seconds == 0) continue;
    if (times.empty()) times = core_->write_times.Get();
    CompactionClaims& claims = family->versions()->claims;
    const SequenceNumber first_young = times.FirstYoung(now, seconds);
    if (first_young == claims.first_young()) continue;
    claims.SetFirstYoung(first_young);
    scheduler_->RequestCompactionLocked(family);
  }
}

// Tables carry the times of their own numbers, so those are opened that reach back farther than
// the ones before. A few suffice; the rest would make opening slow.
void TimeSampler::Learn() {
  constexpr size_t kMostTables = 32;
  std::vector<VersionRef> versions;
  uint64_t longest = 0;
  {
    MutexLock lock(&core_->mutex);
    for (ColumnFamilyData* family : core_->families.All()) {
      longest = std::max(longest, SecondsOfKeptTimes(family->options()));
      if (family->options().preclude_last_level_data_seconds == 0) continue;
      versions.emplace_back(family->current(), core_->versions.get());
    }
    core_->write_times.KeepFor(longest);
  }
  for (const VersionRef& version : versions) {
    std::vector<TableFile*> tables;
    for (Level level = 0; level < version->num_levels(); ++level) {
      const std::vector<TableFile*>& files = version->files(level);
      tables.insert(tables.end(), files.begin(), files.end());
    }
    SortRarely(&tables, [](const TableFile* a, const TableFile* b) {
      return a->meta.largest_seqno > b->meta.largest_seqno;
    });
    SequenceNumber known_from = kMaxSequenceNumber;
    size_t opened = 0;
    for (TableFile* file : tables) {
      if (file->meta.smallest_seqno >= known_from || file->meta.largest_seqno == 0) continue;
      if (opened++ == kMostTables) break;
      known_from = file->meta.smallest_seqno;
      Result<TableHandle> table = version->tables()->Pin(file);
      SeqnoTimes times;
      // Without them data only counts as younger than it is.
      if (!table.ok()) continue;
      if (times.MergeEncoded((*table)->properties().seqno_to_time_mapping).ok()) {
        core_->write_times.Learn(times);
      }
    }
  }
}

}  // namespace ashlar
