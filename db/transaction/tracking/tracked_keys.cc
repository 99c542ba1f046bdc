// SPDX-License-Identifier: Apache-2.0
//
// Records lie in chunks and do not move; the table and the log refer to them.
//
// The table has at most half of its slots in use, with linear probing: on the way from the home of
// a key to its slot no slot is empty. Removal keeps that so by moving later records into the hole,
// and needs no tombstones.
#include "db/transaction/tracking/tracked_keys.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace ashlar {

TrackedKeys::Key* TrackedKeys::FindOrAdd(uint32_t family, const Slice& key) {
  if (table_.empty()) table_.resize(kFirstSlots);
  Key* const found = FindHashed(family, key, KeyLock::Hash(family, key));
  if (found != nullptr) return found;
  // The table is at most half full. So every search meets an empty slot, at which it ends.
  if ((count_ + 1) * 2 > table_.size()) Grow();
  Key* const record = NewRecord();
  record->lock_.Set(family, CopyKey(key));
  Place(record);
  count_++;
  assert(count_ * 2 <= table_.size());
  return record;
}

void TrackedKeys::Place(Key* key) {
  assert(key != nullptr);
  assert(count_ * 2 < table_.size());
  const size_t mask = table_.size() - 1;
  size_t i = key->lock_.hash() & mask;
  while (table_[i] != nullptr) i = (i + 1) & mask;
  table_[i] = key;
}

void TrackedKeys::Grow() {
  assert(!table_.empty());
  std::vector<Key*> old(table_.size() * 2);
  old.swap(table_);
  for (Key* const key : old) {
    if (key != nullptr) Place(key);
  }
}

TrackedKeys::Key* TrackedKeys::NewRecord() {
  if (free_ != nullptr) {
    Key* const record = free_;
    free_ = record->next_free_;
    return record;
  }
  // No record was given back, so the next one of the last chunk is used. A chunk never moves.
  const size_t chunk = record_count_ / kRecordsInChunk;
  assert(chunk <= records_.size());
  if (chunk == records_.size()) records_.push_back(std::make_unique<Key[]>(kRecordsInChunk));
  return &records_[chunk][record_count_++ % kRecordsInChunk];
}

Slice TrackedKeys::CopyKey(const Slice& key) {
  char* bytes = nullptr;
  // A key that is longer than a chunk has memory of its own.
  if (key.size() > kByteChunk) {
    large_keys_.push_back(std::make_unique<char[]>(key.size()));
    large_bytes_ += key.size();
    bytes = large_keys_.back().get();
  } else {
    if (!chunks_.empty() && chunk_bytes_ + key.size() > kByteChunk) {
      chunk_++;
      chunk_bytes_ = 0;
    }
    assert(chunk_ <= chunks_.size());
    if (chunk_ == chunks_.size()) chunks_.push_back(std::make_unique<char[]>(kByteChunk));
    bytes = chunks_[chunk_].get() + chunk_bytes_;
    chunk_bytes_ += key.size();
  }
  if (!key.empty()) std::memcpy(bytes, key.data(), key.size());
  return Slice(bytes, key.size());
}

void TrackedKeys::Track(Key* key, Use use, SequenceNumber seqno) {
  assert(key != nullptr);
  const auto level = static_cast<uint32_t>(marks_.size());
  // The first use since the latest savepoint: what the record says is saved in the log, and the
  // counts begin anew.
  if (level != 0 && key->level_ != level) {
    log_.push_back({.key = key, .recent = key->recent_, .level = key->level_});
    key->level_ = level;
    key->recent_ = {};
  }
  key->seqno_ = std::min(key->seqno_, seqno);
  uint32_t Key::Counts::*const count =
      use == Use::kRead ? &Key::Counts::reads : &Key::Counts::writes;
  key->total_.*count += 1;
  key->recent_.*count += 1;
}

bool TrackedKeys::UndoRead(Key* key) {
  assert(key != nullptr);
  assert(key->is_tracked());
  // Only reads since the latest savepoint can be taken back.
  const bool is_recent = marks_.empty() || key->level_ == marks_.size();
  if (!is_recent || key->recent_.reads == 0) return false;
  key->total_.reads--;
  key->recent_.reads--;
  return !key->is_tracked();
}

