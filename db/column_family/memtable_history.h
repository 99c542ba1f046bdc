// SPDX-License-Identifier: Apache-2.0
//
// MemTableHistory keeps flushed memtables of a family for checks of conflicts, which ask what was
// written to a key since some sequence number. Readers do not look here: the tables say the same.
//
// Threads: the owner's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "memtable/memtable.h"

namespace ashlar {

class MemTableHistory {
 public:
  MemTableHistory() = default;
  ~MemTableHistory() { Clear(); }
  MemTableHistory(const MemTableHistory&) = delete;
  MemTableHistory& operator=(const MemTableHistory&) = delete;

  // Takes over a reference on a memtable younger than those that are kept.
  void Keep(MemTable* flushed);
  // The oldest go for as long as what stays, with `other_bytes` of memtables that are not flushed
  // yet, is `target_bytes` or more. So one memtable at most is held beyond the target. 0: none.
  void Trim(uint64_t target_bytes, uint64_t other_bytes);
  void Clear() { Trim(0, 0); }

  uint64_t count() const { return kept_.size(); }
  uint64_t bytes() const { return bytes_; }  // of all of them when they came

 private:
  struct Kept {
    MemTable* memtable;  // a reference on it
    uint64_t bytes;      // that it had when it came
  };

  std::deque<Kept> kept_;  // oldest first
  uint64_t bytes_ = 0;     // of all of them
};

}  // namespace ashlar
