// SPDX-License-Identifier: Apache-2.0
//
// The effects of a run on a database, by number of the file-system call, and the states that a
// crash at any call may therefore leave: the durability table of reliability.md as a function.
//
// A state after a crash is right if there is one W for the whole database and one F for each
// family, F <= W, such that every family has its first F writes and those of F+1 .. W that went to
// the log. Without writes that skip the log this means: a prefix of the writes, the same in all
// families. The smallest W and F allowed follow from syncs and flushes. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "env/sim/sim_model.h"
#include "tests/support/opened_db.h"

namespace ashlar {

// The contents of all families, as hashes.
using FamilyHashes = std::map<std::string, uint64_t>;
FamilyHashes HashesOf(const Contents& contents);

// [begin, end) in an order, which outlives it.
struct DeletedRange {
  std::string begin, end;
  const Comparator* order;
  bool Holds(const std::string& key) const {
    return order->Compare(begin, key) <= 0 && order->Compare(key, end) < 0;
  }
};

class FamilyHistory {
 public:
  explicit FamilyHistory(std::string name) : name(std::move(name)) {}

  void Write(uint64_t number, bool is_logged, const std::string& key,
             const std::optional<std::string>& value);
  // The contents of the range, in its order.
  void DeleteRange(uint64_t number, bool is_logged, const DeletedRange& range);
  // For every W up to `highest`: whether this is the state of the family then, for some F of at
  // least `lowest_flushed`.
  std::vector<bool> FittingPrefixes(uint64_t hash, uint64_t lowest_flushed, uint64_t highest) const;

  const std::string name;
  uint64_t create_begin = 0, create_end = 0;  // call numbers
  uint64_t drop_begin = UINT64_MAX, drop_end = UINT64_MAX;
  // From this call on, all writes up to this number are in tables.
  std::vector<std::pair<uint64_t, uint64_t>> flushed;
  uint64_t last_write = 0;

 private:
  struct Update {
    std::string key;
    std::optional<uint64_t> row_hash;   // nullopt: deleted
    std::optional<DeletedRange> range;  // all keys of the range are deleted
  };
  struct Step {  // the updates of one write
    uint64_t number;
    bool is_logged;
    std::vector<Update> updates;
  };
  using RowHashes = std::map<std::string, uint64_t>;
  using Pair = std::pair<uint32_t, uint32_t>;  // F, W as numbers of steps

  Step* StepFor(uint64_t number, bool is_logged);
  static void Apply(const Step& step, RowHashes* rows, uint64_t* sum);
  void BuildIndex() const;

  std::vector<Step> steps_;
  // Every possible state, by hash; computed when first needed.
  mutable std::unordered_map<uint64_t, std::vector<Pair>> index_;
  mutable size_t indexed_steps_ = SIZE_MAX;
};

class History {
 public:
  History() { CreateFamily("default", 0, 0); }

  void CreateFamily(const std::string& name, uint64_t begin, uint64_t end);
  void DropFamily(const std::string& name, uint64_t begin, uint64_t end);
  FamilyHistory* Family(
      const std::string& name);  // a live family; null if there is none of this name

  // A write gets the next number, then its updates, then its result.
  uint64_t BeginWrite(uint64_t begin_call, bool is_logged);
  void Update(const std::string& family, const std::string& key,
              const std::optional<std::string>& value);
  void DeleteRange(const std::string& family, const DeletedRange& range);
  void Acknowledge(uint64_t end_call) { writes_.back().end = end_call; }
  uint64_t write_count() const { return writes_.size(); }

  // From this call on, all logged writes so far survive a crash of the process, or of the machine.
  void NoteDelivered(uint64_t call) { delivered_.emplace_back(call, writes_.size()); }
  void NoteSynced(uint64_t call) { synced_.emplace_back(call, writes_.size()); }
  // From this call on, all writes to the family so far are in tables.
  void NoteFlushed(const std::string& family, uint64_t call);
  // From this call on, everything so far is durable.
  void NoteAllKept(uint64_t call);

  // Returns what is wrong with this state after a crash just before call `index`; empty if nothing
  // is. For the test, the default family exists from the beginning.
  std::string Judge(const FamilyHashes& found, uint64_t index, CrashPolicy policy) const;

 private:
  struct WriteTimes {
    uint64_t begin;
    uint64_t end = UINT64_MAX;
    bool is_logged;
  };
  struct Bounds {
    uint64_t lowest = 0, highest = 0;
  };
  Bounds BoundsAt(uint64_t index, CrashPolicy policy) const;
  std::string JudgeFamilies(const FamilyHashes& found, uint64_t index) const;
  std::string Explain(const FamilyHashes& found, const Bounds& bounds, uint64_t index) const;
  static uint64_t LowestFlushed(const FamilyHistory& family, uint64_t index);

  std::vector<std::unique_ptr<FamilyHistory>> families_;
  std::vector<WriteTimes> writes_;  // [0] is write 1
  std::vector<std::pair<uint64_t, uint64_t>> delivered_, synced_;
};

}  // namespace ashlar
