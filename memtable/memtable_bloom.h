// SPDX-License-Identifier: Apache-2.0
//
// MemTableBloom is a Bloom filter that recognises most absent keys of a memtable with one cache
// miss: all probes for one key are in one 64-byte line.
//
// Threads: any number. A reader sees every hash whose Add() returned before its question.
#pragma once

#include <atomic>
#include <cstdint>

#include "util/memory/arena.h"

namespace ashlar {

class MemTableBloom {
 public:
  // The memory, at least one line, comes from `arena`, which outlives the filter.
  MemTableBloom(uint64_t bits, ConcurrentArena* arena);

  // Adds a hash: FilterHash64 of a key or of its prefix.
  void Add(uint64_t hash) {
    std::atomic<uint64_t>* line = LineOf(hash);
    uint64_t probe = hash * kSpread;
    for (int i = 0; i < kProbes; ++i, probe <<= 9) {
      const uint64_t bit = uint64_t{1} << (probe >> 58);
      std::atomic<uint64_t>& word = line[(probe >> 55) & 7];
      // Loading first avoids most of the expensive writes to a line that other threads read.
      if ((word.load(std::memory_order_relaxed) & bit) == 0) {
        word.fetch_or(bit, std::memory_order_relaxed);
      }
    }
  }

  // False only if the hash was not added.
  bool MayContain(uint64_t hash) const {
    const std::atomic<uint64_t>* line = LineOf(hash);
    uint64_t probe = hash * kSpread;
    for (int i = 0; i < kProbes; ++i, probe <<= 9) {
      const uint64_t bit = uint64_t{1} << (probe >> 58);
      if ((line[(probe >> 55) & 7].load(std::memory_order_relaxed) & bit) == 0) return false;
    }
    return true;
  }

 private:
  static constexpr int kProbes = 6;
  static constexpr uint64_t kSpread = 0x9e3779b97f4a7c15ull;

  std::atomic<uint64_t>* LineOf(uint64_t hash) const {
    return words_ +
           8 * static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * lines_) >> 64);
  }

  uint64_t lines_;                // number of lines of 64 bytes; at least one
  std::atomic<uint64_t>* words_;  // eight words per line, in the arena
};

}  // namespace ashlar
