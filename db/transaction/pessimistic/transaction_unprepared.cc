// SPDX-License-Identifier: Apache-2.0
//
// The policy write-unprepared: when the batch is written out, and how that is taken back.
//
// A batch is divided at its savepoints, so that what the transaction saw at a savepoint is what it
// sees of the first few parts.
#include <cassert>
#include <memory>
#include <utility>
#include <vector>

#include "db/db_impl.h"
#include "db/transaction/pessimistic/compensations.h"
#include "db/transaction/pessimistic/pessimistic_transaction.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A batch begins with a Noop, which Prepare() turns into its marker.
constexpr size_t kEmptyBatchBytes = kWriteBatchHeaderBytes + 1;

// The number of counted records in this part of a batch.
uint32_t CountIn(const Slice& batch, size_t begin, size_t end) {
  uint32_t count = 0;
  assert(begin <= end && end <= batch.size());
  WriteBatchReader reader(batch, begin);
  for (WriteBatchRecord record; reader.next_offset() < end && reader.Next(&record);) {
    count += record.IsCounted() ? 1 : 0;
  }
  return count;
}

}  // namespace

Status PessimisticTransaction::MakeRoom() {
  // A threshold of 0 means that the batch is written by the commit alone.
  if (flush_bytes_ == 0 || batch_.GetDataSize() <= flush_bytes_) return Status::OK();
  if (GetState() != STARTED) return Status::OK();  // the update is refused
  // Only updates count: a batch of markers has nothing that could be written early.
  if (WriteBatchInternal::Count(*batch_.GetWriteBatch()) == 0) return Status::OK();
  return WriteOut();
}

// From the first part on nobody may steal locks: a thief would write behind data that is not
// decided, and a rollback would undo it with that.
Status PessimisticTransaction::WriteOut() {
  if (name_.empty()) {
    return Status::InvalidArgument(
        "Transaction: it needs a name (SetName) before it writes more than "
        "write_batch_flush_threshold");
  }
  if (!state_->allows_prepare) {
    return Status::NotSupported(
        "Transaction: the database was opened without DBOptions::allow_2pc, so that "
        "write_batch_flush_threshold has to be 0");
  }
  if (!batch_.GetWriteBatch()->GetWalTerminationPoint().is_cleared()) {
    return Status::NotSupported(
        "Transaction: a batch with a WAL termination point cannot be written before the commit: "
        "the log must have the whole batch");
  }
  if (batch_.GetWriteBatch()->HasDeleteRange()) {
    return Status::NotSupported(
        "Transaction: a DeleteRange could not be rolled back, so that it cannot be written before "
        "the commit");
  }
  if (parts_->empty()) {
    if (IsExpired()) return Status::Expired("the transaction has expired");
    if (!owner_->Close()) return Status::Expired("the transaction expired and lost its locks");
  }
  // The part that is in the log now; everything behind it stays in the batch.
  size_t written_end = kEmptyBatchBytes;
  const Status status = WriteParts(&written_end);
  // Nothing was written, so locks may be stolen again.
  if (parts_->empty()) {
    owner_->Open(this);
    return status;
  }
  if (log_number_ == 0) {
    log_number_ = parts_->first()->log().value();
    SetId(parts_->first()->first_seqno());
  }
  if (written_end > kEmptyBatchBytes) KeepRest(written_end);
  told_bytes_.store(batch_.GetDataSize() + parts_->bytes(), std::memory_order_relaxed);
  return status;
}

// Writes one part up to each savepoint, and one behind them.
Status PessimisticTransaction::WriteParts(size_t* written_end) {
  const Slice batch = batch_.GetWriteBatch()->Data();
  size_t next = WrittenPlaces();
  while (*written_end < batch.size() || next < places_.size()) {
    const size_t end = next < places_.size() ? places_[next].bytes : batch.size();
    if (end > *written_end) {
      const size_t before = parts_->count();
      const Slice records(batch.data() + *written_end, end - *written_end);
      const Status status =
          parts_->Write(write_options_, name_, records, CountIn(batch, *written_end, end));
      // A part may be in the log although its status is an error of a sync.
      if (parts_->count() > before) *written_end = end;
      if (!status.ok()) return status;
    }
    if (next < places_.size()) places_[next++] = {.is_written = true, .parts = parts_->count()};
  }
  return Status::OK();
}

