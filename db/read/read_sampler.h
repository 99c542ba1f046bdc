// SPDX-License-Identifier: Apache-2.0
//
// Sampled reads: of the keys that a thread asks for, with Get or MultiGet, one in about a thousand
// is watched, and the tables that were searched for it in vain, before an older one had to be, are
// charged with a thousand reads.
// What a table has been charged with pays for compacting it (db/compaction/compaction_picker.h).
//
// A read that is not sampled costs a decrement of a thread's own number; one that is adds to shared
// numbers of each table it enters. A table whose filter spares the search is not charged: asking
// the filter again costs little, in the table below as well. Distances between samples are random,
// for reads come in patterns; threads that end early count too, for the first distance is shorter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"
#include "util/random.h"

namespace ashlar {

inline constexpr uint32_t kReadsPerSample = 1024;
// What a search that must read a block counts, beside one in memory: microseconds beside tenths.
inline constexpr uint64_t kReadsPerBlockRead = 64;

struct ReadSampling {
  uint32_t reads_to_go = 1;
  bool has_begun = false;
  Random64 random{0};
};
extern constinit thread_local ReadSampling this_thread_sampling;

// The slow part of the next one: at the first read of a thread and at its samples.
bool BeginSampleDistance();

// True for one read of the thread in kReadsPerSample.
inline bool IsReadSampled() {
  if (--this_thread_sampling.reads_to_go != 0) [[likely]]
    return false;
  return BeginSampleDistance();
}

// The same for `count` reads at once: which of them it is, or `count`.
inline size_t SampledRead(size_t count) {
  ReadSampling& sampling = this_thread_sampling;
  if (sampling.reads_to_go > count) [[likely]] {
    sampling.reads_to_go -= static_cast<uint32_t>(count);
    return count;
  }
  if (count == 0) return count;
  const size_t which = sampling.reads_to_go - 1;
  sampling.reads_to_go = 0;
  return BeginSampleDistance() ? which : count;
}

// Lives on the stack around a sampled read.
class ReadSample final : public ReadTrace {
 public:
  void EnterMemTable(const MemTablePlace&) override {}
  void EnterTable(const Table& table) override;
  void OnRowFound() override {}
  void OnBlock(const Block&) override {}
  void OnTombstone(const Tombstone&) override {}
  void OnPrefixFilter(bool) override {}
  void BeginLookup(const PointLookup& lookup) override { lookup_ = &lookup; }
  void EndLookup(const PointLookup&) override { lookup_ = nullptr; }
  void AddRun(size_t, const MemTablePlace*) override {}
  void EnterRun(size_t) override {}
  void OnEntryShown(const Slice&) override {}
  void OnEntryLeft(const Slice&) override {}

  // Whether a table has been charged often enough to ask whether that pays for its compaction.
  // Asked again and again, but rarer and rarer.
  bool IsWorthAsking() const { return is_worth_asking_; }

 private:
  void ChargeLast();

  const PointLookup* lookup_ = nullptr;
  SampledReads* last_ = nullptr;    // of the table that was entered last
  PointLookup::Counters counters_;  // when it was entered
  bool is_worth_asking_ = false;
};

}  // namespace ashlar
