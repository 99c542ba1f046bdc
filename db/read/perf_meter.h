// SPDX-License-Identifier: Apache-2.0
//
// PerfMeter adds the times of one point read to the thread's perf context, part by part, and adds
// the read's counts for each table to the counters of the table's level.
//
// It lives on the stack around the read, and exists only if the perf level of the thread asks for
// times or if its counters by level are enabled. Other reads pay nothing for it. The time after the
// last place is counted as post-processing, except that folding of merge operands has a counter of
// its own.
#pragma once

#include <cstdint>

#include "ashlar/perf_context.h"
#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

class PerfMeter final : public ReadTrace {
 public:
  // Whether this thread wants its point reads measured.
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
  void OnFilter(bool, bool) override {}
  void BeginLookup(const PointLookup& lookup) override;
  void EndLookup(const PointLookup& lookup) override;
  void AddRun(size_t, const MemTablePlace*) override {}
  void EnterRun(size_t) override {}
  void OnEntryShown(const Slice&) override {}
  void OnEntryLeft(const Slice&) override {}

 private:
  static constexpr int kNoLevel = -1;

  // Charges the time since the last call to the current part, and makes `part` the current one.
  void GoOnTo(uint64_t PerfContextBase::*part);

  const CpuTimer cpu_timer_;
  uint64_t PerfContextBase::*part_;  // the counter that gets the time
  uint64_t nanos_;                   // the time of the last GoOnTo(); 0: times are not measured
  const PointLookup* lookup_ = nullptr;
  PointLookup::Counters counters_;  // as they were when the current place was entered
  int level_ = kNoLevel;            // of the table that is being searched
};

}  // namespace ashlar
