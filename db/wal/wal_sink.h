// SPDX-License-Identifier: Apache-2.0
//
// WalSink is one log file that many commits write at once: a range of bytes is reserved for each in
// order, each frames its own record into its range, and all share deliveries and syncs.
//
//     Reserve -> Stage -> Deliver
//     Reserve -> Stage -> DeliverBeforeSync -> Sync
//
// Two sinks keep one contract: the buffered one works on any file system; the mapped one, for local
// files, makes a write without sync cost no system call. Records become part of the file strictly
// in the order of their ranges, whenever the process dies.
//
// The first failed write or sync is final: every later call fails with the same status, and the
// file is never written or synced again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/wal/log_format.h"
#include "env/new_entries.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

class Statistics;
class WalCompressors;

struct WalSinkOptions {
  FileSystem* fs = nullptr;  // outlives the sink
  FileOptions file_options;
  std::string path;
  FileNumber log_number = 0;
  // Records carry the log's number. Always set when `recycle_path` is.
  bool is_recyclable = false;
  // An obsolete log whose file is reused; empty: a new file.
  std::string recycle_path;
  // Deliver() leaves bytes in memory until Flush(), Sync() or `buffer_bytes` of them.
  bool manual_flush = false;
  size_t buffer_bytes = 1 << 20;
  // Use the mapped sink where the file system allows it.
  bool allow_mapped = true;
  // Space is taken from the file system ahead of the writes, in pieces of about this size. Buffered
  // sink only: the mapped one looks ahead in proportion to the log.
  uint64_t preallocate_bytes = 4 << 20;
  // What the log is expected to hold: part of it is made room for when it is made. Mapped sink
  // only.
  uint64_t expected_bytes = 0;
  uint64_t bytes_per_sync = 0;  // buffered sink only
  // Of a log whose records are ZSTD frames; outlives the sink; null: they are as they are.
  WalCompressors* compressors = nullptr;
  bool use_fsync = false;
  // Populates pages of the mapped sink ahead of the writers; null: the writers do it themselves.
  Env* env = nullptr;
  // Counts the syncs of the file; outlives the sink; null: nobody does.
  std::atomic<uint64_t>* sync_count = nullptr;
  Statistics* statistics = nullptr;  // of the time that syncs take; outlive the sink; null: none
};

class WalSink : public std::enable_shared_from_this<WalSink> {
 public:
  // Bytes of the file; what it was reserved for lies in it alone.
  struct Range {
    uint64_t offset = 0;
    uint64_t end = 0;
  };

  virtual ~WalSink() = default;

  // Hands out the range for a record of this size. The caller serialises these calls. Never fails
  // and never blocks on I/O: errors show in Stage().
  Range Reserve(size_t payload_bytes) {
    const uint64_t offset = reserved_end_.load(std::memory_order_relaxed);
    const uint64_t end = offset + FramedBytes(framing_, offset, payload_bytes);
    reserved_end_.store(end, std::memory_order_relaxed);
    return {offset, end};
  }
  // Writes the record `head` + `body` into its range. Any thread, any order; each reserved range
  // must be staged exactly once, or the log has failed for good.
  virtual Status Stage(const Range& range, const Slice& head, const Slice& body) = 0;
  // Returns when all bytes before `end` are staged and in the kernel's hands (manual flush:
  // staged).
  virtual Status Deliver(uint64_t end) = 0;
  // For who will Sync() the record that ends there: what is before it may still be missing in the
  // kernel's hands, if it takes no call to get there. An error if it never will, as far as known.
  virtual Status DeliverBeforeSync(uint64_t end) { return Deliver(end); }
  // As Deliver(), and in the kernel's hands in every case.
  virtual Status Flush(uint64_t end) = 0;
  // Returns when a sync that began after Flush(end) has succeeded. Concurrent callers share syncs.
  virtual Status Sync(uint64_t end) = 0;
  // Another log has become the current one: nothing more will be reserved. Gives memory back.
  virtual void Seal() {}
  // The log has failed as if a write had, unless it has already: nothing of it counts any more.
  virtual void Abandon(const Status& error) = 0;
  // After all reserved ranges were staged: delivers them, cuts off what lies behind them, be it
  // space taken ahead or an earlier life of the file, and closes. Does not sync. Nothing else may
  // run.
  virtual Status Close() = 0;
  // The same, but all of the file stays, also what lies behind the last record: another log is to
  // be written into it. Not after an error.
  virtual Status CloseForReuse() = 0;

  // Reserves and stages one of the records that are never cut, such as kPredecessorInfo. Serialised
  // with Reserve().
  Status AddSpecialRecord(LogRecordType legacy_type, const Slice& payload);
  // For callers who are alone: Reserve and Stage in one, of a record that is compressed here if the
  // log is.
  Status AddRecord(const Slice& record);
  // The same with Deliver.
  Status Append(const Slice& record);

  // Everything reserved so far.
  uint64_t size() const { return reserved_end_.load(std::memory_order_relaxed); }
  // All bytes before it are in the kernel's hands; readers of the live file stop here.
  virtual uint64_t delivered_size() const = 0;
  virtual uint64_t synced_size() const = 0;
  // The first error, or OK.
  virtual Status error() const = 0;
  // OK, or that no sync makes its directory entry durable any more, unless one has already.
  Status CheckEntry() const { return entry_.has_value() ? entry_->Check() : Status::OK(); }
  virtual bool is_mapped() const = 0;

  FileNumber log_number() const { return log_number_; }
  const std::string& path() const { return path_; }
  const LogFraming& framing() const { return framing_; }

  // Of the file, taken before it was made; by whoever opened it.
  void SetEntry(NewEntries entry) { entry_ = std::move(entry); }

 protected:
  explicit WalSink(const WalSinkOptions& options);
  Statistics* statistics() const { return statistics_; }
  void CountSync() const {
    if (sync_count_ != nullptr) sync_count_->fetch_add(1, std::memory_order_relaxed);
  }
  // Writes bytes that are framed already.
  virtual Status StageRaw(const Range& range, const Slice& bytes) = 0;

 private:
  const FileNumber log_number_;
  const std::string path_;
  const LogFraming framing_;
  WalCompressors* const compressors_;
  Statistics* const statistics_;
  std::atomic<uint64_t>* const sync_count_;
  // Written by Reserve() only.
  std::atomic<uint64_t> reserved_end_{0};
  std::optional<NewEntries> entry_;
};

// Creates the log file; that of a compressed log says so in its first record. Its directory entry
// is not synced.
Result<std::unique_ptr<WalSink>> OpenWalSink(const WalSinkOptions& options);

}  // namespace ashlar
