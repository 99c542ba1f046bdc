// SPDX-License-Identifier: Apache-2.0
//
// The texts are those of the properties: what a program asks for and what the log shows agree.
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
  uint64_t dump_seconds = 0, sample_seconds = 0;
  {
    MutexLock lock(&core.mutex);
    if (core.shutdown.is_background_cancelled()) return;
    dump_seconds = core.options->stats_dump_period_sec;
    sample_seconds =
        core.services.statistics == nullptr ? 0 : core.options->stats_persist_period_sec;
  }
  PeriodicTimer* const timer = PeriodicTimer::Default();
  const bool is_dumped = timer->Set(&dump_, dump_seconds * kSecondMicros);
  if (is_dumped && timer->Set(&sample_, sample_seconds * kSecondMicros)) return;
  Warn(core.services.info_log, "no thread for the periodic statistics");
}

void PeriodicReports::Stop() {
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
  assert(!families.empty());  // the default one always lives
  std::string text;
  if (!GetTextProperty(sources_, families.front().get(), "rocksdb.dbstats", &text)) return;
  for (const FamilyRef& family : families) {
    std::string part;
    if (GetTextProperty(sources_, family.get(), "rocksdb.cfstats", &part)) text += part;
  }
  families.clear();  // perhaps the last ones, which make their tables obsolete
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
  // A user's object need not have any.
  if (!core.services.statistics->getTickerMap(&counters)) return;
  size_t limit_bytes = 0;
  if (stored_ == nullptr) {
    MutexLock lock(&core.mutex);
    limit_bytes = core.options->stats_history_buffer_size;
  }
  const uint64_t seconds = core.environment.NowSeconds();
  const auto gains = history_.AddSample(seconds, std::move(counters), limit_bytes);
  if (stored_ == nullptr || gains == nullptr) return;
  const Status status = stored_->Add(seconds, *gains);
  if (!status.ok())
    Warn(core.services.info_log, "statistics not stored: %s", status.ToString().c_str());
}

}  // namespace ashlar
