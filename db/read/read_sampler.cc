// SPDX-License-Identifier: Apache-2.0
//
// A table is charged when the read goes on to the next one.
#include "db/read/read_sampler.h"

#include <atomic>
#include <bit>
#include <cassert>

#include "table/iterator/sampled_reads.h"

namespace ashlar {

constinit thread_local ReadSampling this_thread_sampling;

// The first distance of a new thread is uniform, so that each of its next reads is equally likely
// to be the first sample.
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

// All searches are counted, so that the share of wasted ones is known. Relaxed: the counts are
// statistics.
void ReadSample::EnterTable(const Table& table) {
  assert(lookup_ != nullptr && table.sampled != nullptr);
  if (last_ == table.sampled) return;  // the read continues in the table outside of the epoch
  ChargeLast();
  table.sampled->all.fetch_add(kReadsPerSample, std::memory_order_relaxed);
  counters_ = lookup_->counters;
  last_ = table.sampled;
}

// Charges the table that the read leaves, unless its filter rejected the key.
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
  is_worth_asking_ |= std::bit_width(before) != std::bit_width(before + charge);
}

}  // namespace ashlar
