// SPDX-License-Identifier: Apache-2.0
//
// The steps behind the inline Next(): entries with long lengths, separate values, replaced sequence
// numbers, and damage; searches; and steps backwards.
//
// Prefix compression can only be decoded forwards. Prev() therefore decodes the interval in front
// of the current entry once, keeps its keys, and returns them from the last to the first.
#include "table/block/block_cursor.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "table/block/entry_checksums.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

// The orders of user keys as types, so that the search loops below are compiled once for each
// order.
struct BytewiseOrder {
  int Compare(const Slice& a, const Slice& b) const { return a.compare(b); }
};
struct ReverseBytewiseOrder {
  int Compare(const Slice& a, const Slice& b) const { return b.compare(a); }
};
struct CustomOrder {
  const Comparator* comparator;
  int Compare(const Slice& a, const Slice& b) const { return comparator->Compare(a, b); }
};

// Keys of a damaged block may lack their timestamp, which the comparator must not see.
struct StampedOrder {
  const InternalKeyComparator* comparator;
  int Compare(const Slice& a, const Slice& b) const { return comparator->OrderWithTimestamp(a, b); }
};

// True if the internal key sorts before the target.
template <typename Order>
bool IsBefore(const Order& order, const Slice& internal_key, const SeekTarget& target) {
  const int by_user_key = order.Compare(ExtractUserKey(internal_key), target.user_key);
  if (by_user_key != 0) return by_user_key < 0;
  return ExtractTrailer(internal_key) > target.trailer;
}

// Calls `search` with the order of the comparator.
template <typename Search>
bool WithOrder(const InternalKeyComparator& icmp, const Search& search) {
  switch (icmp.order()) {
    case KeyOrder::kBytewise: return search(BytewiseOrder{});
    case KeyOrder::kReverseBytewise: return search(ReverseBytewiseOrder{});
    case KeyOrder::kCustom: break;
  }
  if (icmp.stamp_bytes() != 0) return search(StampedOrder{&icmp});
  return search(CustomOrder{icmp.user_comparator()});
}

}  // namespace

// fast_end_ is the end of the entries that the fast path of Next() may decode. If the block needs
// special treatment, it is the begin of the block, so that the fast path is never taken.
void BlockCursor::Attach(const Block* block, const BlockKeyFormat& format) {
  assert(block != nullptr);
  decoded_ = nullptr;
  block_ = block;
  format_ = format;
  const bool is_plain = !block->has_separate_values() && block->checksums() == nullptr &&
                        format.global_seqno == BlockKeyFormat::kOwnSeqnos;
  fast_end_ = is_plain ? block->entries_end() : block->data();
  min_key_bytes_ = format.are_internal ? kTrailerBytes : 0;
  entry_ = next_ = block->entries_end();
  key_bytes_ = 0;
  error_ = nullptr;
  backward_.clear();
}

void BlockCursor::Attach(const DecodedBlock* decoded) {
  assert(decoded != nullptr);
  decoded->Prefetch();
  Detach();
  decoded_ = decoded;
  index_ = decoded->count();
  format_ = BlockKeyFormat();
  if (decoded->max_key_bytes() > buffer_bytes_) GrowBuffer(decoded->max_key_bytes());
  assert(decoded->prefix().size() <= buffer_bytes_);
  std::memcpy(buffer_, decoded->prefix().data(), decoded->prefix().size());
}

void BlockCursor::Detach() {
  decoded_ = nullptr;
  block_ = nullptr;
  key_bytes_ = 0;
  key_ = nullptr;
  entry_ = next_ = fast_end_ = nullptr;
  error_ = nullptr;
  backward_.clear();
}

bool BlockCursor::First(Slice* key, Slice* value) {
  if (decoded_ != nullptr) return TakeDecoded(0, key, value);
  if (error_ != nullptr || block_->empty()) return false;
  GoToRestart(0);
  return NextSlow(key, value);
}

bool BlockCursor::Last(Slice* key, Slice* value) {
  if (decoded_ != nullptr) return TakeDecoded(decoded_->count() - 1, key, value);
  if (error_ != nullptr || block_->empty()) return false;
  entry_ = next_ = block_->entries_end();
  return PrevSlow(key, value);
}

bool BlockCursor::Seek(const InternalKeyComparator& icmp, const SeekTarget& target, Slice* key,
                       Slice* value) {
  assert(format_.are_internal);
  if (decoded_ != nullptr) return TakeDecoded(decoded_->LowerBound(icmp, target), key, value);
  if (error_ != nullptr || block_->empty()) return false;
  block_->PrefetchTail();
  return WithOrder(icmp, [&](const auto& order) {
    uint32_t restart_index = 0;
    if (!SeekRestart(order, target, &restart_index)) return false;
    GoToRestart(restart_index);
    return ScanTo(order, target, key, value);
  });
}

