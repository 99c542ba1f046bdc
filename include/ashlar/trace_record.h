// SPDX-License-Identifier: Apache-2.0
//
// The records of a query trace, as a Replayer reads them: one class for each kind of call that
// DB::StartTrace() records. A record can be executed, or given to a program's own handler.
//
// Records do not change. Threads: any number may read one record.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;

// The types of records in the three kinds of traces. The numbers are part of the file format.
enum TraceType : char {
  kTraceNone = 0,
  kTraceBegin = 1,
  kTraceEnd = 2,
  // Query traces.
  kTraceWrite = 3,
  kTraceGet = 4,
  kTraceIteratorSeek = 5,
  kTraceIteratorSeekForPrev = 6,
  // Block cache traces.
  kBlockTraceIndexBlock = 7,
  kBlockTraceFilterBlock = 8,
  kBlockTraceDataBlock = 9,
  kBlockTraceUncompressionDictBlock = 10,
  kBlockTraceRangeDeletionBlock = 11,
  // I/O traces.
  kIOTracer = 12,
  // Query traces, since version 0.2.
  kTraceMultiGet = 13,
  kTraceMax,
};

class GetQueryTraceRecord;
class IteratorSeekQueryTraceRecord;
class MultiGetQueryTraceRecord;
class TraceRecordResult;
class WriteQueryTraceRecord;

// A record of any kind.
class ASHLAR_EXPORT TraceRecord {
 public:
  // `timestamp`: when the traced call began, in microseconds since 1970.
  explicit TraceRecord(uint64_t timestamp);
  virtual ~TraceRecord() = default;

  virtual TraceType GetTraceType() const = 0;
  virtual uint64_t GetTimestamp() const;

  // Does something with each kind of record. A function sets *result, or to null if there is none;
  // `result` may be null if the caller does not need it. The returned status says whether the
  // record could be handled; a status of the database such as NotFound belongs into the result.
  class Handler {
   public:
    virtual ~Handler() = default;

    virtual Status Handle(const WriteQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
    virtual Status Handle(const GetQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
    virtual Status Handle(const IteratorSeekQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
    virtual Status Handle(const MultiGetQueryTraceRecord& record,
                          std::unique_ptr<TraceRecordResult>* result) = 0;
  };

  // Calls the function of the handler for this kind of record. `handler` must not be null.
  virtual Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) = 0;

  // A handler that executes records in a database: writes with default WriteOptions, reads with
  // default ReadOptions and the recorded bounds. Corruption: the record names a family that is not
  // among `handles`. `db` and the handles outlive the handler, which the caller deletes. Threads:
  // any number may use one handler.
  static Handler* NewExecutionHandler(DB* db, const std::vector<ColumnFamilyHandle*>& handles);

 private:
  uint64_t timestamp_;
};

// A record of a query trace.
class ASHLAR_EXPORT QueryTraceRecord : public TraceRecord {
 public:
  explicit QueryTraceRecord(uint64_t timestamp);
};

// A write: the bytes of a WriteBatch.
class ASHLAR_EXPORT WriteQueryTraceRecord : public QueryTraceRecord {
 public:
  WriteQueryTraceRecord(PinnableSlice&& write_batch_rep, uint64_t timestamp);
  WriteQueryTraceRecord(const std::string& write_batch_rep, uint64_t timestamp);
  ~WriteQueryTraceRecord() override;

  TraceType GetTraceType() const override { return kTraceWrite; }
  // As WriteBatch::Data() returned them.
  virtual Slice GetWriteBatchRep() const;
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  PinnableSlice rep_;
};

// A point read.
class ASHLAR_EXPORT GetQueryTraceRecord : public QueryTraceRecord {
 public:
  GetQueryTraceRecord(uint32_t column_family_id, PinnableSlice&& key, uint64_t timestamp);
  GetQueryTraceRecord(uint32_t column_family_id, const std::string& key, uint64_t timestamp);
  ~GetQueryTraceRecord() override;

  TraceType GetTraceType() const override { return kTraceGet; }
  virtual uint32_t GetColumnFamilyID() const;
  virtual Slice GetKey() const;
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  uint32_t cf_id_;
  PinnableSlice key_;
};

// A call of an iterator.
class ASHLAR_EXPORT IteratorQueryTraceRecord : public QueryTraceRecord {
 public:
  explicit IteratorQueryTraceRecord(uint64_t timestamp);
  // An empty bound means that there was none.
  IteratorQueryTraceRecord(PinnableSlice&& lower_bound, PinnableSlice&& upper_bound,
                           uint64_t timestamp);
  IteratorQueryTraceRecord(const std::string& lower_bound, const std::string& upper_bound,
                           uint64_t timestamp);
  ~IteratorQueryTraceRecord() override;

  // The bounds of the ReadOptions; empty: none.
  virtual Slice GetLowerBound() const;
  virtual Slice GetUpperBound() const;

 private:
  PinnableSlice lower_;
  PinnableSlice upper_;
};

// Seek() or SeekForPrev(). SeekToFirst() with a lower bound is recorded as Seek(), SeekToLast()
// with an upper bound as SeekForPrev(); both are not recorded without.
class ASHLAR_EXPORT IteratorSeekQueryTraceRecord : public IteratorQueryTraceRecord {
 public:
  enum SeekType { kSeek = kTraceIteratorSeek, kSeekForPrev = kTraceIteratorSeekForPrev };

  IteratorSeekQueryTraceRecord(SeekType seekType, uint32_t column_family_id, PinnableSlice&& key,
                               uint64_t timestamp);
  IteratorSeekQueryTraceRecord(SeekType seekType, uint32_t column_family_id, const std::string& key,
                               uint64_t timestamp);
  IteratorSeekQueryTraceRecord(SeekType seekType, uint32_t column_family_id, PinnableSlice&& key,
                               PinnableSlice&& lower_bound, PinnableSlice&& upper_bound,
                               uint64_t timestamp);
  IteratorSeekQueryTraceRecord(SeekType seekType, uint32_t column_family_id, const std::string& key,
                               const std::string& lower_bound, const std::string& upper_bound,
                               uint64_t timestamp);
  ~IteratorSeekQueryTraceRecord() override;

  TraceType GetTraceType() const override;
  virtual SeekType GetSeekType() const;
  virtual uint32_t GetColumnFamilyID() const;
  virtual Slice GetKey() const;
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  SeekType type_;
  uint32_t cf_id_;
  PinnableSlice key_;
};

// A MultiGet(): key i is read in family i.
class ASHLAR_EXPORT MultiGetQueryTraceRecord : public QueryTraceRecord {
 public:
  MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                           std::vector<PinnableSlice>&& keys, uint64_t timestamp);
  MultiGetQueryTraceRecord(std::vector<uint32_t> column_family_ids,
                           const std::vector<std::string>& keys, uint64_t timestamp);
  ~MultiGetQueryTraceRecord() override;

  TraceType GetTraceType() const override { return kTraceMultiGet; }
  virtual std::vector<uint32_t> GetColumnFamilyIDs() const;
  // The slices are valid as long as the record.
  virtual std::vector<Slice> GetKeys() const;
  Status Accept(Handler* handler, std::unique_ptr<TraceRecordResult>* result) override;

 private:
  std::vector<uint32_t> cf_ids_;
  std::vector<PinnableSlice> keys_;
};

}  // namespace ashlar
