// SPDX-License-Identifier: Apache-2.0
//
// WalSet holds the current log and the older logs that may still be needed.
//
// Recovery stops at the first hole. So the bytes delivered to the kernel, and the durable bytes,
// must each be a prefix of the sequence of all logs:
//
//   - An older log is synced before bytes of a newer one count as durable.
//   - A log is delivered to the kernel completely before another one becomes current.
//   - A log that has failed leaves the set, with all logs before it, in the step that installs
//     its replacement.
//   - So does a log whose directory entry was not durable when a sync of the directory failed.
//
// A new current log begins with a record of the end of the previous log, because a crash of the
// machine may lose the end of the older log and preserve the newer log.
//
// Threads: active() while a commit is in flight; Install() and ReplaceAll() while the commit
// pipeline is paused; the other functions from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "db/wal/log_format.h"
#include "db/wal/log_recycler.h"
#include "db/wal/log_summary.h"
#include "db/wal/wal_sink.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

struct WalSetOptions {
  // The options of every log; WalSet fills in number, path and compressors.
  WalSinkOptions log;
  std::string wal_dir;
  bool compresses = false;
  // Logs contain RocksDB's record about the previous log (kPredecessorInfo).
  bool describes_predecessors = false;
  // Logs contain RocksDB's record of the timestamp sizes of families (kTimestampSizes), which
  // RocksDB 7.8 cannot read.
  bool records_timestamp_sizes = true;
  // Number of files of obsolete logs that are kept for reuse. If above 0, all records contain their
  // log number.
  size_t max_recycled_logs = 0;
};

class WalSet {
 public:
  struct Info {
    FileNumber number = 0;
    uint64_t bytes = 0;  // number of bytes that can be read
    // The log was replaced after an error of its own or of a log before it, or was the current one
    // then: it may hold records of failed writes.
    bool has_failed = false;
  };

  WalSet();
  ~WalSet();
  WalSet(const WalSet&) = delete;
  WalSet& operator=(const WalSet&) = delete;

  // Called before all other functions.
  void Configure(const WalSetOptions& options);
  // Compressors of the logs' records; null: records are not compressed. Fixed by Configure().
  WalCompressors* compressors() const { return compressors_.get(); }
  // How large the logs may become until a new one should begin. Fixed by Configure().
  uint64_t MaxLogBytes() const { return ashlar::MaxLogBytes(options_); }
  // The files for reuse by new logs. A reader that opens a log must pin it in the recycler.
  LogRecycler* recycler() const { return &recycler_; }

  // Every later log begins with the timestamp size of this family, and the current log, if there is
  // one, gets it now; if a log is being installed, when that has ended. Called before the first
  // write of the family, while no commit is in flight.
  void AddTimestampSize(const TimestampSize& size);

  // Applies to logs that are created after this call.
  void SetBuffering(size_t buffer_bytes, uint64_t bytes_per_sync);

  // Creates the file of a log; no record is written to it before Install(). The number must be new:
  // after an error there is no file with it.
  Result<std::unique_ptr<WalSink>> Create(FileNumber number) const;
  // The same for a background thread: also allocates space for a log as large as the current one.
  Result<std::unique_ptr<WalSink>> CreateAhead(FileNumber number) const;
  // Makes `next` the current log. The log before it must be flushed, except for a record of a
  // timestamp size, and gets no more bytes. No record with a sequence number below `first_seqno`
  // will be written to the new log. `last_logged_seqno` is the sequence number of the last batch in
  // any log, 0 for none. After an error nothing has changed.
  Status Install(std::unique_ptr<WalSink> next, SequenceNumber first_seqno,
                 SequenceNumber last_logged_seqno = 0);
  // Makes `next` the only log. The logs before it leave the set, and each thread that still waits
  // for one of them gets `error`. Their files remain until ReleaseBelow() names them. The caller
  // destroys the result where I/O is allowed.
  std::vector<std::shared_ptr<WalSink>> ReplaceAll(std::unique_ptr<WalSink> next,
                                                   SequenceNumber first_seqno, const Status& error);

  // Adds a log of an earlier process that is still needed; it is synced, and its directory entry is
  // durable.
  void AddRecovered(const LogSummary& log);
  // The summaries of all logs whose directory entries are durable, by number.
  std::vector<LogSummary> DurableSummaries() const;

  // The current log without a reference, for commits in flight.
  WalSink* active() const { return active_; }
  // The current log; the reference keeps it alive after it has left the set.
  std::shared_ptr<WalSink> current() const;

