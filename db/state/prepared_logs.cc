// SPDX-License-Identifier: Apache-2.0
//
// An intrusive list, so that a commit in flight allocates nothing.
#include "db/state/prepared_logs.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/system_clock.h"
#include "db/write/write_batch_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {

void PreparedLogs::Link(PreparedSection* section) {
  assert(section != nullptr);
  assert(section->previous_ == nullptr);
  assert(section->next_ == nullptr);
  assert(first_ != section);
  section->previous_ = last_;
  (last_ == nullptr ? first_ : last_->next_) = section;
  last_ = section;
  count_++;
}

void PreparedLogs::Unlink(PreparedSection* section) {
  assert(section != nullptr);
  assert(count_ > 0);
  (section->previous_ == nullptr ? first_ : section->previous_->next_) = section->next_;
  (section->next_ == nullptr ? last_ : section->next_->previous_) = section->previous_;
  section->previous_ = section->next_ = nullptr;
  count_--;
}

void PreparedLogs::Enter(PreparedSection* section, FileNumber log, SequenceNumber first_seqno) {
  assert(section != nullptr);
  assert(log > 0);
  MutexLock lock(&mutex_);
  assert(section->state_ == PreparedSection::State::kNotLogged);
  section->state_ = PreparedSection::State::kUndecided;
  section->log_ = log;
  section->first_seqno_ = first_seqno;
  section->entered_micros_ = SystemClock::Default()->NowMicros();
  Link(section);
  unsettled_++;
}

void PreparedLogs::Leave(PreparedSection* section) {
  assert(section != nullptr);
  MutexLock lock(&mutex_);
  assert(section->state_ == PreparedSection::State::kUndecided);
  section->state_ = PreparedSection::State::kDecided;
  Unlink(section);
}

void PreparedLogs::Settle(PreparedSection* section, bool is_prepared) {
  assert(section != nullptr);
  MutexLock lock(&mutex_);
  assert(unsettled_ > 0);
  assert(section->state_ == PreparedSection::State::kUndecided);
  if (!is_prepared) {
    section->state_ = PreparedSection::State::kNotLogged;
    Unlink(section);
  }
  if (--unsettled_ == 0) settled_.SignalAll();
}

void PreparedLogs::AwaitSettled() {
  MutexLock lock(&mutex_);
  while (unsettled_ > 0) settled_.Wait();
}

// Copied under the mutex, because owners may replace the batches.
std::vector<PreparedLogs::Logged> PreparedLogs::CopyAll() const {
  MutexLock lock(&mutex_);
  std::vector<Logged> sections;
  for (PreparedSection* section = first_; section != nullptr; section = section->next_) {
    const Slice contents = WriteBatchInternal::Contents(*section->batch_);
    sections.push_back({.records = contents.ToString().substr(kWriteBatchHeaderBytes),
                        .count = WriteBatchInternal::Count(*section->batch_),
                        .is_written_before_commit = section->is_written_before_commit(),
                        .first_seqno = section->first_seqno_});
  }
  return sections;
}

void PreparedLogs::Replace(PreparedSection* section, WriteBatch* batch) {
  assert(section != nullptr);
  MutexLock lock(&mutex_);
  section->batch_ = batch;
}

void PreparedLogs::MoveTo(FileNumber log) {
  MutexLock lock(&mutex_);
  for (PreparedSection* section = first_; section != nullptr; section = section->next_) {
    assert(section->log_ <= log);
    section->log_ = log;
  }
}

FileNumber PreparedLogs::Oldest() const {
  MutexLock lock(&mutex_);
  FileNumber oldest = FileNumber::None();
  for (const PreparedSection* section = first_; section != nullptr; section = section->next_) {
    oldest = std::min(oldest, section->log_);
  }
  return oldest;
}

size_t PreparedLogs::count() const {
  MutexLock lock(&mutex_);
  return count_;
}

std::string PreparedLogs::Describe() const {
  MutexLock lock(&mutex_);
  const PreparedSection* oldest = first_;
  if (oldest == nullptr) return "";
  for (const PreparedSection* section = first_; section != nullptr; section = section->next_) {
    if (section->log_ < oldest->log_) oldest = section;
  }
  const uint64_t age_micros = SystemClock::Default()->NowMicros() - oldest->entered_micros_;
  return StrCat(count_, " undecided; the oldest is ", Slice(oldest->xid_).ToString(/*hex=*/true),
                " (hex) in log ", oldest->log_, ", for ", age_micros / 1000000, " seconds\n");
}

void PreparedLogs::AddRecovered(std::unique_ptr<OwnedSection> section, FileNumber log,
                                SequenceNumber first_seqno) {
  Enter(&section->section, log, first_seqno);
  Settle(&section->section, /*is_prepared=*/true);
  MutexLock lock(&mutex_);
  recovered_.push_back(std::move(section));
}

std::vector<std::unique_ptr<OwnedSection>> PreparedLogs::TakeRecovered() {
  MutexLock lock(&mutex_);
  return std::exchange(recovered_, {});
}

}  // namespace ashlar
