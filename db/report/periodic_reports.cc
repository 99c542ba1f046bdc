// SPDX-License-Identifier: Apache-2.0
//
// The log shows the texts of the properties, so a program sees the same.
#include "db/report/periodic_reports.h"

#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/statistics.h"
#include "db/column_family/family_ref.h"
#include "env/info_log.h"

namespace ashlar {
namespace {

constexpr uint64_t kSecondMicros = 1'000'000;

}  // namespace

void PeriodicReports::Start() {
  const DbCore& core = *sources_.core;
  {
    // The mutex is held until the timer is set: Stop() removes the tasks once, so a task that is
    // set after it would stay.
    MutexLock lock(&core.mutex);
    if (is_stopped_) return;
    // A period of 0 sets no task.
    const uint64_t dump_seconds = core.options->stats_dump_period_sec;
    const uint64_t sample_seconds =
        core.services.statistics == nullptr ? 0 : core.options->stats_persist_period_sec;
    PeriodicTimer* const timer = PeriodicTimer::Default();
    const bool is_dumped = timer->Set(&dump_, dump_seconds * kSecondMicros);
    if (is_dumped && timer->Set(&sample_, sample_seconds * kSecondMicros)) return;
  }
  Warn(core.services.info_log, "no thread for the periodic statistics");
}

void PeriodicReports::Stop() {
  {
    MutexLock lock(&sources_.core->mutex);
    is_stopped_ = true;
  }
  // Each call waits for a report that is running.
  PeriodicTimer* const timer = PeriodicTimer::Default();
  timer->Forget(&dump_);
  timer->Forget(&sample_);
}

void PeriodicReports::DumpStatistics() {
  const DbCore* const core = sources_.core;
  std::vector<FamilyRef> families;
  {
    MutexLock lock(&core->mutex);
    families = core->families.PinAll();
  }
  assert(!families.empty());  // the default family always exists
  std::string text;
  // The facts about the whole database come first, then one part for each family.
  if (!GetTextProperty(sources_, families.front().get(), "rocksdb.dbstats", &text)) return;
  for (const FamilyRef& family : families) {
    std::string part;
    if (GetTextProperty(sources_, family.get(), "rocksdb.cfstats", &part)) text += part;
  }
  families.clear();  // releasing last references makes tables obsolete
  core->services.cleaner->DeleteObsoleteFiles();
  Info(core->services.info_log, "------- DUMPING STATS -------");
  Info(core->services.info_log, "%s", text.c_str());
  if (core->services.statistics == nullptr) return;
  Info(core->services.info_log, "STATISTICS:\n %s", core->services.statistics->ToString().c_str());
}

void PeriodicReports::SampleCounters() {
  const DbCore& core = *sources_.core;
  assert(core.services.statistics != nullptr);
  StatisticsHistory::Counters counters;
  // A Statistics object of the program may have no such map.
  if (!core.services.statistics->getTickerMap(&counters)) return;
  size_t limit_bytes = 0;
  if (stored_ == nullptr) {
    MutexLock lock(&core.mutex);
    limit_bytes = core.options->stats_history_buffer_size;
  }
  const uint64_t seconds = core.environment.NowSeconds();
  // The sample is kept in memory in both cases, because the next gains are computed from it. With a
  // limit of 0 it is dropped at once.
  const auto gains = history_.AddSample(seconds, std::move(counters), limit_bytes);
  if (stored_ == nullptr || gains == nullptr) return;
  const Status status = stored_->Add(seconds, *gains);
  // A lost sample leaves a gap in the history; the next one is complete again.
  if (!status.ok())
    Warn(core.services.info_log, "statistics not stored: %s", status.ToString().c_str());
}

}  // namespace ashlar
