// SPDX-License-Identifier: Apache-2.0
//
// What a database answered when a record of a trace was executed. Results do not change. Threads:
// any number may read one result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/trace_record.h"

namespace ashlar {

class IteratorTraceExecutionResult;
class MultiValuesTraceExecutionResult;
class SingleValueTraceExecutionResult;
class StatusOnlyTraceExecutionResult;

// A result of any kind.
class ASHLAR_EXPORT TraceRecordResult {
 public:
  // `trace_type`: that of the record.
  explicit TraceRecordResult(TraceType trace_type);
  virtual ~TraceRecordResult() = default;

  virtual TraceType GetTraceType() const;

  // Does something with each kind of result.
  class Handler {
   public:
    virtual ~Handler() = default;

    virtual Status Handle(const StatusOnlyTraceExecutionResult& result) = 0;
    virtual Status Handle(const SingleValueTraceExecutionResult& result) = 0;
    virtual Status Handle(const MultiValuesTraceExecutionResult& result) = 0;
    virtual Status Handle(const IteratorTraceExecutionResult& result) = 0;
  };

  // Calls the function of the handler for this kind of result. `handler` must not be null.
  virtual Status Accept(Handler* handler) = 0;

 private:
  TraceType trace_type_;
};

// The result of an execution, with its times in microseconds since 1970.
class ASHLAR_EXPORT TraceExecutionResult : public TraceRecordResult {
 public:
  TraceExecutionResult(uint64_t start_timestamp, uint64_t end_timestamp, TraceType trace_type);

  virtual uint64_t GetStartTimestamp() const;
  virtual uint64_t GetEndTimestamp() const;
  inline uint64_t GetLatency() const { return GetEndTimestamp() - GetStartTimestamp(); }

 private:
  uint64_t ts_start_;
  uint64_t ts_end_;
};

// Of a write.
class ASHLAR_EXPORT StatusOnlyTraceExecutionResult : public TraceExecutionResult {
 public:
  StatusOnlyTraceExecutionResult(Status status, uint64_t start_timestamp, uint64_t end_timestamp,
                                 TraceType trace_type);
  ~StatusOnlyTraceExecutionResult() override = default;

  virtual const Status& GetStatus() const;
  Status Accept(Handler* handler) override;

 private:
  Status status_;
};

// Of a point read.
class ASHLAR_EXPORT SingleValueTraceExecutionResult : public TraceExecutionResult {
 public:
  SingleValueTraceExecutionResult(Status status, const std::string& value, uint64_t start_timestamp,
                                  uint64_t end_timestamp, TraceType trace_type);
  SingleValueTraceExecutionResult(Status status, std::string&& value, uint64_t start_timestamp,
                                  uint64_t end_timestamp, TraceType trace_type);
  ~SingleValueTraceExecutionResult() override;

  virtual const Status& GetStatus() const;
  // Empty unless the status is OK.
  virtual const std::string& GetValue() const;
  Status Accept(Handler* handler) override;

 private:
  Status status_;
  std::string value_;
};

// Of a MultiGet(), in the order of the keys.
class ASHLAR_EXPORT MultiValuesTraceExecutionResult : public TraceExecutionResult {
 public:
  MultiValuesTraceExecutionResult(std::vector<Status> multi_status, std::vector<std::string> values,
                                  uint64_t start_timestamp, uint64_t end_timestamp,
                                  TraceType trace_type);
  ~MultiValuesTraceExecutionResult() override;

  virtual const std::vector<Status>& GetMultiStatus() const;
  virtual const std::vector<std::string>& GetValues() const;
  Status Accept(Handler* handler) override;

 private:
  std::vector<Status> multi_status_;
  std::vector<std::string> values_;
};

// Of a seek: where the iterator stands. Key and value are empty if it is not valid.
class ASHLAR_EXPORT IteratorTraceExecutionResult : public TraceExecutionResult {
 public:
  IteratorTraceExecutionResult(bool valid, Status status, PinnableSlice&& key,
                               PinnableSlice&& value, uint64_t start_timestamp,
                               uint64_t end_timestamp, TraceType trace_type);
  IteratorTraceExecutionResult(bool valid, Status status, const std::string& key,
                               const std::string& value, uint64_t start_timestamp,
                               uint64_t end_timestamp, TraceType trace_type);
  ~IteratorTraceExecutionResult() override;

  virtual bool GetValid() const;
  virtual const Status& GetStatus() const;
  virtual Slice GetKey() const;
  virtual Slice GetValue() const;
  Status Accept(Handler* handler) override;

 private:
  bool valid_;
  Status status_;
  PinnableSlice key_;
  PinnableSlice value_;
};

}  // namespace ashlar
