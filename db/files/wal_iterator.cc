// SPDX-License-Identifier: Apache-2.0
//
// The logs are read one after the other, each as far as its writes were committed. A log that is
// archived or deleted meanwhile is still read to its end: the file is open, and it is pinned, so
// that it is not reused for another log.
#include "db/files/wal_iterator.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>

#include "ashlar/comparator.h"
#include "db/column_family/column_family_data.h"
#include "db/wal/log_archive.h"
#include "db/wal/log_beginning.h"
#include "db/wal/log_reader.h"
#include "db/wal/log_recycler.h"
#include "db/write/two_phase_reader.h"
#include "db/write/write_batch_reader.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/sequential_reader.h"
#include "util/keys/coding.h"
#include "util/rare_sort.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// A copy of the facts; valid without the database.
class LogPlaceFile final : public WalFile {
 public:
  explicit LogPlaceFile(const LogPlace& log) : log_(log) {}
  std::string PathName() const override {
    return log_.is_archived ? ArchivedLogFileName("", log_.number) : LogFileName("", log_.number);
  }
  uint64_t LogNumber() const override { return log_.number.value(); }
  WalFileType Type() const override { return log_.is_archived ? kArchivedLogFile : kAliveLogFile; }
  SequenceNumber StartSequence() const override { return log_.first_seqno; }
  uint64_t SizeFileBytes() const override { return log_.bytes; }

 private:
  const LogPlace log_;
};

// The header of a batch: sequence number and count (docs/formats/write_batch.md). The log reader
// returns only records that are at least as long.
SequenceNumber SeqnoOf(const Slice& batch) { return DecodeFixed64(batch.data()); }
uint32_t CountOf(const Slice& batch) { return DecodeFixed32(batch.data() + 8); }

// The error for a reader that was too slow.
Status IsGone(const DbPaths& paths, FileNumber number) {
  return Status::NotFound(StrCat(LogFileName(paths.wal_dir, number),
                                 ": this log was deleted before it was read; raise "
                                 "WAL_ttl_seconds or WAL_size_limit_MB"));
}

// A log has one of two names: it may be moved from the first to the second, but never back.
// Therefore the names are tried in this order. The log must be pinned; see PinLog().
Result<std::unique_ptr<SequentialReader>> OpenLog(const DbCore& core, FileNumber number) {
  auto live =
      SequentialReader::Open(core.environment.fs.get(), LogFileName(core.paths.wal_dir, number),
                             core.environment.file_options);
  if (!live.status().IsPathNotFound() && !live.status().IsNotFound()) return live;
  auto archived = SequentialReader::Open(core.environment.fs.get(),
                                         ArchivedLogFileName(core.paths.wal_dir, number),
                                         core.environment.file_options);
  if (!archived.status().IsPathNotFound() && !archived.status().IsNotFound()) return archived;
  return IsGone(core.paths, number);
}

// As long as the pin lives, the file of the log is not reused for another log. NotFound if that has
// happened already.
Result<LogRecycler::Pin> PinLog(const DbCore& core, FileNumber number) {
  std::optional<LogRecycler::Pin> pin = core.wals->recycler()->PinLog(number);
  if (!pin.has_value()) return IsGone(core.paths, number);
  return std::move(*pin);
}

// A tailing reader stops at a record that is not complete, because a writer may be about to
// complete it.
LogReader::Options ReaderOptions(FileNumber number, uint64_t end_bytes) {
  LogReader::Options options;
  options.log_number = number;
  options.is_wal = true;
  options.is_tailing = true;
  options.end_offset = end_bytes;
  return options;
}

// The sequence number of the first batch in the log, which may be an empty batch; 0 if there is no
// batch yet. Sections that were logged again have the numbers of an older log.
Result<SequenceNumber> FirstSeqnoOf(const DbCore& core, FileNumber number, uint64_t bytes) {
  ASSIGN_OR_RETURN(const LogRecycler::Pin pin, PinLog(core, number));
  ASSIGN_OR_RETURN(auto file, OpenLog(core, number));
  // Damage is not reported here; an iterator that reads the log finds it.
  LogReader reader(NewFileLogSource(std::move(file)), ReaderOptions(number, bytes), nullptr);
  Slice record;
  while (reader.ReadRecord(&record)) {
    if (!IsLoggedAgain(record)) return SeqnoOf(record);
  }
  if (!reader.status().ok()) return reader.status();
  return SequenceNumber{0};
}

}  // namespace

