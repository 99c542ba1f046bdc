// SPDX-License-Identifier: Apache-2.0
//
// CompressionPipeline compresses the data blocks of one table in several threads. Blocks come out
// in the order in which they go in. The number of blocks under way depends only on their number and
// sizes, never on the speed of a thread, so the same blocks always make the same table, byte for
// byte.
//
// The caller is one of the threads: instead of waiting it compresses a block itself, so if fewer
// threads than requested start, or none, the table is only written more slowly. The other threads
// start when there is enough work for them and end with the pipeline.
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
  // A block that TakeOldest() returns. `stored` points into `raw` or `compressed`.
  struct Block {
    RawDataBlock raw;
    StoredBlock stored;
    PageString compressed;
  };

  // `thread_count`, the caller's thread included, is at least 2; more than 64 count as 64.
  // NotSupported as BlockCompressor::Create().
  static Result<std::unique_ptr<CompressionPipeline>> Create(const BlockCompression& compression,
                                                             const Slice& dictionary,
                                                             uint32_t thread_count);
  // One compressor for each thread, the caller's thread included; at least two.
  explicit CompressionPipeline(std::vector<std::unique_ptr<BlockCompressor>> compressors);
  // Waits for the threads. Blocks that have not been taken are lost.
  ~CompressionPipeline();
  CompressionPipeline(const CompressionPipeline&) = delete;
  CompressionPipeline& operator=(const CompressionPipeline&) = delete;

  // True if no block is under way.
  bool empty() const { return first_ == end_; }
  // True if the caller must take the oldest block before it adds another one.
  bool IsFull() const { return end_ - first_ == slots_.size() || raw_bytes_ >= kMostRawBytes; }
  // The sum of the uncompressed sizes of the blocks under way.
  size_t raw_bytes() const { return raw_bytes_; }

  // Adds a block; the pipeline must not be full. Copies its arguments. `next_key` is null for the
  // last block of the table. `stored` is the stored form of the block if it is known already; null:
  // the block is to be compressed.
  void Add(const Slice& contents, const Slice& last_key, const Slice* next_key,
           const StoredBlock* stored = nullptr);
  // Waits for the oldest block and removes it from the pipeline, which must not be empty. The block
  // is valid until the next Add(). An exception of its compression is thrown again here.
  const Block& TakeOldest();

 private:
  // If blocks are large, fewer of them may be under way. This limit and the size of the last block
  // bound the memory.
  static constexpr size_t kMostRawBytes = size_t{16} << 20;
  // The ring has this many slots for each thread.
  static constexpr size_t kBlocksPerThread = 8;
  // Waking a thread costs about as much as compressing a small block, so a woken thread gets
  // several.
  static constexpr size_t kBlocksPerWaking = 4;

  struct Slot {
    Block block;
    std::exception_ptr failure;  // what compression threw; null: nothing
    // Guarded by mutex_. The other members belong to the thread that compresses, then to the
    // caller.
    bool is_done = false;
  };

  void RunThread(size_t compressor);
  // True if there is a block that no thread has begun. Skips blocks that were added in stored form.
  bool HasWork() REQUIRES(mutex_);
  // Compresses the next block that no thread has begun. Releases the lock while it compresses.
  void CompressNext(BlockCompressor* compressor) REQUIRES(mutex_);
  Slot& SlotAt(uint64_t block) { return slots_[block % slots_.size()]; }

  const std::vector<std::unique_ptr<BlockCompressor>> compressors_;  // the first is the caller's
  std::vector<Slot> slots_;  // a ring: block i is in slot i % size
  // Blocks are numbered in the order in which they are added. Only the caller uses these three.
  uint64_t first_ = 0;  // the oldest block that has not been taken
  uint64_t end_ = 0;    // the number of the next block to be added
  size_t raw_bytes_ = 0;

  Mutex mutex_{LockRank::kLeaf};
  CondVar work_{&mutex_};                  // blocks were added, or the pipeline ends
  CondVar done_{&mutex_};                  // a block is done
  uint64_t next_ GUARDED_BY(mutex_) = 0;   // the oldest block that no thread has begun
  uint64_t added_ GUARDED_BY(mutex_) = 0;  // the number of blocks added; equals end_ between calls
  bool is_ending_ GUARDED_BY(mutex_) = false;

  bool has_started_ = false;  // true once the threads were started
  ThreadTeam threads_;        // the last member, because the threads use all the others
};

}  // namespace ashlar
