// SPDX-License-Identifier: Apache-2.0
//
// Each batch is parsed for the families of its records. With two-phase commit the updates of a
// prepare section take their numbers where they are committed, perhaps in a later log, or, under
// the policies write-prepared and write-unprepared, where they are prepared.
#include "db/repair/log_survey.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "db/wal/log_reader.h"
#include "db/write/two_phase_reader.h"
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

// Reads the batches of all logs, one after the other. Gives the updates the numbers that a replay
// gives them (SectionReplay), without comparators: keys are compared byte by byte.
class BatchSurvey {
 public:
  void Add(const Slice& batch, SurveyedLog* log);

 private:
  // How many sequence numbers updates take and, by family id, the position of the last update of
  // each family among these numbers.
  struct Updates {
    uint64_t count = 0;
    std::map<uint32_t, uint64_t> last;
  };
  // A section without a decision so far.
  struct Section {
    bool is_written = false;  // its updates took their numbers where it was prepared
    Updates updates;
  };

  void AddPart(const Slice& batch, size_t* i, SurveyedLog* log);
  void AddSection(const Slice& batch, const WriteBatchPart& part, SurveyedLog* log);
  void Decide(const Slice& batch, const WriteBatchPart* updates, const WriteBatchPart& decision,
              SurveyedLog* log);
  void Take(const Updates& updates, SurveyedLog* log);
  Updates UpdatesOf(const Slice& batch, const WriteBatchPart& part, bool by_sub_batch) const;

  const ComparatorOfFamily no_comparators_;
  NumberCounter counter_;
  std::map<std::string, Section, std::less<>> sections_;  // by the name of the transaction
  // Of the current batch.
  std::vector<WriteBatchPart> parts_;
  UpdateNumbering numbering_ = UpdateNumbering::kByRecord;
  SequenceNumber next_ = 0;
};

void BatchSurvey::Add(const Slice& batch, SurveyedLog* log) {
  assert(log != nullptr);
  if (batch.size() < kWriteBatchHeaderBytes) {
    log->is_whole = false;
    return;
  }
  const SequenceNumber first = DecodeFixed64(batch.data());
  next_ = first;
  numbering_ = counter_.Take(batch).numbering;
  const Status split = SplitBatch(batch, &parts_);
  if (split.ok()) {
    for (size_t i = 0; i < parts_.size(); i++) AddPart(batch, &i, log);
  } else {
    log->is_whole = false;
    next_ = first + DecodeFixed32(batch.data() + sizeof(uint64_t));
  }
  // No entry; or the numbers are those of an older log, whose data is in tables.
  if (next_ == first || IsLoggedAgain(batch)) return;
  // The batches of one log follow each other without a gap, unless one is missing.
  if (log->first_seqno != 0 && first != log->last_seqno + 1) log->is_continuous = false;
  if (log->first_seqno == 0) log->first_seqno = first;
  log->last_seqno = std::max(log->last_seqno, next_ - 1);
}

// Updates directly before a decision belong to it. Moves *i behind both.
void BatchSurvey::AddPart(const Slice& batch, size_t* i, SurveyedLog* log) {
  using Kind = WriteBatchPart::Kind;
  const WriteBatchPart& part = parts_[*i];
  const auto is_decision = [](const WriteBatchPart& of) {
    return of.kind == Kind::kCommit || of.kind == Kind::kRollback;
  };
  if (part.kind == Kind::kSection) return AddSection(batch, part, log);
  if (is_decision(part)) return Decide(batch, nullptr, part, log);
  if (!part.ends_with_noop && *i + 1 < parts_.size() && is_decision(parts_[*i + 1])) {
    return Decide(batch, &part, parts_[++*i], log);
  }
  const bool by_sub_batch = numbering_ != UpdateNumbering::kByRecord && part.count > 0;
  Take(UpdatesOf(batch, part, by_sub_batch), log);
}

// The families of a section must exist when it is committed, also if it takes no numbers here.
void BatchSurvey::AddSection(const Slice& batch, const WriteBatchPart& part, SurveyedLog* log) {
  Section section;
  section.is_written = IsWrittenBeforeCommit(part.marker);
  section.updates = UpdatesOf(batch, part, section.is_written);
  for (const auto& [family, position] : section.updates.last) log->last_by_family[family];
  if (section.is_written && !IsLoggedAgain(batch)) Take(section.updates, log);
  sections_[part.xid.ToString()] = std::move(section);
}

// `updates`: a commit-time batch, or the compensations of a rollback; null: none.
void BatchSurvey::Decide(const Slice& batch, const WriteBatchPart* updates,
                         const WriteBatchPart& decision, SurveyedLog* log) {
  const auto found = sections_.find(std::string_view(decision.xid.data(), decision.xid.size()));
  const bool is_known = found != sections_.end();
  const bool is_written =
      is_known ? found->second.is_written : numbering_ != UpdateNumbering::kByRecord;
  const bool is_commit = decision.kind == WriteBatchPart::Kind::kCommit;
  if (updates != nullptr) {
    Take(UpdatesOf(batch, *updates, is_written), log);
  } else if (is_written && (is_known || numbering_ == UpdateNumbering::kBySubBatch)) {
    next_++;  // the decision's own
  }
  if (!is_known) {
    // The section was in a damaged or deleted part of the logs: its updates cannot be read.
    if (is_commit) log->is_whole = false;
    return;
  }
  if (is_commit && !is_written) Take(found->second.updates, log);
  sections_.erase(found);
}

// Gives the updates the numbers from next_ on.
void BatchSurvey::Take(const Updates& updates, SurveyedLog* log) {
  for (const auto& [family, position] : updates.last) {
    SequenceNumber& last = log->last_by_family[family];
    last = std::max(last, next_ + position);
  }
  next_ += updates.count;
}

BatchSurvey::Updates BatchSurvey::UpdatesOf(const Slice& batch, const WriteBatchPart& part,
                                            bool by_sub_batch) const {
  Updates updates;
  if (by_sub_batch) updates.count = 1;  // also without any update
  if (part.records.empty()) return updates;
  SubBatchFinder finder(no_comparators_);
  const auto begin = static_cast<size_t>(part.records.data() - batch.data());
  WriteBatchReader reader(batch, begin);
  for (WriteBatchRecord record;
       reader.next_offset() < begin + part.records.size() && reader.Next(&record);) {
    if (!record.IsCounted()) continue;
    if (!by_sub_batch || finder.Take(record)) updates.count++;
    updates.last[record.family] = updates.count - 1;
  }
  return updates;
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
