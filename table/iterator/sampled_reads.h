// SPDX-License-Identifier: Apache-2.0
//
// SampledReads is what sampled point reads have told of one table. Each sample stands for all the
// reads between it and the next one. Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace ashlar {

struct SampledReads {
  std::atomic<uint64_t> all{0};
  // Of those that searched the table in vain and had to go on to an older one; one that had to read
  // a block from the file counts more.
  std::atomic<uint64_t> wasted{0};
};

}  // namespace ashlar
