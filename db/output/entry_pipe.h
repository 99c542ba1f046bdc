// SPDX-License-Identifier: Apache-2.0
//
// EntryPipe lets a second thread read, merge and filter the entries of a stream while its owner
// writes the entries before them. It shows the same entries in the same order as the stream.
//
//   EntryStream -> (helper) batches of copies -> key(), value() -> OutputWriter
//
// The helper is at most kBatches batches ahead, so memory is bounded by the batches and the largest
// entry. It ends with the stream or with the pipe. An exception that the stream throws in the
// helper is thrown in the owner.
//
// Threads: one owner, which does not use the stream between Start() and Stop().
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
  // Where the two threads report the bytes that they read and write; each reports its own bytes
  // after each batch.
  struct Told {
    TrackedOperation* operation = nullptr;  // null: bytes are not reported
    TrackedBytes* owners = nullptr;         // not null if `operation` is not null
  };
  // The stream and the objects in `told` outlive the pipe.
  explicit EntryPipe(EntryStream* entries) : EntryPipe(entries, Told()) {}
  EntryPipe(EntryStream* entries, const Told& told) : entries_(*entries), told_(told) {}
  ~EntryPipe() { Stop(); }
  EntryPipe(const EntryPipe&) = delete;
  EntryPipe& operator=(const EntryPipe&) = delete;

  // Called first. Returns false if no thread could be started; the stream is unchanged then.
  bool Start();
  // Ends the helper. Afterwards the owner may use the stream again.
  void Stop();

  void SeekToFirst() { TakeBatch(); }
  bool Valid() const { return entry_ != end_; }
  void Next() {
    assert(Valid());
    bytes_ += entry_->key_bytes + entry_->value_bytes;
    if (++entry_ == end_) [[unlikely]]
      TakeBatch();
  }

  // The current entry, valid until the next step.
  Slice key() const { return {bytes_, entry_->key_bytes}; }
  Slice value() const { return {bytes_ + entry_->key_bytes, entry_->value_bytes}; }
  bool is_first_of_key() const { return entry_->is_first_of_key; }
  bool offers_block() const { return entry_->offers_block; }
  // The block that the current entry offers. The caller may swap its contents until the next step.
  PassedBlock* TakeBlock() {
    assert(offers_block());
    return next_block_++;
  }

  const InternalKeyComparator& comparator() const { return entries_.comparator(); }
  // Called at the end, or after Stop().
  Status status() const { return entries_.status(); }
  const EntryStream::Counts& counts() const { return entries_.counts(); }
  // Called after Stop(): processor time of the helper.
  uint64_t helper_cpu_micros() const { return helper_cpu_micros_; }

 private:
  // The bytes of a batch: large enough that the threads seldom wait for each other, small enough
  // that a batch is still in a cache when the owner reads it.
  static constexpr size_t kBatchBytes = size_t{128} << 10;
  static constexpr size_t kBatches = 4;

  // An entry of a batch. Keys and values are adjacent in Batch::bytes.
  struct Entry {
    size_t value_bytes = 0;
    uint32_t key_bytes = 0;
    bool is_first_of_key = false;
    bool offers_block = false;
  };
  struct Batch {
    PageBuffer bytes;  // keys and values in the order of the entries
    size_t used = 0;
    std::vector<Entry> entries;
    std::vector<PassedBlock>
        blocks;  // the first block_count are offered by entries; the rest spare
    size_t block_count = 0;
  };

  void RunHelper();
  void ReadStream(TrackedBytes* bytes);
  // Fills the batch with the next entries. Returns false if the stream has ended, perhaps with an
  // empty batch.
  bool Fill(Batch* batch);
  static void Append(EntryStream* from, Batch* batch);
  static void AppendBlock(EntryStream* from, Batch* batch);
  // Waits until a batch is free, and returns it; null if the pipe is stopped.
  Batch* AwaitRoom() EXCLUDES(mutex_);
  // Hands the batch that was filled over to the owner.
  void HandOver() EXCLUDES(mutex_);
  // Gives the current batch back and shows the first entry of the next one, or no entry at the end.
  void TakeBatch() EXCLUDES(mutex_);

  EntryStream& entries_;
  const Told told_;
  // A ring. The helper uses the batch that it fills; the owner uses the batch that it shows.
  std::array<Batch, kBatches> batches_;

  // Used by the owner: the position in its batch.
  const Entry* entry_ = nullptr;
  const Entry* end_ = nullptr;
  const char* bytes_ = nullptr;
  PassedBlock* next_block_ = nullptr;
  bool has_batch_ = false;  // the owner has a batch, which it gives back when it takes the next one

  Mutex mutex_{LockRank::kLeaf};
  CondVar filled_{&mutex_};  // the owner waits: for a batch, or for the end of the stream
  CondVar room_{&mutex_};    // the helper waits: for a free batch, or for the end of the pipe
  uint64_t filled_count_ GUARDED_BY(mutex_) = 0;    // batches handed over so far
  uint64_t returned_count_ GUARDED_BY(mutex_) = 0;  // batches given back so far
  bool has_ended_ GUARDED_BY(mutex_) = false;       // the helper hands over no more batches
  bool is_stopping_ GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  uint64_t helper_cpu_micros_ = 0;  // written by the helper before it ends, read after Stop()

  ThreadTeam helper_;  // the last member, because the helper thread uses the others
};

}  // namespace ashlar
