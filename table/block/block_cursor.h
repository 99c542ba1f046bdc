// SPDX-License-Identifier: Apache-2.0
//
// BlockCursor iterates over the entries of one block and searches in it. The block is in the form
// of the file, or decoded.
//
// Every move returns true and the entry, or false at an end of the block and after damage; error()
// distinguishes these. The key is valid until the next move: it points into the block if the entry
// stores the whole key, else into a buffer of the cursor. Values point into the block. The cursor
// borrows the block. After a move returned false, only First, Last, Seek or Attach may be called;
// Prev() too if the move was a Seek or Next that reached the end of the block.
//
// Entries come from files: each is checked against the bounds of the block before it is used.
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "table/block/block.h"
#include "table/block/decoded_block.h"
#include "table/block/seek_target.h"
#include "util/keys/internal_key.h"

namespace ashlar {

// How the keys of a block are interpreted.
struct BlockKeyFormat {
  static constexpr SequenceNumber kOwnSeqnos = ~uint64_t{0};

  bool are_internal = true;                  // false: plain strings, for which Seek is not allowed
  SequenceNumber global_seqno = kOwnSeqnos;  // replaces the sequence number of every key
};

class BlockCursor {
 public:
  BlockCursor() = default;
  BlockCursor(const BlockCursor&) = delete;
  BlockCursor& operator=(const BlockCursor&) = delete;

  // Afterwards the cursor is behind the last entry. The block must outlive its use here.
  void Attach(const Block* block, const BlockKeyFormat& format);
  // The same for a decoded block, whose keys are internal keys with sequence numbers of their own.
  void Attach(const DecodedBlock* decoded);
  // Afterwards the cursor has no block, and only Attach() may be called.
  void Detach();

  bool First(Slice* key, Slice* value);
  bool Last(Slice* key, Slice* value);
  // Moves to the first entry at or after `target`.
  bool Seek(const InternalKeyComparator& icmp, const SeekTarget& target, Slice* key, Slice* value);
  // The same if the entry can only be in the interval of `restart_index` or behind it.
  bool SeekInInterval(const InternalKeyComparator& icmp, uint32_t restart_index,
                      const SeekTarget& target, Slice* key, Slice* value);
  bool Next(Slice* key, Slice* value);
  bool Prev(Slice* key, Slice* value);

  // Describes what is wrong with the entry at error_offset(); null: nothing. A decoded block has no
  // errors.
  const char* error() const { return error_; }
  uint32_t error_offset() const { return entry_offset(); }
  // Offset of the current entry in the block. Not for decoded blocks.
  uint32_t entry_offset() const { return static_cast<uint32_t>(entry_ - block_->data()); }

 private:
  // Copies may write this many bytes behind the end of a key in the buffer.
  static constexpr size_t kCopySlack = DecodedBlock::kSlackBytes;
  static constexpr size_t kCopyBytes = 32;  // a step copies at least this many bytes of a key
  // A longer key needs an allocation, at most a few per cursor.
  static constexpr size_t kInlineKeyBytes = 128;

  // One entry, split into its parts.
  struct Entry {
    uint32_t shared;      // how many bytes of the previous key this key begins with
    uint32_t non_shared;  // length of the suffix
    uint32_t value_bytes;
    const char* suffix;  // the rest of the key, behind the shared bytes
    const char* value;
    const char* next;  // the end of the entry
  };
  // An entry of the interval in which Prev() moves.
  struct BackwardEntry {
    const char* entry;  // its begin in the block
    const char* next;   // its end
    const char* value;
    uint32_t value_bytes;
    uint32_t key_offset;  // offset of the key in backward_keys_
    uint32_t key_bytes;
  };

  // The steps in a decoded block; these cannot fail.
  bool NextDecoded(Slice* key, Slice* value);
  bool TakeDecoded(size_t i, Slice* key, Slice* value);
  // The steps that the inline code does not handle: see block_cursor.cc.
  bool NextSlow(Slice* key, Slice* value);
  bool PrevSlow(Slice* key, Slice* value);
  // Decodes the interval that ends at `end` into backward_.
  bool LoadInterval(const char* end);
  // Makes the entry at next_ the current one. False and error() if it is malformed.
  bool Step();
  // Splits the entry at `start` and checks its bounds.
  bool Decode(const char* start, Entry* entry) const;
  const char* LocateSeparateValue(const char* start, const char* p, Entry* entry) const;
  // The key at a restart point, as it is stored.
  bool DecodeRestartKey(uint32_t restart_index, Slice* stored_key);
  // Puts the cursor in front of the first entry of an interval.
  void GoToRestart(uint32_t restart_index);
  // Makes the key of `entry` the current key.
  void TakeKey(const Entry& entry);
  // Makes the buffer large enough for a key.
  void GrowBuffer(size_t key_bytes);
  // Returns the current entry, after verification of its checksum if it has one.
  bool Deliver(Slice* key, Slice* value);
  Slice KeyForReader(const Slice& stored_key, std::string* rewritten) const;
  // Sets error() for the entry at `entry`. Returns false.
  bool Fail(const char* entry, const char* what);

