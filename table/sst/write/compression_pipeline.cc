// SPDX-License-Identifier: Apache-2.0
//
// A ring of blocks and two numbers under a lock: how many blocks were added and how many were
// begun. After a thread has begun a block, only this thread touches its slot until the block is
// done.
#include "table/sst/write/compression_pipeline.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace ashlar {

namespace {

// More threads than this are not useful for one table.
constexpr uint32_t kMostThreads = 64;

}  // namespace

CompressionPipeline::CompressionPipeline(std::vector<std::unique_ptr<BlockCompressor>> compressors)
    : compressors_(std::move(compressors)), slots_(compressors_.size() * kBlocksPerThread) {
  assert(compressors_.size() >= 2);
}

Result<std::unique_ptr<CompressionPipeline>> CompressionPipeline::Create(
    const BlockCompression& compression, const Slice& dictionary, uint32_t thread_count) {
  assert(thread_count >= 2);
  std::vector<std::unique_ptr<BlockCompressor>> compressors(std::min(thread_count, kMostThreads));
  for (std::unique_ptr<BlockCompressor>& compressor : compressors) {
    ASSIGN_OR_RETURN(compressor, BlockCompressor::Create(compression, dictionary));
  }
  return std::make_unique<CompressionPipeline>(std::move(compressors));
}

CompressionPipeline::~CompressionPipeline() {
  {
    MutexLock lock(&mutex_);
    assert(!is_ending_);
    is_ending_ = true;
    work_.SignalAll();
  }
  threads_.Join();
}

void CompressionPipeline::Add(const Slice& contents, const Slice& last_key, const Slice* next_key,
                              const StoredBlock* stored) {
  assert(!IsFull());
  Slot& slot = SlotAt(end_);
  slot.block.raw.Assign(contents, last_key, next_key);
  if (stored != nullptr) {
    slot.block.compressed.assign(stored->bytes.data(), stored->bytes.size());
    slot.block.stored = *stored;
    slot.block.stored.bytes = Slice(slot.block.compressed);
  }
  slot.failure = nullptr;
  ++end_;
  raw_bytes_ += contents.size();
  const bool is_full = IsFull();
  // Starting threads does not pay for a table of a few blocks.
  if (!has_started_ && is_full) {
    has_started_ = true;
    threads_.Start(compressors_.size() - 1, [this](size_t i) { RunThread(i + 1); });
  }
  MutexLock lock(&mutex_);
  // Otherwise next_ would name a slot of the next round.
  assert(first_ <= next_);
  assert(next_ <= added_);
  slot.is_done = stored != nullptr;
  added_ = end_;
  if ((is_full || added_ - next_ >= kBlocksPerWaking) && HasWork()) work_.Signal();
}

void CompressionPipeline::RunThread(size_t compressor) {
  MutexLock lock(&mutex_);
  while (true) {
    while (!is_ending_ && !HasWork()) work_.Wait();
    if (is_ending_) return;
    CompressNext(compressors_[compressor].get());
  }
}

bool CompressionPipeline::HasWork() {
  while (next_ < added_ && SlotAt(next_).is_done) ++next_;
  return next_ < added_;
}

void CompressionPipeline::CompressNext(BlockCompressor* compressor) {
  assert(next_ < added_);
  assert(!SlotAt(next_).is_done);
  Slot& slot = SlotAt(next_++);
  {
    MutexUnlock unlock(&mutex_);
    Block& block = slot.block;
    try {
      block.stored = compressor->Compress(block.raw.contents, &block.compressed);
    } catch (...) {
      slot.failure = std::current_exception();
    }
  }
  assert(!slot.is_done);
  slot.is_done = true;
  done_.Signal();
}

const CompressionPipeline::Block& CompressionPipeline::TakeOldest() {
  assert(!empty());
  Slot& slot = SlotAt(first_);
  {
    MutexLock lock(&mutex_);
    while (!slot.is_done) {
      if (HasWork()) {
        CompressNext(compressors_.front().get());
      } else {
        done_.Wait();
      }
    }
    // A block added in stored form may be taken before HasWork() has skipped it.
    next_ = std::max(next_, first_ + 1);
  }
  ++first_;
  assert(raw_bytes_ >= slot.block.raw.contents.size());
  raw_bytes_ -= slot.block.raw.contents.size();
  if (slot.failure != nullptr) [[unlikely]]
    std::rethrow_exception(slot.failure);
  return slot.block;
}

}  // namespace ashlar
