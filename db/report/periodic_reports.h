// SPDX-License-Identifier: Apache-2.0
//
// What a database says of itself at intervals: its statistics in the info log
// (stats_dump_period_sec), and what its counters gained (stats_persist_period_sec), in memory or in
// the database.
//
// Threads: any, without the DB mutex; the reports are made in the timer's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "db/report/properties.h"
#include "db/report/statistics_history.h"
#include "db/report/stored_history.h"
#include "env/periodic_timer.h"

namespace ashlar {

class PeriodicReports {
 public:
  // Outlived by what the sources name.
  explicit PeriodicReports(const PropertySources& sources)
      : sources_(sources), dump_(this), sample_(this) {}
  ~PeriodicReports() { Stop(); }

  // Takes the periods of the options; nothing happens in a database that is being closed.
  void Start() EXCLUDES(db_mutex);
  // None is made any more.
  void Stop() EXCLUDES(db_mutex);

  // From now on what the counters gain is kept there; null: in memory. Before Start(), or when
  // none is made any more.
  void StoreIn(std::unique_ptr<StoredHistory> stored) { stored_ = std::move(stored); }

  std::unique_ptr<StatsHistoryIterator> History(uint64_t begin, uint64_t end) const {
    return stored_ != nullptr ? stored_->Between(begin, end) : history_.Between(begin, end);
  }

 private:
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

  void DumpStatistics() EXCLUDES(db_mutex);
  void SampleCounters() EXCLUDES(db_mutex);

  const PropertySources sources_;
  StatisticsHistory history_;
  std::unique_ptr<StoredHistory> stored_;  // null: none
  Dump dump_;
  Sample sample_;
};

}  // namespace ashlar
