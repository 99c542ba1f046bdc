// SPDX-License-Identifier: Apache-2.0
//
// BlockCursor walks and searches the entries of one block, as it came from the file or decoded.
//
// Every positioning call returns true and the entry, or false at either end of the block and on
// damage; error() tells the two apart. The key is valid until the next call; it points into the
// block when the entry stores it whole, else into the cursor's own buffer. Values point into the
// block. The cursor borrows the block. After a false return only First, Last, Seek or Attach may
// follow, except that Prev() may follow a Seek or Next that ran off the end.
//
// Entries are foreign bytes: each is checked against the block's bounds before it is used. Threads:
// one at a time.
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

// How the keys of a block are to be understood.
struct BlockKeyFormat {
  static constexpr SequenceNumber kOwnSeqnos = ~uint64_t{0};

  bool are_internal = true;                  // else plain strings, for which Seek is not allowed
  SequenceNumber global_seqno = kOwnSeqnos;  // replaces the stored one of every key
};

class BlockCursor {
 public:
  BlockCursor() = default;
  BlockCursor(const BlockCursor&) = delete;
  BlockCursor& operator=(const BlockCursor&) = delete;

  // Stands on no entry afterwards, as if past the end; the block outlives its use here.
  void Attach(const Block* block, const BlockKeyFormat& format);
  // Its keys are internal keys with sequence numbers of their own.
  void Attach(const DecodedBlock* decoded);
  void Detach();

  bool First(Slice* key, Slice* value);
  bool Last(Slice* key, Slice* value);
  // The first entry at or after `target`.
  bool Seek(const InternalKeyComparator& icmp, const SeekTarget& target, Slice* key, Slice* value);
  // The same, when the entry can only lie in the interval of `restart_index` or behind it.
  bool SeekInInterval(const InternalKeyComparator& icmp, uint32_t restart_index,
                      const SeekTarget& target, Slice* key, Slice* value);
  bool Next(Slice* key, Slice* value);
  bool Prev(Slice* key, Slice* value);

  // What is wrong with the entry at error_offset(), or null. Decoded blocks are right.
  const char* error() const { return error_; }
  uint32_t error_offset() const { return entry_offset(); }
  // Where the current entry of a block that is not decoded starts.
  uint32_t entry_offset() const { return static_cast<uint32_t>(entry_ - block_->data()); }

 private:
  // Copies may write this many bytes behind the end of a key in the buffer.
  static constexpr size_t kCopySlack = DecodedBlock::kSlackBytes;
  static constexpr size_t kCopyBytes = 32;  // what a step copies of a key at least
  // Longer keys cost an allocation, once per cursor.
  static constexpr size_t kInlineKeyBytes = 128;

  struct Entry {
    uint32_t shared;      // bytes of the key before it that its key begins with
    uint32_t non_shared;  // bytes of suffix
    uint32_t value_bytes;
    const char* suffix;  // the rest of the key
    const char* value;
    const char* next;  // the entry behind it
  };
  // An entry of the interval that Prev() walks.
  struct BackwardEntry {
    const char* entry;  // where it starts in the block
    const char* next;   // the entry behind it
    const char* value;
    uint32_t value_bytes;
    uint32_t key_offset;  // into backward_keys_
    uint32_t key_bytes;
  };

  // The same steps over a decoded block, which cannot fail.
  bool NextDecoded(Slice* key, Slice* value);
  bool TakeDecoded(size_t i, Slice* key, Slice* value);
  // The steps for which the inline ones are not made: see block_cursor.cc.
  bool NextSlow(Slice* key, Slice* value);
  bool PrevSlow(Slice* key, Slice* value);
  bool LoadInterval(const char* end);
  // Makes the entry at next_ the current one; false and error() if it is malformed.
  bool Step();
  bool Decode(const char* start, Entry* entry) const;
  const char* LocateSeparateValue(const char* start, const char* p, Entry* entry) const;
  bool DecodeRestartKey(uint32_t restart_index, Slice* stored_key);
  void GoToRestart(uint32_t restart_index);
  void TakeKey(const Entry& entry);
  void GrowBuffer(size_t key_bytes);
  bool Deliver(Slice* key, Slice* value);
  Slice KeyForReader(const Slice& stored_key, std::string* rewritten) const;
  bool Fail(const char* entry, const char* what);

  // The two halves of a search: restart points by bisection, then entries one by one.
  template <typename Order>
  bool SeekRestart(const Order& order, const SeekTarget& target, uint32_t* restart_index);
  template <typename Order>
  bool ScanTo(const Order& order, const SeekTarget& target, Slice* key, Slice* value);

  const DecodedBlock* decoded_ = nullptr;  // if set, index_ is the position, and nothing below
  size_t index_ = 0;                       // decoded_->count() when past the end

  const Block* block_ = nullptr;
  const char* entry_ = nullptr;     // the current entry; entries_end() when past the end
  const char* next_ = nullptr;      // the entry behind it
  const char* fast_end_ = nullptr;  // end of what Next() may decode inline; data() if nothing
  const char* key_ = nullptr;       // key as stored: in the block, in buffer_ or backward_keys_
  size_t key_bytes_ = 0;
  size_t min_key_bytes_ = 0;  // a trailer's worth if keys are internal
  char* buffer_ = inline_buffer_;
  size_t buffer_bytes_ = kInlineKeyBytes;  // slack not counted
  Slice value_;  // kept up to date by the slow paths only; separate values follow each other
  const char* error_ = nullptr;
  BlockKeyFormat format_;
  std::unique_ptr<char[]> heap_buffer_;

  // The interval before the last Prev(): entries in front of entry_, the last one is next.
  std::vector<BackwardEntry> backward_;
  std::string backward_keys_;
  std::string rewritten_key_;  // when the sequence number is replaced
  char inline_buffer_[kInlineKeyBytes + kCopySlack];
};

// How far ahead of the current entry memory is asked for. Processors see for themselves that a
// block is read in order, but only some lines later, and block after block lies elsewhere.
inline constexpr size_t kPrefetchBytes = 512;

// Hot: no allocation once the buffer has grown to the longest key, no call except for long copies.
// Takes entries whose key lengths need one byte each; the rest, and damage, go the slow way.
inline bool BlockCursor::Next(Slice* key, Slice* value) {
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

inline bool BlockCursor::NextDecoded(Slice* key, Slice* value) {
  if (index_ >= decoded_->count()) return false;
  return TakeDecoded(index_ + 1, key, value);
}

// Moves to entry `i`. The buffer begins with the block's prefix and has room for its longest key.
inline bool BlockCursor::TakeDecoded(size_t i, Slice* key, Slice* value) {
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