// How many savepoints have all of their data in parts: the first ones.
size_t PessimisticTransaction::WrittenPlaces() const {
  size_t count = places_.size();
  while (count > 0 && !places_[count - 1].is_written) count--;
  return count;
}

// Makes the batch anew of what is behind this offset: nothing, unless a write has failed.
void PessimisticTransaction::KeepRest(size_t begin) {
  assert(begin <= batch_.GetDataSize());
  if (begin == batch_.GetDataSize()) return EmptyBatch();
  // A copy, because the batch is emptied while its records are read.
  const std::string old = batch_.GetWriteBatch()->Data();
  size_t next = WrittenPlaces();
  EmptyBatch();
  // The records were accepted once, so the limit must not refuse them now.
  batch_.SetMaxBytes(0);
  const auto set_save_points = [&](size_t offset) {
    for (; next < places_.size() && places_[next].bytes <= offset; next++) {
      batch_.SetSavePoint();
      places_[next].bytes = batch_.GetDataSize();
    }
  };
  WriteBatchReader reader(old, begin);
  for (WriteBatchRecord record; reader.Next(&record);) {
    set_save_points(reader.record_offset());
    if (AddRecord(record)) continue;
    // Of a kind that has no index. It was added directly before, too.
    std::string contents(kWriteBatchHeaderBytes, '\0');
    EncodeFixed32(contents.data() + sizeof(uint64_t), record.IsCounted() ? 1 : 0);
    contents.append(old, reader.record_offset(), reader.next_offset() - reader.record_offset());
    IgnoreError(WriteBatchInternal::Append(batch_.GetWriteBatch(), WriteBatch(std::move(contents))),
                "the batch has no limit meanwhile");
  }
  set_save_points(old.size());
  assert(next == places_.size());
  batch_.SetMaxBytes(max_batch_bytes_);
}

// Open iterators keep the old batch alive.
void PessimisticTransaction::EmptyBatch() {
  if (iterators_.empty()) {
    batch_.Clear();
  } else {
    batch_ = WriteBatchWithIndex(default_family_->GetComparator(), /*reserved_bytes=*/0,
                                 /*overwrite_key=*/true);
    iterators_.NoteNewBatch();
  }
  batch_.SetMaxBytes(0);
  BeginBatch();
  batch_.SetMaxBytes(max_batch_bytes_);
}

void PessimisticTransaction::SetSavePoint() {
  TransactionBase::SetSavePoint();
  if (parts_ != nullptr) places_.push_back({.bytes = batch_.GetDataSize()});
}

Status PessimisticTransaction::RollBackBatch() {
  if (parts_ == nullptr) return TransactionBase::RollBackBatch();
  assert(!places_.empty());
  const Place place = places_.back();
  bool has_changed = batch_.GetDataSize() != (place.is_written ? kEmptyBatchBytes : place.bytes);
  if (place.is_written) {
    has_changed |= !parts_->NewestFirst(place.parts).empty();
    // The data in the log cannot be removed, so it is compensated by one part more.
    RETURN_IF_ERROR(UndoParts(place.parts));
    if (has_changed) EmptyBatch();
  } else {
    RETURN_IF_ERROR(TransactionBase::RollBackBatch());
  }
  places_.pop_back();
  // Open iterators would still show what was taken back.
  if (has_changed) iterators_.EndAll();
  return Status::OK();
}

