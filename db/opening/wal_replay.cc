// SPDX-License-Identifier: Apache-2.0
//
// WalReplay reads logs in order, decides for each record whether it may be applied, and passes it
// to SectionReplay and from there to ReplayInserter, which change the memtables.
//
// Words used here: a hole is a place between two logs where records are missing; the log before a
// log is its predecessor. A log of this engine begins with a record that names its predecessor and
// the length of that file (DecodeLogBeginning).
#include "db/opening/wal_replay.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/wal/log_beginning.h"
#include "db/write/two_phase_reader.h"
#include "db/write/write_batch_reader.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/sequential_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {

std::string RecoveryReport::ToString() const {
  std::string text;
  for (const std::string& note : notes) StrAppend(&text, note, "\n");
  for (const DroppedLogBytes& drop : dropped) {
    StrAppend(&text, "log ", drop.log_number, " offset ", drop.offset, ": ", drop.bytes,
              " bytes dropped: ", drop.reason,
              drop.good_records_follow ? "; intact records follow" : "", "\n");
  }
  if (dropped_manifest_bytes > 0) {
    StrAppend(&text, "MANIFEST: ", dropped_manifest_bytes,
              " bytes dropped: unfinished change at the end\n");
  }
  if (batches_filtered > 0) {
    StrAppend(&text, batches_filtered, " batches left out or exchanged by the WAL filter\n");
  }
  return text;
}

bool RecoveryReport::HasLostRecords() const {
  return std::any_of(dropped.begin(), dropped.end(),
                     [](const DroppedLogBytes& drop) { return drop.good_records_follow; });
}

// Receives the damage that the log reader finds: adds it to the report and remembers the first
// error.
class WalReplay::Collector final : public LogReader::Reporter {
 public:
  Collector(FileNumber log_number, RecoveryReport* report)
      : log_number_(log_number), report_(report) {}

  void OnDamage(const LogDamage& damage) override {
    if (first.ok()) first = damage.reason;
    report_->dropped.push_back({log_number_, damage.offset, damage.dropped_bytes,
                                damage.reason.ToString(), damage.good_record_behind.has_value()});
  }

  Status first;

 private:
  const FileNumber log_number_;
  RecoveryReport* const report_;
};

namespace {

// Called by the inserter through a function object. The caller of Run() holds the DB mutex, which
// clang cannot see there, so the analysis is switched off.
void SwitchReplayed(ColumnFamilyData* family, FileNumber log_number) NO_THREAD_SAFETY_ANALYSIS {
  assert(family != nullptr);
  family->SwitchMemTable(log_number);
}

}  // namespace

WalReplay::WalReplay(const WalReplayOptions& options, FamilySet* families, RecoveryReport* report)
    : options_(options),
      families_(families),
      report_(report),
      filter_(options.filter, options.mutex),
      inserter_(families, options.env, options.insert_threads, options.tools, &SwitchReplayed),
      sections_(options.allows_two_phase, &inserter_, options.undecided, families),
      last_sequence_(options.last_sequence) {}

// Whether damage that the reader has reported fails the recovery. The two other modes stop before
// the damage or skip it.
bool WalReplay::FailsOnReport() const {
  return options_.paranoid_checks &&
         (options_.mode == WALRecoveryMode::kAbsoluteConsistency ||
          options_.mode == WALRecoveryMode::kTolerateCorruptedTailRecords);
}

// The logs must be in ascending order, because each one continues its predecessor.
Status WalReplay::Run(const std::vector<FileNumber>& log_numbers) {
  assert(std::is_sorted(log_numbers.begin(), log_numbers.end()));  // each goes on from the last
  filter_.TellFamilies(*families_);
  for (FileNumber number : log_numbers) {
    RETURN_IF_ERROR(ReplayLog(number));
    if (is_stopped_by_filter_) break;
  }
  // No record follows the hole, so ReplayRecords() has not reported it. This mode accepts no
  // missing byte.
  if (options_.mode == WALRecoveryMode::kAbsoluteConsistency) RETURN_IF_ERROR(hole_);
  report_->batches_filtered = filter_.changed_batches();
  RETURN_IF_ERROR(inserter_.Finish());
  if (stops_) RETURN_IF_ERROR(CheckFamiliesAgainst(stopped_at_log_));
  return Status::OK();
}

