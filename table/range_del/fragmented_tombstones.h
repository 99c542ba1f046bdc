// SPDX-License-Identifier: Apache-2.0
//
// FragmentedTombstones is an immutable set of range tombstones. They are cut at each other's
// borders into fragments, so that one search finds all tombstones that cover a key.
//
//     tombstones   [a ......... e)@7             fragments   [a, c) 7
//                        [c ......... g)@9                   [c, e) 9 7
//                                                            [e, g) 9
//
// Fragments ascend and do not overlap. Each has the sequence numbers of the tombstones that cover
// it, descending and without duplicates; fragments that touch differ in these numbers.
// CheckInvariants() checks all this. The memory is at best proportional to the number of
// tombstones. Tombstones that enclose each other add a number to every fragment inside them, so at
// worst it is proportional to the square of that number.
//
// The tombstones of a file apply only between its boundary keys (docs/formats/block_based_table.md,
// 10). With a border they are cut to it when this object is constructed. Only such a cut can make
// an end inclusive, and only the end of the last fragment.
//
// In a stamped family each number of a fragment has the timestamp of its tombstone. Of several
// tombstones with one number the oldest timestamp is kept, because whoever sees any of them sees
// that one. Fragments that touch may be equal there. Threads: any number.
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
  // The range of user keys to which the tombstones of a file apply.
  struct Border {
    Slice smallest;
    Slice largest;
    // False if `largest` is the exclusive end of a range tombstone.
    bool largest_is_inclusive = true;
  };
  // The border for the boundary keys of a file, which are internal keys.
  static Border BorderOf(const Slice& smallest, const Slice& largest);

  // A part of the key space in which the same tombstones apply.
  struct Fragment {
    Slice begin;
    Slice end;
    bool end_is_inclusive = false;
    std::span<const SequenceNumber> seqnos;  // never empty; descending
    std::span<const Slice> stamps = {};      // of `seqnos`; empty without timestamps
  };

  // `tombstones` may have any order, overlap, and contain duplicates or empty ranges. `memory` owns
  // their keys; null: the keys outlive this object. The keys of `border` are copied; null: no
  // border. The cost is a sort, or one pass if the tombstones are sorted fragments already.
  FragmentedTombstones(const InternalKeyComparator& comparator,
                       std::vector<RangeTombstone> tombstones, const Border* border = nullptr,
                       std::shared_ptr<const void> memory = nullptr);
  FragmentedTombstones(const FragmentedTombstones&) = delete;
  FragmentedTombstones& operator=(const FragmentedTombstones&) = delete;

  bool empty() const { return fragments_.empty(); }
  size_t size() const { return fragments_.size(); }  // number of fragments
  // The fragment with this index, below size().
  Fragment fragment(size_t index) const {
    assert(index < fragments_.size());
    const Place& place = fragments_[index];
    const size_t end = index + 1 < fragments_.size() ? fragments_[index + 1].seqno : seqnos_.size();
    return {place.begin(), place.end(), last_is_inclusive_ && index + 1 == fragments_.size(),
            std::span(seqnos_).subspan(place.seqno, end - place.seqno),
            stamps_.empty() ? std::span<const Slice>()
                            : std::span(stamps_).subspan(place.seqno, end - place.seqno)};
  }
  // The number of tombstones that must be written to store this object: one for each sequence
  // number of each fragment.
  size_t tombstone_count() const { return seqnos_.size(); }
  SequenceNumber smallest_seqno() const { return smallest_seqno_; }  // of all fragments; 0 if empty
  SequenceNumber largest_seqno() const { return largest_seqno_; }

  // The first fragment that contains `user_key` or lies behind it. size() if there is none. Hot: a
  // search over key heads and few key comparisons.
  size_t Find(const Slice& user_key) const;
  // True if fragment `index`, whose end is behind the key, also contains the key.
  bool BeginsAtOrBefore(size_t index, const Slice& user_key) const {
    return comparator_.OrderWithoutTimestamp(fragments_[index].begin(), user_key) <= 0;
  }
  // The greatest sequence number of the tombstones that cover the key and are not above
  // `upper_seqno`; 0: none.
  SequenceNumber MaxCoveringSeqno(const Slice& user_key, SequenceNumber upper_seqno) const;
  // The greatest sequence number of a fragment that is not above `upper_seqno`; 0: none.
  SequenceNumber MaxSeqno(size_t index, SequenceNumber upper_seqno) const;
  // The same for tombstones whose timestamp is at most `upper_stamp` (`below`: less than it).
  SequenceNumber MaxSeqnoAt(size_t index, SequenceNumber upper_seqno, const Slice& upper_stamp,
                            bool below = false) const;

  // Appends one tombstone for each sequence number of each fragment, in their order. An inclusive
  // end is appended as an exclusive one, because tombstones have no other form; the caller must
  // take care of the last key itself.
  void AppendTo(std::vector<RangeTombstone>* tombstones) const;

  const InternalKeyComparator& comparator() const { return comparator_; }
  // Bytes of this object, without the memory of the keys.
  size_t MemoryUsage() const;
  // One line for each fragment, for example: [a, c) 9 7
  std::string DebugString() const;
  // Corruption if one of the invariants above does not hold.
  Status CheckInvariants() const;

 private:
  class Sweep;

  // A fragment in 32 bytes.
  struct Place {
    const char* begin_data;
    const char* end_data;
    uint32_t begin_bytes;
    uint32_t end_bytes;
    // Index in seqnos_ of its first number; its numbers end where those of the next fragment begin.
    size_t seqno;

    Slice begin() const { return Slice(begin_data, begin_bytes); }
    Slice end() const { return Slice(end_data, end_bytes); }
  };

  // Sequence numbers of the tombstones that cover the border's inclusive largest key and reach
  // behind it; descending.
  std::vector<SequenceNumber> TakeLastKey(std::span<const RangeTombstone> tombstones) const;
  // Cuts the tombstones to the border.
  void Cut(std::span<RangeTombstone> tombstones) const;
  // Computes stamps_ from the tombstones as they were before they were cut.
  void AssignStamps(std::vector<RangeTombstone> whole);
  // Builds the fragments from the tombstones, which may be in any order.
  void BuildFrom(std::vector<RangeTombstone> tombstones);
  // Appends a fragment behind the last one, or extends the last one if they touch and have the same
  // numbers.
  void Append(const Fragment& fragment);
  // Computes prefix_bytes_ and heads_.
  void BuildHeads();
  // The head of a key that begins with the common prefix.
  uint64_t HeadOf(const Slice& user_key) const {  // which begins with the common prefix
    return KeyHead(user_key.data() + prefix_bytes_, user_key.size() - prefix_bytes_,
                   comparator_.order());
  }
  // Index of the first fragment that begins behind the key.
  size_t FindBehind(const Slice& user_key) const;

  const InternalKeyComparator comparator_;
  const std::shared_ptr<const void> memory_;  // owns the keys; null: the caller does
  // Copies of the keys of the border.
  std::string smallest_border_;
  std::string largest_border_;
  std::vector<Place> fragments_;
  std::vector<SequenceNumber> seqnos_;
  std::vector<Slice> stamps_;  // of seqnos_; empty in a family without timestamps
  // The heads of the begins of the fragments, behind their common prefix; empty with a custom
  // order.
  std::vector<uint64_t> heads_;
  size_t prefix_bytes_ = 0;  // length of the common prefix of all begins
  bool last_is_inclusive_ = false;
  SequenceNumber smallest_seqno_ = 0;
  SequenceNumber largest_seqno_ = 0;
};

}  // namespace ashlar
