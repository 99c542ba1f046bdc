// SPDX-License-Identifier: Apache-2.0
//
// Most batches have no marker of two-phase commit. They go to the inserter unchanged, and
// recognising them must be cheap. A batch with markers is split into parts, which are applied one
// after the other.
#include "db/opening/section_replay.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "ashlar/comparator.h"
#include "db/column_family/column_family_data.h"
#include "db/column_family/family_set.h"
#include "db/write/write_batch_reader.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

std::string_view ViewOf(const Slice& slice) { return {slice.data(), slice.size()}; }

// A batch with this header.
std::string BatchOf(SequenceNumber seqno, uint32_t count, const Slice& records) {
  std::string batch;
  batch.reserve(kWriteBatchHeaderBytes + records.size());
  PutFixed64(&batch, seqno);
  PutFixed32(&batch, count);
  batch.append(records.data(), records.size());
  return batch;
}

// The write policy that begins its sections with this marker.
PreparedSection::Policy PolicyOf(ValueType marker) {
  switch (marker) {
    case kTypeBeginPrepareXID: return PreparedSection::Policy::kWriteCommitted;
    case kTypeBeginPersistedPrepareXID: return PreparedSection::Policy::kWritePrepared;
    default: return PreparedSection::Policy::kWriteUnprepared;
  }
}

Status PreparedTwice(const Slice& xid, FileNumber log, FileNumber later_log) {
  return Status::Corruption(
      StrCat("transaction ", xid.ToString(/*hex=*/true), " (hex) is prepared in log ", log,
             ", and before a decision prepared again in log ", later_log, " with other contents"));
}

Status NumberedBackwards(const Slice& xid, SequenceNumber seqno) {
  return Status::Corruption(StrCat("transaction ", xid.ToString(/*hex=*/true),
                                   " (hex): sequence number ", seqno,
                                   " is not possible for its data or behind its data"));
}

}  // namespace

SectionReplay::SectionReplay(bool is_allowed, ReplayInserter* inserter, UndecidedTable* undecided,
                             const FamilySet* families)
    : is_allowed_(is_allowed),
      inserter_(inserter),
      undecided_(undecided),
      comparator_of_([families](uint32_t id) -> const Comparator* {
        const EpochGuard guard;
        const ColumnFamilyData* const family = families->Find(id);
        return family == nullptr ? nullptr : family->comparator().user_comparator();
      }),
      counter_(comparator_of_) {}

NumberCounter::Numbers SectionReplay::NumbersOf(const Slice& batch) {
  assert(batch.size() >= kWriteBatchHeaderBytes);
  NumberCounter::Numbers numbers;
  numbers.Add(DecodeFixed32(batch.data() + 8));
  if (!is_allowed_) return numbers;
  numbers = counter_.Take(batch);
  plain_batch_ = numbers.has_marker ? nullptr : batch.data();
  numbering_ = numbers.numbering;
  return numbers;
}

// Keeps sections whose data was inserted: DecideBefore() handles them when all logs are read.
void SectionReplay::ForgetSectionsBefore(FileNumber log) {
  std::erase_if(sections_, [&](const auto& entry) {
    const Section& section = entry.second.front();
    if (section.entry != nullptr || section.log >= log) return false;
    counter_.Forget(entry.first);
    return true;
  });
  for (Decisions* const decisions : {&decided_, &decided_before_}) {
    if (decisions->log < log) decisions->names.clear();
  }
}

// Data that was inserted stays in the memtables: its decision was in a log that no longer exists,
// so it was committed or compensated there.
void SectionReplay::Forget(Sections* sections) {
  assert(sections != nullptr);
  for (const Section& section : *sections) {
    if (section.entry == nullptr) continue;
    UndecidedTable::Decide(section.entry.get(), section.entry->last + 1);
  }
  sections->clear();
}

void SectionReplay::ForgetSections() {
  for (auto& [xid, sections] : sections_) Forget(&sections);
  sections_.clear();
  counter_.Forget();
  ForgetDecisions();
}

