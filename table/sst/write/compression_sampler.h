// SPDX-License-Identifier: Apache-2.0
//
// CompressionSampler estimates how large a table would be with a fast and with a slow compression,
// from every n-th of its data blocks.
//
// A sample costs the time of both compressions; the table itself is not changed. Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/slice.h"
#include "table/format/compression.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

// The bytes after each of the two compressions; 0: not sampled, or the build lacks the library.
struct SampledBytes {
  uint64_t fast = 0;
  uint64_t slow = 0;
};

class CompressionSampler {
 public:
  // One of `interval` blocks is sampled; 0: no block.
  explicit CompressionSampler(uint64_t interval);

  // Called for each data block in the order of the table. Returns the compressed sizes if this
  // block was sampled, else zeros.
  SampledBytes AddBlock(const Slice& raw);
  // Scales the samples up to a table with `raw_bytes` bytes of uncompressed data blocks.
  SampledBytes EstimateFor(uint64_t raw_bytes) const;

 private:
  uint64_t Compressed(Compressor* compressor, const Slice& raw);

  const uint64_t interval_;
  std::unique_ptr<Compressor> fast_;  // null: the build lacks it, or nothing is sampled
  std::unique_ptr<Compressor> slow_;  // the same
  PageString scratch_;                // output of the compressors; reused
  uint64_t block_count_ = 0;
  uint64_t sampled_raw_bytes_ = 0;
  SampledBytes sampled_;  // the sum of all samples
};

}  // namespace ashlar