  // Syncs `log` up to `end`, and all logs before it. OK: these bytes are durable.
  Status SyncThrough(const std::shared_ptr<WalSink>& log, uint64_t end);
  // Syncs all logs up to the bytes that were reserved before the call.
  Status SyncAll();
  // Syncs all logs except the current one.
  Status SyncSealed();
  // Makes the directory entries of all logs durable.
  Status SyncEntries() { return SyncDirectoryFor(current_number()); }
  // Called after a sync of the WAL directory that began when `log_number` was already the current
  // log. Changes nothing if a sync that failed may have lost one of the entries.
  void NoteEntriesSynced(FileNumber log_number);
  // Delivers the buffered bytes of all logs to the kernel, older logs first.
  Status Flush();
  // The first error of any log. A directory entry that may be lost is an error of its log.
  Status error() const;
  // Closes all logs, and returns the first error.
  Status Close();

  // Removes the logs below `min_log_number`, which are not needed any more, and returns them. Open
  // logs are appended to *released; the caller destroys them where no lock is held.
  std::vector<Info> ReleaseBelow(FileNumber min_log_number,
                                 std::vector<std::shared_ptr<WalSink>>* released);

  FileNumber current_number() const;
  // Whether a record was written to the current log since it was installed.
  bool current_has_records() const;
  // The size of all logs, including bytes that are still in memory.
  uint64_t total_bytes() const { return BytesFrom(0); }
  // The size of the logs from this number on.
  uint64_t BytesFrom(FileNumber number) const;
  // All logs, oldest first. Their bytes together are a prefix of what was written.
  std::vector<Info> List() const;
  // The end of the valid writes in a replaced log with Info::has_failed; nullopt for all others.
  // Behind it there may be writes that were refused.
  std::optional<uint64_t> EndOfFailed(FileNumber number) const;
  // The number of syncs of logs; callers that share a sync count once.
  uint64_t sync_count() const { return sync_count_.load(std::memory_order_relaxed); }
  // One line for each log, oldest first: its end, and the delivered and synced bytes.
  std::string DebugString() const;

 private:
  struct Log {
    std::shared_ptr<WalSink> sink;
    SequenceNumber first_seqno = 0;  // no commit in the log has a smaller number
    uint64_t begin = 0;              // offset at which the records of commits begin
    bool has_beginning = false;      // the log begins with a record of the previous log's end
  };
  WalSinkOptions OptionsOf(FileNumber number) const;
  Result<std::unique_ptr<WalSink>> Open(WalSinkOptions options) const;
  void AddSizesLocked(size_t first) REQUIRES(mutex_);
  Status WriteSizes(std::span<const TimestampSize> sizes, WalSink* log) const;
  Status WriteTimestampSizes(WalSink* next) const;
  void EndInstall();
  static SequenceNumber LastBatchOf(const Log& sealed, SequenceNumber last_logged_seqno);
  Status WriteBeginning(WalSink* next, SequenceNumber first_seqno, const Log& sealed,
                        SequenceNumber last_logged_seqno) const;
  Status SyncOlderThan(FileNumber number);
  Status SyncDirectoryFor(FileNumber number);

  Status CheckEntriesLocked(FileNumber last) const REQUIRES(mutex_);
  Status CheckOrderLocked() const REQUIRES(mutex_);

  std::unique_ptr<WalCompressors> compressors_;  // declared before the logs, which use it
  // Fixed by Configure(), except for the members that SetBuffering() changes.
  WalSinkOptions options_;
  std::string wal_dir_;
  bool describes_predecessors_ = false;
  bool records_timestamp_sizes_ = true;
  std::vector<TimestampSize> timestamp_sizes_ GUARDED_BY(mutex_);
  // While a log is being installed: how many of the sizes are among its first records.
  std::optional<size_t> sizes_of_next_ GUARDED_BY(mutex_);
  mutable LogRecycler recycler_;
  mutable std::atomic<uint64_t> sync_count_{0};  // counted by the logs; declared before them
  // Written by SetBuffering(), read when a log is created; independent of each other (relaxed).
  std::atomic<size_t> buffer_bytes_{0};
  std::atomic<uint64_t> bytes_per_sync_{0};
  // Written while the pipeline is paused, read by commits in flight.
  WalSink* active_ = nullptr;
  mutable Mutex mutex_{LockRank::kWal};
  std::vector<Log> logs_ GUARDED_BY(mutex_);  // oldest first; the last one is current
  // Logs of earlier processes, by number; all numbers are below those of logs_.
  std::map<FileNumber, LogSummary> recovered_ GUARDED_BY(mutex_);
  // Replaced logs whose files were not released yet, ascending.
  std::vector<Info> replaced_ GUARDED_BY(mutex_);
  // The ends of replaced logs that have failed, including released ones, because readers may still
  // use them.
  std::map<FileNumber, uint64_t> failed_ends_ GUARDED_BY(mutex_);
  // The directory entries of the logs up to this number are durable.
  FileNumber newest_durable_entry_ GUARDED_BY(mutex_) = 0;
  // The number of a log for which all logs before it are synced and all directory entries up to it
  // are durable. This does not change any more, so a sync of this log needs only its own bytes.
  // Release/acquire: the syncs happened before.
  std::atomic<uint64_t> settled_{0};
};

}  // namespace ashlar
