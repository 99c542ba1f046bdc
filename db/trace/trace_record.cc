// SPDX-License-Identifier: Apache-2.0
//
// The classes of ashlar/trace_record.h and trace_record_result.h, which only hold values.
#include "ashlar/trace_record.h"

#include <utility>

#include "ashlar/trace_record_result.h"

namespace ashlar {

namespace {

// A copy that the result owns.
PinnableSlice Pinned(const std::string& text) {
  PinnableSlice result;
  result.PinSelf(text);
  return result;
}

}  // namespace

TraceRecord::TraceRecord(uint64_t timestamp) : timestamp_(timestamp) {}
uint64_t TraceRecord::GetTimestamp() const { return timestamp_; }

QueryTraceRecord::QueryTraceRecord(uint64_t timestamp) : TraceRecord(timestamp) {}

WriteQueryTraceRecord::WriteQueryTraceRecord(PinnableSlice&& write_batch_rep, uint64_t timestamp)
    : QueryTraceRecord(timestamp), rep_(std::move(write_batch_rep)) {}
WriteQueryTraceRecord::WriteQueryTraceRecord(const std::string& write_batch_rep, uint64_t timestamp)
    : WriteQueryTraceRecord(Pinned(write_batch_rep), timestamp) {}
WriteQueryTraceRecord::~WriteQueryTraceRecord() = default;
Slice WriteQueryTraceRecord::GetWriteBatchRep() const { return rep_; }
Status WriteQueryTraceRecord::Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

GetQueryTraceRecord::GetQueryTraceRecord(uint32_t column_family_id, PinnableSlice&& key,
                                         uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_id_(column_family_id), key_(std::move(key)) {}
GetQueryTraceRecord::GetQueryTraceRecord(uint32_t column_family_id, const std::string& key,
                                         uint64_t timestamp)
    : GetQueryTraceRecord(column_family_id, Pinned(key), timestamp) {}
GetQueryTraceRecord::~GetQueryTraceRecord() = default;
uint32_t GetQueryTraceRecord::GetColumnFamilyID() const { return cf_id_; }
Slice GetQueryTraceRecord::GetKey() const { return key_; }
Status GetQueryTraceRecord::Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

IteratorQueryTraceRecord::IteratorQueryTraceRecord(uint64_t timestamp)
    : QueryTraceRecord(timestamp) {}
IteratorQueryTraceRecord::IteratorQueryTraceRecord(PinnableSlice&& lower_bound,
                                                   PinnableSlice&& upper_bound, uint64_t timestamp)
    : QueryTraceRecord(timestamp), lower_(std::move(lower_bound)), upper_(std::move(upper_bound)) {}
IteratorQueryTraceRecord::IteratorQueryTraceRecord(const std::string& lower_bound,
                                                   const std::string& upper_bound,
                                                   uint64_t timestamp)
    : IteratorQueryTraceRecord(Pinned(lower_bound), Pinned(upper_bound), timestamp) {}
IteratorQueryTraceRecord::~IteratorQueryTraceRecord() = default;
Slice IteratorQueryTraceRecord::GetLowerBound() const { return lower_; }
Slice IteratorQueryTraceRecord::GetUpperBound() const { return upper_; }

IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(SeekType seekType,
                                                           uint32_t column_family_id,
                                                           PinnableSlice&& key, uint64_t timestamp)
    : IteratorQueryTraceRecord(timestamp),
      type_(seekType),
      cf_id_(column_family_id),
      key_(std::move(key)) {}
IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(SeekType seekType,
                                                           uint32_t column_family_id,
                                                           const std::string& key,
                                                           uint64_t timestamp)
    : IteratorSeekQueryTraceRecord(seekType, column_family_id, Pinned(key), timestamp) {}
IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(
    SeekType seekType, uint32_t column_family_id, PinnableSlice&& key, PinnableSlice&& lower_bound,
    PinnableSlice&& upper_bound, uint64_t timestamp)
    : IteratorQueryTraceRecord(std::move(lower_bound), std::move(upper_bound), timestamp),
      type_(seekType),
      cf_id_(column_family_id),
      key_(std::move(key)) {}
IteratorSeekQueryTraceRecord::IteratorSeekQueryTraceRecord(
    SeekType seekType, uint32_t column_family_id, const std::string& key,
    const std::string& lower_bound, const std::string& upper_bound, uint64_t timestamp)
    : IteratorSeekQueryTraceRecord(seekType, column_family_id, Pinned(key), Pinned(lower_bound),
                                   Pinned(upper_bound), timestamp) {}
IteratorSeekQueryTraceRecord::~IteratorSeekQueryTraceRecord() = default;
TraceType IteratorSeekQueryTraceRecord::GetTraceType() const {
  return static_cast<TraceType>(type_);
}
IteratorSeekQueryTraceRecord::SeekType IteratorSeekQueryTraceRecord::GetSeekType() const {
  return type_;
}
uint32_t IteratorSeekQueryTraceRecord::GetColumnFamilyID() const { return cf_id_; }
Slice IteratorSeekQueryTraceRecord::GetKey() const { return key_; }
Status IteratorSeekQueryTraceRecord::Accept(Handler* handler,
                                            std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

MultiGetQueryTraceRecord::MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                                                   std::vector<PinnableSlice>&& keys,
                                                   uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_ids_(std::move(column_family_ids)), keys_(std::move(keys)) {}
MultiGetQueryTraceRecord::MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                                                   const std::vector<std::string>& keys,
                                                   uint64_t timestamp)
    : QueryTraceRecord(timestamp), cf_ids_(std::move(column_family_ids)) {
  keys_.reserve(keys.size());
  for (const std::string& key : keys) keys_.push_back(Pinned(key));
}
MultiGetQueryTraceRecord::~MultiGetQueryTraceRecord() = default;
std::vector<uint32_t> MultiGetQueryTraceRecord::GetColumnFamilyIDs() const { return cf_ids_; }
std::vector<Slice> MultiGetQueryTraceRecord::GetKeys() const {
  return std::vector<Slice>(keys_.begin(), keys_.end());
}
Status MultiGetQueryTraceRecord::Accept(Handler* handler,
                                        std::unique_ptr<TraceRecordResult>* result) {
  return handler->Handle(*this, result);
}

// Results.

TraceRecordResult::TraceRecordResult(TraceType trace_type) : trace_type_(trace_type) {}
TraceType TraceRecordResult::GetTraceType() const { return trace_type_; }

TraceExecutionResult::TraceExecutionResult(uint64_t start_timestamp, uint64_t end_timestamp,
                                           TraceType trace_type)
    : TraceRecordResult(trace_type), ts_start_(start_timestamp), ts_end_(end_timestamp) {}
uint64_t TraceExecutionResult::GetStartTimestamp() const { return ts_start_; }
uint64_t TraceExecutionResult::GetEndTimestamp() const { return ts_end_; }

StatusOnlyTraceExecutionResult::StatusOnlyTraceExecutionResult(Status status,
                                                               uint64_t start_timestamp,
                                                               uint64_t end_timestamp,
                                                               TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      status_(std::move(status)) {}
const Status& StatusOnlyTraceExecutionResult::GetStatus() const { return status_; }
Status StatusOnlyTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

SingleValueTraceExecutionResult::SingleValueTraceExecutionResult(Status status,
                                                                 const std::string& value,
                                                                 uint64_t start_timestamp,
                                                                 uint64_t end_timestamp,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      status_(std::move(status)),
      value_(value) {}
SingleValueTraceExecutionResult::SingleValueTraceExecutionResult(Status status, std::string&& value,
                                                                 uint64_t start_timestamp,
                                                                 uint64_t end_timestamp,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      status_(std::move(status)),
      value_(std::move(value)) {}
SingleValueTraceExecutionResult::~SingleValueTraceExecutionResult() = default;
const Status& SingleValueTraceExecutionResult::GetStatus() const { return status_; }
const std::string& SingleValueTraceExecutionResult::GetValue() const { return value_; }
Status SingleValueTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

MultiValuesTraceExecutionResult::MultiValuesTraceExecutionResult(std::vector<Status> multi_status,
                                                                 std::vector<std::string> values,
                                                                 uint64_t start_timestamp,
                                                                 uint64_t end_timestamp,
                                                                 TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      multi_status_(std::move(multi_status)),
      values_(std::move(values)) {}
MultiValuesTraceExecutionResult::~MultiValuesTraceExecutionResult() = default;
const std::vector<Status>& MultiValuesTraceExecutionResult::GetMultiStatus() const {
  return multi_status_;
}
const std::vector<std::string>& MultiValuesTraceExecutionResult::GetValues() const {
  return values_;
}
Status MultiValuesTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

IteratorTraceExecutionResult::IteratorTraceExecutionResult(
    bool valid, Status status, PinnableSlice&& key, PinnableSlice&& value, uint64_t start_timestamp,
    uint64_t end_timestamp, TraceType trace_type)
    : TraceExecutionResult(start_timestamp, end_timestamp, trace_type),
      valid_(valid),
      status_(std::move(status)),
      key_(std::move(key)),
      value_(std::move(value)) {}
IteratorTraceExecutionResult::IteratorTraceExecutionResult(
    bool valid, Status status, const std::string& key, const std::string& value,
    uint64_t start_timestamp, uint64_t end_timestamp, TraceType trace_type)
    : IteratorTraceExecutionResult(valid, std::move(status), Pinned(key), Pinned(value),
                                   start_timestamp, end_timestamp, trace_type) {}
IteratorTraceExecutionResult::~IteratorTraceExecutionResult() = default;
bool IteratorTraceExecutionResult::GetValid() const { return valid_; }
const Status& IteratorTraceExecutionResult::GetStatus() const { return status_; }
Slice IteratorTraceExecutionResult::GetKey() const { return key_; }
Slice IteratorTraceExecutionResult::GetValue() const { return value_; }
Status IteratorTraceExecutionResult::Accept(Handler* handler) { return handler->Handle(*this); }

}  // namespace ashlar
