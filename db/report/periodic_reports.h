// SPDX-License-Identifier: Apache-2.0
//
// The reports that a database makes at intervals: its statistics in the info log
// (stats_dump_period_sec), and the gains of its counters (stats_persist_period_sec), in memory or
// in the database.
//
// Threads: any, without the DB mutex; the timer's thread makes the reports.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "db/report/properties.h"
#include "db/report/statistics_history.h"
#include "db/report/stored_history.h"
#include "env/periodic_timer.h"

namespace ashlar {

// Owned by the database, and stopped before the objects that the sources name are destroyed.
class PeriodicReports {
 public:
  // The objects that the sources name outlive the object.
  explicit PeriodicReports(const PropertySources& sources)
      : sources_(sources), dump_(this), sample_(this) {}
  ~PeriodicReports() { Stop(); }

  // Begins with the periods of the options. Does nothing after Stop().
  void Start() EXCLUDES(db_mutex);
  // For good: no report is made after it returns.
  void Stop() EXCLUDES(db_mutex);

  // From now on the gains of the counters are stored there; null: in memory. Called before Start(),
  // or after Stop().
  void StoreIn(std::unique_ptr<StoredHistory> stored) { stored_ = std::move(stored); }

  // The samples in [begin, end), in seconds since 1970.
  std::unique_ptr<StatsHistoryIterator> History(uint64_t begin, uint64_t end) const {
    return stored_ != nullptr ? stored_->Between(begin, end) : history_.Between(begin, end);
  }

 private:
  // One object per period, because the timer knows tasks by their address.
  struct Dump final : PeriodicTask {
    explicit Dump(PeriodicReports* owner) : reports(owner) {}
    void RunPeriodically() override { reports->DumpStatistics(); }
    PeriodicReports* const reports;
  };
  struct Sample final : PeriodicTask {
    explicit Sample(PeriodicReports* owner) : reports(owner) {}
    void RunPeriodically() override { reports->SampleCounters(); }
    PeriodicReports* const reports;
  };

  // Writes the statistics texts to the info log.
  void DumpStatistics() EXCLUDES(db_mutex);
  // Takes one sample of the counters.
  void SampleCounters() EXCLUDES(db_mutex);

  const PropertySources sources_;
  StatisticsHistory history_;
  std::unique_ptr<StoredHistory> stored_;  // null: samples are kept in memory
  Dump dump_;
  Sample sample_;
  bool is_stopped_ GUARDED_BY(db_mutex) = false;
};

}  // namespace ashlar
