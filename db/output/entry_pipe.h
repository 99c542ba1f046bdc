// SPDX-License-Identifier: Apache-2.0
//
// EntryPipe lets a second thread read, merge and retain the entries of a stream while its owner
// writes those before them. It shows the same entries in the same order as the stream would.
//
//   EntryStream -> (helper) batches of copies -> key(), value() -> OutputWriter
//
// The helper is at most a few batches ahead, so memory is bounded by them and by the largest entry.
// It ends with the stream, or with the pipe. What the stream throws is thrown at the owner.
//
// Threads: one owner, which leaves the stream alone between Start() and Stop().
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <exception>
#include <vector>

#include "ashlar/slice.h"
#include "db/output/entry_stream.h"
#include "env/thread_list.h"
#include "util/memory/page_buffer.h"
#include "util/threads/mutex.h"
#include "util/threads/thread_team.h"

namespace ashlar {

class EntryPipe {
 public:
  // Where the bytes go that the two threads read and write: each tells its own, batch by batch.
  struct Told {
    TrackedOperation* operation = nullptr;  // null: nobody is told
    TrackedBytes* owners = nullptr;         // not null if `operation` is not
  };
  // The stream outlives the pipe, as do those who are told.
  explicit EntryPipe(EntryStream* entries) : EntryPipe(entries, Told()) {}
  EntryPipe(EntryStream* entries, const Told& told) : entries_(*entries), told_(told) {}
  ~EntryPipe() { Stop(); }
  EntryPipe(const EntryPipe&) = delete;
  EntryPipe& operator=(const EntryPipe&) = delete;

  // Before anything else. False: no thread is to be had, and the stream is as it was.
  bool Start();
  // The helper has ended, and the stream is its owner's again.
  void Stop();

  void SeekToFirst() { TakeBatch(); }
  bool Valid() const { return entry_ != end_; }
  void Next() {
    assert(Valid());
    bytes_ += entry_->key_bytes + entry_->value_bytes;
    if (++entry_ == end_) [[unlikely]]
      TakeBatch();
  }

  // Of the current entry, until the next step.
  Slice key() const { return {bytes_, entry_->key_bytes}; }
  Slice value() const { return {bytes_ + entry_->key_bytes, entry_->value_bytes}; }
  bool is_first_of_key() const { return entry_->is_first_of_key; }
  bool offers_block() const { return entry_->offers_block; }
  // The caller's to exchange until the next step.
  PassedBlock* TakeBlock() {
    assert(offers_block());
    return next_block_++;
  }

  const InternalKeyComparator& comparator() const { return entries_.comparator(); }
  // At the end, or after Stop().
  Status status() const { return entries_.status(); }
  const EntryStream::Counts& counts() const { return entries_.counts(); }
  // After Stop(): processor time of the helper.
  uint64_t helper_cpu_micros() const { return helper_cpu_micros_; }

 private:
  // Large enough that the threads seldom meet, small enough that what one has written is still in
  // a cache when the other reads it.
  static constexpr size_t kBatchBytes = size_t{128} << 10;
  static constexpr size_t kBatches = 4;

  struct Entry {
    size_t value_bytes = 0;
    uint32_t key_bytes = 0;
    bool is_first_of_key = false;
    bool offers_block = false;
  };
  struct Batch {
    PageBuffer bytes;  // keys and values, one behind the other
    size_t used = 0;
    std::vector<Entry> entries;
    std::vector<PassedBlock> blocks;  // those that entries offer, in their order, and spare ones
    size_t block_count = 0;
  };

  void RunHelper();
  void ReadStream(TrackedBytes* bytes);
  // Fills the batch; false: the stream has ended. An empty batch means the end too.
  bool Fill(Batch* batch);
  static void Append(EntryStream* from, Batch* batch);
  static void AppendBlock(EntryStream* from, Batch* batch);
  // Waits until a batch may be filled; null: the pipe ends.
  Batch* AwaitRoom() EXCLUDES(mutex_);
  void HandOver() EXCLUDES(mutex_);
  // Shows the first entry of the next batch, or nothing at the end.
  void TakeBatch() EXCLUDES(mutex_);

  EntryStream& entries_;
  const Told told_;
  std::array<Batch, kBatches> batches_;  // a ring; each is the helper's or the owner's

  // The owner's, in its batch.
  const Entry* entry_ = nullptr;
  const Entry* end_ = nullptr;
  const char* bytes_ = nullptr;
  PassedBlock* next_block_ = nullptr;
  bool has_batch_ = false;  // which goes back to the helper with the next one taken

  Mutex mutex_{LockRank::kLeaf};
  CondVar filled_{&mutex_};  // a batch was handed over, or the stream has ended
  CondVar room_{&mutex_};    // a batch was given back, or the pipe ends
  uint64_t filled_count_ GUARDED_BY(mutex_) = 0;    // batches handed over
  uint64_t returned_count_ GUARDED_BY(mutex_) = 0;  // and given back
  bool has_ended_ GUARDED_BY(mutex_) = false;       // nothing more is handed over
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  uint64_t helper_cpu_micros_ = 0;  // the helper's until it has ended

  ThreadTeam helper_;  // the last member: it uses the others
};

}  // namespace ashlar
