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
#include "db/wal/log_reader.h"

namespace ashlar {

struct WriteBatchRecord;

// One place of a log whose contents were not applied.
struct DroppedLogBytes {
  uint64_t log_number = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
  bool good_records_follow = false;
};

struct RecoveryReport {
  std::vector<DroppedLogBytes> dropped;
  uint64_t logs_read = 0;
  uint64_t records_applied = 0;
  std::string ToString() const;  // a line each; empty if nothing was dropped
};

struct WalReplayOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  std::string wal_dir;
  WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery;
  bool paranoid_checks = true;  // false: reports never fail the open
  uint64_t min_log_number = 0;
  SequenceNumber last_sequence = 0;  // of the MANIFEST
};

class WalReplay {
 public:
  // The families are open with empty memtables; both outlive the replay.
  WalReplay(const WalReplayOptions& options, FamilySet* families, RecoveryReport* report);

  // Reads these logs, ascending.
  Status Run(const std::vector<uint64_t>& log_numbers);

  // After Run().
  SequenceNumber last_sequence() const { return last_sequence_; }
  // Replay ended before the end of the logs: the next log must say that it continues here.
  bool stopped_early() const { return stops_; }
  const std::map<uint64_t, uint64_t>& log_bytes() const { return log_bytes_; }

 private:
  class Collector;
  Status ReplayLog(uint64_t number);
  Status ReplayRecords(uint64_t number, LogReader* reader, Collector* collector);
  Status ApplyBatch(uint64_t log_number, const Slice& batch);
  Status ApplyRecord(uint64_t log_number, const WriteBatchRecord& record);
  void SealIfFull(ColumnFamilyData* family, uint64_t log_number);
  Status CheckFamiliesAgainst(uint64_t log_number) const;
  bool FailsOnReport() const;

  const WalReplayOptions options_;
  FamilySet* const families_;
  RecoveryReport* const report_;
  SequenceNumber last_sequence_;
  SequenceNumber next_expected_ = 0;  // after the last batch applied; 0 before the first
  SequenceNumber next_record_seqno_ = 0;
  bool stops_ = false;
  uint64_t stopped_at_log_ = 0;
  std::map<uint64_t, uint64_t> log_bytes_;
};

}  // namespace ashlar
