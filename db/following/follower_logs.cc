// SPDX-License-Identifier: Apache-2.0
//
// The part of a round that reads the logs: which logs are read, in which order, and into which
// memtables their entries are inserted.
#include <algorithm>
#include <cassert>
#include <thread>
#include <utility>

#include "db/column_family/column_family_data.h"
#include "db/following/follower.h"
#include "db/state/log_needs.h"
#include "db/wal/log_archive.h"
#include "env/filename.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// From this number of bytes on, several threads insert the rest of a round.
constexpr uint64_t kBytesOfOneThread = 2 << 20;

SequenceNumber SeqnoOf(const Slice& batch) { return DecodeFixed64(batch.data()); }

}  // namespace

FileNumber Follower::MinLog() {
  MutexLock lock(&core_->mutex);
  return OldestLogOfManifest(*core_->versions);
}

Status Follower::ReadLogs() {
  RETURN_IF_ERROR(OpenTails());
  LogTail* tail = tails_.empty() ? nullptr : tails_.begin()->second.get();
  while (tail != nullptr) {
    RETURN_IF_ERROR(ApplyNew(tail));
    ASSIGN_OR_RETURN(LogTail* const next, NextWithRecords(tail->number()));
    if (next != nullptr) {
      // The primary writes to one log at a time. Everything in this log was written before the
      // first record of the next log, so it can be read completely now.
      RETURN_IF_ERROR(ApplyNew(tail));
      const Status whole = CheckEnd(*tail, next);
      if (!whole.ok()) return ExplainHole(whole);
    }
    tail = next;
  }
  return Status::OK();
}

// Opens a tail for each log that the versions need. A log may be deleted before it was opened; then
// newer records of the MANIFEST say that it is not needed.
Status Follower::OpenTails() {
  FileSystem* const fs = core_->environment.fs.get();
  const FileNumber min_log = std::max(MinLog(), log_number_);  // those before were read
  tails_.erase(tails_.begin(), tails_.lower_bound(min_log));
  {
    MutexLock lock(&core_->mutex);
    sections_.ForgetSectionsBefore(core_->versions->min_log_number_to_keep());
  }
  ASSIGN_OR_RETURN(const std::vector<FileNumber> numbers, ListLogsIn(fs, core_->paths.wal_dir));
  for (const FileNumber number : numbers) {
    if (number < min_log || tails_.contains(number)) continue;
    auto opened = LogTail::Open(fs, LogFileName(core_->paths.wal_dir, number), number);
    if (opened.ok()) {
      tails_[number] = opened.Take();
    } else if (!opened.status().IsPathNotFound() && !opened.status().IsNotFound()) {
      return opened.status();
    }
  }
  RETURN_IF_ERROR(manifest_.Read());
  if (manifest_.MayLetLogsGo()) {
    return Status::TryAgain("logs were deleted while they were opened");
  }
  return Status::OK();
}

// The next log that contains a record. Logs are created before they are needed, and a log that
// failed may stay empty.
Result<LogTail*> Follower::NextWithRecords(FileNumber number) {
  for (auto it = tails_.upper_bound(number); it != tails_.end(); ++it) {
    LogTail* const tail = it->second.get();
    Slice batch;
    if (tail->Peek(&batch)) return tail;
    if (!tail->status().ok()) return tail->status();
  }
  return static_cast<LogTail*>(nullptr);
}

// Checks that the log was read completely, as far as the next log can tell: by its note about the
// log before it, or by its first sequence number.
Status Follower::CheckEnd(const LogTail& tail, LogTail* next) {
  assert(next != nullptr);
  if (next->end_offset() > 0) return Status::OK();  // known since an earlier round
  if (next->predecessor().has_value()) {
    const auto& [number, end_bytes] = *next->predecessor();
    if (number < std::max(MinLog(), log_number_)) return Status::OK();
    const auto before = tails_.find(number);
    const uint64_t end = before == tails_.end() ? 0 : before->second->end_offset();
    if (end >= end_bytes) return Status::OK();
    return Status::Corruption(
        StrCat(LogFileName(core_->paths.wal_dir, number), ": its records end at offset ", end,
               ", but log ", next->number(), " says that ", end_bytes, " bytes were written"));
  }
  if (tail.unreadable() == nullptr) return Status::OK();
  Slice batch;
  const bool has_record = next->Peek(&batch);
  assert(has_record);
  if (!has_record || next_seqno_ == 0 || SeqnoOf(batch) <= next_seqno_) return Status::OK();
  return Status::Corruption(StrCat(tail.path(), ": offset ", tail.end_offset(), ": ",
                                   tail.unreadable(), ", and log ", next->number(),
                                   " continues with sequence number ", SeqnoOf(batch),
                                   " instead of ", next_seqno_));
}

