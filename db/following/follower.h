// SPDX-License-Identifier: Apache-2.0
//
// Follower keeps a database that another process writes, the primary, up to date in this one.
//
// The state after a catch-up is the one that a recovery would find in the primary's files: the
// versions of the MANIFEST up to some record, and in memtables all entries of the logs that they
// leave, up to some batch. A round:
//
//   MANIFEST   the records since the last round (ManifestTail) become versions (FollowedChange);
//              their tables and blob files are opened before anything else happens
//   logs       the records since the last round (LogTail) go into memtables
//   publish    all families show the new versions and memtables at one moment
//
// Until the last step readers see what they saw before, also when a step fails. Each step continues
// where it was, so a catch-up costs what is new. Where the primary deletes a file before it is
// opened, the MANIFEST says what has replaced it: the round begins again.
//
// Rules about logs, on which consistency depends:
// - Logs are read in order. The next one is read once it has a record, after the last one was read
//   again: nothing is added to a log behind the first record of the next one. The end of the last
//   one is compared with what the next one says of it.
// - A memtable holds the entries of one log. It is dropped when the MANIFEST says that tables hold
//   the entries of that log, so no entry is there twice.
// - Entries go into a memtable that readers see only if their numbers are above all that these may
//   see (SuperVersion::newest_seqno); else into a new one, which is published later.
//
// It writes nothing into the primary's directories. As Access::kFollower it makes hard links of the
// tables and blob files in a directory of its own and reads these.
//
// Threads: any thread may call CatchUp(), which one thread does at a time; readers never wait for
// it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/files/follower_links.h"
#include "db/following/log_tail.h"
#include "db/following/manifest_tail.h"
#include "db/opening/open.h"
#include "db/opening/replay_inserter.h"
#include "db/opening/section_replay.h"
#include "db/state/db_core.h"
#include "db/version/followed_change.h"
#include "env/port_cond_var.h"
#include "util/keys/file_number.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// Options that do not fit a database which another process writes: NotSupported, or set to the only
// value that does. Before the database is opened.
Status SettleForFollowing(OpenRequest* request);

class Follower {
 public:
  // `core` is open, with the versions of the MANIFEST, and outlives the follower.
  static std::unique_ptr<Follower> Create(DbCore* core, const OpenRequest& request);
  // The thread was stopped, or none was started.
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Shows what the primary has written since. TryAgain: the primary was faster at every attempt, or
  // it has taken back a change that was shown here, because its write had failed there; readers see
  // what they saw before.
  Status CatchUp() EXCLUDES(turn_);

  // As Access::kFollower: a thread catches up by the clock.
  void StartThread();
  // Waits for the thread, if there is one.
  void StopThread();

 private:
  Follower(DbCore* core, const OpenRequest& request, std::string manifest,
           std::unique_ptr<ManifestReader> reader, SequenceNumber newest);
  void RunThread();
  bool AwaitStop(uint64_t millis);

  Status RunRound() REQUIRES(turn_);
  Status CheckOrder() REQUIRES(turn_);
  Status CheckIdentity() const;

  // MANIFEST.
  Status ApplyManifest() REQUIRES(turn_);
  FollowedChange BeginChange();
  Status OpenFiles(const FollowedChange& change, std::vector<std::string>* paths) REQUIRES(turn_);
  Result<bool> IsThere(const std::string& path) const;
  Status ExplainMissing(const Status& status, const std::vector<std::string>& paths)
      REQUIRES(turn_);
  void Install(FollowedChange* change) REQUIRES(turn_);
  void NoteDropped(const FollowedChange& change) REQUIRES(turn_, db_mutex);

  // Logs; follower_logs.cc.
  Status ReadLogs() REQUIRES(turn_);
  Status OpenTails() REQUIRES(turn_);
  Status ApplyNew(LogTail* tail) REQUIRES(turn_);
  Status ApplyBatch(LogTail* tail, const Slice& batch) REQUIRES(turn_);
  Result<LogTail*> NextWithRecords(FileNumber number) REQUIRES(turn_);
  Status CheckEnd(const LogTail& tail, LogTail* next) REQUIRES(turn_);
  Status ExplainHole(const Status& hole) REQUIRES(turn_);
  Status PrepareMemTables(FileNumber log_number, SequenceNumber seqno) REQUIRES(turn_);
  Status UseInserter() REQUIRES(turn_);
  Status EndInserter() REQUIRES(turn_);
  FileNumber MinLog() REQUIRES(turn_);

  void DecideMissing() REQUIRES(turn_);
  void Publish() REQUIRES(turn_);
  void TrimUndecided() REQUIRES(turn_);

  DbCore* const core_;
  const Access access_;
  const DBOptions options_;
  Mutex thread_mutex_{LockRank::kLeaf};
  port::CondVar thread_changed_{&thread_mutex_};
  bool has_thread_ GUARDED_BY(thread_mutex_) = false;
  bool is_stopping_ GUARDED_BY(thread_mutex_) = false;

  Mutex turn_{LockRank::kFollowing};
  ManifestTail manifest_ GUARDED_BY(turn_);
  bool has_looked_at_all_ GUARDED_BY(turn_) = false;  // all tables of the first versions are open
  std::optional<FollowerLinks> links_ GUARDED_BY(turn_);  // of a follower
  // Logs that may have more to read, by number.
  std::map<FileNumber, std::unique_ptr<LogTail>> tails_ GUARDED_BY(turn_);
  FileNumber log_number_ GUARDED_BY(turn_) = 0;      // of the log that is read; 0: none yet
  SequenceNumber next_seqno_ GUARDED_BY(turn_) = 0;  // behind the last batch; 0: not known
  // Prepared transactions of the primary that no log has decided so far.
  SectionReplay sections_ GUARDED_BY(turn_);
  // A dropped family whose handles, iterators or snapshots may still be there. They read it at its
  // last number for ever.
  struct DroppedFamily {
    std::weak_ptr<const FamilyVersions> versions;  // expired: no reader is left
    SequenceNumber seqno = 0;
  };
  std::vector<DroppedFamily> dropped_ GUARDED_BY(turn_);
  ReplaySource source_ GUARDED_BY(turn_);
  // A batch that was read could not be applied: without it nothing later may be shown.
  Status failure_ GUARDED_BY(turn_);
  // Inserts the batches of the current round. It also has those of earlier rounds whose result was
  // not published.
  std::unique_ptr<ReplayInserter> inserter_ GUARDED_BY(turn_);
  uint64_t applied_bytes_ GUARDED_BY(turn_) = 0;
  bool has_threads_ GUARDED_BY(turn_) = false;
  bool has_news_ GUARDED_BY(turn_) = false;
  bool has_read_batches_ GUARDED_BY(turn_) = false;   // in this round
  bool has_own_memtables_ GUARDED_BY(turn_) = false;  // no reader sees one that is inserted into
  SequenceNumber newest_ GUARDED_BY(turn_);           // to be published
  SequenceNumber published_ GUARDED_BY(turn_) = 0;
};

}  // namespace ashlar
