// SPDX-License-Identifier: Apache-2.0
//
// How a batch is cut: a prepare section must end in the batch in which it begins, and it must not
// contain a commit or rollback marker.
#include "db/write/two_phase_reader.h"

#include <cassert>
#include <optional>
#include <string_view>
#include <utility>

#include "db/write/write_batch_reader.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

bool IsBegin(ValueType type) {
  return type == kTypeBeginPrepareXID || type == kTypeBeginPersistedPrepareXID ||
         type == kTypeBeginUnprepareXID;
}

bool IsCommit(ValueType type) {
  return type == kTypeCommitXID || type == kTypeCommitXIDAndTimestamp;
}

bool IsDecision(const WriteBatchPart& part) {
  return part.kind == WriteBatchPart::Kind::kCommit || part.kind == WriteBatchPart::Kind::kRollback;
}

[[gnu::cold]] Status Misplaced(const char* marker, size_t offset, const char* found) {
  return Status::Corruption(
      StrCat("write batch: offset ", offset, ": expected ", marker, ", found ", found));
}

// Collects the parts of one batch, record by record. A violation of the grammar is Corruption,
// since the bytes may come from a disk.
class Splitter {
 public:
  Splitter(const char* batch, std::vector<WriteBatchPart>* parts) : batch_(batch), parts_(parts) {}

  // `begin` and `end` are the offsets of the record in the batch.
  Status Take(const WriteBatchRecord& record, size_t begin, size_t end) {
    using Kind = WriteBatchPart::Kind;
    const bool is_in_section = open_.kind == Kind::kSection;
    if (IsBegin(record.type)) {
      if (is_in_section) return Misplaced("the end of a prepare section", begin, "another begin");
      Close(begin);
      open_.kind = Kind::kSection;
      open_.marker = record.type;
    } else if (record.type == kTypeEndPrepareXID) {
      if (!is_in_section) return Misplaced("a begin marker", begin, "the end of a prepare section");
      open_.xid = record.value;
      Close(end);
    } else if (IsCommit(record.type) || record.type == kTypeRollbackXID) {
      if (is_in_section) return Misplaced("the end of a prepare section", begin, "a decision");
      Close(begin);
      open_.kind = IsCommit(record.type) ? Kind::kCommit : Kind::kRollback;
      open_.marker = record.type;
      open_.xid = record.value;
      Close(end);
    } else if (record.IsCounted()) {
      open_.count++;
      counted_++;
    } else if (record.type == kTypeNoop && !is_in_section && open_.count > 0) {
      // A Noop after updates ends a batch of the policies write-prepared and write-unprepared. What
      // follows it is another batch of the same log record.
      open_.ends_with_noop = true;
      Close(end);
    }
    return Status::OK();
  }
  Status Finish(size_t end) {
    if (open_.kind == WriteBatchPart::Kind::kSection) {
      return Misplaced("the end of a prepare section", end, "the end of the batch");
    }
    Close(end);
    return Status::OK();
  }
  uint32_t counted() const { return counted_; }
  void BeginAt(size_t offset) { begin_ = offset; }

 private:
  // Ends the open part at offset `end`. A part without bytes is dropped.
  void Close(size_t end) {
    open_.records = Slice(batch_ + begin_, end - begin_);
    if (end > begin_) parts_->push_back(open_);
    open_ = WriteBatchPart();
    begin_ = end;
  }

  const char* const batch_;
  std::vector<WriteBatchPart>* const parts_;
  WriteBatchPart open_;
  size_t begin_ = 0;  // of the open part
  uint32_t counted_ = 0;
};

}  // namespace

// The text is part of the file format: replay compares these bytes.
std::string LoggedAgainRecord() {
  std::string record(1, static_cast<char>(kTypeLogData));
  PutLengthPrefixedSlice(&record, "ashlar: logged again");
  return record;
}