// Replays one log: reads its records, and then judges how it ended. A torn record at the end is
// normal after a crash; what it means is decided when the next log is read.
Status WalReplay::ReplayLog(FileNumber number) {
  assert(number >= options_.min_log_number);
  const std::string path = LogFileName(options_.wal_dir, number);
  ASSIGN_OR_RETURN(auto file, SequentialReader::Open(options_.fs, path, options_.file_options));
  SetBounds(number);
  const bool knows_families = is_own_ && !SkipsDamage();
  source_ = {.number = number,
             .path = path,
             .max_family = knows_families ? options_.max_family : UINT32_MAX,
             .allows_sections = options_.allows_two_phase};
  inserter_.SetSource(source_);
  ASSIGN_OR_RETURN(log_->file_bytes, FileSizeOf(options_.fs, path));
  Collector collector(number, report_);
  LogReader::Options reader_options;
  reader_options.log_number = number;
  reader_options.mode = options_.mode;
  reader_options.is_wal = true;
  reader_options.continue_after_report = !options_.paranoid_checks;
  LogReader reader(NewFileLogSource(std::move(file)), reader_options, &collector);
  report_->logs_read++;
  RETURN_IF_ERROR(ReplayRecords(number, &reader, &collector));
  // The log may end with a record that is no batch, which the next log and the MANIFEST count.
  log_->end_offset = std::max(log_->end_offset, reader.special_end());

  if (!reader.status().ok()) return reader.status();
  if (reader.torn_tail_bytes() > 0) {
    report_->dropped.push_back({number, log_->file_bytes - reader.torn_tail_bytes(),
                                reader.torn_tail_bytes(), "unfinished record at the end", false});
    torn_log_ = number;
  }
  if (!collector.first.ok() && FailsOnReport()) return collector.first;
  const bool is_point_in_time =
      options_.mode == WALRecoveryMode::kPointInTimeRecovery && options_.paranoid_checks;
  const bool is_read_whole = collector.first.ok() && !stops_ && !is_stopped_by_filter_;
  const bool ends_early = !collector.first.ok() || (!stops_ && reader.ended_at_old_record());
  if (is_point_in_time && ends_early && !IsEndKnown(number)) {
    stops_ = true;
    stopped_at_log_ = number;
  }
  if (!is_read_whole) return Status::OK();
  return CheckEnd(number);
}

// Whether the MANIFEST says that the log was closed exactly where its records end. Then the log is
// complete, whatever follows in the file.
bool WalReplay::IsEndKnown(FileNumber number) const {
  return is_own_ && log_->end_offset > 0 &&
         options_.tracked->at(number).end_bytes == log_->end_offset;
}

// Whether the log that begins with this record continues the log at which the replay has stopped. A
// recycled log ends where the old contents of its file begin, which may look like damage and stop
// the replay; but the beginning of the next log tells where its predecessor ended. If that is where
// the replay has stopped, nothing is missing. The sequence numbers cannot be used for this check,
// since ingested files take numbers that are in no log.
bool WalReplay::IsPredecessorWhole(const Slice& beginning) const {
  assert(stops_);
  const std::optional<LogPredecessor> predecessor = DecodeLogBeginning(beginning);
  return predecessor.has_value() && predecessor->number == stopped_at_log_ &&
         predecessor->end_bytes == logs_.at(stopped_at_log_).end_offset;
}

// Called for the first record after a log that ended with a torn record. That record either was
// never acknowledged, or it was acknowledged and a crash of the machine has destroyed it together
// with the end of the log. Only in the first case may the next log be applied. It is the first case
// if the next log names the torn one as its predecessor, or if its sequence numbers continue
// without a gap. Logs of RocksDB do not name their predecessor.
Status WalReplay::CheckGoesOnAfterTorn(FileNumber number, const Slice& batch) {
  assert(torn_log_ != 0 && torn_log_ < number);
  const FileNumber torn = std::exchange(torn_log_, FileNumber{0});
  if (options_.mode != WALRecoveryMode::kTolerateCorruptedTailRecords || !options_.paranoid_checks)
    return Status::OK();
  const std::optional<LogPredecessor> predecessor = DecodeLogBeginning(batch);
  if (predecessor.has_value() && predecessor->number == torn) return Status::OK();
  if (is_next_unknown_) return Status::OK();
  const SequenceNumber seqno = DecodeFixed64(batch.data());
  const SequenceNumber expected = next_expected_ != 0 ? next_at_most_ : last_sequence_ + 1;
  if (seqno <= expected) return Status::OK();
  return Status::Corruption(
      StrCat(LogFileName(options_.wal_dir, torn), ": ends in an unfinished record before sequence ",
             "number ", expected, ", but log ", number, " goes on from ", seqno,
             ": kPointInTimeRecovery stops before the hole, kSkipAnyCorruptedRecords goes on"));
}

