// SPDX-License-Identifier: Apache-2.0
//
// Each thread of a Replay() takes the next record, waits until it is due, and executes it. So
// records start in the order of the trace, and a slow one delays only its own thread.
#include "db/trace/replay/replayer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/system_clock.h"
#include "ashlar/trace_record_result.h"
#include "db/trace/query_records.h"
#include "util/result.h"
#include "util/text/str_cat.h"
#include "util/threads/thread_team.h"

namespace ashlar {

QueryReplayer::QueryReplayer(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                             std::unique_ptr<TraceReader> reader)
    : clock_(db->GetEnv()->GetSystemClock().get()),
      executor_(TraceRecord::NewExecutionHandler(db, handles)),
      reader_(std::move(reader)) {}

// Starts over, after damage as well.
Status QueryReplayer::Prepare() {
  MutexLock lock(&mutex_);
  const Status status = ReadHeaderLocked();
  stopped_ = status;
  return status;
}

// Reads the header again from the begin of the trace, and with it the version of the format and the
// time from which all waits are counted.
Status QueryReplayer::ReadHeaderLocked() {
  RETURN_IF_ERROR(reader_->Reset());
  offset_ = 0;
  std::string bytes;
  TraceFrame frame;
  RETURN_IF_ERROR(ReadLocked(&bytes, &frame));
  if (frame.type != kTraceBegin) {
    return Status::Corruption(StrCat("trace: the first record has type ",
                                     static_cast<int>(frame.type), ", expected ",
                                     static_cast<int>(kTraceBegin)));
  }
  RETURN_IF_ERROR(ParseQueryTraceHeader(frame.payload, &version_));
  header_micros_ = frame.time;
  return Status::OK();
}

// Reads one frame. *frame points into *bytes. Errors name the offset of the frame.
Status QueryReplayer::ReadLocked(std::string* bytes, TraceFrame* frame) {
  assert(bytes != nullptr);
  RETURN_IF_ERROR(reader_->Read(bytes));
  const Status status = ParseTraceFrame(*bytes, frame);
  if (!status.ok()) {
    return Status::CopyAppendMessage(status, "; at offset ", StrCat(offset_));
  }
  offset_ += bytes->size();
  return Status::OK();
}

uint64_t QueryReplayer::GetHeaderTimestamp() const {
  MutexLock lock(&mutex_);
  return header_micros_;
}

Status QueryReplayer::Next(std::unique_ptr<TraceRecord>* record) {
  assert(record != nullptr);
  record->reset();
  MutexLock lock(&mutex_);
  uint64_t micros;
  return NextLocked(record, &micros);
}

// An error stays, in stopped_, unless it is that of a record that was read whole and cannot be
// replayed.
Status QueryReplayer::NextLocked(std::unique_ptr<TraceRecord>* record, uint64_t* micros) {
  RETURN_IF_ERROR(stopped_);
  const uint64_t offset = offset_;
  std::string bytes;
  TraceFrame frame;
  Status status = ReadLocked(&bytes, &frame);
  if (status.ok() && frame.type == kTraceEnd) status = Status::Incomplete("Trace end.");
  if (status.ok()) {
    *micros = frame.time;
    status = ParseQueryRecord(frame, version_, record);
    if (status.IsNotSupported()) return status;
    if (!status.ok()) status = Status::CopyAppendMessage(status, "; at offset ", StrCat(offset));
  }
  stopped_ = status;
  return status;
}

Status QueryReplayer::Execute(const std::unique_ptr<TraceRecord>& record,
                              std::unique_ptr<TraceRecordResult>* result) {
  if (record == nullptr) return Status::InvalidArgument("Replayer::Execute: there is no record");
  return record->Accept(executor_.get(), result);
}

// Returns when all records have been executed. The calling thread is one of the threads.
Status QueryReplayer::Replay(const ReplayOptions& options, const ResultCallback& result_callback) {
  // Written so that NaN is refused, too.
  if (!(options.fast_forward > 0.0) || std::isinf(options.fast_forward)) {
    return Status::InvalidArgument("Wrong fast forward speed!");
  }
  {
    MutexLock lock(&mutex_);
    RETURN_IF_ERROR(stopped_);
  }
  const Run run{
      .options = options, .callback = result_callback, .begin_micros = clock_->NowMicros()};
  {
    // The team ends before `run` does.
    ThreadTeam helpers;
    if (options.num_threads > 1) {
      helpers.Start(options.num_threads - 1, [&](size_t) { ReplayRecords(run); });
    }
    ReplayRecords(run);
  }
  MutexLock lock(&mutex_);
  // The end of the trace is no error.
  return stopped_.IsIncomplete() ? Status::OK() : stopped_;
}

// The body of each thread: takes records until there are none.
void QueryReplayer::ReplayRecords(const Run& run) {
  while (true) {
    std::unique_ptr<TraceRecord> record;
    uint64_t micros = 0;
    Status status;
    {
      // The mutex is free while the record is awaited and executed.
      MutexLock lock(&mutex_);
      status = NextLocked(&record, &micros);
      if (!stopped_.ok()) return;  // else a status that is not OK concerns this record alone
    }
    AwaitTurn(run, micros);
    std::unique_ptr<TraceRecordResult> result;
    if (status.ok()) status = Execute(record, run.callback == nullptr ? nullptr : &result);
    // Unknown records are reported, too, so that the callback sees each record.
    if (run.callback != nullptr) run.callback(std::move(status), std::move(result));
  }
}

// Times of a damaged trace may be anything; a record from before the header is due at once.
void QueryReplayer::AwaitTurn(const Run& run, uint64_t record_micros) const {
  const uint64_t header_micros = GetHeaderTimestamp();
  if (record_micros <= header_micros) return;
  constexpr double kLongestWait = 1e15;  // thirty years
  const double wait = std::min(
      kLongestWait, static_cast<double>(record_micros - header_micros) / run.options.fast_forward);
  const uint64_t due = run.begin_micros + static_cast<uint64_t>(wait);
  // Sleeps are cut, because the argument is an int.
  constexpr uint64_t kLongestSleep = 60'000'000;
  for (uint64_t now = clock_->NowMicros(); now < due; now = clock_->NowMicros()) {
    clock_->SleepForMicroseconds(static_cast<int>(std::min(due - now, kLongestSleep)));
  }
}

}  // namespace ashlar
