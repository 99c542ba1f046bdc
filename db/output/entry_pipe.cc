// SPDX-License-Identifier: Apache-2.0
//
// A ring of batches. Two counts, guarded by a lock that is taken once per batch, say how many
// batches were handed over and how many were given back. has_ended_ is set after the last batch was
// handed over, so an owner that sees it may access the stream.
#include "db/output/entry_pipe.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "ashlar/system_clock.h"
#include "util/threads/thread_mark.h"

namespace ashlar {

bool EntryPipe::Start() {
  assert(helper_.size() == 0);  // called once
  helper_.Start(1, [this, marks = ThreadMark::Innermost()](size_t) {
    const ThreadMark::Adopted adopted(marks);
    RunHelper();
  });
  return helper_.size() == 1;
}

// Ends the helper thread, which may be waiting for room.
void EntryPipe::Stop() {
  {
    MutexLock lock(&mutex_);
    is_stopping_ = true;
    room_.SignalAll();
  }
  helper_.Join();
}

// The helper thread. An exception of the stream is kept for the owner.
void EntryPipe::RunHelper() {
  SystemClock* const clock = SystemClock::Default().get();
  const uint64_t start_micros = clock->CPUMicros();
  std::exception_ptr failure;
  try {
    TrackedBytes bytes(told_.operation, ThreadStatus::COMPACTION_BYTES_READ,
                       ThreadStatus::COMPACTION_BYTES_WRITTEN);
    ReadStream(&bytes);
  } catch (...) {
    failure = std::current_exception();
  }
  helper_cpu_micros_ = clock->CPUMicros() - start_micros;
  MutexLock lock(&mutex_);
  failure_ = std::move(failure);
  has_ended_ = true;
  filled_.Signal();
}

// Fills batches until the stream ends or the pipe stops.
void EntryPipe::ReadStream(TrackedBytes* bytes) {
  Batch* batch = AwaitRoom();
  if (batch == nullptr) return;
  entries_.SeekToFirst();
  while (batch != nullptr && Fill(batch)) {
    bytes->Tell();
    HandOver();
    batch = AwaitRoom();
  }
  if (batch != nullptr && !batch->entries.empty()) HandOver();
}

// Runs on the helper thread: fills one batch from the stream. False at the end of the stream.
bool EntryPipe::Fill(Batch* batch) {
  assert(batch != nullptr);
  // A very large entry has made the buffer larger than it should stay.
  if (batch->bytes.size() > 2 * kBatchBytes) batch->bytes = PageBuffer();
  batch->used = 0;
  batch->entries.clear();
  batch->block_count = 0;
  for (; entries_.Valid(); entries_.Next()) {
    if (batch->used >= kBatchBytes) return true;
    Append(&entries_, batch);
  }
  return false;
}

// Copies the entry into the memory of the batch.
void EntryPipe::Append(EntryStream* from, Batch* batch) {
  assert(from != nullptr);
  assert(batch != nullptr);
  const Slice key = from->key(), value = from->value();
  const size_t bytes = batch->used + key.size() + value.size();
  if (bytes > batch->bytes.size()) [[unlikely]] {
    PageBuffer larger(std::max(bytes, 2 * kBatchBytes), PageBuffer::Pages::kSmall);
    std::copy_n(batch->bytes.data(), batch->used, larger.data());
    batch->bytes = std::move(larger);
  }
  assert(key.size() >= kTrailerBytes);
  assert(key.size() <= UINT32_MAX);
  char* const end = batch->bytes.data() + batch->used;
  std::memcpy(end, key.data(), key.size());
  if (!value.empty()) std::memcpy(end + key.size(), value.data(), value.size());
  batch->used = bytes;
  batch->entries.push_back({.value_bytes = value.size(),
                            .key_bytes = static_cast<uint32_t>(key.size()),
                            .is_first_of_key = from->is_first_of_key(),
                            .offers_block = from->offers_block()});
  if (from->offers_block()) [[unlikely]]
    AppendBlock(from, batch);
}

// Swaps block objects with the stream, so that their memory is used again and again.
void EntryPipe::AppendBlock(EntryStream* from, Batch* batch) {
  assert(batch != nullptr);
  assert(batch->block_count <= batch->blocks.size());
  if (batch->block_count == batch->blocks.size()) batch->blocks.emplace_back();
  std::swap(batch->blocks[batch->block_count++], *from->TakeBlock());
}

EntryPipe::Batch* EntryPipe::AwaitRoom() {
  MutexLock lock(&mutex_);
  while (!is_stopping_ && filled_count_ - returned_count_ == kBatches) room_.Wait();
  assert(!has_ended_);
  return is_stopping_ ? nullptr : &batches_[filled_count_ % kBatches];
}

void EntryPipe::HandOver() {
  MutexLock lock(&mutex_);
  assert(filled_count_ - returned_count_ < kBatches);
  filled_count_++;
  filled_.Signal();
}

// Runs on the owner's thread: waits for the next batch. An exception of the helper is thrown again
// here.
void EntryPipe::TakeBatch() {
  entry_ = end_ = nullptr;
  if (told_.operation != nullptr) told_.owners->Tell();
  std::exception_ptr failure;
  {
    MutexLock lock(&mutex_);
    if (std::exchange(has_batch_, false)) {
      returned_count_++;
      room_.Signal();
    }
    while (returned_count_ == filled_count_ && !has_ended_) filled_.Wait();
    if (returned_count_ < filled_count_) {
      Batch& batch = batches_[returned_count_ % kBatches];
      assert(!batch.entries.empty());
      has_batch_ = true;
      entry_ = batch.entries.data();
      end_ = entry_ + batch.entries.size();
      bytes_ = batch.bytes.data();
      next_block_ = batch.blocks.data();
      return;
    }
    failure = failure_;
  }
  if (failure != nullptr) [[unlikely]]
    std::rethrow_exception(failure);
}

}  // namespace ashlar
