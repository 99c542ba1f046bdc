// SPDX-License-Identifier: Apache-2.0
//
// A block that does not shrink counts with its full size, because it would be stored uncompressed.
#include "table/sst/write/compression_sampler.h"

#include <cassert>
#include <initializer_list>

namespace ashlar {

namespace {

// A compressor of the first of these types that the build supports; null: of none of them.
std::unique_ptr<Compressor> FirstOf(std::initializer_list<CompressionType> types) {
  for (const CompressionType type : types) {
    if (!IsCompressionSupported(type)) continue;
    Result<std::unique_ptr<Compressor>> compressor = Compressor::Create(type, {});
    if (compressor.ok()) return compressor.Take();
  }
  return nullptr;
}

// Scales `part` from `sampled_raw` bytes up to `raw` bytes, rounded.
uint64_t Scale(uint64_t part, uint64_t sampled_raw, uint64_t raw) {
  assert(sampled_raw != 0);
  return static_cast<uint64_t>(static_cast<double>(part) / static_cast<double>(sampled_raw) *
                                   static_cast<double>(raw) +
                               0.5);
}

}  // namespace

// Types that the build lacks stay null and are reported as 0 bytes.
CompressionSampler::CompressionSampler(uint64_t interval) : interval_(interval) {
  if (interval_ == 0) return;
  fast_ = FirstOf({kLZ4Compression, kSnappyCompression});
  slow_ = FirstOf({kZSTD, kZlibCompression});
}

// Compresses only every interval_-th block, and throws the result away: only the sizes count.
SampledBytes CompressionSampler::AddBlock(const Slice& raw) {
  if (interval_ == 0 || block_count_++ % interval_ != 0) return {};
  const SampledBytes bytes{.fast = Compressed(fast_.get(), raw),
                           .slow = Compressed(slow_.get(), raw)};
  sampled_raw_bytes_ += raw.size();
  sampled_.fast += bytes.fast;
  sampled_.slow += bytes.slow;
  assert(sampled_.fast <= sampled_raw_bytes_);
  return bytes;
}

uint64_t CompressionSampler::Compressed(Compressor* compressor, const Slice& raw) {
  if (compressor == nullptr) return 0;
  return compressor->Compress(raw, raw.size(), &scratch_) ? scratch_.size() : raw.size();
}

SampledBytes CompressionSampler::EstimateFor(uint64_t raw_bytes) const {
  if (sampled_raw_bytes_ == 0) return {};
  return {.fast = Scale(sampled_.fast, sampled_raw_bytes_, raw_bytes),
          .slow = Scale(sampled_.slow, sampled_raw_bytes_, raw_bytes)};
}

}  // namespace ashlar
