// SPDX-License-Identifier: Apache-2.0
//
// PerfMeter adds the times of one point read to the thread's perf context, part by part, and what
// the read does in each table to the counters of the table's level.
//
// It lives on the stack around the read, and only where the thread's perf level asks for times or
// its counters by level are enabled: other reads do not meet it. Times stop with the last place
// that is looked at; what folding merge operands takes counts as work after that.
#pragma once

#include <cstdint>

#include "ashlar/perf_context.h"
#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

class PerfMeter final : public ReadTrace {
 public:
  static bool IsWanted() { return this_thread_measures_reads; }

  PerfMeter();
  ~PerfMeter() override;
  PerfMeter(const PerfMeter&) = delete;
  PerfMeter& operator=(const PerfMeter&) = delete;

  void EnterMemTable(const MemTablePlace& place) override;
  void EnterTable(const Table& table) override;
  void OnRowFound() override {}
  void OnBlock(const Block&) override {}
  void OnTombstone(const Tombstone&) override {}
  void OnPrefixFilter(bool) override {}
  void BeginLookup(const PointLookup& lookup) override;
  void EndLookup(const PointLookup& lookup) override;
  void AddRun(size_t, const MemTablePlace*) override {}
  void EnterRun(size_t) override {}
  void OnEntryShown(const Slice&) override {}
  void OnEntryLeft(const Slice&) override {}

 private:
  static constexpr int kNoLevel = -1;

  // Ends what the read was at, and goes on to what `part` counts.
  void GoOnTo(uint64_t PerfContextBase::*part);

  const CpuTimer cpu_timer_;
  uint64_t PerfContextBase::*part_;  // where the time goes
  uint64_t nanos_;                   // since when; 0: times are not measured
  const PointLookup* lookup_ = nullptr;
  PointLookup::Counters counters_;  // as the place before left them
  int level_ = kNoLevel;            // of the table that is searched
};

}  // namespace ashlar
