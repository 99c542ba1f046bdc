// SPDX-License-Identifier: Apache-2.0
//
// BufferedWalSink writes a log through memory and the file system's appends. A thread that finds
// the file idle writes all records that are staged so far, so concurrent commits share one system
// call.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "db/wal/shared_progress.h"
#include "db/wal/staging_order.h"
#include "db/wal/wal_sink.h"
#include "env/file_writer.h"
#include "util/threads/mutex.h"

namespace ashlar {

class BufferedWalSink final : public WalSink {
 public:
  static Result<std::unique_ptr<WalSink>> Open(const WalSinkOptions& options);
  ~BufferedWalSink() override;

  Status Stage(const Range& range, const Slice& head, const Slice& body) override;
  Status Deliver(uint64_t end) override;
  Status Flush(uint64_t end) override;
  Status Sync(uint64_t end) override;
  void Abandon(const Status& error) override { IgnoreError(FailWith(error), "the caller has it"); }
  Status Close() override;
  Status CloseForReuse() override;

  uint64_t delivered_size() const override { return write_.done(); }
  uint64_t synced_size() const override { return sync_.done(); }
  Status error() const override { return write_.error(); }
  bool is_mapped() const override { return false; }

 protected:
  Status StageRaw(const Range& range, const Slice& bytes) override;

 private:
  // A chunk holds whole blocks of the log, so no fragment crosses its end.
  static constexpr size_t kChunkBytes = 8 * kLogBlockBytes;
  static constexpr size_t kKeptChunks = 4;
  using Chunk = std::unique_ptr<char[]>;

  BufferedWalSink(const WalSinkOptions& options, std::unique_ptr<FileWriter> file);

  char* MemoryAt(uint64_t offset);
  Status StageRecord(const Range& range, const Slice& head, const Slice& body);
  Status WriteRange(uint64_t from, uint64_t to);
  Status AppendRange(uint64_t from, uint64_t to);
  void ReleaseBefore(uint64_t offset);
  Status SyncFile();
  Status FailWith(const Status& error);

  const bool manual_flush_;
  const size_t buffer_bytes_;  // with manual_flush_: Deliver() writes when so many bytes wait
  const std::unique_ptr<FileWriter> file_;
  const bool is_sync_thread_safe_;  // false: syncs and writes exclude each other
  bool has_old_bytes_;  // the recycled file may hold bytes of an older log after the written part
  StagingOrder order_;
  SharedProgress write_;  // its operation is the only caller of file_->Append()
  SharedProgress sync_;
  bool is_closed_ = false;

  SpinLock chunks_lock_;
  std::deque<Chunk> chunks_ GUARDED_BY(chunks_lock_);
  uint64_t first_chunk_ GUARDED_BY(chunks_lock_) = 0;  // chunks_[0] holds file chunk first_chunk_
  std::vector<Chunk> spare_chunks_ GUARDED_BY(chunks_lock_);
};

}  // namespace ashlar
