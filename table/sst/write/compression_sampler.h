// SPDX-License-Identifier: Apache-2.0
//
// CompressionSampler estimates how large a table would be under a fast and a slow compression, from
// every n-th of its data blocks.
//
// A sample costs the time of both compressions and changes no byte of the table.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/slice.h"
#include "table/format/compression.h"
#include "util/memory/page_allocator.h"

namespace ashlar {

// Bytes after both compressions; 0: not sampled, or the build has no such library.
struct SampledBytes {
  uint64_t fast = 0;
  uint64_t slow = 0;
};

class CompressionSampler {
 public:
  // One of `interval` blocks is sampled; 0: none.
  explicit CompressionSampler(uint64_t interval);

  // The next data block of the table.
  SampledBytes AddBlock(const Slice& raw);
  // Of a table with so many bytes of data blocks.
  SampledBytes EstimateFor(uint64_t raw_bytes) const;

 private:
  uint64_t Compressed(Compressor* compressor, const Slice& raw);

  const uint64_t interval_;
  std::unique_ptr<Compressor> fast_;  // null: not in this build, or no samples
  std::unique_ptr<Compressor> slow_;
  PageString scratch_;
  uint64_t block_count_ = 0;
  uint64_t sampled_raw_bytes_ = 0;
  SampledBytes sampled_;  // the sum of all samples
};

}  // namespace ashlar