// A log that is not needed any more may be overwritten while it is read. The MANIFEST says so then,
// and the entries are in tables.
Status Follower::ExplainHole(const Status& hole) {
  RETURN_IF_ERROR(manifest_.Read());
  if (manifest_.empty()) return hole;
  return Status::TryAgain("a log is not needed any more", hole.ToString());
}

Status Follower::ApplyNew(LogTail* tail) {
  assert(tail != nullptr);
  Slice batch;
  while (tail->Next(&batch)) {
    failure_ = ApplyBatch(tail, batch);
    RETURN_IF_ERROR(failure_);
  }
  return tail->status();
}

Status Follower::ApplyBatch(LogTail* tail, const Slice& batch) {
  assert(tail != nullptr);
  const SequenceNumber seqno = SeqnoOf(batch);
  has_read_batches_ = true;
  for (const TimestampSize& size : tail->timestamp_sizes()) {
    const ColumnFamilyData* const family = core_->families.Find(size.column_family);
    if (family == nullptr || family->comparator().stamp_bytes() == size.bytes) continue;
    return Status::InvalidArgument(StrCat(tail->path(), ": keys of column family ",
                                          size.column_family, " carry timestamps of ", size.bytes,
                                          " bytes, but the family has timestamps of ",
                                          family->comparator().stamp_bytes()));
  }
  if (IsLoggedAgain(batch)) {
    // The data of this section is in tables, and its numbers are older than the log.
    sections_.NumbersOf(batch);
    return sections_.Apply(batch, {.number = tail->number(), .path = tail->path()},
                           tail->record_offset());
  }
  RETURN_IF_ERROR(PrepareMemTables(tail->number(), seqno));
  RETURN_IF_ERROR(UseInserter());
  const NumberCounter::Numbers numbers = sections_.NumbersOf(batch);
  RETURN_IF_ERROR(sections_.Apply(batch, source_, tail->record_offset()));
  applied_bytes_ += batch.size();
  if (!numbers.is_exact) next_seqno_ = 0;  // the MANIFEST has the greatest number of its data
  if (numbers.count == 0) return Status::OK();
  if (numbers.is_exact) next_seqno_ = seqno + numbers.most;
  newest_ = std::max(newest_, seqno + numbers.count - 1);
  has_news_ = true;
  return Status::OK();
}

// Starts memtables where they are needed: for the next log, and where numbers of the log are not
// above the number that readers see already. The second can happen because tables may have higher
// numbers than the log, from writes that skipped it or from external files. No reader sees such a
// memtable before the next Publish().
Status Follower::PrepareMemTables(FileNumber log_number, SequenceNumber seqno) {
  const bool is_next_log = log_number != log_number_;
  const bool needs_own = seqno <= published_ && !has_own_memtables_;
  if (!is_next_log && !needs_own) return Status::OK();
  RETURN_IF_ERROR(EndInserter());
  MutexLock lock(&core_->mutex);
  for (ColumnFamilyData* family : core_->families.All()) {
    const bool has_passed = family->active_log() > log_number;  // tables have all of this log
    if (needs_own && !has_passed) {
      family->StartMemTable(log_number);
    } else if (family->active_log() < log_number) {
      family->mem()->IsEmpty() ? family->SetActiveLog(log_number)
                               : family->StartMemTable(log_number);
    }
  }
  log_number_ = log_number;
  has_own_memtables_ |= needs_own;
  return Status::OK();
}

// Creates the inserter, with threads once there is enough work for them.
Status Follower::UseInserter() {
  const size_t processors = std::thread::hardware_concurrency();
  const bool wants_threads = applied_bytes_ >= kBytesOfOneThread && processors > 1;
  if (inserter_ != nullptr && (has_threads_ || !wants_threads)) return Status::OK();
  if (inserter_ != nullptr) RETURN_IF_ERROR(inserter_->Finish());
  constexpr size_t kMostThreads = 8;
  const size_t threads = wants_threads ? std::min(processors, kMostThreads) : 0;
  const auto start = [this](ColumnFamilyData* family, FileNumber log_number) {
    MutexLock lock(&core_->mutex);
    family->StartMemTable(log_number);
  };
  MutexLock lock(&core_->mutex);
  inserter_ = std::make_unique<ReplayInserter>(&core_->families, core_->environment.env, threads,
                                               MergeToolsOf(*core_), start);
  source_ = {.number = log_number_,
             .path = LogFileName(core_->paths.wal_dir, log_number_),
             .allows_sections = true};
  inserter_->SetSource(source_);
  sections_.UseInserter(inserter_.get());
  has_threads_ = threads > 0;
  return Status::OK();
}

// Waits until all entries are in memtables, and returns the error of the insertion, if there was
// one.
Status Follower::EndInserter() {
  if (inserter_ == nullptr) return Status::OK();
  const Status status = inserter_->Finish();
  inserter_.reset();
  applied_bytes_ = 0;
  has_threads_ = false;
  return status;
}

}  // namespace ashlar
