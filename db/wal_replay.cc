// SPDX-License-Identifier: Apache-2.0
//
// Logs are read in order; every batch is applied to the families that have not flushed it yet.
#include "db/wal_replay.h"

#include <algorithm>
#include <utility>

#include "db/write/write_batch_reader.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/sequential_reader.h"
#include "util/str_cat.h"

namespace ashlar {

std::string RecoveryReport::ToString() const {
  std::string text;
  for (const DroppedLogBytes& drop : dropped) {
    StrAppend(&text, "log ", drop.log_number, " offset ", drop.offset, ": ", drop.bytes,
              " bytes dropped: ", drop.reason,
              drop.good_records_follow ? "; intact records follow" : "", "\n");
  }
  return text;
}

// Remembers what the reader could not read.
class WalReplay::Collector final : public LogReader::Reporter {
 public:
  Collector(uint64_t log_number, RecoveryReport* report)
      : log_number_(log_number), report_(report) {}

  void OnDamage(const LogDamage& damage) override {
    if (first.ok()) first = damage.reason;
    report_->dropped.push_back({log_number_, damage.offset, damage.dropped_bytes,
                                damage.reason.ToString(), damage.good_record_behind.has_value()});
  }

  Status first;

 private:
  const uint64_t log_number_;
  RecoveryReport* const report_;
};

WalReplay::WalReplay(const WalReplayOptions& options, FamilySet* families, RecoveryReport* report)
    : options_(options),
      families_(families),
      report_(report),
      last_sequence_(options.last_sequence) {}

bool WalReplay::FailsOnReport() const {
  return options_.paranoid_checks &&
         (options_.mode == WALRecoveryMode::kAbsoluteConsistency ||
          options_.mode == WALRecoveryMode::kTolerateCorruptedTailRecords);
}

Status WalReplay::Run(const std::vector<uint64_t>& log_numbers) {
  for (uint64_t number : log_numbers) RETURN_IF_ERROR(ReplayLog(number));
  if (stops_) RETURN_IF_ERROR(CheckFamiliesAgainst(stopped_at_log_));
  return Status::OK();
}

Status WalReplay::ReplayLog(uint64_t number) {
  const std::string path = LogFileName(options_.wal_dir, number);
  ASSIGN_OR_RETURN(auto file, SequentialReader::Open(options_.fs, path, options_.file_options));
  ASSIGN_OR_RETURN(log_bytes_[number], FileSizeOf(options_.fs, path));
  Collector collector(number, report_);
  LogReader::Options reader_options;
  reader_options.log_number = number;
  reader_options.mode = options_.mode;
  reader_options.is_wal = true;
  reader_options.continue_after_report = !options_.paranoid_checks;
  LogReader reader(NewFileLogSource(std::move(file)), reader_options, &collector);
  report_->logs_read++;
  RETURN_IF_ERROR(ReplayRecords(number, &reader, &collector));

  if (!reader.status().ok()) return reader.status();
  if (reader.torn_tail_bytes() > 0) {
    report_->dropped.push_back({number, log_bytes_[number] - reader.torn_tail_bytes(),
                                reader.torn_tail_bytes(), "unfinished record at the end", false});
  }
  if (!collector.first.ok() && FailsOnReport()) return collector.first;
  const bool is_point_in_time = options_.mode == WALRecoveryMode::kPointInTimeRecovery &&
                                options_.paranoid_checks;
  if (is_point_in_time && (!collector.first.ok() || reader.ended_at_old_record())) {
    stops_ = true;
    stopped_at_log_ = number;
  }
  return Status::OK();
}

Status WalReplay::ReplayRecords(uint64_t number, LogReader* reader, Collector* collector) {
  Slice record;
  while (reader->ReadRecord(&record)) {
    if (!collector->first.ok() && FailsOnReport()) return Status::OK();
    const SequenceNumber seqno = DecodeFixed64(record.data());
    if (stops_) {
      // A log that was begun after an earlier recovery to this very point goes on from it.
      if (seqno != next_expected_) {
        report_->dropped.push_back({number, reader->record_offset(),
                                    log_bytes_[number] - reader->record_offset(),
                                    "does not continue the log before it", true});
        return Status::OK();
      }
      stops_ = false;
    }
    if (next_expected_ != 0 && seqno + 1 < next_expected_ &&
        options_.mode != WALRecoveryMode::kSkipAnyCorruptedRecords) {
      return Status::Corruption(StrCat(LogFileName(options_.wal_dir, number), ": offset ",
                                       reader->record_offset(), ": sequence number ", seqno,
                                       " follows ", next_expected_ - 1, ": set backwards"));
    }
    Status status = ApplyBatch(number, record);
    if (!status.ok()) {
      return Status::CopyAppendMessage(status, "; in ",
                                       StrCat(LogFileName(options_.wal_dir, number), ", offset ",
                                              reader->record_offset()));
    }
    report_->records_applied++;
  }
  return Status::OK();
}

Status WalReplay::ApplyBatch(uint64_t log_number, const Slice& batch) {
  WriteBatchReader reader(batch);
  SequenceNumber seqno = DecodeFixed64(batch.data());
  const uint32_t count = DecodeFixed32(batch.data() + 8);
  uint32_t counted = 0;
  WriteBatchRecord record;
  while (reader.Next(&record)) {
    if (!record.IsCounted()) {
      const bool is_begin = record.type == kTypeBeginPrepareXID ||
                            record.type == kTypeBeginPersistedPrepareXID ||
                            record.type == kTypeBeginUnprepareXID;
      if (is_begin) {
        return Status::NotSupported(
            "WAL contains prepared transactions, which are not supported by this version");
      }
      continue;
    }
    counted++;
    next_record_seqno_ = seqno;
    RETURN_IF_ERROR(ApplyRecord(log_number, record));
    last_sequence_ = std::max(last_sequence_, seqno);
    seqno++;
  }
  RETURN_IF_ERROR(reader.status());
  if (counted != count) {
    return Status::Corruption(
        StrCat("WriteBatch has wrong count: ", count, " in its header, ", counted, " records"));
  }
  next_expected_ = seqno;
  return Status::OK();
}

Status WalReplay::ApplyRecord(uint64_t log_number, const WriteBatchRecord& record) {
  ColumnFamilyData* family = families_->Find(record.family);
  // Dropped families, and what was flushed before.
  if (family == nullptr || log_number < family->versions()->log_number) return Status::OK();
  const bool is_known = record.type == kTypeValue || record.type == kTypeDeletion ||
                        record.type == kTypeSingleDeletion;
  if (!is_known) {
    const char* what = record.type == kTypeMerge           ? "merge operands"
                       : record.type == kTypeRangeDeletion ? "range deletions"
                                                           : "values of a newer kind";
    return Status::NotSupported(
        StrCat("the log holds ", what, ", which are not supported by this version"));
  }
  Status status =
      family->mem()->Add(next_record_seqno_, record.type, record.key, record.value, nullptr);
  if (status.IsTryAgain()) {
    return Status::Corruption(
        StrCat("sequence number ", next_record_seqno_, " occurs twice for one key"));
  }
  RETURN_IF_ERROR(status);
  SealIfFull(family, log_number);
  return Status::OK();
}

// What is replayed stays in memory until all logs are read: only then may anything be written.
void WalReplay::SealIfFull(ColumnFamilyData* family, uint64_t log_number) {
  if (family->mem()->ApproximateMemoryUsage() < family->write_buffer_bytes()) return;
  family->SealMemTable(log_number);
}

// Tables that are newer than the point the logs were recovered to cannot go back to it.
Status WalReplay::CheckFamiliesAgainst(uint64_t log_number) const {
  for (ColumnFamilyData* family : families_->All()) {
    const Version* version = family->current();
    if (family->versions()->log_number > log_number && version->file_count() > 0) {
      return Status::Corruption(
          StrCat("Column family inconsistency: log ", log_number,
                 " is damaged, but the tables of \"", family->name(), "\" are newer"));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