bool BlockCursor::SeekInInterval(const InternalKeyComparator& icmp, uint32_t restart_index,
                                 const SeekTarget& target, Slice* key, Slice* value) {
  assert(format_.are_internal);
  assert(decoded_ == nullptr);
  if (error_ != nullptr) return false;
  if (restart_index >= block_->restart_count()) {
    return Fail(block_->entries_end(), "the hash index names a restart point that does not exist");
  }
  GoToRestart(restart_index);
  return WithOrder(icmp, [&](const auto& order) { return ScanTo(order, target, key, value); });
}

// Finds the last restart point whose key is before `target`, or the first one. Hot: decodes
// log2(restart_count) keys; no allocation unless sequence numbers are replaced.
template <typename Order>
bool BlockCursor::SeekRestart(const Order& order, const SeekTarget& target,
                              uint32_t* restart_index) {
  assert(block_->restart_count() != 0);
  // The key at `left` is before the target, or left is 0.
  uint32_t left = 0, right = block_->restart_count();
  while (right - left > 1) {
    const uint32_t middle = left + (right - left) / 2;
    Slice key;
    if (!DecodeRestartKey(middle, &key)) return false;
    const bool is_before = IsBefore(order, KeyForReader(key, &rewritten_key_), target);
    left = is_before ? middle : left;
    right = is_before ? right : middle;
  }
  *restart_index = left;
  return true;
}

// Moves to the first entry at or after the target, one by one.
template <typename Order>
bool BlockCursor::ScanTo(const Order& order, const SeekTarget& target, Slice* key, Slice* value) {
  assert(key != nullptr);
  while (Next(key, value)) {
    if (!IsBefore(order, *key, target)) return true;
  }
  return false;
}

bool BlockCursor::DecodeRestartKey(uint32_t restart_index, Slice* stored_key) {
  assert(stored_key != nullptr);
  const char* const p = block_->data() + block_->RestartOffset(restart_index);
  Entry entry;
  if (!Decode(p, &entry) || entry.shared != 0 || entry.non_shared < min_key_bytes_) {
    return Fail(p, "malformed entry at a restart point");
  }
  *stored_key = Slice(entry.suffix, entry.non_shared);
  return true;
}

void BlockCursor::GoToRestart(uint32_t restart_index) {
  assert(restart_index < block_->restart_count());
  entry_ = next_ = block_->data() + block_->RestartOffset(restart_index);
  key_bytes_ = 0;  // an entry here shares nothing with another one; otherwise it is damaged
  value_ = Slice(block_->values_begin(), 0);
}

bool BlockCursor::NextSlow(Slice* key, Slice* value) {
  if (error_ != nullptr || block_ == nullptr) return false;
  if (next_ >= block_->entries_end()) {
    entry_ = block_->entries_end();
    return false;
  }
  return Step() && Deliver(key, value);
}

// Makes the entry at next_ the current one.
bool BlockCursor::Step() {
  assert(next_ < block_->entries_end());
  Entry entry;
  if (!Decode(next_, &entry)) return Fail(next_, "malformed entry");
  if (entry.shared > key_bytes_) return Fail(next_, "an entry shares more than the key before it");
  if (size_t{entry.shared} + entry.non_shared < min_key_bytes_) {
    return Fail(next_, "a key is shorter than its trailer");
  }
  TakeKey(entry);
  value_ = Slice(entry.value, entry.value_bytes);
  entry_ = next_;
  next_ = entry.next;
  assert(next_ > entry_);
  assert(next_ <= block_->entries_end());
  return true;
}

// Splits the entry at `start` into its parts. False if it leaves the block.
bool BlockCursor::Decode(const char* start, Entry* entry) const {
  assert(entry != nullptr);
  assert(start >= block_->data());
  assert(start < block_->entries_end());
  const char* const end = block_->entries_end();
  const char* p = GetVarint32Ptr(start, end, &entry->shared);
  if (p != nullptr) p = GetVarint32Ptr(p, end, &entry->non_shared);
  if (p != nullptr) p = GetVarint32Ptr(p, end, &entry->value_bytes);
  if (p != nullptr && block_->has_separate_values()) p = LocateSeparateValue(start, p, entry);
  if (p == nullptr || static_cast<size_t>(end - p) < entry->non_shared) return false;
  entry->suffix = p;
  entry->next = p + entry->non_shared;
  if (block_->has_separate_values()) return true;
  if (static_cast<size_t>(end - entry->next) < entry->value_bytes) return false;
  entry->value = entry->next;
  entry->next += entry->value_bytes;
  return true;
}

