// SPDX-License-Identifier: Apache-2.0
//
// How the memory of filters is shared between the sorted runs of a tree.
//
// A lookup of an absent key asks the filter of every run, so it pays for the sum of their false
// positive rates, and a bit per key costs a run as many bits as it has keys. With p = exp(-b ln^2
// 2) the sum is least, at the same memory, where p is proportional to the size of the run:
//
//   b(run) = b(policy) + (w - ln n(run)) / ln^2 2,   w = sum(n ln n) / sum(n)
//
// In a tree whose levels grow tenfold the last one gives up half a bit, and those above gain four
// and more. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "util/keys/level.h"

namespace ashlar {

class Version;
struct LevelFiles;

// 1/1000 bits per key that a run gets beside those that the policy gives on average; may be below
// 0. Bytes stand for keys. `others`: the runs that stay beside it.
int32_t FilterShiftMillibits(uint64_t run_bytes, std::span<const uint64_t> others);

// For a table flushed from so many bytes of memtables.
int32_t FilterShiftOfFlush(const Version& version, uint64_t memtable_bytes);
// For the tables that a compaction of `inputs` writes to a level below 0, or to level 0 if that is
// where all the inputs are.
int32_t FilterShiftOfCompaction(const Version& version, std::span<const LevelFiles> inputs,
                                Level output_level);

}  // namespace ashlar
