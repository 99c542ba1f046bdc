// SPDX-License-Identifier: Apache-2.0
//
// SampledReads sums up what sampled point reads found out about one table. Each sample counts for
// all the reads since the previous sample. Threads: any number.
#pragma once

#include <atomic>
#include <cstdint>

namespace ashlar {

struct SampledReads {
  std::atomic<uint64_t> all{0};  // all sampled reads of the table
  // The part of them that searched the table in vain and had to continue with an older one. A read
  // that had to read a block from the file counts more.
  std::atomic<uint64_t> wasted{0};
};

}  // namespace ashlar
