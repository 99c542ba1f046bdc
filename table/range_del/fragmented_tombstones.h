// SPDX-License-Identifier: Apache-2.0
//
// FragmentedTombstones is an immutable set of range tombstones, cut at each other's borders, so
// that one search tells what covers a key.
//
//     tombstones   [a ......... e)@7             fragments   [a, c) 7
//                        [c ......... g)@9                   [c, e) 9 7
//                                                            [e, g) 9
//
// Fragments ascend and do not overlap; each has the sequence numbers of the tombstones that cover
// it, descending and distinct; neighbours that touch differ in them. CheckInvariants() proves that.
// Tombstones that enclose each other give a number to every fragment inside: memory is their count
// at best and its square at worst.
//
// A file's tombstones act only between its boundary keys (docs/formats/block_based_table.md, 10):
// with a border they are cut to it on construction. Only such a cut can make an end inclusive, and
// only that of the last fragment.
//
// User-defined timestamps are not known here yet. Threads: any number.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "table/range_del/range_tombstone.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class FragmentedTombstones {
 public:
  // The user keys that a file answers for.
  struct Border {
    Slice smallest;
    Slice largest;
    bool largest_is_inclusive = true;  // false when it is the exclusive end of a range tombstone
  };
  // The border that a file's boundary keys, which are internal keys, stand for.
  static Border BorderOf(const Slice& smallest, const Slice& largest);

  struct Fragment {
    Slice begin;
    Slice end;
    bool end_is_inclusive = false;
    std::span<const SequenceNumber> seqnos;  // never empty; descending
  };

  // The tombstones may come in any order, overlap, repeat themselves or be empty. Their keys are
  // borrowed from `memory`, or from what outlives this where that is null; those of `border`, which
  // may be null, are copied. Costs a sort, or one pass where they are fragments already.
  FragmentedTombstones(const InternalKeyComparator& comparator,
                       std::vector<RangeTombstone> tombstones, const Border* border = nullptr,
                       std::shared_ptr<const void> memory = nullptr);
  FragmentedTombstones(const FragmentedTombstones&) = delete;
  FragmentedTombstones& operator=(const FragmentedTombstones&) = delete;

  bool empty() const { return fragments_.empty(); }
  size_t size() const { return fragments_.size(); }  // in fragments
  Fragment fragment(size_t index) const {
    assert(index < fragments_.size());
    const Place& place = fragments_[index];
    const size_t end = index + 1 < fragments_.size() ? fragments_[index + 1].seqno : seqnos_.size();
    return {place.begin(), place.end(), last_is_inclusive_ && index + 1 == fragments_.size(),
            std::span(seqnos_).subspan(place.seqno, end - place.seqno)};
  }
  // What has to be written to store this: one tombstone for each number of each fragment.
  size_t tombstone_count() const { return seqnos_.size(); }
  SequenceNumber smallest_seqno() const { return smallest_seqno_; }  // of all; 0 if empty
  SequenceNumber largest_seqno() const { return largest_seqno_; }

  // The first fragment that reaches behind `user_key`: it holds the key or lies behind it. size()
  // if there is none. Hot: a search over key heads, and few comparisons of keys.
  size_t Find(const Slice& user_key) const;
  // True if fragment `index`, which reaches behind the key, also holds it.
  bool BeginsAtOrBefore(size_t index, const Slice& user_key) const {
    return comparator_.OrderWithoutTimestamp(fragments_[index].begin(), user_key) <= 0;
  }
  // The greatest sequence number, at most `upper_seqno`, of those that cover the key; 0 if none.
  SequenceNumber MaxCoveringSeqno(const Slice& user_key, SequenceNumber upper_seqno) const;
  // The same for a fragment: its greatest number that is at most `upper_seqno`, 0 if none.
  SequenceNumber MaxSeqno(size_t index, SequenceNumber upper_seqno) const;

  // One tombstone for each number of each fragment, in their order. An inclusive end is given as an
  // exclusive one, for there is no other: who goes on with them looks for its last key elsewhere.
  void AppendTo(std::vector<RangeTombstone>* tombstones) const;

  const InternalKeyComparator& comparator() const { return comparator_; }
  // Bytes of this object, without the keys' own.
  size_t MemoryUsage() const;
  // A line for each fragment: [a, c) 9 7
  std::string DebugString() const;
  Status CheckInvariants() const;

 private:
  class Sweep;

  // A fragment in 32 bytes.
  struct Place {
    const char* begin_data;
    const char* end_data;
    uint32_t begin_bytes;
    uint32_t end_bytes;
    size_t seqno;  // index of its first number; they end where those of the next fragment begin

    Slice begin() const { return Slice(begin_data, begin_bytes); }
    Slice end() const { return Slice(end_data, end_bytes); }
  };

  std::vector<SequenceNumber> TakeLastKey(std::span<const RangeTombstone> tombstones) const;
  void Cut(std::span<RangeTombstone> tombstones) const;
  void BuildFrom(std::vector<RangeTombstone> tombstones);
  // Adds a fragment behind the last one, or lengthens that where they touch and have the same
  // numbers.
  void Append(const Fragment& fragment);
  void BuildHeads();
  uint64_t HeadOf(const Slice& user_key) const {  // which begins with the common prefix
    return KeyHead(user_key.data() + prefix_bytes_, user_key.size() - prefix_bytes_,
                   comparator_.order());
  }
  // Index of the first fragment that begins behind the key.
  size_t FindBehind(const Slice& user_key) const;

  const InternalKeyComparator comparator_;
  const std::shared_ptr<const void> memory_;  // of the keys; null: somebody else's
  // Copies, where there was a border.
  std::string smallest_border_;
  std::string largest_border_;
  std::vector<Place> fragments_;
  std::vector<SequenceNumber> seqnos_;
  // Heads of the begins behind what all of them begin with; empty in a custom order.
  std::vector<uint64_t> heads_;
  size_t prefix_bytes_ = 0;  // what all begins share
  bool last_is_inclusive_ = false;
  SequenceNumber smallest_seqno_ = 0;
  SequenceNumber largest_seqno_ = 0;
};

}  // namespace ashlar