// Sets the sequence numbers that this log can contain, as far as the MANIFEST records them: from
// its own first number to before that of the next log.
void WalReplay::SetBounds(FileNumber number) {
  log_ = &logs_[number];
  assert(logs_.rbegin()->first == number);  // logs come in ascending order
  lower_bound_ = 0;
  upper_bound_ = kMaxSequenceNumber;
  const auto known = options_.tracked->find(number);
  is_own_ = known != options_.tracked->end() && known->second.first_seqno != 0;
  log_->first_seqno = 0;
  if (!is_own_) return;
  log_->first_seqno = lower_bound_ = known->second.first_seqno;
  const auto next = std::next(known);
  if (next != options_.tracked->end() && next->second.first_seqno != 0) {
    upper_bound_ = next->second.first_seqno;
  }
}

// Corruption if the log cannot contain a batch with these sequence numbers. Then the file is
// another log under this name, or one of another database. `numbers` is how many numbers the batch
// takes; a prepare section takes none, although its header counts its records.
Status WalReplay::CheckRecord(const Slice& batch, uint64_t numbers) const {
  assert(batch.size() >= kWriteBatchHeaderBytes);  // the reader refuses shorter records
  const SequenceNumber seqno = DecodeFixed64(batch.data());
  if (seqno >= lower_bound_ && seqno + numbers <= upper_bound_) return Status::OK();
  return Status::Corruption(
      StrCat("holds ", numbers, " records from sequence number ", seqno,
             " on, but the MANIFEST says ", "that this log is for numbers from ", lower_bound_,
             upper_bound_ == kMaxSequenceNumber ? "" : StrCat(" to before ", upper_bound_),
             ": not the file that was written under this name; restore it"));
}

// Compares the end of a log with the sizes in the MANIFEST. If the log is shorter, there is a hole
// before the next log. Synced bytes can only be missing because of damage. Bytes that were written
// but not synced may be lost in a crash of the machine, and then everything written after them is
// lost too.
Status WalReplay::CheckEnd(FileNumber number) {
  if (!is_own_) return Status::OK();
  const uint64_t end_offset = log_->end_offset;
  const LogSummary& known = options_.tracked->at(number);
  const uint64_t written = std::max(known.synced_bytes, known.end_bytes);
  if (end_offset >= written) return Status::OK();
  const bool was_synced = end_offset < known.synced_bytes;
  Status status = Status::Corruption(StrCat(LogFileName(options_.wal_dir, number),
                                            ": its records end at offset ", end_offset, ", but ",
                                            was_synced ? known.synced_bytes : known.end_bytes,
                                            " bytes were ", was_synced ? "synced" : "written"));
  if (!SkipsDamage() && was_synced) return status;
  report_->dropped.push_back({number, end_offset, written - end_offset, status.ToString(), false});
  return ReactToHole(number, status);
}

// Applies the recovery mode to a log that ends too early. Later logs do not continue the recovered
// state. If they contain no records, a crash has lost unsynced writes, and only
// kAbsoluteConsistency treats that as an error; so the strict modes remember the error until
// another record is read.
Status WalReplay::ReactToHole(FileNumber number, const Status& hole) {
  assert(!hole.ok());
  switch (options_.mode) {
    case WALRecoveryMode::kAbsoluteConsistency:
    case WALRecoveryMode::kTolerateCorruptedTailRecords: hole_ = hole; break;
    case WALRecoveryMode::kPointInTimeRecovery:
      stops_ = true;
      stopped_at_log_ = number;
      break;
    case WALRecoveryMode::kSkipAnyCorruptedRecords: break;
  }
  return Status::OK();
}