bool IsLoggedAgain(const Slice& batch) {
  if (batch.size() < kWriteBatchHeaderBytes) return false;
  const Slice records(batch.data() + kWriteBatchHeaderBytes, batch.size() - kWriteBatchHeaderBytes);
  if (records.empty() || records[0] != static_cast<char>(kTypeLogData)) return false;
  const std::string mark = LoggedAgainRecord();
  return records.size() > mark.size() && records.starts_with(mark) &&
         IsWrittenBeforeCommit(static_cast<ValueType>(records[mark.size()]));
}

NumberCounter::Sections::iterator NumberCounter::FindSection(const WriteBatchPart& part) {
  return sections_.find(std::string_view(part.xid.data(), part.xid.size()));
}

// Also notes what the parts tell about later batches.
UpdateNumbering NumberCounter::NumberingOfParts() {
  using Kind = WriteBatchPart::Kind;
  const auto of_policy = [](bool is_written_before_commit) {
    return is_written_before_commit ? UpdateNumbering::kBySubBatch : UpdateNumbering::kByRecord;
  };
  std::optional<UpdateNumbering> of_record;
  bool has_open_updates = false, has_last_noop = false;
  for (size_t i = 0; i < parts_.size(); i++) {
    const WriteBatchPart& part = parts_[i];
    if (part.kind == Kind::kUpdates) {
      const bool is_last = i + 1 == parts_.size();
      const bool is_decided = !is_last && IsDecision(parts_[i + 1]);
      // A Noop in front of updates may be the first record of their batch.
      has_last_noop |= part.ends_with_noop && (is_last || is_decided);
      // Updates directly before a decision may belong to that decision.
      has_open_updates |= part.count > 0 && !part.ends_with_noop && !is_decided;
    } else if (part.kind == Kind::kSection) {
      of_record = of_policy(IsWrittenBeforeCommit(part.marker));
    } else if (const auto known = FindSection(part); known != sections_.end()) {
      of_record = of_policy(known->second.is_written_before_commit);
    }
  }
  // The batches of a record are of one database, and so of one policy.
  if (of_record.has_value()) return of_sections_ = *of_record;
  if (has_open_updates) return UpdateNumbering::kByRecord;
  if (!has_last_noop) return of_sections_;
  has_seen_noop_ = true;
  return UpdateNumbering::kBySubBatch;
}

uint64_t NumberCounter::SubBatchesOf(const Slice& batch, const WriteBatchPart& part) const {
  const auto begin = static_cast<size_t>(part.records.data() - batch.data());
  return FindSubBatches(batch, begin, begin + part.records.size(), comparator_of_).size() + 1;
}

void NumberCounter::AddUpdates(const Slice& batch, const WriteBatchPart& updates,
                               UpdateNumbering numbering, Numbers* numbers) const {
  assert(numbers != nullptr);
  const uint64_t records = updates.count;
  if (numbering == UpdateNumbering::kByRecord || records == 0) return numbers->Add(records);
  const uint64_t sub_batches = SubBatchesOf(batch, updates);
  assert(sub_batches <= records);
  numbers->count += sub_batches;
  numbers->most += numbering == UpdateNumbering::kBySubBatch ? sub_batches : records;
}

void NumberCounter::TakeUpdates(const Slice& batch, size_t* i, Numbers* numbers) {
  assert(i != nullptr);
  using Kind = WriteBatchPart::Kind;
  const WriteBatchPart* updates = nullptr;
  if (parts_[*i].kind == Kind::kUpdates) {
    updates = &parts_[(*i)++];
    // No decision follows: the updates are a batch of their own.
    if (updates->ends_with_noop || *i == parts_.size() || !IsDecision(parts_[*i])) {
      AddUpdates(batch, *updates, numbers->numbering, numbers);
      return;
    }
    if (updates->count == 0) updates = nullptr;
  }
  TakeDecision(batch, updates, parts_[(*i)++], numbers);
}