// Finds the value of the entry at `start`, whose three lengths end at `p`. Returns the begin of the
// key suffix, or null. An entry at a restart point stores the offset of its value; the value of any
// other entry follows the previous value.
const char* BlockCursor::LocateSeparateValue(const char* start, const char* p, Entry* entry) const {
  assert(block_->has_separate_values());
  const auto offset = static_cast<uint32_t>(start - block_->data());
  const bool is_restart = block_->RestartOffset(block_->RestartAtOrBefore(offset)) == offset;
  const char* value = value_.data() + value_.size();
  if (is_restart) {
    uint32_t value_offset = 0;
    p = GetVarint32Ptr(p, block_->entries_end(), &value_offset);
    const auto section_bytes = static_cast<size_t>(block_->values_end() - block_->values_begin());
    if (p == nullptr || value_offset > section_bytes) return nullptr;
    value = block_->values_begin() + value_offset;
  }
  if (static_cast<size_t>(block_->values_end() - value) < entry->value_bytes) return nullptr;
  entry->value = value;
  return p;
}

// Makes the key of the entry the current one. The caller has checked its lengths.
void BlockCursor::TakeKey(const Entry& entry) {
  assert(entry.shared <= key_bytes_);
  const size_t key_bytes = size_t{entry.shared} + entry.non_shared;
  if (key_bytes > buffer_bytes_) GrowBuffer(key_bytes);
  if (entry.shared == 0) {
    key_ = entry.suffix;
  } else {
    if (key_ != buffer_) std::memcpy(buffer_, key_, entry.shared);
    std::memcpy(buffer_ + entry.shared, entry.suffix, entry.non_shared);
    key_ = buffer_;
  }
  key_bytes_ = key_bytes;
}

// A key is never longer than all suffixes of its block together, so damage cannot make this large.
void BlockCursor::GrowBuffer(size_t key_bytes) {
  const size_t grown_bytes = std::max(key_bytes, 2 * buffer_bytes_);
  auto grown = std::make_unique_for_overwrite<char[]>(grown_bytes + kCopySlack);
  if (key_ == buffer_) {
    std::memcpy(grown.get(), buffer_, key_bytes_);
    key_ = grown.get();
  }
  heap_buffer_ = std::move(grown);
  buffer_ = heap_buffer_.get();
  buffer_bytes_ = grown_bytes;
  assert(buffer_bytes_ >= key_bytes);
}

bool BlockCursor::Deliver(Slice* key, Slice* value) {
  if (block_->checksums() != nullptr &&
      !block_->checksums()->Fits(entry_offset(), Slice(key_, key_bytes_), value_)) {
    return Fail(entry_, "an entry in memory is not what it was when the block was read");
  }
  *key = KeyForReader(Slice(key_, key_bytes_), &rewritten_key_);
  *value = value_;
  return true;
}

// The stored key, with the global sequence number if there is one.
Slice BlockCursor::KeyForReader(const Slice& stored_key, std::string* rewritten) const {
  assert(rewritten != nullptr);
  if (format_.global_seqno == BlockKeyFormat::kOwnSeqnos) return stored_key;
  assert(stored_key.size() >= kTrailerBytes);
  const ValueType type = TrailerType(ExtractTrailer(stored_key));
  rewritten->clear();
  AppendInternalKey(rewritten, ExtractUserKey(stored_key), PackTrailer(format_.global_seqno, type));
  return *rewritten;
}

// Entries can only be decoded forwards. So all entries of a restart interval before the current one
// are decoded at once and kept in backward_, from which further steps are served.
bool BlockCursor::PrevSlow(Slice* key, Slice* value) {
  if (error_ != nullptr || block_ == nullptr || entry_ == block_->data()) return false;
  if (backward_.empty() || backward_.back().next != entry_) {
    if (!LoadInterval(entry_)) return false;
  }
  assert(!backward_.empty());
  const BackwardEntry& entry = backward_.back();
  entry_ = entry.entry;
  next_ = entry.next;
  key_ = backward_keys_.data() + entry.key_offset;
  key_bytes_ = entry.key_bytes;
  value_ = Slice(entry.value, entry.value_bytes);
  backward_.pop_back();
  return Deliver(key, value);
}

// Decodes the entries from the last restart point in front of `end` up to `end`.
bool BlockCursor::LoadInterval(const char* end) {
  assert(end > block_->data());
  assert(end <= block_->entries_end());
  backward_.clear();
  backward_keys_.clear();
  const auto end_offset = static_cast<uint32_t>(end - block_->data());
  GoToRestart(block_->RestartAtOrBefore(end_offset - 1));
  while (next_ < end) {
    if (!Step()) return false;
    backward_.push_back({.entry = entry_,
                         .next = next_,
                         .value = value_.data(),
                         .value_bytes = static_cast<uint32_t>(value_.size()),
                         .key_offset = static_cast<uint32_t>(backward_keys_.size()),
                         .key_bytes = static_cast<uint32_t>(key_bytes_)});
    backward_keys_.append(key_, key_bytes_);
  }
  if (next_ != end) return Fail(entry_, "an entry runs across a restart point");
  return true;
}

bool BlockCursor::Fail(const char* entry, const char* what) {
  assert(what != nullptr);
  error_ = what;
  entry_ = entry;
  next_ = fast_end_ = block_->entries_end();
  return false;
}

}  // namespace ashlar
