// SPDX-License-Identifier: Apache-2.0
//
// Sampled reads: one in about a thousand keys that a thread reads with Get or MultiGet is watched.
// A table that was searched for a watched key in vain, before an older table had to be searched, is
// charged with a thousand reads. The charges of a table pay for its compaction
// (db/compaction/compaction_picker.h).
//
// A read that is not sampled costs a decrement of a thread-local number; a sampled one adds to
// shared counters of each table that it enters. A table whose filter rejects the key is not
// charged, because asking a filter costs little, in the table below as well. Distances between
// samples are random, because reads may come in regular patterns. The first distance of a thread is
// shorter, so that reads of short-lived threads are sampled too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"
#include "util/random.h"

namespace ashlar {

inline constexpr uint32_t kReadsPerSample = 1024;
// The weight of a search that has to read a block, relative to one in memory: microseconds against
// tenths of a microsecond.
inline constexpr uint64_t kReadsPerBlockRead = 64;

// The state of one thread.
struct ReadSampling {
  uint32_t reads_to_go = 1;  // the read that decrements it to 0 is the sample
  // False until the first read of the thread, which only chooses a distance.
  bool has_begun = false;
  Random64 random{0};
};
extern constinit thread_local ReadSampling this_thread_sampling;

// The slow part of IsReadSampled(), for the first read of a thread and for its samples: chooses the
// distance to the next sample. Returns whether this read is a sample.
bool BeginSampleDistance();

// True for one read of the thread in kReadsPerSample.
inline bool IsReadSampled() {
  if (--this_thread_sampling.reads_to_go != 0) [[likely]]
    return false;
  return BeginSampleDistance();
}

// The same for `count` reads at once: returns the index of the sampled one, or `count` if there is
// none.
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

// Charges the tables that a sampled read searches. Lives on the stack around the read.
class ReadSample final : public ReadTrace {
 public:
  void EnterMemTable(const MemTablePlace&) override {}
  void EnterTable(const Table& table) override;
  void OnRowFound() override {}
  void OnBlock(const Block&) override {}
  void OnTombstone(const Tombstone&) override {}
  void OnFilter(bool, bool) override {}
  void BeginLookup(const PointLookup& lookup) override { lookup_ = &lookup; }
  void EndLookup(const PointLookup&) override { lookup_ = nullptr; }
  void AddRun(size_t, const MemTablePlace*) override {}
  void EnterRun(size_t) override {}
  void OnEntryShown(const Slice&) override {}
  void OnEntryLeft(const Slice&) override {}

  // Whether a table has been charged often enough that the caller should check whether it is due
  // for compaction. True less and less often as the charges of a table grow.
  bool IsWorthAsking() const { return is_worth_asking_; }

 private:
  void ChargeLast();

  const PointLookup* lookup_ = nullptr;
  SampledReads* last_ = nullptr;    // of the table that was entered last
  PointLookup::Counters counters_;  // of the lookup when it entered that table
  bool is_worth_asking_ = false;
};

}  // namespace ashlar