// Compares the length of the predecessor with the length that the first record of this log gives.
// The MANIFEST learns the length of a log only at its next change, so for the newest logs this
// record is the only source.
Status WalReplay::CheckPredecessor(FileNumber number, const LogPredecessor& predecessor) {
  assert(!stops_);  // after a stop IsPredecessorWhole() decides instead
  if (predecessor.number < options_.min_log_number) return Status::OK();  // not needed any more
  if (predecessor.number >= number && !SkipsDamage()) {
    return Status::Corruption(StrCat(
        LogFileName(options_.wal_dir, number), ": begins as a log behind ", predecessor.number,
        ": not the file that was written under ", "this name; restore it"));
  }
  const auto found = logs_.find(predecessor.number);
  const uint64_t end_offset = found == logs_.end() ? 0 : found->second.end_offset;
  if (end_offset >= predecessor.end_bytes) return Status::OK();
  const Status status = Status::Corruption(StrCat(
      LogFileName(options_.wal_dir, predecessor.number),
      found == logs_.end() ? ": missing" : StrCat(": its records end at offset ", end_offset),
      ", but log ", number, " says that ", predecessor.end_bytes, " bytes were written"));
  report_->dropped.push_back({predecessor.number, end_offset, predecessor.end_bytes - end_offset,
                              status.ToString(), true});
  return ReactToHole(predecessor.number, status);
}

// The check of the option track_and_verify_wals. It uses the records that RocksDB writes for it,
// and also compares the sequence number of the last batch.
Status WalReplay::VerifyPredecessor(FileNumber number, const PredecessorWalInfo& predecessor) {
  assert(!stops_);
  if (!options_.verifies_predecessors || SkipsDamage()) return Status::OK();
  if (predecessor.log_number < options_.min_log_number) return Status::OK();  // not needed any more
  const auto found = logs_.find(predecessor.log_number);
  const ReplayedLog log = found == logs_.end() ? ReplayedLog() : found->second;
  // Records that were logged again are no batches of their log, but the writer counts them.
  const bool has_batches = log.last_batch_seqno != 0;
  if (found != logs_.end() && log.end_offset == predecessor.size_bytes &&
      (!has_batches || log.last_batch_seqno == predecessor.last_seqno)) {
    return Status::OK();
  }
  const Status status = Status::Corruption(StrCat(
      LogFileName(options_.wal_dir, predecessor.log_number),
      found == logs_.end() ? ": missing"
                           : StrCat(": its records end at offset ", log.end_offset,
                                    ", the last batch has sequence number ", log.last_batch_seqno),
      ", but log ", number, " says that it ends at ", predecessor.size_bytes,
      " with the batch of sequence number ", predecessor.last_seqno));
  report_->dropped.push_back({predecessor.log_number, log.end_offset, 0, status.ToString(), true});
  return ReactToHole(predecessor.log_number, status);
}

// Applies the records of one log until its end, an error, or a reason to stop. The checks of the
// first record concern the boundary to the predecessor. Returns OK if the replay stops early;
// stops_, hole_ and is_stopped_by_filter_ tell why.
Status WalReplay::ReplayRecords(FileNumber number, LogReader* reader, Collector* collector) {
  Slice record;
  for (bool is_first = true; reader->ReadRecord(&record); is_first = false) {
    if (!collector->first.ok() && FailsOnReport()) return Status::OK();
    RETURN_IF_ERROR(hole_);
    const NumberCounter::Numbers numbers = sections_.NumbersOf(record);
    if (IsLoggedAgain(record)) [[unlikely]] {
      // Its sequence numbers are those of data that is older than the log.
      log_->end_offset = reader->record_end();
      if (!stops_) RETURN_IF_ERROR(sections_.Apply(record, source_, reader->record_offset()));
      continue;
    }
    ASSIGN_OR_RETURN(const bool is_accepted, AcceptRecord(number, *reader, record, numbers.count));
    if (!is_accepted) continue;
    if (is_first && torn_log_ != 0) RETURN_IF_ERROR(CheckGoesOnAfterTorn(number, record));
    if (is_first && stops_ && IsPredecessorWhole(record)) stops_ = false;
    if (is_first && !stops_ && reader->predecessor().has_value()) {
      RETURN_IF_ERROR(VerifyPredecessor(number, *reader->predecessor()));
      RETURN_IF_ERROR(hole_);
      if (stops_) return Status::OK();  // the recovered state ends before this log
    }
    if (is_first && !stops_) {
      const std::optional<LogPredecessor> predecessor = DecodeLogBeginning(record);
      if (predecessor.has_value()) RETURN_IF_ERROR(CheckPredecessor(number, *predecessor));
      RETURN_IF_ERROR(hole_);
    }
    log_->end_offset = reader->record_end();
    assert(log_->end_offset > reader->record_offset());
    const SequenceNumber seqno = DecodeFixed64(record.data());
    if (log_->first_seqno != 0) log_->first_seqno = std::min(log_->first_seqno, seqno);
    log_->last_batch_seqno = seqno;
    if (stops_ && !GoesOn(number, *reader, seqno)) return Status::OK();
    RETURN_IF_ERROR(CheckOrder(number, *reader, seqno));
    RETURN_IF_ERROR(CheckTimestamps(number, *reader));
    const bool is_behind_gap = next_expected_ != 0 && !IsExpected(seqno);
    if (is_first && is_behind_gap && !options_.has_min_log_to_keep &&
        !NamesLogBefore(number, *reader, record)) {
      ReactToGap(number, seqno);
    }
    if (options_.is_repair && !numbers.is_exact) {
      report_->notes.push_back(
          StrCat("log ", number, " offset ", reader->record_offset(),
                 ": decides a transaction whose prepare section is in no log: ",
                 "its updates are in tables, or lost"));
    }
    ASSIGN_OR_RETURN(const bool reads_on,
                     FilterAndApply(number, *reader, record, numbers, collector));
    if (!reads_on) return Status::OK();
  }
  return Status::OK();
}

