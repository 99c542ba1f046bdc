// SPDX-License-Identifier: Apache-2.0
//
// DecodedBlock is a data block unpacked into flat arrays: the common prefix of all user keys, key
// heads, offsets, and for each entry the rest of its key together with its value. Hot blocks have
// this form in memory; it is never written to a file.
//
//   heads: u64[count] | places[count + 1] | prefix | rest, trailer, value | rest, trailer, ...
//
// A search reads one dense array and the one entry that it finds; a step needs no decoding. The
// object describes memory that it does not own, is cheap to copy and never changes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "table/block/block.h"
#include "table/block/seek_target.h"
#include "util/keys/internal_key.h"
#include "util/keys/key_head_index.h"

namespace ashlar {

class DecodedBlock {
 public:
  // Readers may copy the rest of a key in pieces of this size, which may end behind the rest.
  static constexpr size_t kSlackBytes = 32;
  // Larger blocks contain large values, and copying these costs more than a search saves.
  static constexpr size_t kMaxBlockBytes = size_t{64} << 10;

  // The result of a first pass over a block.
  struct Plan {
    // False also for damaged blocks; their cursor will report the damage.
    bool is_worthwhile = false;
    uint32_t count = 0;
    uint32_t prefix_bytes = 0;
    uint32_t max_key_bytes = 0;
    size_t memory_bytes = 0;  // memory that Build() needs
  };
  // Measures the block, whose keys are internal keys in this order.
  static Plan Prepare(const Block& block, KeyOrder order);
  // Fills `memory`, which has plan.memory_bytes bytes and the alignment of u64, with the entries of
  // the block that was measured. False if the heads of the keys do not ascend, so the block is not
  // sorted.
  static bool Build(const Block& block, const Plan& plan, KeyOrder order, char* memory,
                    DecodedBlock* decoded);

  DecodedBlock() = default;

  uint32_t count() const { return count_; }
  Slice prefix() const { return Slice(prefix_, prefix_bytes_); }
  uint32_t max_key_bytes() const { return max_key_bytes_; }

  // The internal key of an entry without the common prefix.
  Slice Rest(size_t i) const {
    assert(i < count_);
    return Slice(entries_ + places_[i].begin, places_[i].value - places_[i].begin);
  }
  Slice Value(size_t i) const {
    assert(i < count_);
    return Slice(entries_ + places_[i].value, places_[i + 1].begin - places_[i].value);
  }
  uint64_t Trailer(size_t i) const { return ExtractTrailer(Rest(i)); }

  // Starts loading the memory that LowerBound() reads before it has found the entry.
  void Prefetch() const {
    const char* const end = prefix_ + prefix_bytes_;
    for (const char* p = reinterpret_cast<const char*>(heads_); p < end; p += 64) {
      if (p - reinterpret_cast<const char*>(heads_) >= kMaxPrefetchBytes) break;
      __builtin_prefetch(p);
    }
  }

  // Index of the first entry at or after the target, or count(). Hot: no branch that depends on the
  // data, except for keys with equal heads.
  size_t LowerBound(const InternalKeyComparator& icmp, const SeekTarget& target) const {
    if (prefix_bytes_ != 0 && !target.user_key.starts_with(prefix())) [[unlikely]] {
      return icmp.OrderWithTimestamp(target.user_key, prefix()) < 0 ? 0 : count_;
    }
    const Slice rest(target.user_key.data() + prefix_bytes_,
                     target.user_key.size() - prefix_bytes_);
    const uint64_t head = KeyHead(rest, icmp.order());
    const size_t i = LowerBoundHead(heads_, count_, head);
    if (i == count_ || heads_[i] != head || !IsBefore(icmp, i, rest, target.trailer)) return i;
    return BehindTie(icmp, i, rest, target.trailer);
  }

  // LowerBound() in two halves, for several searches at once; AdvanceHeadSearches() runs between
  // them. False if there is nothing to search: then LowerBound() is cheap.
  bool BeginLowerBound(const InternalKeyComparator& icmp, const Slice& user_key,
                       HeadSearch* search) const {
    if (count_ == 0 || !user_key.starts_with(prefix())) [[unlikely]]
      return false;
    *search = {.base = heads_,
               .rest = count_,
               .head = KeyHead(user_key.data() + prefix_bytes_, user_key.size() - prefix_bytes_,
                               icmp.order())};
    return true;
  }
  size_t EndLowerBound(const InternalKeyComparator& icmp, const HeadSearch& search,
                       const SeekTarget& target) const {
    const size_t i = search.Result(heads_);
    if (i == count_ || heads_[i] != search.head) return i;
    const Slice rest(target.user_key.data() + prefix_bytes_,
                     target.user_key.size() - prefix_bytes_);
    return IsBefore(icmp, i, rest, target.trailer) ? BehindTie(icmp, i, rest, target.trailer) : i;
  }
  // Starts loading the entry that the second half reads.
  void PrefetchEntry(const HeadSearch& search) const {
    const size_t i = search.Result(heads_);
    const char* const entry = entries_ + places_[i].begin;
    __builtin_prefetch(entry);
    __builtin_prefetch(entry + 64);
  }

  // True if the user key of entry `i`, which LowerBound() returned, is `user_key`.
  bool HoldsUserKey(const InternalKeyComparator& icmp, size_t i, const Slice& user_key) const {
    assert(i < count_);
    if (!user_key.starts_with(prefix())) return false;
    const Slice rest(user_key.data() + prefix_bytes_, user_key.size() - prefix_bytes_);
    return icmp.SameKey(ExtractUserKey(Rest(i)), rest);
  }

 private:
  // Where an entry is.
  struct Place {
    uint32_t begin;  // offset of the key rest from entries_
    uint32_t value;  // offset of the value from entries_
  };
  static constexpr ptrdiff_t kMaxPrefetchBytes = 1024;

  // True if entry `i` sorts before the target, whose user key has this rest behind the prefix.
  bool IsBefore(const InternalKeyComparator& icmp, size_t i, const Slice& user_rest,
                uint64_t trailer) const {
    const int by_user_key = icmp.OrderWithTimestamp(ExtractUserKey(Rest(i)), user_rest);
    return by_user_key != 0 ? by_user_key < 0 : Trailer(i) > trailer;
  }
  size_t BehindTie(const InternalKeyComparator& icmp, size_t first, const Slice& user_rest,
                   uint64_t trailer) const;

  const uint64_t* heads_ = nullptr;  // of the user keys behind the prefix, ascending
  // count_ + 1 places; the begin of the last one is the end of the last entry.
  const Place* places_ = nullptr;
  const char* prefix_ = nullptr;   // common to all user keys
  const char* entries_ = nullptr;  // offsets in places_ start here
  uint32_t count_ = 0;
  uint32_t prefix_bytes_ = 0;
  uint32_t max_key_bytes_ = 0;
};

}  // namespace ashlar
