// SPDX-License-Identifier: Apache-2.0
//
// AsyncWriter writes without anybody waiting: a callback says when a write is done. For programs
// whose threads serve many requests, and may not sleep through a sync of the disk each.
//
//   std::unique_ptr<AsyncWriter> writer;
//   Status s = AsyncWriter::Open(db, AsyncWriterOptions(), &writer);
//   WriteOptions durable;
//   durable.sync = true;
//   s = writer->Write(durable, std::move(batch), [](const Status& done) { ... });
//
// One thread writes for all, in the order in which writes were accepted, and syncs once for as many
// as have gathered meanwhile. Threads: any number for all functions but the destructor.
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

struct AsyncWriterOptions {
  // Where so many writes, or bytes of batches, are accepted and not done, the next one waits; with
  // WriteOptions::no_slowdown, and within a callback, it is refused with Incomplete.
  size_t max_pending_writes = 4096;
  size_t max_pending_bytes = 16 << 20;
};

class ASHLAR_EXPORT AsyncWriter {
 public:
  // Called once for each accepted write, by the writer's thread, without locks. OK: readers see the
  // write, and with WriteOptions::sync it is durable; an error is what DB::Write would have
  // answered. It may write, also through this writer; other writes wait for it. Must not throw.
  using Callback = std::function<void(const Status&)>;

  // The database outlives the writer. InvalidArgument without a database, or for a limit of 0.
  static Status Open(DB* db, const AsyncWriterOptions& options,
                     std::unique_ptr<AsyncWriter>* writer);
  // As Close().
  ~AsyncWriter();
  AsyncWriter(const AsyncWriter&) = delete;
  AsyncWriter& operator=(const AsyncWriter&) = delete;

  // OK: accepted, and the callback, which may be empty, comes. Otherwise nothing happens:
  // Incomplete (see AsyncWriterOptions), or Aborted once the writer is closed.
  Status Write(const WriteOptions& options, WriteBatch batch, Callback done);
  // Waits until the callbacks of all writes that were accepted before have returned.
  // InvalidArgument within a callback.
  Status Drain();
  // The same; from its beginning on nothing is accepted. Again: OK.
  Status Close();

 private:
  class Impl;
  explicit AsyncWriter(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
