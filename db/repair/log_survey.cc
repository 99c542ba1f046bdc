// SPDX-License-Identifier: Apache-2.0
//
// Each batch is parsed for the families of its records. With two-phase commit the updates of a
// prepare section take their numbers where they are committed, perhaps in a later log.
#include "db/repair/log_survey.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/wal/log_reader.h"
#include "db/write/write_batch_reader.h"
#include "env/filename.h"
#include "env/sequential_reader.h"

namespace ashlar {
namespace {

class DamageFlag final : public LogReader::Reporter {
 public:
  explicit DamageFlag(SurveyedLog* log) : log_(log) {}
  void OnDamage(const LogDamage&) override { log_->is_whole = false; }

 private:
  SurveyedLog* const log_;
};

// Reads the batches of all logs, one after the other.
class BatchSurvey {
 public:
  void Add(const Slice& batch, SurveyedLog* log);

 private:
  // The number of counted records and, by family id, the position of the last record of each
  // family.
  struct Updates {
    uint64_t count = 0;
    std::map<uint32_t, uint64_t> last;
  };
  std::map<std::string, Updates> sections_;  // undecided ones, by the name of the transaction
};

void BatchSurvey::Add(const Slice& batch, SurveyedLog* log) {
  assert(log != nullptr);
  const SequenceNumber first = DecodeFixed64(batch.data());
  SequenceNumber next = first;
  Updates updates;  // since the last marker
  // Gives the updates their sequence numbers: those from `next` on.
  const auto take = [&](const Updates& taken) {
    for (const auto& [family, position] : taken.last) {
      SequenceNumber& last = log->last_by_family[family];
      last = std::max(last, next + position);
    }
    next += taken.count;
  };
  WriteBatchReader reader(batch);
  WriteBatchRecord record;
  // Markers divide the batch into sections.
  while (reader.Next(&record)) {
    const std::string xid = record.value.ToString();
    switch (record.type) {
      case kTypeBeginPrepareXID:
      case kTypeBeginPersistedPrepareXID:
      // Updates before a section take numbers of this batch.
      case kTypeBeginUnprepareXID: take(std::exchange(updates, {})); break;
      case kTypeEndPrepareXID: {
        // Its families must exist when it is committed.
        for (const auto& [family, position] : updates.last) log->last_by_family[family];
        sections_[xid] = std::exchange(updates, {});
        break;
      }
      case kTypeRollbackXID: sections_.erase(xid); break;
      case kTypeCommitXID:
      case kTypeCommitXIDAndTimestamp: {
        take(std::exchange(updates, {}));
        const auto section = sections_.find(xid);
        // The section was in a damaged or deleted part of the logs.
        if (section == sections_.end()) {
          log->is_whole = false;  // its updates cannot be read
          break;
        }
        take(section->second);
        sections_.erase(section);
        break;
      }
      default:
        if (record.IsCounted()) updates.last[record.family] = updates.count++;
    }
  }
  take(updates);
  if (!reader.status().ok()) log->is_whole = false;
  if (next == first) return;  // no entry
  // The batches of one log follow each other without a gap, unless one is missing.
  if (log->first_seqno != 0 && first != log->last_seqno + 1) log->is_continuous = false;
  if (log->first_seqno == 0) log->first_seqno = first;
  log->last_seqno = std::max(log->last_seqno, next - 1);
}

}  // namespace

SequenceNumber LogSurvey::CompleteFrom() const {
  SequenceNumber from = kMaxSequenceNumber;
  // From the newest log backwards, as long as the logs join.
  for (auto log = logs.rbegin(); log != logs.rend(); ++log) {
    if (!log->is_whole || !log->is_continuous) break;
    if (log->first_seqno == 0) continue;
    if (from != kMaxSequenceNumber && log->last_seqno + 1 != from) break;
    from = log->first_seqno;
  }
  return from;
}

// The first log with a newer entry; everything before it is in tables already.
FileNumber LogSurvey::FirstLogBehind(uint32_t family, SequenceNumber seqno) const {
  for (const SurveyedLog& log : logs) {
    const auto last = log.last_by_family.find(family);
    if (last != log.last_by_family.end() && last->second > seqno) return log.number;
  }
  return logs.empty() ? FileNumber() : logs.back().number.Next();
}

std::set<uint32_t> LogSurvey::FamilyIds() const {
  std::set<uint32_t> ids;
  for (const SurveyedLog& log : logs) {
    for (const auto& [id, last] : log.last_by_family) ids.insert(id);
  }
  return ids;
}

Result<LogSurvey> SurveyLogs(FileSystem* fs, const FileOptions& options, const std::string& wal_dir,
                             const std::vector<FileNumber>& numbers) {
  LogSurvey survey;
  BatchSurvey batches;
  for (const FileNumber number : numbers) {
    SurveyedLog log;
    log.number = number;
    ASSIGN_OR_RETURN(auto file, SequentialReader::Open(fs, LogFileName(wal_dir, number), options));
    DamageFlag damage(&log);
    LogReader::Options reader_options;
    reader_options.log_number = number;
    reader_options.mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
    reader_options.is_wal = true;
    // Damage is passed over, because a repair wants every entry that can be read.
    LogReader reader(NewFileLogSource(std::move(file)), reader_options, &damage);
    Slice batch;
    while (reader.ReadRecord(&batch)) batches.Add(batch, &log);
    RETURN_IF_ERROR(reader.status());
    // A torn end may hide entries, although it is normal after a crash.
    if (reader.torn_tail_bytes() > 0) log.is_whole = false;
    survey.logs.push_back(std::move(log));
  }
  return survey;
}

}  // namespace ashlar