bool TrackedKeys::TakeBack(const Change& change) {
  Key* const key = change.key;
  if (key == nullptr) return false;
  assert(key->total_.reads >= key->recent_.reads);
  assert(key->total_.writes >= key->recent_.writes);
  key->total_.reads -= key->recent_.reads;
  key->total_.writes -= key->recent_.writes;
  // The counts of the savepoint before are the recent ones again.
  key->recent_ = change.recent;
  key->level_ = change.level;
  return !key->is_tracked();
}

void TrackedKeys::PopSavePoint() {
  assert(!marks_.empty());
  const size_t mark = marks_.back();
  marks_.pop_back();
  const auto level = static_cast<uint32_t>(marks_.size());
  size_t end = mark;
  // An entry is needed further only if the key was not touched under the savepoint before: then it
  // becomes an entry of that one. Else the two counts are added up.
  for (size_t i = mark; i < log_.size(); i++) {
    const Change change = log_[i];
    if (change.key == nullptr) continue;
    change.key->level_ = level;
    if (level == 0 || change.level == level) {
      change.key->recent_.reads += change.recent.reads;
      change.key->recent_.writes += change.recent.writes;
    } else {
      log_[end++] = change;
    }
  }
  assert(end <= log_.size());
  log_.resize(end);
}

void TrackedKeys::Remove(Key* key) {
  assert(key != nullptr);
  assert(key->lock_.mode() == LockMode::kNone);
  assert(count_ > 0);
  if (key->level_ != 0) {
    // Savepoints that know the key forget it. Rare: a read was taken back under one.
    for (Change& change : log_) {
      if (change.key == key) change.key = nullptr;
    }
  }
  const size_t mask = table_.size() - 1;
  size_t hole = key->lock_.hash() & mask;
  while (table_[hole] != key) hole = (hole + 1) & mask;
  // A record may fill the hole only if its home is not between the hole and its slot.
  for (size_t i = (hole + 1) & mask; table_[i] != nullptr; i = (i + 1) & mask) {
    const size_t home = table_[i]->lock_.hash() & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue;  // it would come before its home
    table_[hole] = table_[i];
    hole = i;
  }
  table_[hole] = nullptr;
  count_--;
  // So that reading and taking back many keys in turn needs no more memory than one of them.
  const Slice bytes = key->lock_.key();
  // The bytes are given back only if they are the last ones of the chunk that is being filled.
  if (bytes.size() > kByteChunk) {
    FreeLargeKey(bytes);
  } else if (chunk_ < chunks_.size() &&
             bytes.data() + bytes.size() == chunks_[chunk_].get() + chunk_bytes_ &&
             bytes.size() <= chunk_bytes_) {
    chunk_bytes_ -= bytes.size();
  }
  key->seqno_ = kMaxSequenceNumber;
  key->total_ = key->recent_ = {};
  key->level_ = 0;
  key->next_free_ = free_;
  free_ = key;
}

// From the back: most keys are given back in the reverse order.
void TrackedKeys::FreeLargeKey(const Slice& key) {
  size_t i = large_keys_.size() - 1;
  while (large_keys_[i].get() != key.data()) {
    assert(i > 0);
    i--;
  }
  std::swap(large_keys_[i], large_keys_.back());
  large_keys_.pop_back();
  assert(large_bytes_ >= key.size());
  large_bytes_ -= key.size();
}

void TrackedKeys::Clear() {
  log_.clear();
  marks_.clear();
  // A large transaction gives its memory back, so that an object that is used again does not keep
  // it.
  if (count_ > kMaxKeptKeys || large_bytes_ > 0) {
    table_ = {};
    records_.clear();
    chunks_.clear();
    large_keys_.clear();
    large_bytes_ = 0;
    // The records stay for the next use.
  } else if (count_ > 0) {
    for (size_t i = 0; i < record_count_; i++) {
      Key* const key = &records_[i / kRecordsInChunk][i % kRecordsInChunk];
      assert(key->lock_.mode() == LockMode::kNone);
      key->seqno_ = kMaxSequenceNumber;
      key->total_ = key->recent_ = {};
      key->level_ = 0;
    }
    std::fill(table_.begin(), table_.end(), nullptr);
  }
  count_ = 0;
  record_count_ = 0;
  free_ = nullptr;
  chunk_ = chunk_bytes_ = 0;
}

size_t TrackedKeys::MemoryBytes() const {
  return table_.capacity() * sizeof(Key*) + records_.size() * kRecordsInChunk * sizeof(Key) +
         chunks_.size() * kByteChunk + large_bytes_ + log_.capacity() * sizeof(Change);
}

}  // namespace ashlar