// Decisions from before missing logs must not be used any more: a section that is logged again
// after them may belong to a later transaction with the same name.
void SectionReplay::ForgetDecisions() { decided_ = decided_before_ = Decisions(); }

bool SectionReplay::NoteMissingLogs() {
  ForgetDecisions();
  for (auto& [xid, sections] : sections_) {
    for (Section& section : sections) section.may_be_decided = true;
  }
  return !sections_.empty();
}

// A follower calls this when logs before `log` are gone: the transactions that were prepared there
// were decided meanwhile, and what they wrote is in tables.
SequenceNumber SectionReplay::DecideBefore(FileNumber log, SequenceNumber seqno) {
  SequenceNumber last = 0;
  for (auto it = sections_.begin(); it != sections_.end();) {
    Sections& sections = it->second;
    const bool is_gone = sections.front().entry != nullptr && sections.front().log < log;
    for (const Section& section : sections) {
      if (!is_gone) break;
      const SequenceNumber number = std::max(seqno, section.entry->last + 1);
      UndecidedTable::Decide(section.entry.get(), number);
      last = std::max(last, number);
    }
    if (is_gone) counter_.Forget(it->first);
    it = is_gone ? sections_.erase(it) : std::next(it);
  }
  return last;
}

Status SectionReplay::Apply(const Slice& batch, const ReplaySource& source, uint64_t offset) {
  const bool is_plain = !is_allowed_ || batch.data() == plain_batch_ || !HasTwoPhaseMarker(batch);
  if (is_plain) return inserter_->Add(batch, offset);
  Status status = SplitBatch(batch, &parts_);
  if (status.ok()) status = ApplyParts(parts_, DecodeFixed64(batch.data()), source, offset);
  if (status.ok()) return status;
  return Status::CopyAppendMessage(status, "; in ", StrCat(source.path, ", offset ", offset));
}

// `seqno` is the number of the next entry; each part advances it by as many numbers as it takes.
// is_again: the sections of this batch were copied from an older log (LoggedAgainRecord).
Status SectionReplay::ApplyParts(const std::vector<WriteBatchPart>& parts, SequenceNumber seqno,
                                 const ReplaySource& source, uint64_t offset) {
  using Kind = WriteBatchPart::Kind;
  const auto is_decision = [&](size_t i) {
    return i < parts.size() && (parts[i].kind == Kind::kCommit || parts[i].kind == Kind::kRollback);
  };
  bool is_again = false;
  for (size_t i = 0; i < parts.size(); i++) {
    const WriteBatchPart& part = parts[i];
    if (part.kind == Kind::kSection) {
      if (IsWrittenBeforeCommit(part.marker)) {
        RETURN_IF_ERROR(ApplyWritten(part, is_again, source.number, offset, &seqno));
      } else {
        RETURN_IF_ERROR(SetAside(part, seqno, source.number, is_again));
      }
    } else if (is_decision(i)) {
      RETURN_IF_ERROR(ApplyDecision(nullptr, part, source.number, offset, &seqno));
    } else if (!part.ends_with_noop && is_decision(i + 1)) {
      RETURN_IF_ERROR(ApplyDecision(&part, parts[++i], source.number, offset, &seqno));
    } else if (numbering_ != UpdateNumbering::kByRecord && part.count > 0) {
      RETURN_IF_ERROR(InsertSubBatches(part, offset, &seqno, /*is_inserted=*/true));
    } else {
      RETURN_IF_ERROR(Insert(seqno, part.count, part.records, offset));
      seqno += part.count;
      is_again = i == 0 && part.records == Slice(LoggedAgainRecord());
    }
  }
  return Status::OK();
}

Status SectionReplay::Insert(SequenceNumber seqno, uint32_t count, const Slice& records,
                             uint64_t offset) {
  if (count == 0) return Status::OK();
  scratch_ = BatchOf(seqno, count, records);
  return inserter_->Add(scratch_, offset);
}