// Whether the first record of a log names the log that was read before it. Then no log between the
// two is missing, even if the sequence numbers have a gap: damage at the end of the predecessor,
// writes that skipped the log, and ingested files cause gaps as well.
bool WalReplay::NamesLogBefore(FileNumber number, const LogReader& reader,
                               const Slice& batch) const {
  const auto own = logs_.find(number);
  assert(own != logs_.end());
  if (own == logs_.begin()) return false;
  const FileNumber before = std::prev(own)->first;
  if (reader.predecessor().has_value() && reader.predecessor()->log_number == before) return true;
  const std::optional<LogPredecessor> predecessor = DecodeLogBeginning(batch);
  return predecessor.has_value() && predecessor->number == before;
}

// Logs before this one are missing. If the directory is complete, they were deleted because they
// were no longer needed, and the decisions of all transactions so far were in them. A repair cannot
// know that. It keeps the sections as undecided: an undecided transaction can be decided again,
// while a forgotten one is lost.
void WalReplay::ReactToGap(FileNumber number, SequenceNumber seqno) {
  if (!options_.is_repair) {
    sections_.ForgetSections();
    return;
  }
  if (!sections_.NoteMissingLogs()) return;
  report_->notes.push_back(
      StrCat("log ", number, ": begins with sequence number ", seqno, ", and not ", next_expected_,
             ": a log may be missing that has decided transactions which count as prepared now"));
}

// Checks the sizes of timestamps that the log names for families. RocksDB writes them since release
// 8.4, Ashlar unless it writes for 7.8. If the log does not name a family, the comparator of the
// family decides: it is recorded in the MANIFEST, and a family cannot get timestamps later.
Status WalReplay::CheckTimestamps(FileNumber number, const LogReader& reader) const {
  for (const TimestampSize& size : reader.timestamp_sizes()) {
    const ColumnFamilyData* const family = families_->Find(size.column_family);
    if (family == nullptr || size.bytes == family->comparator().stamp_bytes()) continue;
    const std::string found =
        StrCat(LogFileName(options_.wal_dir, number), ": keys of column family ",
               size.column_family, " carry timestamps of ", size.bytes, " bytes, ");
    if (family->comparator().stamp_bytes() == 0) {
      return Status::NotSupported(
          StrCat(found, "and the family none: open it with RocksDB once, which takes them away"));
    }
    return Status::InvalidArgument(
        StrCat(found, "but those of its comparator have ", family->comparator().stamp_bytes()));
  }
  return Status::OK();
}

