// SPDX-License-Identifier: Apache-2.0
//
// Range deletion blocks: any bytes are refused or are tombstones. Fragments of these, clipped at
// the boundaries of a file, cover exactly the keys that the list of tombstones covers, and can be
// iterated over in both directions.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "table/format/properties.h"
#include "table/range_del/fragmented_tombstones.h"
#include "table/range_del/range_del_block.h"
#include "table/range_del/tombstone_iterator.h"

namespace ashlar {
namespace {

constexpr size_t kMostTombstones = 300;  // the number of fragments can be its square

class Case {
 public:
  Case(const InternalKeyComparator& order, const StoredTombstones& stored, uint8_t control)
      : order_(order), all_(stored.tombstones) {
    for (const RangeTombstone& tombstone : all_) {
      keys_.insert(keys_.end(), {tombstone.begin.ToString(), tombstone.end.ToString(),
                                 tombstone.begin.ToString() + '\0'});
    }
    if ((control & 4) != 0 && !keys_.empty()) SetBorder((control & 8) != 0);
    list_ = std::make_shared<const FragmentedTombstones>(
        order_, all_, has_border_ ? &border_ : nullptr, stored.memory);
  }

  void Check() const {
    if (!list_->CheckInvariants().ok()) std::abort();
    std::vector<SequenceNumber> uppers{0, 1, kMaxSequenceNumber};
    for (size_t i = 0; i < all_.size() && i < 20; i++) uppers.push_back(all_[i].seqno);
    for (const std::string& key : keys_) {
      for (const SequenceNumber upper : uppers) {
        if (list_->MaxCoveringSeqno(key, upper) != Covering(key, upper)) std::abort();
      }
    }
    Walk();
  }

 private:
  int Order(const Slice& a, const Slice& b) const { return order_.OrderWithoutTimestamp(a, b); }

  void SetBorder(bool largest_is_inclusive) {
    border_ = {keys_.front(), keys_[keys_.size() / 2], largest_is_inclusive};
    if (Order(border_.smallest, border_.largest) > 0) std::swap(border_.smallest, border_.largest);
    border_texts_ = {border_.smallest.ToString(), border_.largest.ToString()};
    border_.smallest = border_texts_[0];
    border_.largest = border_texts_[1];
    has_border_ = true;
  }

  SequenceNumber Covering(const Slice& key, SequenceNumber upper) const {
    if (has_border_) {
      const int end = Order(key, border_.largest);
      const bool is_behind = end > 0 || (end == 0 && !border_.largest_is_inclusive);
      if (is_behind || Order(key, border_.smallest) < 0) return 0;
    }
    SequenceNumber newest = 0;
    for (const RangeTombstone& tombstone : all_) {
      if (tombstone.seqno > upper) continue;
      if (Order(tombstone.begin, key) > 0 || Order(key, tombstone.end) >= 0) continue;
      newest = std::max(newest, tombstone.seqno);
    }
    return newest;
  }

  void Walk() const {
    std::vector<std::string> forward, backward;
    TombstoneIterator it(list_, kMaxSequenceNumber);
    for (it.SeekToFirst(); it.Valid(); it.Next()) forward.push_back(it.DebugString());
    for (it.SeekToLast(); it.Valid(); it.Prev()) backward.push_back(it.DebugString());
    std::reverse(backward.begin(), backward.end());
    if (forward != backward || forward.size() > list_->size()) std::abort();
    for (const std::string& key : keys_) {
      it.Seek(key);
      if (it.Valid() && Order(it.end(), key) < (it.end_is_inclusive() ? 0 : 1)) std::abort();
      it.SeekForPrev(key);
      if (it.Valid() && Order(it.begin(), key) > 0) std::abort();
    }
  }

  const InternalKeyComparator order_;
  const std::vector<RangeTombstone> all_;
  std::vector<std::string> keys_;
  std::vector<std::string> border_texts_;
  FragmentedTombstones::Border border_;
  bool has_border_ = false;
  std::shared_ptr<const FragmentedTombstones> list_;
};

void ReadAny(uint8_t control, const Slice& bytes) {
  const SequenceNumber global_seqno = (control & 1) != 0 ? 9 : kNoGlobalSeqno;
  Result<StoredTombstones> stored = ParseRangeDelBlock(bytes, global_seqno);
  if (!stored.ok()) {
    if (!stored.status().IsCorruption()) std::abort();
    return;
  }
  if (stored->tombstones.size() > kMostTombstones) return;
  const InternalKeyComparator order((control & 2) != 0 ? ReverseBytewiseComparator()
                                                       : BytewiseComparator());
  Case(order, *stored, control).Check();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  // The first byte chooses the kind of the rest.
  ashlar::ReadAny(data[0], ashlar::Slice(reinterpret_cast<const char*>(data + 1), size - 1));
  return 0;
}
