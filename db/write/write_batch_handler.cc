// SPDX-License-Identifier: Apache-2.0
//
// WriteBatch::Iterate(): from records to calls of a Handler, and the defaults of Handler. The
// engine itself reads batches with WriteBatchReader, without these virtual calls.
#include "ashlar/write_batch.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

Status NoFunctionFor(const char* function, uint32_t family) {
  return Status::InvalidArgument(StrCat("WriteBatch::Handler: an update of column family ", family,
                                        " needs an override of ", function));
}
Status NoFunctionFor(const char* function) {
  return Status::InvalidArgument(
      StrCat("WriteBatch::Handler: the batch needs an override of ", function));
}

}  // namespace

WriteBatch::Handler::~Handler() {}

Status WriteBatch::Handler::PutCF(uint32_t column_family_id, const Slice& key, const Slice& value) {
  if (column_family_id != 0) return NoFunctionFor("PutCF", column_family_id);
  Put(key, value);
  return Status::OK();
}
void WriteBatch::Handler::Put(const Slice&, const Slice&) {}

Status WriteBatch::Handler::TimedPutCF(uint32_t, const Slice&, const Slice&, uint64_t) {
  return NoFunctionFor("TimedPutCF");
}
Status WriteBatch::Handler::PutEntityCF(uint32_t, const Slice&, const Slice&) {
  return Status::NotSupported("WriteBatch::Handler: the batch needs an override of PutEntityCF");
}

Status WriteBatch::Handler::DeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return NoFunctionFor("DeleteCF", column_family_id);
  Delete(key);
  return Status::OK();
}
void WriteBatch::Handler::Delete(const Slice&) {}

Status WriteBatch::Handler::SingleDeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return NoFunctionFor("SingleDeleteCF", column_family_id);
  SingleDelete(key);
  return Status::OK();
}
void WriteBatch::Handler::SingleDelete(const Slice&) {}

Status WriteBatch::Handler::DeleteRangeCF(uint32_t, const Slice&, const Slice&) {
  return NoFunctionFor("DeleteRangeCF");
}

Status WriteBatch::Handler::MergeCF(uint32_t column_family_id, const Slice& key,
                                    const Slice& value) {
  if (column_family_id != 0) return NoFunctionFor("MergeCF", column_family_id);
  Merge(key, value);
  return Status::OK();
}
void WriteBatch::Handler::Merge(const Slice&, const Slice&) {}

Status WriteBatch::Handler::PutBlobIndexCF(uint32_t, const Slice&, const Slice&) {
  return NoFunctionFor("PutBlobIndexCF");
}
void WriteBatch::Handler::LogData(const Slice&) {}
Status WriteBatch::Handler::MarkBeginPrepare(bool) { return NoFunctionFor("MarkBeginPrepare"); }
Status WriteBatch::Handler::MarkEndPrepare(const Slice&) { return NoFunctionFor("MarkEndPrepare"); }
Status WriteBatch::Handler::MarkNoop(bool) { return NoFunctionFor("MarkNoop"); }
Status WriteBatch::Handler::MarkRollback(const Slice&) { return NoFunctionFor("MarkRollback"); }
Status WriteBatch::Handler::MarkCommit(const Slice&) { return NoFunctionFor("MarkCommit"); }
Status WriteBatch::Handler::MarkCommitWithTimestamp(const Slice&, const Slice&) {
  return NoFunctionFor("MarkCommitWithTimestamp");
}
bool WriteBatch::Handler::Continue() { return true; }

namespace {

// The last eight bytes are the time; the reader has checked that they are there.
Status CallTimedPut(const WriteBatchRecord& record, WriteBatch::Handler* handler) {
  const size_t value_bytes = record.value.size() - sizeof(uint64_t);
  return handler->TimedPutCF(record.family, record.key, Slice(record.value.data(), value_bytes),
                             DecodeFixed64(record.value.data() + value_bytes));
}

}  // namespace

// Passes one record to the handler.
struct WriteBatchInternal::Dispatch {
  using OptionState = WriteBatch::Handler::OptionState;