std::unique_ptr<WalFile> WalFileOf(const LogPlace& log) {
  return std::make_unique<LogPlaceFile>(log);
}

namespace {

// Adds the logs that no family needs any more and that are not in the archive yet. They are in the
// directory, and are older than all logs that are needed.
Status AddReleasedLogs(const DbCore& core, std::map<FileNumber, LogPlace>* logs) {
  assert(logs != nullptr);
  assert(!logs->empty());  // there is always one that is written to
  const FileNumber oldest_needed = logs->begin()->first;
  ASSIGN_OR_RETURN(const std::vector<FileNumber> numbers,
                   ListLogsIn(core.environment.fs.get(), core.paths.wal_dir));
  for (const FileNumber number : numbers) {
    if (number >= oldest_needed) continue;
    auto bytes = FileSizeOf(core.environment.fs.get(), LogFileName(core.paths.wal_dir, number));
    if (bytes.ok()) (*logs)[number] = {.number = number, .bytes = *bytes};  // else archived by now
  }
  return Status::OK();
}

}  // namespace

// The three places are searched in the order in which a log passes through them: a log that moves
// on meanwhile is seen twice rather than not at all. The map keeps the last place.
Result<std::vector<LogPlace>> ListLogs(const DbCore& core) {
  std::map<FileNumber, LogPlace> found;
  for (const WalSet::Info& log : core.wals->List()) {
    found[log.number] = {.number = log.number, .has_failed = log.has_failed, .bytes = log.bytes};
  }
  if (core.kept_files.archive.is_on()) RETURN_IF_ERROR(AddReleasedLogs(core, &found));
  ASSIGN_OR_RETURN(const std::vector<FileNumber> archived,
                   ListArchivedLogs(core.environment.fs.get(), core.paths.wal_dir));
  for (const FileNumber number : archived) {
    auto bytes =
        FileSizeOf(core.environment.fs.get(), ArchivedLogFileName(core.paths.wal_dir, number));
    if (!bytes.ok()) continue;  // too old or too much by now
    found[number] = {.number = number, .is_archived = true, .bytes = *bytes};
  }
  std::vector<LogPlace> logs;
  for (const auto& [number, log] : found) logs.push_back(log);
  for (LogPlace& log : logs) {
    auto seqno = FirstSeqnoOf(core, log.number, log.bytes);
    if (seqno.status().IsNotFound()) continue;  // deleted since; whoever reads it hears of it
    if (!seqno.ok()) return seqno.status();
    log.first_seqno = *seqno;
  }
  return logs;
}

Result<LogPlace> CurrentLog(const DbCore& core) {
  const WalSet::Info info = core.wals->List().back();
  LogPlace log{.number = info.number, .bytes = info.bytes};
  ASSIGN_OR_RETURN(log.first_seqno, FirstSeqnoOf(core, log.number, log.bytes));
  return log;
}

namespace {

class DbWalIterator final : public WalIterator {
 public:
  // `logs`: from the log on that may contain `since`. `first_ends_before`: the log behind the first
  // one begins with `since`.
  DbWalIterator(const DbCore* core, SequenceNumber since, std::vector<LogPlace> logs,
                bool first_ends_before)
      : core_(core), since_(since), first_ends_before_(first_ends_before), logs_(std::move(logs)) {}

  bool Valid() override { return is_valid_; }
  Status status() override { return status_; }
  // The batch is copied, because the next call replaces batch_.
  BatchResult GetBatch() override {
    assert(is_valid_);
    BatchResult result;
    result.sequence = SeqnoOf(batch_);
    result.writeBatchPtr = std::make_unique<WriteBatch>(batch_);
    return result;
  }

  // Skips the batches before since_. A batch that is not visible yet is kept for the next call.
  void Next() override {
    is_valid_ = false;
    while (status_.ok()) {
      if (!has_batch_ && !ReadBatch()) return;
      const SequenceNumber seqno = SeqnoOf(batch_);
      // The batch is in the log but not yet in the memtable. A commit becomes visible as a whole.
      const bool may_take_number = numbers_.count > 0 || !numbers_.is_exact;
      if (may_take_number && core_->pipeline->visible_seqno() < seqno) return;
      has_batch_ = false;
      if (IsBefore(seqno)) continue;
      status_ = CheckOrder(seqno);
      // An inexact count allows no check of the next number.
      expected_ = numbers_.is_exact ? seqno + numbers_.count : 0;
      expected_at_most_ = seqno + numbers_.most;
      is_valid_ = status_.ok();
      return;
    }
  }

