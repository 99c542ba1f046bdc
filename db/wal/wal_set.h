// SPDX-License-Identifier: Apache-2.0
//
// WalSet holds the current log and the older logs that may still be needed.
//
// Recovery stops at the first hole. So the bytes delivered to the kernel, and the bytes on disk,
// must always be a prefix of the sequence of all logs: - an older log is synced before a newer one
// counts as synced - all of a log is in the kernel's hands before another becomes the current one -
// a log that failed leaves the set, with all before it, in the step that brings its replacement -
// so does one whose directory entry was not durable when a sync of the directory failed A new
// current log begins with a record of the end of the previous log, because a crash of the machine
// may lose the end of the older log and preserve the newer log.
//
// Threads: active() while a commit is in flight; Install() and ReplaceAll() while the commit
// pipeline is paused; the rest from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "db/wal/log_facts.h"
#include "db/wal/log_recycler.h"
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
  // Number of files of obsolete logs that are kept for reuse. If above 0, all records contain their
  // log number.
  size_t max_recycled_logs = 0;
};

class WalSet {
 public:
  struct Info {
    FileNumber number = 0;
    uint64_t bytes = 0;  // that can be read
    // The log was replaced after an error: it may hold records of failed writes.
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
  // The files for reuse by new logs. A reader that opens a log must pin it in the recycler.
  LogRecycler* recycler() const { return &recycler_; }

  // Applies to logs that are created after this call.
  void SetBuffering(size_t buffer_bytes, uint64_t bytes_per_sync);

  // Makes the file of a log; nothing is written to it before Install().
  Result<std::unique_ptr<WalSink>> Create(FileNumber number) const;
  // The same for a background thread: also allocates space for a log as large as the current one.
  Result<std::unique_ptr<WalSink>> CreateAhead(FileNumber number) const;
  // Makes it the current log. The one before receives no more bytes; all of it must be flushed. No
  // record with a sequence number below `first_seqno` will be written to the new one;
  // `last_logged_seqno` is the sequence number of the last batch in any log, 0 for none. After an
  // error nothing has changed.
  Status Install(std::unique_ptr<WalSink> next, SequenceNumber first_seqno,
                 SequenceNumber last_logged_seqno = 0);
  // Makes it the only log: those before leave the set, and whoever still waits for one of them gets
  // `error`. Their files stay until ReleaseBelow() names them. The caller lets go of the result
  // where it may do I/O.
  std::vector<std::shared_ptr<WalSink>> ReplaceAll(std::unique_ptr<WalSink> next,
                                                   SequenceNumber first_seqno, const Status& error);

  // A log of an earlier process that is still needed, synced and with a durable entry.
  void AddRecovered(const LogFacts& log);
  // Of all logs whose directory entries are durable, by number.
  std::vector<LogFacts> DurableFacts() const;

  WalSink* active() const { return active_; }
  std::shared_ptr<WalSink> current() const;

  // Bytes [0, end) of `log`, and all logs before it, are durable when it returns OK.
  Status SyncThrough(const std::shared_ptr<WalSink>& log, uint64_t end);
  // All logs up to what was delivered before the call.
  Status SyncAll();
  // All but the current one.
  Status SyncSealed();
  // Makes the directory entries of all logs durable.
  Status SyncEntries() { return SyncDirectoryFor(current_number()); }
  // The directory of the logs was synced after `log_number` had become the current log. Changes
  // nothing if a sync that failed may have lost one of their entries.
  void NoteEntriesSynced(FileNumber log_number);
  // Hands the buffered bytes of all logs to the kernel, the older ones first.
  Status Flush();
  // The first error of any log; an entry that may be lost is one of its log.
  Status error() const;
  Status Close();

  // Logs below `min_log_number` are not needed any more: lets go of them and returns them.
  // Those that are open are handed over in `released`, to be closed where no lock is held.
  std::vector<Info> ReleaseBelow(FileNumber min_log_number,
                                 std::vector<std::shared_ptr<WalSink>>* released);

  FileNumber current_number() const;
  // Whether anything was written to the current log since it was installed.
  bool current_has_records() const;
  // With those that are still in memory.
  uint64_t total_bytes() const { return BytesFrom(0); }
  // Of the logs from this number on.
  uint64_t BytesFrom(FileNumber number) const;
  // Oldest first. Taken together the bytes are a prefix of what was written.
  std::vector<Info> List() const;
  // Where the writes end that a log held before it failed; nullopt if it did not. Behind may lie
  // writes that were refused.
  std::optional<uint64_t> EndOfFailed(FileNumber number) const;
  // How often a log was synced; callers that shared a sync count once.
  uint64_t sync_count() const { return sync_count_.load(std::memory_order_relaxed); }
  // A line for each log, oldest first: where it ends, and what of it is durable.
  std::string DebugString() const;

 private:
  struct Log {
    std::shared_ptr<WalSink> sink;
    SequenceNumber first_seqno = 0;  // no commit in it has a smaller one
    uint64_t begin = 0;              // where the records of commits begin
    bool has_beginning = false;      // a record that says where the log before it ends
  };
  WalSinkOptions OptionsOf(FileNumber number) const;
  Result<std::unique_ptr<WalSink>> Open(WalSinkOptions options) const;
  static SequenceNumber LastBatchOf(const Log& sealed, SequenceNumber last_logged_seqno);
  Status WriteBeginning(WalSink* next, SequenceNumber first_seqno, const Log& sealed,
                        SequenceNumber last_logged_seqno) const;
  Status SyncOlderThan(FileNumber number);
  Status SyncDirectoryFor(FileNumber number);

  Status CheckEntriesLocked(FileNumber last) const REQUIRES(mutex_);
  Status CheckOrderLocked() const REQUIRES(mutex_);

  std::unique_ptr<WalCompressors> compressors_;  // declared before the logs, which use it
  // Fixed by Configure(), but for what SetBuffering() changes.
  WalSinkOptions options_;
  std::string wal_dir_;
  bool describes_predecessors_ = false;
  mutable LogRecycler recycler_;
  mutable std::atomic<uint64_t> sync_count_{0};  // counted by the logs; declared before them
  std::atomic<size_t> buffer_bytes_{0};  // these two: each for itself, written by SetDBOptions()
  std::atomic<uint64_t> bytes_per_sync_{0};  // and read when a log is made
  // Written while the pipeline is paused, read by commits in flight.
  WalSink* active_ = nullptr;
  mutable Mutex mutex_{LockRank::kWal};
  std::vector<Log> logs_ GUARDED_BY(mutex_);  // oldest first; back is current
  // Of earlier processes, by number: all below those of logs_.
  std::map<FileNumber, LogFacts> recovered_ GUARDED_BY(mutex_);
  std::vector<Info> replaced_ GUARDED_BY(mutex_);  // whose files are left; ascending
  // Of replaced logs, also of those that were released since: readers may still be in them.
  std::map<FileNumber, uint64_t> failed_ends_ GUARDED_BY(mutex_);
  FileNumber newest_durable_entry_ GUARDED_BY(mutex_) = 0;  // number of a log
  // Of a log whose entry is durable, with all of the logs before it that counted, which stays so: a
  // sync of it needs no more than its own bytes.
  std::atomic<uint64_t> settled_{0};
};

}  // namespace ashlar
