// SPDX-License-Identifier: Apache-2.0
//
// CompressionPipeline compresses the data blocks of one table in several threads. Blocks go in and
// come out in the order of the table, and how many are under way depends on their number and sizes
// alone, never on how fast a thread is: the same blocks make the same table, byte for byte.
//
// The caller is one of the threads: it compresses while it would have to wait, so that fewer
// threads than asked for, or none, only make it slower. The others start when there is enough to do
// for them and end with the pipeline.
//
// Threads: one caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "table/sst/write/block_compressor.h"
#include "table/sst/write/buffered_blocks.h"
#include "util/memory/page_allocator.h"
#include "util/result.h"
#include "util/threads/mutex.h"
#include "util/threads/thread_team.h"

namespace ashlar {

class CompressionPipeline {
 public:
  // A block that has come out. `stored` points into the other two.
  struct Block {
    RawDataBlock raw;
    StoredBlock stored;
    PageString compressed;
  };

  // For `thread_count` threads, at least 2. NotSupported as BlockCompressor::Create().
  static Result<std::unique_ptr<CompressionPipeline>> Create(const BlockCompression& compression,
                                                             const Slice& dictionary,
                                                             uint32_t thread_count);
  // For one thread each; at least two.
  explicit CompressionPipeline(std::vector<std::unique_ptr<BlockCompressor>> compressors);
  // What has not been taken is lost.
  ~CompressionPipeline();
  CompressionPipeline(const CompressionPipeline&) = delete;
  CompressionPipeline& operator=(const CompressionPipeline&) = delete;

  bool empty() const { return first_ == end_; }
  // The oldest block must be taken before another one is added.
  bool IsFull() const { return end_ - first_ == slots_.size() || raw_bytes_ >= kMostRawBytes; }
  // Of the blocks under way.
  size_t raw_bytes() const { return raw_bytes_; }

  // Copies its arguments; `next_key` is null behind the last block of the table. `stored`: what
  // would be made of it, if that is known; else null.
  void Add(const Slice& contents, const Slice& last_key, const Slice* next_key,
           const StoredBlock* stored = nullptr);
  // The oldest block, for as long as no other one is added. What its compression has thrown is
  // thrown here.
  const Block& TakeOldest();

 private:
  // More blocks wait if they are large; together with the last one added this bounds the memory.
  static constexpr size_t kMostRawBytes = size_t{16} << 20;
  static constexpr size_t kBlocksPerThread = 8;
  // To wake a thread costs about as much as to compress a small block: it gets several.
  static constexpr size_t kBlocksPerWaking = 4;

  struct Slot {
    Block block;
    std::exception_ptr failure;
    bool is_done = false;  // under mutex_; the rest belongs to who compresses, then to the caller
  };

  void RunThread(size_t compressor);
  // Whether there is a block that nobody has begun; those that came compressed need nobody.
  bool HasWork() REQUIRES(mutex_);
  // With the lock held before and after: compresses the next block that nobody has begun.
  void CompressNext(BlockCompressor* compressor) REQUIRES(mutex_);
  Slot& SlotAt(uint64_t block) { return slots_[block % slots_.size()]; }

  const std::vector<std::unique_ptr<BlockCompressor>> compressors_;  // the first is the caller's
  std::vector<Slot> slots_;                                          // a ring
  // Blocks are numbered as they come. These are the caller's.
  uint64_t first_ = 0;  // the oldest one that has not been taken
  uint64_t end_ = 0;
  size_t raw_bytes_ = 0;

  Mutex mutex_{LockRank::kLeaf};
  CondVar work_{&mutex_};                  // blocks were added, or the pipeline ends
  CondVar done_{&mutex_};                  // a block is done
  uint64_t next_ GUARDED_BY(mutex_) = 0;   // the oldest one that nobody has begun
  uint64_t added_ GUARDED_BY(mutex_) = 0;  // = end_
  bool is_ending_ GUARDED_BY(mutex_) = false;

  bool has_started_ = false;  // the threads
  ThreadTeam threads_;        // the last member: they use the others
};

}  // namespace ashlar