 private:
  // Keeps the first damage that the log reader reports.
  class Collector final : public LogReader::Reporter {
   public:
    void OnDamage(const LogDamage& damage) override {
      if (first.ok()) first = damage.reason;
    }
    Status first;
  };

  // Whether the batch has nothing from since_ on. A prepare section or a rollback takes no number;
  // it belongs to the number before which it was written.
  bool IsBefore(SequenceNumber seqno) const {
    if (first_ends_before_ && at_ == 0) return seqno < since_;
    if (!numbers_.is_exact) return false;
    if (numbers_.count == 0 && numbers_.has_marker) return seqno < since_;
    return seqno + numbers_.most <= since_;
  }

  // expected_ is 0 after a batch whose numbers are not known exactly.
  Status CheckOrder(SequenceNumber seqno) const {
    if (expected_ == 0) return Status::OK();
    if (seqno >= expected_ && seqno <= expected_at_most_) return Status::OK();
    return Status::NotFound(
        StrCat(LogFileName(core_->paths.wal_dir, logs_[at_].number), ": offset ",
               reader_->record_offset(), ": gap in sequence numbers: expected ", expected_,
               ", found ", seqno, ": written without a log, ingested, or in a log that is gone"));
  }

  // Reads the next batch that a program has written. False at the end of the committed part, or
  // after an error (status_).
  bool ReadBatch() {
    while (status_.ok()) {
      if (reader_ == nullptr && !OpenNext()) return false;
      Slice record;
      if (reader_->ReadRecord(&record)) {
        // The engine's own first record of a log is no batch.
        if (CountOf(record) == 0 && DecodeLogBeginning(record).has_value()) continue;
        batch_ = record.ToString();
        numbers_ = counter_.Take(batch_);
        if (IsLoggedAgain(batch_)) continue;  // an older log has shown it
        has_batch_ = true;
        return true;
      }
      status_ = reader_->status().ok() ? damage_.first : reader_->status();
      if (!status_.ok() || !MoreIsThere()) return false;
    }
    return false;
  }

  // Opens the log at_. False if there is none, or with an error in status_.
  bool OpenNext() {
    if (at_ >= logs_.size()) return false;
    // The pin comes first: between the opening and a later pin the file could be reused.
    const LogPlace& log = logs_[at_];
    auto pin = PinLog(*core_, log.number);
    status_ = pin.status();
    if (!pin.ok()) return false;
    pin_ = pin.Take();
    auto file = OpenLog(*core_, log.number);
    status_ = file.status();
    if (!file.ok()) return false;
    read_to_ = log.bytes;
    reader_ = std::make_unique<LogReader>(NewFileLogSource(file.Take()),
                                          ReaderOptions(log.number, read_to_), &damage_);
    return true;
  }

  // Called when a log was read to its known end. Returns true if the log has grown, or if another
  // log follows; the reader is then ready to continue.
  bool MoreIsThere() {
    assert(at_ < logs_.size());
    const FileNumber number = logs_[at_].number, newest = logs_.back().number;
    bool is_live = false;
    std::vector<LogPlace> later;
    std::vector<FileNumber> failed;
    for (const WalSet::Info& log : core_->wals->List()) {
      if (log.has_failed) {
        failed.push_back(log.number);
        continue;
      }
      if (log.number == number) {
        is_live = true;
        if (log.bytes > read_to_) return ReadOnTo(log.bytes);
      }
      if (log.number > newest) later.push_back({.number = log.number, .bytes = log.bytes});
    }
    status_ = AddLater(std::move(later), failed);
    if (!status_.ok()) return false;
    // The log was released meanwhile. Then its file does not grow any more: it ends at the end of
    // the file, or before writes that were refused.
    if (!is_live && read_to_ != UINT64_MAX) {
      const uint64_t end = core_->wals->EndOfFailed(number).value_or(UINT64_MAX);
      if (end > read_to_) return ReadOnTo(end);
    }
    if (at_ + 1 == logs_.size()) return false;
    reader_.reset();
    pin_ = LogRecycler::Pin();
    at_++;
    return true;
  }

