// SPDX-License-Identifier: Apache-2.0
//
// TrackedKeys is what one transaction has touched: for each key its lock, how often it was read for
// update and written, and the sequence number from which on nobody else has changed it.
//
// One hash of (family, key) finds a record; it is the hash of the lock table as well. Records do
// not move, so that the lock table may refer to them. Savepoints are marks in a log of what was
// tracked: the log has an entry for each key that was touched since a savepoint, and none while
// there is no savepoint.
//
// Memory is kept when all keys are forgotten, so a transaction that is used again allocates
// nothing. Threads: one at a time.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "db/transaction/locks/key_locks.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class TrackedKeys {
 public:
  // kRead: a read for update, which UndoRead() can take back.
  enum class Use : uint8_t { kRead, kWrite };

  // The record of one key. It does not move and is not freed while its lock is held, because the
  // lock table has a pointer to `lock_` and reads the key's bytes through it.
  class Key {
   public:
    uint32_t family() const { return lock_.family(); }
    const Slice& key() const { return lock_.key(); }
    KeyLock* lock() { return &lock_; }
    // Nobody else has changed the key since this number. kMaxSequenceNumber until the key is
    // tracked.
    SequenceNumber seqno() const { return seqno_; }
    uint32_t writes() const { return total_.writes; }
    bool is_tracked() const { return total_.reads + total_.writes != 0; }

   private:
    friend class TrackedKeys;
    struct Counts {
      uint32_t reads = 0;
      uint32_t writes = 0;
    };
    KeyLock lock_;
    SequenceNumber seqno_ = kMaxSequenceNumber;
    // All uses since the beginning.
    Counts total_;
    Counts recent_;  // since the savepoint `level_`, which is the latest one that the key knows
    uint32_t level_ = 0;  // 0: touched under no savepoint
    Key* next_free_ = nullptr;
  };

#ifndef NDEBUG
  // Searches of this thread in any table, for tests of what a call costs.
  static inline thread_local uint64_t searches = 0;
#endif

  TrackedKeys() = default;
  // No lock is held.
  ~TrackedKeys() = default;
  TrackedKeys(const TrackedKeys&) = delete;
  TrackedKeys& operator=(const TrackedKeys&) = delete;

  // Keys with a record, also those that are not tracked yet.
  size_t count() const { return count_; }

  // Null: there is no record.
  Key* Find(uint32_t family, const Slice& key) const {
    return count_ == 0 ? nullptr : FindHashed(family, key, KeyLock::Hash(family, key));
  }
  // The record, made if need be: then its key is not tracked. It copies the key.
  Key* FindOrAdd(uint32_t family, const Slice& key);
  // Notes one use of the key. Of the numbers with which a key was tracked the smallest one counts:
  // the check at commit then covers all uses.
  void Track(Key* key, Use use, SequenceNumber seqno);
  // Forgets a key that is not locked. Its record is used for another key later.
  void Remove(Key* key);

  // Takes one read of a tracked key back, if there was one since the latest savepoint. True: the
  // key is not tracked any more; the caller unlocks and removes it.
  bool UndoRead(Key* key);

  // Begins a savepoint; they are nested, and end in the reverse order.
  void SetSavePoint() { marks_.push_back(log_.size()); }
  size_t save_point_count() const { return marks_.size(); }
  // Takes back what was tracked since the latest savepoint, and the savepoint. Calls visit(key) for
  // each key that is not tracked any more, which unlocks it; then it is removed.
  template <typename Visit>
  void RollBack(const Visit& visit) {
    assert(!marks_.empty());
    const size_t mark = marks_.back();
    marks_.pop_back();
    // Backwards, so that a key gets back what its record said at the savepoint.
    for (size_t i = log_.size(); i-- > mark;) {
      Key* const key = log_[i].key;
      const bool is_gone = TakeBack(log_[i]);
      if (!is_gone) continue;
      visit(key);
      Remove(key);
    }
    log_.resize(mark);
  }
  // Forgets the latest savepoint; what was tracked since belongs to the one before.
  void PopSavePoint();

  // Calls visit(key) for all records, in no order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (Key* const key : table_) {
      if (key != nullptr) visit(key);
    }
  }
  // Forgets everything. No lock is held.
  void Clear();
  size_t MemoryBytes() const;

 private:
  // The first use of a key under a savepoint, with what its record said before.
  struct Change {
    Key* key;
    Key::Counts recent;
    uint32_t level;
  };
  static constexpr size_t kFirstSlots = 16;  // a power of two, as are all table sizes
  // Numbers of records and bytes that are allocated at once.
  static constexpr size_t kRecordsInChunk = 32;
  static constexpr size_t kByteChunk = 4096;
  static constexpr size_t kMaxKeptKeys = 4096;  // a larger transaction gives its memory back

  // The table is not empty, and has an empty slot, at which the search ends.
  Key* FindHashed(uint32_t family, const Slice& key, uint64_t hash) const {
    assert(++searches != 0);
    const size_t mask = table_.size() - 1;
    for (size_t i = hash & mask; table_[i] != nullptr; i = (i + 1) & mask) {
      const KeyLock& lock = table_[i]->lock_;
      if (lock.hash() == hash && lock.family() == family && lock.key() == key) return table_[i];
    }
    return nullptr;
  }
  void Place(Key* key);
  void Grow();
  Key* NewRecord();
  Slice CopyKey(const Slice& key);
  void FreeLargeKey(const Slice& key);
  // Puts the counts of a key back to what they were at a savepoint. True if the key is not tracked
  // any more.
  static bool TakeBack(const Change& change);

  std::vector<Key*> table_;  // open addressing, linear probing; at most half full
  size_t count_ = 0;
  std::vector<Change> log_;
  std::vector<size_t> marks_;  // for each savepoint where it begins in log_
  // Chunks of records; only whole chunks are allocated and freed.
  std::vector<std::unique_ptr<Key[]>> records_;
  size_t record_count_ = 0;  // of records_ that were handed out
  Key* free_ = nullptr;      // records that were given back
  // The bytes of the keys, one after the other, in chunks that do not move.
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::vector<std::unique_ptr<char[]>> large_keys_;  // each longer than a chunk
  size_t chunk_ = 0;                                 // of chunks_ that is being filled
  size_t chunk_bytes_ = 0;                           // in use of it
  size_t large_bytes_ = 0;
};

}  // namespace ashlar