  // The two parts of a search: restart points with a binary search, then entries one by one.
  template <typename Order>
  bool SeekRestart(const Order& order, const SeekTarget& target, uint32_t* restart_index);
  template <typename Order>
  bool ScanTo(const Order& order, const SeekTarget& target, Slice* key, Slice* value);

  // If set, index_ is the position, and the members below are not used.
  const DecodedBlock* decoded_ = nullptr;
  size_t index_ = 0;  // decoded_->count() behind the last entry

  const Block* block_ = nullptr;
  const char* entry_ = nullptr;  // the current entry; entries_end() behind the last one
  const char* next_ = nullptr;   // the next entry
  // The end of the entries that Next() may decode inline; data() if it may decode none.
  const char* fast_end_ = nullptr;
  // The current key as it is stored: in the block, in buffer_ or in backward_keys_.
  const char* key_ = nullptr;
  size_t key_bytes_ = 0;
  size_t min_key_bytes_ = 0;  // the length of a trailer if keys are internal, else 0
  char* buffer_ = inline_buffer_;
  size_t buffer_bytes_ = kInlineKeyBytes;  // without the slack
  Slice value_;  // set by the slow steps only, which need it to find the next separate value
  const char* error_ = nullptr;
  BlockKeyFormat format_;
  std::unique_ptr<char[]> heap_buffer_;

  // Entries in front of entry_ in its interval; Prev() takes the last one.
  std::vector<BackwardEntry> backward_;
  std::string backward_keys_;  // the keys of backward_, concatenated
  std::string rewritten_key_;  // memory for a key with a replaced sequence number
  char inline_buffer_[kInlineKeyBytes + kCopySlack];
};

// How many bytes behind the current entry are prefetched. The hardware prefetcher recognises that a
// block is read in order only after some cache lines, and the next block is in another place.
inline constexpr size_t kPrefetchBytes = 512;

// Hot: no allocation after the buffer has grown to the longest key, and no call except for long
// copies. Handles entries whose key lengths have one byte each. NextSlow() handles the others, and
// damage.
[[gnu::always_inline]] inline bool BlockCursor::Next(Slice* key, Slice* value) {
  if (decoded_ != nullptr) return NextDecoded(key, value);
  const char* const start = next_;
  const ptrdiff_t room = fast_end_ - start;
  if (room < 4) [[unlikely]]
    return NextSlow(key, value);
  __builtin_prefetch(start + kPrefetchBytes);
  const auto* head = reinterpret_cast<const unsigned char*>(start);
  const size_t shared = head[0], non_shared = head[1];
  size_t value_bytes = head[2], header_bytes = 3;
  if (value_bytes >= 0x80) {
    if (head[3] >= 0x80) [[unlikely]]
      return NextSlow(key, value);
    value_bytes = (value_bytes & 0x7f) | size_t{head[3]} << 7;
    header_bytes = 4;
  }
  const size_t key_bytes = shared + non_shared;
  const bool is_plain = ((shared | non_shared) < 0x80) & (shared <= key_bytes_) &
                        (key_bytes >= min_key_bytes_) & (key_bytes <= buffer_bytes_) &
                        (header_bytes + non_shared + value_bytes <= static_cast<size_t>(room));
  if (!is_plain) [[unlikely]]
    return NextSlow(key, value);

  const char* const suffix = start + header_bytes;
  if (shared == 0) {
    key_ = suffix;
  } else {
    char* const buffer = buffer_;
    if (key_ != buffer) std::memcpy(buffer, key_, shared);
    if (non_shared <= kCopyBytes && room >= 4 + static_cast<ptrdiff_t>(kCopyBytes)) {
      std::memcpy(buffer + shared, suffix, kCopyBytes);
    } else {
      std::memcpy(buffer + shared, suffix, non_shared);
    }
    key_ = buffer;
  }
  key_bytes_ = key_bytes;
  entry_ = start;
  next_ = suffix + non_shared + value_bytes;
  *key = Slice(key_, key_bytes);
  *value = Slice(suffix + non_shared, value_bytes);
  return true;
}

inline bool BlockCursor::Prev(Slice* key, Slice* value) {
  if (decoded_ == nullptr) return PrevSlow(key, value);
  return index_ != 0 && TakeDecoded(index_ - 1, key, value);
}

[[gnu::always_inline]] inline bool BlockCursor::NextDecoded(Slice* key, Slice* value) {
  if (index_ >= decoded_->count()) return false;
  return TakeDecoded(index_ + 1, key, value);
}

// Moves to entry `i`. The buffer begins with the prefix of the block and has room for the longest
// key.
[[gnu::always_inline]] inline bool BlockCursor::TakeDecoded(size_t i, Slice* key, Slice* value) {
  index_ = i;
  if (i == decoded_->count()) return false;
  const Slice rest = decoded_->Rest(i);
  const size_t prefix_bytes = decoded_->prefix().size();
  if (prefix_bytes == 0) {
    *key = rest;
  } else {
    char* const target = buffer_ + prefix_bytes;
    if (rest.size() <= kCopySlack) {
      std::memcpy(target, rest.data(), kCopySlack);
    } else {
      std::memcpy(target, rest.data(), rest.size());
    }
    *key = Slice(buffer_, prefix_bytes + rest.size());
  }
  *value = decoded_->Value(i);
  return true;
}

}  // namespace ashlar
