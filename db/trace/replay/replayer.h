// SPDX-License-Identifier: Apache-2.0
//
// The replayer of query traces: DB::NewDefaultReplayer(). It knows the database through its public
// calls only, so it works on any DB. Threads: as ashlar/utilities/replayer.h says.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/trace_reader_writer.h"
#include "ashlar/trace_record.h"
#include "ashlar/utilities/replayer.h"
#include "env/trace/trace_frame.h"
#include "util/threads/mutex.h"

namespace ashlar {

class ColumnFamilyHandle;
class DB;
class SystemClock;

// One thread may call Replay() at a time. Records are read under the mutex and executed without it.
class QueryReplayer final : public Replayer {
 public:
  // `db` and the handles outlive the replayer.
  QueryReplayer(DB* db, const std::vector<ColumnFamilyHandle*>& handles,
                std::unique_ptr<TraceReader> reader);

  Status Prepare() override;
  uint64_t GetHeaderTimestamp() const override;
  Status Next(std::unique_ptr<TraceRecord>* record) override;
  Status Execute(const std::unique_ptr<TraceRecord>& record,
                 std::unique_ptr<TraceRecordResult>* result) override;
  using ResultCallback = std::function<void(Status, std::unique_ptr<TraceRecordResult>&&)>;
  Status Replay(const ReplayOptions& options, const ResultCallback& result_callback) override;

 private:
  // One call of Replay().
  struct Run {
    const ReplayOptions& options;
    const ResultCallback& callback;
    const uint64_t begin_micros;  // now
  };
  // Executes records until the trace ends or stops.
  void ReplayRecords(const Run& run);
  // Waits until the moment at which a record with this time is due.
  void AwaitTurn(const Run& run, uint64_t record_micros) const;

  // Reads the first record of the trace.
  Status ReadHeaderLocked() REQUIRES(mutex_);
  // `*frame` points into the bytes, which are those of the next record.
  Status ReadLocked(std::string* bytes, TraceFrame* frame) REQUIRES(mutex_);
  // Reads the next record and its time. `*record` is null after NotSupported.
  Status NextLocked(std::unique_ptr<TraceRecord>* record, uint64_t* micros) REQUIRES(mutex_);

  SystemClock* const clock_;
  const std::unique_ptr<TraceRecord::Handler> executor_;
  mutable Mutex mutex_{LockRank::kTrace};
  const std::unique_ptr<TraceReader> reader_ GUARDED_BY(mutex_);
  uint64_t offset_ GUARDED_BY(mutex_) = 0;  // of the next record, if there is nothing in between
  uint64_t header_micros_ GUARDED_BY(mutex_) = 0;
  int version_ GUARDED_BY(mutex_) = 0;
  // Why there is no next record: not prepared, the end, or damage.
  Status stopped_ GUARDED_BY(mutex_) = Status::Incomplete("Not prepared!");
};

}  // namespace ashlar