// Divides the records at the same places as the writer has done, so that each sub-batch gets the
// number that it had. With `is_inserted` false only the numbers are counted.
Status SectionReplay::InsertSubBatches(const WriteBatchPart& part, uint64_t offset,
                                       SequenceNumber* seqno, bool is_inserted) {
  assert(seqno != nullptr);
  SubBatchFinder finder(comparator_of_);
  const std::string whole = BatchOf(*seqno, part.count, part.records);
  std::string records;
  uint32_t count = 0;
  const auto add = [&] {
    const SequenceNumber number = (*seqno)++;
    if (!is_inserted || count == 0) return Status::OK();
    scratch_ = BatchOf(number, count, records);
    return inserter_->Add(scratch_, offset, ReplayInserter::Numbering::kShared);
  };
  WriteBatchReader reader{Slice(whole)};
  for (WriteBatchRecord record; reader.Next(&record);) {
    if (!record.IsCounted()) continue;
    if (finder.Take(record)) {
      RETURN_IF_ERROR(add());
      records.clear();
      count = 0;
    }
    records.append(whole, reader.record_offset(), reader.next_offset() - reader.record_offset());
    count++;
  }
  RETURN_IF_ERROR(reader.status());
  return add();
}

// Applies a section of a policy that writes data before its commit. If the section was logged
// again, it replaces the first copy and takes over its entry in the table of undecided
// transactions.
Status SectionReplay::ApplyWritten(const WriteBatchPart& part, bool is_again, FileNumber log,
                                   uint64_t offset, SequenceNumber* seqno) {
  assert(seqno != nullptr);
  const SequenceNumber first = *seqno;
  if (first == 0 || first > kMaxSequenceNumber - part.count) {
    return NumberedBackwards(part.xid, first);
  }
  RETURN_IF_ERROR(InsertSubBatches(part, offset, seqno, /*is_inserted=*/!is_again));
  Sections& sections = sections_[part.xid.ToString()];
  const auto same = std::find_if(sections.begin(), sections.end(),
                                 [first](const Section& known) { return known.seqno == first; });
  if (same != sections.end()) {
    same->log = log;
    return Status::OK();
  }
  if (is_again && sections.empty() && IsDecided(part.xid)) {
    sections_.erase(part.xid.ToString());
    return Status::OK();
  }
  const bool is_over = !sections.empty() && sections.back().marker != kTypeBeginUnprepareXID;
  const bool is_of_policy = is_over && IsWrittenBeforeCommit(sections.back().marker);
  if (is_over && !(is_again && is_of_policy)) {
    if (!sections.back().may_be_decided) {
      return PreparedTwice(part.xid, sections.back().log, log);
    }
    Forget(&sections);
  }
  sections.push_back({.index = next_index_++,
                      .marker = part.marker,
                      .log = log,
                      .seqno = first,
                      .count = part.count,
                      .records = part.records.ToString(),
                      .is_decided = false,
                      .may_be_decided = false,
                      .entry = undecided_->Add(first, *seqno - 1)});
  return Status::OK();
}

// `updates` are the records before the decision in the same batch: a commit-time batch, or the
// compensations of a rollback; null: there are none. For a write-committed transaction, the log of
// the marker decides which families have flushed its data, because the data was inserted into the
// memtables of that moment. If the name is unknown, the data was flushed and the log with the
// section was deleted.
Status SectionReplay::ApplyDecision(const WriteBatchPart* updates, const WriteBatchPart& decision,
                                    FileNumber log, uint64_t offset, SequenceNumber* seqno) {
  NoteDecision(decision.xid, log);
  const auto found = sections_.find(ViewOf(decision.xid));
  const bool is_known = found != sections_.end();
  const bool is_written = is_known ? IsWrittenBeforeCommit(found->second.front().marker)
                                   : numbering_ != UpdateNumbering::kByRecord;
  if (is_written) {
    if (updates == nullptr) {
      if (is_known || numbering_ == UpdateNumbering::kBySubBatch) (*seqno)++;
    } else {
      RETURN_IF_ERROR(InsertSubBatches(*updates, offset, seqno, /*is_inserted=*/true));
    }
    if (!is_known) return Status::OK();
    for (const Section& section : found->second) {
      if (section.entry->last >= *seqno - 1) return NumberedBackwards(decision.xid, *seqno - 1);
      UndecidedTable::Decide(section.entry.get(), *seqno - 1);
    }
    sections_.erase(found);
    return Status::OK();
  }
  if (updates != nullptr) {
    RETURN_IF_ERROR(Insert(*seqno, updates->count, updates->records, offset));
    *seqno += updates->count;
  }
  if (!is_known) return Status::OK();
  const Section& section = found->second.front();
  if (decision.kind == WriteBatchPart::Kind::kCommit) {
    RETURN_IF_ERROR(Insert(*seqno, section.count, section.records, offset));
    *seqno += section.count;
  }
  sections_.erase(found);
  return Status::OK();
}

