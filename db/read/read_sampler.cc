// SPDX-License-Identifier: Apache-2.0
//
// A table is charged for a sampled read when the read moves on to the next table.
#include "db/read/read_sampler.h"

#include <atomic>
#include <bit>
#include <cassert>

#include "table/iterator/sampled_reads.h"

namespace ashlar {

constinit thread_local ReadSampling this_thread_sampling;

// Chooses the number of reads until the next sample. The first distance of a new thread starts at
// one, so that each of its first reads is equally likely to be a sample.
bool BeginSampleDistance() {
  static std::atomic<uint64_t> threads{0};
  ReadSampling& sampling = this_thread_sampling;
  assert(sampling.reads_to_go == 0);
  const bool is_sample = sampling.has_begun;
  if (!is_sample) sampling.random = Random64(threads.fetch_add(1, std::memory_order_relaxed));
  sampling.has_begun = true;
  const uint64_t least = is_sample ? kReadsPerSample / 2 : 1;
  sampling.reads_to_go = static_cast<uint32_t>(least + sampling.random.Uniform(kReadsPerSample));
  return is_sample;
}

// Counts all searches, so that the share of wasted ones is known. The counts are statistics, so
// relaxed memory order suffices.
void ReadSample::EnterTable(const Table& table) {
  assert(lookup_ != nullptr);
  assert(table.sampled != nullptr);
  if (last_ == table.sampled) return;  // the read continues in the table outside of the epoch
  ChargeLast();
  table.sampled->all.fetch_add(kReadsPerSample, std::memory_order_relaxed);
  counters_ = lookup_->counters;
  last_ = table.sampled;
}

// Charges the table that the read leaves behind, unless its filter rejected the key, in which case
// no search was wasted.
void ReadSample::ChargeLast() {
  if (last_ == nullptr) return;
  assert(lookup_ != nullptr);
  const PointLookup::Counters& now = lookup_->counters;
  const bool was_spared = now.filter_useful != counters_.filter_useful ||
                          now.prefix_filter_useful != counters_.prefix_filter_useful;
  if (was_spared) return;
  const bool was_read = now.block_misses != counters_.block_misses;
  const uint64_t charge = kReadsPerSample * (was_read ? kReadsPerBlockRead : 1);
  const uint64_t before = last_->wasted.fetch_add(charge, std::memory_order_relaxed);
  // Readers ask for a compaction only when the sum has reached another power of two, so they ask
  // seldom.
  is_worth_asking_ |= std::bit_width(before) != std::bit_width(before + charge);
}

}  // namespace ashlar