  // Adds the logs that are newer than the known ones. Logs that began and were released since the
  // last look are found in the directory or, searched last, in the archive. Logs whose writes were
  // refused are left out.
  Status AddLater(std::vector<LogPlace> later, const std::vector<FileNumber>& failed) {
    if (later.empty()) return Status::OK();
    const FileNumber newest = logs_.back().number, newest_live = later.back().number;
    for (const std::string& dir : {core_->paths.wal_dir, ArchivalDirectory(core_->paths.wal_dir)}) {
      ASSIGN_OR_RETURN(const std::vector<FileNumber> numbers,
                       ListLogsIn(core_->environment.fs.get(), dir));
      for (const FileNumber number : numbers) {
        const bool is_known = std::any_of(
            later.begin(), later.end(), [number](const auto& log) { return log.number == number; });
        if (number <= newest || number > newest_live || is_known) continue;
        if (std::find(failed.begin(), failed.end(), number) != failed.end()) continue;
        later.push_back({.number = number, .bytes = UINT64_MAX});
      }
    }
    SortRarely(&later, [](const LogPlace& a, const LogPlace& b) { return a.number < b.number; });
    logs_.insert(logs_.end(), later.begin(), later.end());
    return Status::OK();
  }

  // Lets the reader go on to the new end.
  bool ReadOnTo(uint64_t end_bytes) {
    assert(end_bytes > read_to_);
    read_to_ = end_bytes;
    reader_->SetEnd(end_bytes);
    return true;
  }

  const DbCore* const core_;
  const SequenceNumber since_;
  const bool first_ends_before_;
  std::vector<LogPlace> logs_;  // ascending; those that came up meanwhile are added
  size_t at_ = 0;               // the log that reader_ reads, or is to read
  Collector damage_;
  LogRecycler::Pin pin_;  // of the file that reader_ has open
  std::unique_ptr<LogReader> reader_;
  uint64_t read_to_ = 0;
  SequenceNumber expected_ = 0;  // of the next batch; 0: any
  SequenceNumber expected_at_most_ = 0;
  std::string batch_;  // shown if is_valid_; to be shown if has_batch_
  NumberCounter counter_{[core = core_](uint32_t id) -> const Comparator* {
    const EpochGuard guard;
    const ColumnFamilyData* const family = core->families.Find(id);
    return family == nullptr ? nullptr : family->comparator().user_comparator();
  }};
  NumberCounter::Numbers numbers_;  // that batch_ takes
  bool has_batch_ = false;
  bool is_valid_ = false;
  Status status_;
};

bool AllowsTwoPhase(const DbCore& core) {
  MutexLock lock(&core.mutex);
  return core.options->allow_2pc;
}

}  // namespace

Result<std::unique_ptr<WalIterator>> NewWalIterator(const DbCore* core, SequenceNumber since) {
  assert(core != nullptr);
  const SequenceNumber newest = core->pipeline->visible_seqno();
  if (since > newest) {
    return Status::NotFound(
        StrCat("sequence number ", since, " is not written yet; the newest is ", newest));
  }
  ASSIGN_OR_RETURN(std::vector<LogPlace> logs, ListLogs(*core));
  std::erase_if(logs, [](const LogPlace& log) { return log.has_failed; });
  // Finds the last log that begins at or before `since`.
  size_t first = 0;
  for (size_t i = 0; i < logs.size(); i++) {
    if (logs[i].first_seqno != 0 && logs[i].first_seqno <= since) first = i;
  }
  // With two-phase commit a log may end with prepare sections and rollbacks, which take no number
  // and have the first number of the next log. Then that log is read, too.
  const size_t last_that_begins = first;
  if (AllowsTwoPhase(*core)) {
    while (first > 0 && logs[first].first_seqno == since && logs[first - 1].first_seqno != 0) {
      first--;
    }
  }
  logs.erase(logs.begin(), logs.begin() + static_cast<ptrdiff_t>(first));
  std::unique_ptr<WalIterator> updates = std::make_unique<DbWalIterator>(
      core, since, std::move(logs), /*first_ends_before=*/first != last_that_begins);
  updates->Next();
  RETURN_IF_ERROR(updates->status());
  // An empty database has no batches, which is no error.
  if (!updates->Valid() && newest > 0) {
    return Status::NotFound(
        StrCat("the logs hold nothing from sequence number ", since,
               " on: written without a log, or in logs that were deleted; WAL_ttl_seconds and "
               "WAL_size_limit_MB keep them"));
  }
  return updates;
}

}  // namespace ashlar