// The names are kept by log, and only for the last two logs with decisions: an error recovery
// repeats sections only at the beginning of the log after the failed one.
void SectionReplay::NoteDecision(const Slice& xid, FileNumber log) {
  if (log != decided_.log) decided_before_ = std::exchange(decided_, {.log = log, .names = {}});
  decided_.names.push_back(xid.ToString());
}

bool SectionReplay::IsDecided(const Slice& xid) const {
  const auto is_in = [&](const Decisions& decisions) {
    return std::find(decisions.names.begin(), decisions.names.end(), ViewOf(xid)) !=
           decisions.names.end();
  };
  return is_in(decided_) || is_in(decided_before_);
}

// Keeps a section until its decision is read. A section that an error recovery or an opening has
// logged again replaces the first copy. Any other second use of an undecided name is an error,
// because one of two transactions would disappear.
//
// The decision of a section that is logged again may be in the preceding log: the append of the
// marker failed, but its bytes reached the file. That decision is valid, and it was applied here.
// If the recovery ended successfully, the transaction was undecided for the program, and decisions
// in later logs are applied.
Status SectionReplay::SetAside(const WriteBatchPart& part, SequenceNumber seqno, FileNumber log,
                               bool is_again) {
  assert(part.marker == kTypeBeginPrepareXID);
  Section section{.index = next_index_++,
                  .marker = part.marker,
                  .log = log,
                  .seqno = seqno,
                  .count = part.count,
                  .records = part.records.ToString(),
                  .is_decided = false,
                  .may_be_decided = false,
                  .entry = nullptr};
  Sections& sections = sections_[part.xid.ToString()];
  const bool is_new = sections.empty();
  if (is_again) {
    section.is_decided = is_new ? IsDecided(part.xid) : sections.front().is_decided;
  }
  const bool is_free = is_new || sections.front().is_decided || sections.front().may_be_decided;
  if (!is_free && sections.front().records != section.records) {
    return PreparedTwice(part.xid, sections.front().log, log);
  }
  Forget(&sections);
  sections.push_back(std::move(section));
  return Status::OK();
}

// Sorted by the order in which the sections were found in the logs: first that of their
// transaction's first section, then their own.
std::vector<SectionReplay::FoundSection> SectionReplay::TakeUndecided() {
  std::vector<std::pair<std::pair<uint64_t, uint64_t>, FoundSection>> found;
  for (auto& [xid, sections] : sections_) {
    for (const Section& section : sections) {
      if (section.is_decided) continue;
      auto recovered = std::make_unique<OwnedSection>(
          xid, PolicyOf(section.marker), BatchOf(section.seqno, section.count, section.records));
      recovered->section.set_entry(section.entry);
      found.emplace_back(
          std::pair(sections.front().index, section.index),
          FoundSection{
              .section = std::move(recovered), .log = section.log, .seqno = section.seqno});
    }
  }
  sections_.clear();
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<FoundSection> result;
  for (auto& [index, section] : found) result.push_back(std::move(section));
  return result;
}

}  // namespace ashlar