  // The kind of the begin marker shows under which write policy the transaction was prepared. A
  // handler that works under another policy would apply the updates at the wrong time, so it
  // refuses the section.
  static Status BeginPrepare(ValueType marker, WriteBatch::Handler* handler) {
    const bool is_write_committed = marker == kTypeBeginPrepareXID;
    const OptionState after_commit = handler->WriteAfterCommit();
    const OptionState before_prepare = handler->WriteBeforePrepare();
    const bool is_refused =
        is_write_committed
            ? after_commit == OptionState::kDisabled || before_prepare == OptionState::kEnabled
            : after_commit == OptionState::kEnabled ||
                  (marker == kTypeBeginUnprepareXID && before_prepare == OptionState::kDisabled);
    if (is_refused) {
      return Status::NotSupported(
          "write batch: the prepared transaction was written under another write policy; empty the "
          "WAL under the old policy before changing it");
    }
    return handler->MarkBeginPrepare(marker == kTypeBeginUnprepareXID);
  }

  // Calls the function of the handler that fits the kind of the record.
  static Status Call(const WriteBatchRecord& record, bool is_empty_so_far,
                     WriteBatch::Handler* handler) {
    switch (record.type) {
      case kTypeValue: return handler->PutCF(record.family, record.key, record.value);
      case kTypeDeletion: return handler->DeleteCF(record.family, record.key);
      case kTypeSingleDeletion: return handler->SingleDeleteCF(record.family, record.key);
      case kTypeMerge: return handler->MergeCF(record.family, record.key, record.value);
      case kTypeRangeDeletion:
        return handler->DeleteRangeCF(record.family, record.key, record.value);
      case kTypeBlobIndex: return handler->PutBlobIndexCF(record.family, record.key, record.value);
      case kTypeWideColumnEntity:
        return handler->PutEntityCF(record.family, record.key, record.value);
      case kTypeValuePreferredSeqno: return CallTimedPut(record, handler);
      case kTypeLogData: handler->LogData(record.value); return Status::OK();
      case kTypeNoop: return handler->MarkNoop(is_empty_so_far);
      case kTypeEndPrepareXID: return handler->MarkEndPrepare(record.value);
      case kTypeCommitXID: return handler->MarkCommit(record.value);
      case kTypeCommitXIDAndTimestamp:
        return handler->MarkCommitWithTimestamp(record.value, record.key);
      case kTypeRollbackXID: return handler->MarkRollback(record.value);
      default: return BeginPrepare(record.type, handler);
    }
  }
};

namespace {

// Whether a Noop directly after a record of this kind opens a new sub-batch, instead of ending one
// that has updates.
bool EndsSubBatch(ValueType type) {
  return type == kTypeNoop || type == kTypeEndPrepareXID || type == kTypeCommitXID ||
         type == kTypeCommitXIDAndTimestamp || type == kTypeRollbackXID;
}

}  // namespace

// `begin` and `end` are offsets in the batch. Records before `begin` are decoded and skipped.
Status WriteBatchInternal::Iterate(const WriteBatch& batch, WriteBatch::Handler* handler,
                                   size_t begin, size_t end) {
  WriteBatchReader reader(Slice(batch.rep_.data(), end));
  uint32_t counted = 0;
  bool is_empty_so_far = true;
  WriteBatchRecord record;
  while (reader.next_offset() < end && handler->Continue() && reader.Next(&record)) {
    if (reader.record_offset() < begin) continue;
    Status status = Dispatch::Call(record, is_empty_so_far, handler);
    // TryAgain: the handler found a repeated key, has opened a new sub-batch for it, and wants the
    // same record once more. A second TryAgain for one record would never end.
    if (status.IsTryAgain()) {
      status = Dispatch::Call(record, is_empty_so_far, handler);
      if (status.IsTryAgain()) {
        return Status::Corruption("write batch: the handler asked twice for the same record");
      }
    }
    if (!status.ok()) return status;
    if (record.IsCounted()) ++counted;
    is_empty_so_far = EndsSubBatch(record.type);
  }
  Status status = reader.status();
  if (!status.ok()) return status;
  // The count of the header can only be checked if the handler has seen all records.
  const bool is_whole =
      begin == kWriteBatchHeaderBytes && end == batch.rep_.size() && reader.next_offset() == end;
  if (is_whole && counted != Count(batch)) {
    return Status::Corruption(
        StrCat("write batch: its header counts ", Count(batch), " updates, found ", counted));
  }
  return Status::OK();
}

Status WriteBatch::Iterate(Handler* handler) const {
  if (rep_.size() < kWriteBatchHeaderBytes) {
    return WriteBatchReader(Slice(rep_)).status();
  }
  return WriteBatchInternal::Iterate(*this, handler, kWriteBatchHeaderBytes, rep_.size());
}

}  // namespace ashlar
