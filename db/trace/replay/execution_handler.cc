// SPDX-License-Identifier: Apache-2.0
//
// Executes the records of a query trace in a database.
#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/iterator.h"
#include "ashlar/system_clock.h"
#include "ashlar/trace_record.h"
#include "ashlar/trace_record_result.h"
#include "ashlar/write_batch.h"
#include "db/write/write_batch_internal.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// Constant after its construction, so that any number of threads may execute records.
class ExecutionHandler final : public TraceRecord::Handler {
 public:
  ExecutionHandler(DB* db, const std::vector<ColumnFamilyHandle*>& handles)
      : db_(db), clock_(db->GetEnv()->GetSystemClock().get()) {
    assert(db != nullptr);
    for (ColumnFamilyHandle* handle : handles) families_.emplace(handle->GetID(), handle);
  }

  Status Handle(const WriteQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override;
  Status Handle(const GetQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override;
  Status Handle(const IteratorSeekQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override;
  Status Handle(const MultiGetQueryTraceRecord& record,
                std::unique_ptr<TraceRecordResult>* result) override;

 private:
  // The handle of a family. Traces name families by id.
  Status Find(uint32_t id, ColumnFamilyHandle** handle) const {
    const auto found = families_.find(id);
    if (found == families_.end()) {
      return Status::Corruption(
          StrCat("trace record: no handle of a family with id ", id, " was given"));
    }
    *handle = found->second;
    return Status::OK();
  }

  DB* const db_;
  SystemClock* const clock_;
  std::unordered_map<uint32_t, ColumnFamilyHandle*> families_;
};

// RocksDB records a prepared section twice: when it is prepared, and again with the marker that
// commits it. Only the second one is a write, and a database takes its updates without the markers.
Status WithoutMarkers(WriteBatch* batch) {
  const bool has_markers = batch->HasBeginPrepare() || batch->HasEndPrepare() ||
                           batch->HasCommit() || batch->HasRollback();
  // A rollback or a prepare alone becomes an empty batch.
  if (!has_markers) return Status::OK();
  WriteBatch updates;
  if (batch->HasCommit()) RETURN_IF_ERROR(WriteBatchInternal::CopyUpdates(*batch, &updates));
  *batch = std::move(updates);
  return Status::OK();
}

Status ExecutionHandler::Handle(const WriteQueryTraceRecord& record,
                                std::unique_ptr<TraceRecordResult>* result) {
  const uint64_t begin = clock_->NowMicros();
  WriteBatch batch(record.GetWriteBatchRep().ToString());
  RETURN_IF_ERROR(WithoutMarkers(&batch));
  Status status = db_->Write(WriteOptions(), &batch);
  // The status of the call is a part of the result; the function itself succeeds.
  if (result != nullptr) {
    *result = std::make_unique<StatusOnlyTraceExecutionResult>(
        std::move(status), begin, clock_->NowMicros(), record.GetTraceType());
  }
  return Status::OK();
}

Status ExecutionHandler::Handle(const GetQueryTraceRecord& record,
                                std::unique_ptr<TraceRecordResult>* result) {
  ColumnFamilyHandle* handle = nullptr;
  RETURN_IF_ERROR(Find(record.GetColumnFamilyID(), &handle));
  const uint64_t begin = clock_->NowMicros();
  PinnableSlice value;
  Status status = db_->Get(ReadOptions(), handle, record.GetKey(), &value, nullptr);
  const uint64_t end = clock_->NowMicros();
  if (result != nullptr) {
    std::string copy = status.ok() ? value.ToString() : std::string();
    *result = std::make_unique<SingleValueTraceExecutionResult>(std::move(status), std::move(copy),
                                                                begin, end, record.GetTraceType());
  }
  return Status::OK();
}

Status ExecutionHandler::Handle(const IteratorSeekQueryTraceRecord& record,
                                std::unique_ptr<TraceRecordResult>* result) {
  ColumnFamilyHandle* handle = nullptr;
  RETURN_IF_ERROR(Find(record.GetColumnFamilyID(), &handle));
  const Slice lower = record.GetLowerBound();
  const Slice upper = record.GetUpperBound();
  ReadOptions options;
  if (!lower.empty()) options.iterate_lower_bound = &lower;
  if (!upper.empty()) options.iterate_upper_bound = &upper;
  const std::unique_ptr<Iterator> iterator(db_->NewIterator(options, handle));
  // Making the iterator does not count as time of the seek.
  const uint64_t begin = clock_->NowMicros();
  const bool is_seek = record.GetSeekType() == IteratorSeekQueryTraceRecord::kSeek;
  is_seek ? iterator->Seek(record.GetKey()) : iterator->SeekForPrev(record.GetKey());
  const uint64_t end = clock_->NowMicros();
  if (result == nullptr) return Status::OK();
  const bool is_valid = iterator->Valid();
  PinnableSlice key;
  PinnableSlice value;
  if (is_valid) {
    key.PinSelf(iterator->key());
    value.PinSelf(iterator->value());
  }
  *result = std::make_unique<IteratorTraceExecutionResult>(is_valid, iterator->status(),
                                                           std::move(key), std::move(value), begin,
                                                           end, record.GetTraceType());
  return Status::OK();
}

Status ExecutionHandler::Handle(const MultiGetQueryTraceRecord& record,
                                std::unique_ptr<TraceRecordResult>* result) {
  const std::vector<uint32_t> families = record.GetColumnFamilyIDs();
  const std::vector<Slice> keys = record.GetKeys();
  // The record may have been made by a program.
  if (families.size() != keys.size() || keys.empty()) {
    return Status::InvalidArgument(StrCat("trace record: a MultiGet of ", families.size(),
                                          " families and ", keys.size(), " keys"));
  }
  std::vector<ColumnFamilyHandle*> handles(keys.size());
  for (size_t i = 0; i < keys.size(); i++) RETURN_IF_ERROR(Find(families[i], &handles[i]));
  const uint64_t begin = clock_->NowMicros();
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db_->MultiGet(ReadOptions(), keys.size(), handles.data(), keys.data(), values.data(), nullptr,
                statuses.data());
  const uint64_t end = clock_->NowMicros();
  if (result == nullptr) return Status::OK();
  std::vector<std::string> copies(keys.size());
  for (size_t i = 0; i < keys.size(); i++) {
    if (statuses[i].ok()) copies[i] = values[i].ToString();
  }
  *result = std::make_unique<MultiValuesTraceExecutionResult>(
      std::move(statuses), std::move(copies), begin, end, record.GetTraceType());
  return Status::OK();
}

}  // namespace

TraceRecord::Handler* TraceRecord::NewExecutionHandler(
    DB* db, const std::vector<ColumnFamilyHandle*>& handles) {
  return new ExecutionHandler(db, handles);
}

}  // namespace ashlar
