// SPDX-License-Identifier: Apache-2.0
//
// UpdateChains keeps the updates of keys that a batch wrote more than once: one chain for each such
// key, newest update first.
//
// Updates and chains are added at the end only, and taken back from there in reverse order, so a
// rollback leaves nothing behind. An update that was replaced is kept, because a rollback restores
// it. Threads: one writer, with no reader at the same time; several readers.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ashlar {

class UpdateChains {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;  // no update

  // An update of a chain. Indexes of updates are positions in updates_.
  struct Update {
    uint64_t offset;  // offset of the record in the batch
    uint32_t older = kNone;
    uint32_t newer = kNone;
    uint32_t replaced = kNone;  // the update whose place this one took
    uint32_t ordinal : 31 = 1;  // number of updates of the key up to this one
    // Whether a SingleDelete is among the updates that this one replaced, directly or through
    // others.
    uint32_t replaced_single_delete : 1 = 0;
  };

  // A new update of a key that has updates already.
  struct Addition {
    uint64_t offset;
    bool replaces = false;  // it takes the place of the newest update in the chain
    bool replaced_single_delete = false;
  };

  // Starts a chain with the key's first and second update, and returns its number.
  uint32_t Start(uint64_t first_offset, const Addition& second) {
    updates_.push_back({.offset = first_offset});
    newest_.push_back(LastUpdate());
    Add(LastChain(), second);
    return LastChain();
  }
  // Adds a newer update to a chain.
  void Add(uint32_t chain, const Addition& addition);

  // What is left of a chain.
  enum class Left : uint8_t {
    kChain,   // two updates or more
    kRecord,  // only the first update of the key; the chain was removed
  };
  // Takes back the update that was added last, which must be the newest one of this chain.
  Left TakeBack(uint32_t chain);

  const Update& At(uint32_t update) const {
    assert(update < updates_.size());
    return updates_[update];
  }
  uint32_t NewestIndex(uint32_t chain) const {
    assert(chain < newest_.size());
    return newest_[chain];
  }
  const Update& Newest(uint32_t chain) const { return At(NewestIndex(chain)); }

  bool empty() const { return newest_.empty(); }
  void Clear() {
    updates_.clear();
    newest_.clear();
  }

 private:
  // Precondition: there is one.
  uint32_t LastUpdate() const { return static_cast<uint32_t>(updates_.size() - 1); }
  uint32_t LastChain() const { return static_cast<uint32_t>(newest_.size() - 1); }

  std::vector<Update> updates_;
  std::vector<uint32_t> newest_;  // by chain: the index of its newest update
};
static_assert(sizeof(UpdateChains::Update) == 24);

}  // namespace ashlar
