// SPDX-License-Identifier: Apache-2.0
//
// How the memory of filters is shared between the sorted runs of a tree.
//
// A lookup of an absent key asks the filter of every run, so its cost is the sum of their false
// positive rates; and one bit per key costs a run as many bits as it has keys. With p = exp(-b ln^2
// 2) the sum is least, for the same memory, if p is proportional to the size of the run:
//
//   b(run) = b(policy) + (w - ln n(run)) / ln^2 2,   w = sum(n ln n) / sum(n)
//
// In a tree whose levels grow tenfold, the last level gives up half a bit, and the levels above
// gain four bits and more. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "util/keys/level.h"

namespace ashlar {

class Version;
struct LevelFiles;

// The difference, in 1/1000 bits per key, between the bits of a run and the average that the policy
// gives; may be negative. Sizes in bytes stand for numbers of keys. `others`: the runs beside it.
int32_t FilterShiftMillibits(uint64_t run_bytes, std::span<const uint64_t> others);

// For a table that is flushed from `memtable_bytes` bytes of memtables.
int32_t FilterShiftOfFlush(const Version& version, uint64_t memtable_bytes);
// For the tables that a compaction of `inputs` writes to `output_level`. Level 0 only if all inputs
// are there.
int32_t FilterShiftOfCompaction(const Version& version, std::span<const LevelFiles> inputs,
                                Level output_level);

}  // namespace ashlar
