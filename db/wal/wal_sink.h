// SPDX-License-Identifier: Apache-2.0
//
// WalSink is one log file that many commits write at once. Ranges of bytes are reserved in order;
// each commit frames its own record into its range; all commits share deliveries and syncs.
//
//     Reserve -> Stage -> Deliver
//     Reserve -> Stage -> DeliverBeforeSync -> Sync
//
// There are two sinks with the same contract. The buffered one works on any file system. With the
// mapped one, for local files, a write without sync makes no system call. Records become part of
// the file strictly in the order of their ranges, whenever the process dies.
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

// How a log file is opened and written.
struct WalSinkOptions {
  FileSystem* fs = nullptr;  // outlives the sink
  FileOptions file_options;
  std::string path;
  FileNumber log_number = 0;
  // Records contain the log number. This is always so if `recycle_path` is set.
  bool is_recyclable = false;
  // The path of an obsolete log whose file is reused; empty: a new file is created.
  std::string recycle_path;
  // Deliver() leaves bytes in memory until Flush(), Sync(), or until `buffer_bytes` of them wait.
  bool manual_flush = false;
  size_t buffer_bytes = 1 << 20;
  // Use the mapped sink if the file system supports it.
  bool allow_mapped = true;
  // Addresses that the mapped sink reserves. A log that grows beyond them fails.
  uint64_t mapped_capacity = uint64_t{256} << 30;
  // Space is allocated ahead of the writes, in pieces of about this size. Only in the buffered
  // sink; the mapped one looks ahead in proportion to the log.
  uint64_t preallocate_bytes = 4 << 20;
  // The expected size of the log: space for a part of it is allocated when the log is created. Only
  // in the mapped sink.
  uint64_t expected_bytes = 0;
  uint64_t bytes_per_sync = 0;  // buffered sink only
  // Compresses the records into ZSTD frames; outlives the sink. Null: no compression.
  WalCompressors* compressors = nullptr;
  bool use_fsync = false;
  // Its threads populate pages of the mapped sink ahead of the writers; null: the writers do it.
  Env* env = nullptr;
  // Counts the syncs of the file; outlives the sink; null: syncs are not counted.
  std::atomic<uint64_t>* sync_count = nullptr;
  Statistics* statistics = nullptr;  // gets the times of syncs; outlives the sink; null: none
};

class WalSink : public std::enable_shared_from_this<WalSink> {
 public:
  // A range of the file that belongs to one record.
  struct Range {
    uint64_t offset = 0;
    uint64_t end = 0;
  };

  virtual ~WalSink() = default;

  // Reserves the range for a record with a payload of this size. The caller serialises these calls.
  // Never fails and never blocks on I/O; errors are returned by Stage().
  Range Reserve(size_t payload_bytes) {
    const uint64_t offset = reserved_end_.load(std::memory_order_relaxed);
    const uint64_t end = offset + FramedBytes(framing_, offset, payload_bytes);
    reserved_end_.store(end, std::memory_order_relaxed);
    return {offset, end};
  }
  // Writes the record `head` + `body` into its range. Any thread, in any order. Each reserved range
  // must be staged exactly once, otherwise the log fails for good.
  virtual Status Stage(const Range& range, const Slice& head, const Slice& body) = 0;
  // Returns when all bytes before `end` are staged and delivered to the kernel (with manual flush:
  // when they are staged).
  virtual Status Deliver(uint64_t end) = 0;
  // Called instead of Deliver() by a thread that will call Sync() for the record ending at `end`.
  // Bytes before it may still be missing in the kernel if they get there without a call. Returns an
  // error if they are known never to get there.
  virtual Status DeliverBeforeSync(uint64_t end) { return Deliver(end); }
  // As Deliver(), but all bytes before `end` are delivered to the kernel in any case.
  virtual Status Flush(uint64_t end) = 0;
  // Returns when a sync that began after Flush(end) has succeeded. Concurrent callers share syncs.
  virtual Status Sync(uint64_t end) = 0;
  // Called when another log has become the current one, so nothing more will be reserved. Frees
  // memory.
  virtual void Seal() {}
  // Makes the log fail with `error`, as after a failed write, unless it has failed already.
  virtual void Abandon(const Status& error) = 0;
  // Called when all reserved ranges were staged, and no other call is running. Delivers them,
  // truncates the file behind them (allocated space, or an older log in a recycled file), and
  // closes it. Does not sync.
  virtual Status Close() = 0;
  // The same, but the file is not truncated, because another log will be written into it. Not
  // allowed after an error.
  virtual Status CloseForReuse() = 0;

  // Reserves and stages one of the records that are never cut, such as kPredecessorInfo. Serialised
  // with Reserve().
  Status AddSpecialRecord(LogRecordType legacy_type, const Slice& payload);
  // Reserves and stages a record in one call, and compresses it if the log is compressed. Only if
  // no other thread writes the log.
  Status AddRecord(const Slice& record);
  // AddRecord() and then Deliver().
  Status Append(const Slice& record);

  // The end of the last reserved range.
  uint64_t size() const { return reserved_end_.load(std::memory_order_relaxed); }
  // All bytes before it are delivered to the kernel; readers of a log in use stop here.
  virtual uint64_t delivered_size() const = 0;
  // The offset up to which the content of the log is durable. The file's directory entry may not
  // be.
  virtual uint64_t synced_size() const = 0;
  // The first error, or OK.
  virtual Status error() const = 0;
  // An error if the directory entry was not durable when a sync of the directory failed, because no
  // later sync makes it durable; else OK.
  Status CheckEntry() const { return entry_.has_value() ? entry_->Check() : Status::OK(); }
  virtual bool is_mapped() const = 0;

  FileNumber log_number() const { return log_number_; }
  const std::string& path() const { return path_; }
  const LogFraming& framing() const { return framing_; }

  // Sets the state of the file's directory entry, which was taken before the file was created.
  // Called by the function that opens the log.
  void SetEntry(NewEntries entry) { entry_ = std::move(entry); }

 protected:
  explicit WalSink(const WalSinkOptions& options);
  Statistics* statistics() const { return statistics_; }
  void CountSync() const {
    if (sync_count_ != nullptr) sync_count_->fetch_add(1, std::memory_order_relaxed);
  }
  // Writes bytes that are already framed.
  virtual Status StageRaw(const Range& range, const Slice& bytes) = 0;

 private:
  const FileNumber log_number_;
  const std::string path_;
  const LogFraming framing_;
  WalCompressors* const compressors_;
  Statistics* const statistics_;
  std::atomic<uint64_t>* const sync_count_;
  // Written only by Reserve() and AddSpecialRecord(), which the caller serialises; relaxed reads.
  std::atomic<uint64_t> reserved_end_{0};
  std::optional<NewEntries> entry_;
};

// Creates the log file. If it is compressed, its first record says so. The directory entry is not
// synced.
Result<std::unique_ptr<WalSink>> OpenWalSink(const WalSinkOptions& options);
// The size at which a log with these options should be replaced; UINT64_MAX: no limit.
uint64_t MaxLogBytes(const WalSinkOptions& options);

}  // namespace ashlar