// `updates`: what stands directly before the decision; null: none that is counted.
void NumberCounter::TakeDecision(const Slice& batch, const WriteBatchPart* updates,
                                 const WriteBatchPart& decision, Numbers* numbers) {
  assert(numbers != nullptr);
  const auto found = FindSection(decision);
  const bool is_known = found != sections_.end();
  UpdateNumbering numbering = numbers->numbering;
  if (is_known) {
    numbering = found->second.is_written_before_commit ? UpdateNumbering::kBySubBatch
                                                       : UpdateNumbering::kByRecord;
  } else if (numbering == UpdateNumbering::kUnknown && updates == nullptr) {
    // Batches that end with a Noop are a hint. A wrong guess makes a difference of one number.
    numbering = has_seen_noop_ ? UpdateNumbering::kBySubBatch : UpdateNumbering::kByRecord;
  }
  if (updates != nullptr) AddUpdates(batch, *updates, numbering, numbers);
  if (numbering == UpdateNumbering::kBySubBatch) {
    // Without updates the decision itself takes a number.
    if (updates == nullptr) numbers->Add(1);
  } else if (decision.kind == WriteBatchPart::Kind::kCommit) {
    numbers->Add(is_known ? found->second.count : 0);
    numbers->is_exact &= is_known;
  }
  // The transaction is decided, and its name may be used again.
  if (is_known) sections_.erase(found);
}

// Must see all batches of the logs in their order, because a commit takes as many numbers as its
// section has, which was read before.
NumberCounter::Numbers NumberCounter::Take(const Slice& batch) {
  Numbers numbers{.has_marker = HasTwoPhaseMarker(batch)};
  if (!numbers.has_marker || !SplitBatch(batch, &parts_).ok()) {
    // Not two-phase, or malformed: each counted record takes one number, as the header says.
    numbers.Add(DecodeFixed32(batch.data() + 8));
    return numbers;
  }
  numbers.numbering = NumberingOfParts();
  const bool is_again = IsLoggedAgain(batch);
  for (size_t i = 0; i < parts_.size();) {
    const WriteBatchPart& part = parts_[i];
    if (part.kind != WriteBatchPart::Kind::kSection) {
      TakeUpdates(batch, &i, &numbers);
      continue;
    }
    const bool is_before_commit = IsWrittenBeforeCommit(part.marker);
    Section& section = sections_[part.xid.ToString()];
    section = {.count = part.count, .is_written_before_commit = is_before_commit};
    // A section that is logged again keeps the numbers that its first copy took.
    if (is_before_commit && !is_again) numbers.Add(SubBatchesOf(batch, part));
    i++;
  }
  return numbers;
}

// A no-op behind the last update is a marker too: batches of the policies write-prepared and
// write-unprepared end with one.
bool HasTwoPhaseMarker(const Slice& batch) {
  WriteBatchReader reader(batch);
  WriteBatchRecord record;
  bool has_updates = false;
  ValueType last = kTypeNoop;
  while (reader.Next(&record)) {
    last = record.type;
    if (record.IsCounted()) {
      has_updates = true;
    } else if (record.type != kTypeNoop && record.type != kTypeLogData) {
      return true;
    }
  }
  return has_updates && last == kTypeNoop;
}

Status SplitBatch(const Slice& batch, std::vector<WriteBatchPart>* parts) {
  assert(parts != nullptr);
  parts->clear();
  WriteBatchReader reader(batch);
  RETURN_IF_ERROR(reader.status());
  Splitter splitter(batch.data(), parts);
  splitter.BeginAt(reader.next_offset());
  WriteBatchRecord record;
  while (reader.Next(&record)) {
    RETURN_IF_ERROR(splitter.Take(record, reader.record_offset(), reader.next_offset()));
  }
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(splitter.Finish(batch.size()));
  // The header counts all updates of the batch, inside of sections and outside.
  const uint32_t count = DecodeFixed32(batch.data() + 8);
  if (splitter.counted() == count) return Status::OK();
  return Status::Corruption(StrCat("WriteBatch has wrong count: ", count, " in its header, ",
                                   splitter.counted(), " records"));
}

}  // namespace ashlar