Status PessimisticTransaction::PopBatchSavePoint() {
  if (parts_ == nullptr) return TransactionBase::PopBatchSavePoint();
  assert(!places_.empty());
  const bool is_written = places_.back().is_written;
  places_.pop_back();
  // The savepoint of a written part has none in the batch, which was emptied since.
  return is_written ? Status::OK() : TransactionBase::PopBatchSavePoint();
}

// Writes what the keys of these parts had before them, as one part more, all or nothing.
Status PessimisticTransaction::UndoParts(size_t begin) {
  assert(begin <= parts_->count());
  const std::vector<const PreparedSection*> sections = parts_->NewestFirst(begin);
  if (!sections.empty()) {
    WriteBatch batch;
    Compensations undo(state_, &batch, {.own = parts_->OwnBefore(begin)});
    for (const PreparedSection* section : sections) RETURN_IF_ERROR(undo.UndoAll(*section));
    const uint32_t count = WriteBatchInternal::Count(batch);
    const Slice records(batch.Data().data() + kWriteBatchHeaderBytes,
                        batch.GetDataSize() - kWriteBatchHeaderBytes);
    const size_t old_count = parts_->count();
    Status status;
    if (count > 0) status = parts_->Write(write_options_, name_, records, count);
    // Whether the part is in the log decides, not the status of its sync.
    if (count > 0 && parts_->count() == old_count) return status;
  }
  parts_->SetUndone(begin);
  return Status::OK();
}

// A shell goes on with what cannot be rolled back now.
void PessimisticTransaction::LeaveWritten() {
  assert(HasWritten());
  try {
    // With it the rollback might be refused while writes are held, and would have to wait for the
    // next opening.
    write_options_.no_slowdown = false;
    IgnoreError(RollbackWritten(), "whether it was written is asked next");
  } catch (...) {  // code of the program, or no memory: it is as if the rollback had failed
  }
  if (!HasWritten()) return;
  SetState(AWAITING_ROLLBACK);
  LeaveShell();
}

// One that pins its entries calls this again for its source.
Iterator* PessimisticTransaction::GetIterator(const ReadOptions& options,
                                              ColumnFamilyHandle* family) {
  if (!NeedsOwnIterators() || options.pin_data) {
    return TransactionBase::GetIterator(options, family);
  }
  return new UnpreparedIterator(&iterators_, this, options, OrDefault(family), TakeMoment(options));
}

Status PessimisticTransaction::OpenIterators(const ReadOptions& options,
                                             const std::vector<ColumnFamilyHandle*>& families,
                                             std::vector<std::unique_ptr<Iterator>>* iterators) {
  assert(iterators != nullptr);
  if (!NeedsOwnIterators()) return TransactionBase::OpenIterators(options, families, iterators);
  UnpreparedIterator::Source* const source = this;
  const std::shared_ptr<const Snapshot> moment = TakeMoment(options);
  for (ColumnFamilyHandle* family : families) {
    iterators->push_back(
        std::make_unique<UnpreparedIterator>(&iterators_, source, options, family, moment));
  }
  return Status::OK();
}

std::unique_ptr<Iterator> PessimisticTransaction::MakeInner(const ReadOptions& options,
                                                            ColumnFamilyHandle* family,
                                                            DecidedVersions::Own* own) {
  assert(own != nullptr && parts_ != nullptr);
  *own = parts_->own();
  Iterator* const base = db_->NewIteratorWithOwn(*own, options, family);
  return std::unique_ptr<Iterator>(batch_.NewIteratorWithBase(family, base, &options));
}

std::shared_ptr<const Snapshot> PessimisticTransaction::TakeMoment(const ReadOptions& options) {
  // A snapshot of the program is one moment already, and a tailing iterator has none.
  if (options.snapshot != nullptr || options.tailing) return nullptr;
  DBImpl* const db = db_;
  // Released through the database, because the iterator may live longer than the transaction.
  return {db->TakeMoment(), [db](const Snapshot* taken) { db->ReleaseSnapshot(taken); }};
}

}  // namespace ashlar