// Whether the record may belong to this log. False: it does not, and the recovery mode skips it.
Result<bool> WalReplay::AcceptRecord(FileNumber number, const LogReader& reader, const Slice& batch,
                                     uint64_t numbers) {
  const Status foreign = CheckRecord(batch, numbers);
  if (foreign.ok()) return true;
  // Without two-phase commit `numbers` is what the header says, and the batch is refused for its
  // markers later on, in every mode.
  if (!options_.allows_two_phase && HasTwoPhaseMarker(batch)) return true;
  const std::string place =
      StrCat(LogFileName(options_.wal_dir, number), ": offset ", reader.record_offset());
  if (!SkipsDamage()) return Status::CopyAppendMessage(foreign, "; in ", place);
  report_->dropped.push_back({number, reader.record_offset(),
                              reader.record_end() - reader.record_offset(), foreign.ToString(),
                              false});
  return false;
}

// Called after the replay has stopped. Whether this log continues from exactly that point, because
// an earlier recovery stopped there too and began this log. Ends the stop if so.
bool WalReplay::GoesOn(FileNumber number, const LogReader& reader, SequenceNumber seqno) {
  assert(stops_);
  stops_ = !IsExpected(seqno);
  if (!stops_) return true;
  report_->dropped.push_back({number, reader.record_offset(),
                              log_->file_bytes - reader.record_offset(),
                              "does not continue the log before it", true});
  return false;
}

// Sequence numbers never decrease from one batch to the next. Several sub-batches may share a
// number, so the number may be one lower than the next expected one.
Status WalReplay::CheckOrder(FileNumber number, const LogReader& reader,
                             SequenceNumber seqno) const {
  if (next_expected_ == 0 || seqno + 1 >= next_expected_ || SkipsDamage()) return Status::OK();
  return Status::Corruption(StrCat(LogFileName(options_.wal_dir, number), ": offset ",
                                   reader.record_offset(), ": sequence number ", seqno, " follows ",
                                   next_expected_ - 1, ": set backwards"));
}

// Asks the program's filter and applies the batch. False: nothing more of this log is read. The
// record that describes the predecessor is not shown to the filter, because the program did not
// write it.
Result<bool> WalReplay::FilterAndApply(FileNumber number, const LogReader& reader, Slice batch,
                                       const NumberCounter::Numbers& numbers,
                                       Collector* collector) {
  using Verdict = ReplayFilter::Verdict;
  const std::string path = LogFileName(options_.wal_dir, number);
  const SequenceNumber seqno = DecodeFixed64(batch.data());
  const SequenceNumber end_seqno = seqno + numbers.most;
  Verdict verdict = Verdict::kApply;
  if (options_.filter != nullptr && !DecodeLogBeginning(batch).has_value()) {
    ASSIGN_OR_RETURN(verdict, filter_.Ask(number, path, &batch));
  }
  switch (verdict) {
    case Verdict::kStop: is_stopped_by_filter_ = true; return false;
    case Verdict::kDamaged:
      collector->OnDamage({.offset = reader.record_offset(),
                           .dropped_bytes = reader.record_end() - reader.record_offset(),
                           .reason = Status::Corruption(StrCat(
                               path, ": offset ", reader.record_offset(), ": the WAL filter ",
                               filter_.Name(), " says that this batch is damaged"))});
      return SkipsDamage() || !options_.paranoid_checks;
    case Verdict::kApply:
      RETURN_IF_ERROR(sections_.Apply(batch, source_, reader.record_offset()));
      report_->records_applied++;
      break;
    case Verdict::kSkip: break;
  }
  // The numbers are those of the batch in the log. If the filter has removed updates, their numbers
  // stay unused.
  if (end_seqno > seqno) last_sequence_ = std::max(last_sequence_, end_seqno - 1);
  next_expected_ = numbers.is_exact ? seqno + numbers.count : 0;
  next_at_most_ = numbers.is_exact ? end_seqno : 0;
  is_next_unknown_ = !numbers.is_exact;
  return true;
}

// After a stop, all families must be at the point where the logs end. A family whose tables contain
// later writes cannot go back to that point.
Status WalReplay::CheckFamiliesAgainst(FileNumber log_number) const {
  assert(stops_);
  for (ColumnFamilyData* family : families_->All()) {
    const Version* version = family->current();
    if (family->versions()->log_number > log_number && version->file_count() > 0) {
      return Status::Corruption(StrCat("Column family inconsistency: log ", log_number,
                                       " is damaged, but the tables of \"", family->name(),
                                       "\" are newer"));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
