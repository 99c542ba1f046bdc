// SPDX-License-Identifier: Apache-2.0
//
// WalReplay reads the logs that hold unflushed writes back into memtables, by the rules of the
// recovery mode. Nothing on disk changes.
//
// What it drops it reports (RecoveryReport). Rules: docs/formats/wal.md, section 7;
// docs/formats/files.md, section 6.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "db/column_family/family_set.h"
#include "db/opening/replay_filter.h"
#include "db/opening/replay_inserter.h"
#include "db/opening/section_replay.h"
#include "db/version/version_set.h"
#include "db/wal/log_reader.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct LogPredecessor;

// One place of a log whose contents were not applied.
struct DroppedLogBytes {
  FileNumber log_number = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
  bool good_records_follow = false;
};

struct RecoveryReport {
  std::vector<std::string> notes;  // of best-efforts recovery and of repairs; a line each
  std::vector<DroppedLogBytes> dropped;
  uint64_t dropped_manifest_bytes = 0;  // a change that was being written
  uint64_t logs_read = 0;
  uint64_t records_applied = 0;
  uint64_t batches_filtered = 0;  // left out or exchanged by the program's WalFilter
  // Whole records were left out, not only the torn end of one.
  bool HasLostRecords() const;
  std::string ToString() const;  // a line each; empty if all was applied as it was
};

struct WalReplayOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  std::string wal_dir;
  WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery;
  bool paranoid_checks = true;  // false: reports never fail the open
  FileNumber min_log_number = 0;
  bool allows_two_phase = false;        // prepare sections are kept; else refused
  UndecidedTable* undecided = nullptr;  // with allows_two_phase; outlives the replay
  bool has_min_log_to_keep = true;      // the MANIFEST says from which log on all are there
  bool is_repair = false;               // logs may be missing: what is known is kept
  SequenceNumber last_sequence = 0;     // of the MANIFEST
  const std::map<FileNumber, LogSummary>* tracked = nullptr;  // by log number; outlives the replay
  uint32_t max_family = 0;             // the highest id that the MANIFEST has ever seen
  bool verifies_predecessors = false;  // what RocksDB's records about them say, too
  WalFilter* filter = nullptr;         // the program's; null: none
  DbMutex* mutex = nullptr;            // held by the caller of Run()
  Env* env = nullptr;                  // of the threads
  size_t insert_threads = 0;           // that fill memtables; 0: the one that reads
  MergeTools tools;                    // for reads of what an update in place builds on
};

struct ReplayedLog {
  uint64_t file_bytes = 0;
  uint64_t end_offset = 0;              // of the last record
  SequenceNumber first_seqno = 0;       // no record has a lower one; 0: a log of another engine
  SequenceNumber last_batch_seqno = 0;  // 0: none
};

class WalReplay {
 public:
  // The families are open with empty memtables; both outlive the replay.
  WalReplay(const WalReplayOptions& options, FamilySet* families, RecoveryReport* report)
      REQUIRES(db_mutex);

  // Reads these logs, ascending.
  Status Run(const std::vector<FileNumber>& log_numbers) REQUIRES(db_mutex);

  // After Run().
  SequenceNumber last_sequence() const { return last_sequence_; }
  // Replay ended before the end of the logs: the next log must say that it continues here.
  bool stopped_early() const { return stops_ || is_stopped_by_filter_; }
  const std::map<FileNumber, ReplayedLog>& logs() const { return logs_; }
  // The prepare sections that are undecided, in the order of the logs.
  std::vector<SectionReplay::FoundSection> TakeUndecided() { return sections_.TakeUndecided(); }

 private:
  class Collector;
  Status ReplayLog(FileNumber number) REQUIRES(db_mutex);
  Status ReplayRecords(FileNumber number, LogReader* reader, Collector* collector)
      REQUIRES(db_mutex);
  void SetBounds(FileNumber number);
  Result<bool> AcceptRecord(FileNumber number, const LogReader& reader, const Slice& batch,
                            uint64_t numbers);
  Status CheckRecord(const Slice& batch, uint64_t numbers) const;
  bool IsEndKnown(FileNumber number) const;
  bool IsPredecessorWhole(const Slice& beginning) const;
  Status CheckGoesOnAfterTorn(FileNumber number, const Slice& batch);
  bool IsExpected(SequenceNumber seqno) const {
    return seqno >= next_expected_ && seqno <= next_at_most_;
  }
  bool GoesOn(FileNumber number, const LogReader& reader, SequenceNumber seqno);
  bool NamesLogBefore(FileNumber number, const LogReader& reader, const Slice& batch) const;
  void ReactToGap(FileNumber number, SequenceNumber seqno);
  Status CheckOrder(FileNumber number, const LogReader& reader, SequenceNumber seqno) const;
  Status CheckTimestamps(FileNumber number, const LogReader& reader) const;
  Result<bool> FilterAndApply(FileNumber number, const LogReader& reader, Slice batch,
                              const NumberCounter::Numbers& numbers, Collector* collector)
      REQUIRES(db_mutex);
  Status CheckEnd(FileNumber number, uint64_t end_offset);
  Status CheckPredecessor(FileNumber number, const LogPredecessor& predecessor);
  Status VerifyPredecessor(FileNumber number, const PredecessorWalInfo& predecessor);
  Status ReactToHole(FileNumber number, const Status& hole);
  bool SkipsDamage() const { return options_.mode == WALRecoveryMode::kSkipAnyCorruptedRecords; }
  Status CheckFamiliesAgainst(FileNumber log_number) const REQUIRES(db_mutex);
  bool FailsOnReport() const;

  const WalReplayOptions options_;
  FamilySet* const families_;
  RecoveryReport* const report_;
  ReplayFilter filter_;
  ReplayInserter inserter_;
  SectionReplay sections_;
  ReplaySource source_;  // of the log being read
  SequenceNumber last_sequence_;
  // After the last batch applied; 0: before the first, or the last one took numbers that are not
  // known, as the section that it commits was released with older logs.
  SequenceNumber next_expected_ = 0;
  SequenceNumber next_at_most_ = 0;  // differs only where the numbers of a batch are a range
  bool is_next_unknown_ = false;     // the latter
  bool stops_ = false;
  bool is_stopped_by_filter_ = false;  // for good
  FileNumber stopped_at_log_ = 0;
  FileNumber torn_log_ = 0;  // ended in an unfinished record; 0: no log with records follows it yet
  std::map<FileNumber, ReplayedLog> logs_;
  // The log being read, and what the MANIFEST says about it.
  ReplayedLog* log_ = nullptr;
  SequenceNumber lower_bound_ = 0;
  SequenceNumber upper_bound_ = kMaxSequenceNumber;  // records end below it
  bool is_own_ = false;                              // written by this engine
  Status hole_;  // a log before ended too early: an error once another record follows
};

}  // namespace ashlar
