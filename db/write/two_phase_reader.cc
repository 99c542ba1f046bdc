// SPDX-License-Identifier: Apache-2.0
//
// How a batch is cut: a prepare section must end in the batch in which it begins, and it must not
// contain a commit or rollback marker.
#include "db/write/two_phase_reader.h"

#include <cassert>
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

Status Misplaced(const char* marker, size_t offset, const char* found) {
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

bool AreNumberedBySubBatch(const std::vector<WriteBatchPart>& parts) {
  using Kind = WriteBatchPart::Kind;
  bool has_any = false;
  for (size_t i = 0; i < parts.size(); i++) {
    // Updates directly before a decision belong to that decision and do not count here.
    if (parts[i].kind != Kind::kUpdates || parts[i].count == 0) continue;
    const bool is_decided = i + 1 < parts.size() && (parts[i + 1].kind == Kind::kCommit ||
                                                     parts[i + 1].kind == Kind::kRollback);
    if (!is_decided && !parts[i].ends_with_noop) return false;
    has_any |= parts[i].ends_with_noop;
  }
  return has_any;
}

uint64_t NumberCounter::SubBatchesOf(const Slice& batch, const WriteBatchPart& part) const {
  const auto begin = static_cast<size_t>(part.records.data() - batch.data());
  return FindSubBatches(batch, begin, begin + part.records.size(), comparator_of_).size() + 1;
}

void NumberCounter::TakeUpdates(const Slice& batch, bool are_by_sub_batch, size_t* i,
                                Numbers* numbers) {
  assert(i != nullptr);
  using Kind = WriteBatchPart::Kind;
  const WriteBatchPart* updates = &parts_[*i];
  if (updates->kind == Kind::kUpdates) {
    (*i)++;
    // No decision follows: the updates are a batch of their own.
    const bool is_alone = updates->ends_with_noop || *i == parts_.size() ||
                          parts_[*i].kind == Kind::kUpdates || parts_[*i].kind == Kind::kSection;
    if (is_alone) {
      const bool is_plain = !are_by_sub_batch || updates->count == 0;
      numbers->count += is_plain ? updates->count : SubBatchesOf(batch, *updates);
      has_seen_others_ |= !is_plain;
      return;
    }
  } else {
    updates = nullptr;
  }
  // A decision: a commit or rollback marker, perhaps with the updates before it.
  const WriteBatchPart& decision = parts_[(*i)++];
  const auto found = sections_.find(std::string_view(decision.xid.data(), decision.xid.size()));
  // The policy of the section decides. If the section was not read, the policy of earlier batches
  // does: the options of a database fix one policy for all its transactions.
  const bool is_known = found != sections_.end();
  if (is_known ? found->second.is_written_before_commit : has_seen_others_) {
    numbers->count += updates == nullptr ? 1 : SubBatchesOf(batch, *updates);
  } else {
    if (updates != nullptr) numbers->count += updates->count;
    if (decision.kind == Kind::kCommit) {
      numbers->count += is_known ? found->second.count : 0;
      numbers->is_exact &= is_known;
    }
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
    numbers.count = DecodeFixed32(batch.data() + 8);
    return numbers;
  }
  const bool are_by_sub_batch = AreNumberedBySubBatch(parts_);
  const bool is_again = IsLoggedAgain(batch);
  for (size_t i = 0; i < parts_.size();) {
    const WriteBatchPart& part = parts_[i];
    if (part.kind != WriteBatchPart::Kind::kSection) {
      TakeUpdates(batch, are_by_sub_batch, &i, &numbers);
      continue;
    }
    const bool is_before_commit = IsWrittenBeforeCommit(part.marker);
    Section& section = sections_[part.xid.ToString()];
    section = {.count = part.count, .is_written_before_commit = is_before_commit};
    // A section that is logged again keeps the numbers that its first copy took.
    if (is_before_commit && !is_again) numbers.count += SubBatchesOf(batch, part);
    has_seen_others_ |= is_before_commit;
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
