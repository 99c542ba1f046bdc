// SPDX-License-Identifier: Apache-2.0
//
// AsyncWriter accepts writes without waiting for them; a callback is notified when a write is done.
// It is meant for programs whose threads serve many requests and must not block during each sync.
//
//   std::unique_ptr<AsyncWriter> writer;
//   Status s = AsyncWriter::Open(db, AsyncWriterOptions(), &writer);
//   WriteOptions durable;
//   durable.sync = true;
//   s = writer->Write(durable, std::move(batch), [](const Status& done) { ... });
//
// One thread performs all writes in the order in which they were accepted, and syncs once for all
// writes that have accumulated. Threads: all functions but the destructor may be called from many
// threads at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "ashlar/export.h"
#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/write_batch.h"

namespace ashlar {

class DB;

// Options of AsyncWriter::Open().
struct AsyncWriterOptions {
  // Limits on the writes, and on the bytes of their batches, that are accepted but not done. If a
  // limit is reached, the next Write() waits; with WriteOptions::no_slowdown, and within a
  // callback, it returns Incomplete instead.
  size_t max_pending_writes = 4096;
  size_t max_pending_bytes = 16 << 20;
};

// Writes in the background and reports each result to a callback.
class ASHLAR_EXPORT AsyncWriter {
 public:
  // Called exactly once for each accepted write, by the writer's thread, without locks. The status
  // is the one that DB::Write() would have returned; after OK the write is visible to readers and,
  // with WriteOptions::sync, durable. A callback may write, also through this writer, but other
  // writes wait until it returns. It must not throw.
  using Callback = std::function<void(const Status&)>;

  // Creates a writer. The database must outlive it. InvalidArgument if `db` is null or a limit is
  // 0.
  static Status Open(DB* db, const AsyncWriterOptions& options,
                     std::unique_ptr<AsyncWriter>* writer);
  // Does the same as Close().
  ~AsyncWriter();
  AsyncWriter(const AsyncWriter&) = delete;
  AsyncWriter& operator=(const AsyncWriter&) = delete;

  // Hands in a write. OK means that the write is accepted and that `done`, which may be empty, will
  // be called. After an error nothing is written and `done` is not called: Incomplete (see
  // AsyncWriterOptions), or Aborted if the writer is closed.
  Status Write(const WriteOptions& options, WriteBatch batch, Callback done);
  // Waits until the callbacks of all writes that were accepted before this call have returned.
  // InvalidArgument if it is called within a callback.
  Status Drain();
  // The same, but no more writes are accepted. Further calls return OK.
  Status Close();

 private:
  class Impl;
  explicit AsyncWriter(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
