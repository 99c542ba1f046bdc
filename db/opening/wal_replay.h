// SPDX-License-Identifier: Apache-2.0
//
// WalReplay reads the logs with unflushed writes, and inserts their contents into the memtables
// again. The recovery mode decides what happens at damage. Nothing on disk changes.
//
// Everything that is not applied is listed in the RecoveryReport. The rules are in
// docs/formats/wal.md, section 7, and docs/formats/files.md, section 6.
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

// A part of a log that was not applied, and why. `offset` and `bytes` are positions in the log
// file.
struct DroppedLogBytes {
  FileNumber log_number = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
  bool good_records_follow = false;  // intact records behind this place are not applied either
};

// What a recovery has read, applied and left out.
struct RecoveryReport {
  std::vector<std::string> notes;  // messages of best-efforts recovery and of repairs
  std::vector<DroppedLogBytes> dropped;
  uint64_t dropped_manifest_bytes = 0;  // of an unfinished change at the end of the MANIFEST
  uint64_t logs_read = 0;
  uint64_t records_applied = 0;
  uint64_t batches_filtered = 0;  // removed or replaced by the program's WalFilter
  // Whether complete records were left out. A torn record at the end of a log does not count.
  bool HasLostRecords() const;
  std::string ToString() const;  // one line for each loss; empty if there was none
};

struct WalReplayOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  std::string wal_dir;
  WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery;
  bool paranoid_checks = true;  // false: reported damage never fails the open
  FileNumber min_log_number = 0;
  bool allows_two_phase = false;        // false: a prepare section is an error
  UndecidedTable* undecided = nullptr;  // with allows_two_phase; outlives the replay
  bool has_min_log_to_keep = true;      // the MANIFEST records the oldest log that must exist
  bool is_repair = false;               // logs may be missing; see ReactToGap()
  SequenceNumber last_sequence = 0;     // as recorded in the MANIFEST
  const std::map<FileNumber, LogSummary>* tracked = nullptr;  // by log number; outlives the replay
  uint32_t max_family = 0;             // the highest id that the MANIFEST has ever seen
  bool verifies_predecessors = false;  // the option track_and_verify_wals
  WalFilter* filter = nullptr;         // of the program; may be null
  DbMutex* mutex = nullptr;            // held by the caller of Run()
  Env* env = nullptr;                  // starts the threads that insert
  size_t insert_threads = 0;           // 0: the thread that reads the logs inserts, too
  MergeTools tools;                    // for reading the old values of updates in place
};

// Facts about one log that was read.
struct ReplayedLog {
  uint64_t file_bytes = 0;
  uint64_t end_offset = 0;              // where the last record ends
  SequenceNumber first_seqno = 0;       // the lowest one; 0: unknown, a log of another engine
  SequenceNumber last_batch_seqno = 0;  // of the last batch; 0: the log has no batch
};

// Replays the logs of one opening. Used once, by the thread that opens the database.
class WalReplay {
 public:
  // The families are open with empty memtables; both outlive the replay.
  WalReplay(const WalReplayOptions& options, FamilySet* families, RecoveryReport* report)
      REQUIRES(db_mutex);

  // Replays these logs, which are in ascending order.
  Status Run(const std::vector<FileNumber>& log_numbers) REQUIRES(db_mutex);

  // The greatest sequence number that was replayed; valid after Run().
  SequenceNumber last_sequence() const { return last_sequence_; }
  // Whether the recovered state ends before the end of the logs. Then the next log must record that
  // it continues from here.
  bool stopped_early() const { return stops_ || is_stopped_by_filter_; }
  const std::map<FileNumber, ReplayedLog>& logs() const { return logs_; }
  // The prepare sections without a decision, in the order of the logs.
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
  Status CheckEnd(FileNumber number);
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
  ReplaySource source_;  // describes the log that is being read
  SequenceNumber last_sequence_;
  // The number after the last applied batch. 0: no batch was applied yet, or the number of the last
  // one is not known, because it commits a section whose log was deleted.
  SequenceNumber next_expected_ = 0;
  SequenceNumber next_at_most_ = 0;    // differs only where the numbers of a batch are a range
  bool is_next_unknown_ = false;       // the second case
  bool stops_ = false;                 // at stopped_at_log_; see GoesOn()
  bool is_stopped_by_filter_ = false;  // no later log is read either
  FileNumber stopped_at_log_ = 0;
  FileNumber torn_log_ = 0;  // ended with a torn record, and no record was read since; 0: none
  std::map<FileNumber, ReplayedLog> logs_;
  // The log that is being read, and the facts about it in the MANIFEST.
  ReplayedLog* log_ = nullptr;
  SequenceNumber lower_bound_ = 0;
  SequenceNumber upper_bound_ = kMaxSequenceNumber;  // records end below it
  bool is_own_ = false;                              // written by this engine
  Status hole_;  // an earlier log ended too early: returned if another record follows
};

}  // namespace ashlar
