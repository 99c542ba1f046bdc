// SPDX-License-Identifier: Apache-2.0
//
// TraceSink is the place of one kind of trace of a database: it is off until Start() gives it a
// TraceWriter, and off again after End().
//
// Callers ask is_on() first, which is one relaxed load. A record is encoded and handed to the
// writer under the mutex, so the records of a trace are in the order of their times. The first
// error of the writer ends the trace: nothing is written any more, and End() returns the error.
//
// Threads: any. The mutex comes after those of everything that operates on files, because file
// operations are traced too; the writer runs under it.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/system_clock.h"
#include "ashlar/trace_reader_writer.h"
#include "ashlar/trace_record.h"
#include "env/trace/trace_frame.h"
#include "util/result.h"
#include "util/threads/mutex.h"

namespace ashlar {

// See the head of this file. Its owner outlives all callers of Record().
class TraceSink {
 public:
  // The unit of the times of records. The first record always has microseconds since 1970.
  enum class Unit : uint8_t { kMicrosSince1970, kMonotonicNanos };
  struct Limits {
    uint64_t max_bytes = 0;           // no record is written while the trace has more bytes
    uint64_t sampling_frequency = 1;  // each n-th record is written; 0 counts as 1
    bool has_order = false;           // RecordInOrder() is called
  };
  static constexpr size_t kMostKept = 1024;

  explicit TraceSink(Unit unit) : unit_(unit) {}
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;
  ~TraceSink();  // closes a running trace

  // Whether records are wanted. A caller that sees true may come too late; then Record() drops its
  // record.
  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }

  // Writes the first record. Busy: a trace is running, or has failed and was not ended.
  // InvalidArgument: no writer. After an error the writer is closed. `clock` outlives the trace.
  // `prepare` is called before is_on(), and only if no other trace is running.
  template <typename Prepare>
  Status Start(SystemClock* clock, std::unique_ptr<TraceWriter> writer, const Limits& limits,
               const Slice& first_payload, const Prepare& prepare) {
    MutexLock lock(&mutex_);
    RETURN_IF_ERROR(BeginTraceLocked(clock, std::move(writer), limits, first_payload));
    prepare();
    is_on_.store(true, std::memory_order_relaxed);
    return Status::OK();
  }
  enum class Footer : uint8_t { kNone, kEndRecord };
  // Closes the writer. Returns the first error of the trace. `*was_started` is false if there was
  // nothing to end.
  Status End(Footer footer, bool* was_started);

  // Writes a record if the limits admit it. `encode` appends the payload to a string; it runs under
  // the mutex, and only for a record that is written.
  template <typename Encode>
  void Record(TraceType type, const Encode& encode) {
    MutexLock lock(&mutex_);
    if (!AdmitsLocked()) return;
    BeginLocked(type);
    encode(&record_);
    WriteLocked();
  }

  // The same in the order of places: 0, 1, 2 and so on over all traces of the sink, each passed
  // once, and soon after all before it, by any thread. A record that comes before its turn is kept,
  // and written by the thread with the last place that it waits for, so nobody waits. At most
  // kMostKept places are open at a time. Memory that runs out ends the trace. `encode` is also
  // called for a record that the limits leave out.
  template <typename Encode>
  void RecordInOrder(uint64_t place, TraceType type, const Encode& encode) noexcept {
    MutexLock lock(&mutex_);
    assert(place >= next_place_);
    assert(place - next_place_ < kept_.size());
    Kept& kept = kept_[place % kept_.size()];
    assert(!kept.is_here);
    kept.is_here = true;
    kept.type = type;
    try {
      if (is_on()) encode(&kept.payload);
    } catch (const std::bad_alloc&) {
      kept.payload.clear();
      FailLocked(Status::MemoryLimit());
    }
    WriteKeptLocked();
  }

 private:
  // A record that waits for its turn, or is written at once.
  struct Kept {
    bool is_here = false;
    TraceType type = kTraceMax;
    std::string payload;  // empty: it is not wanted
  };
  Status BeginTraceLocked(SystemClock* clock, std::unique_ptr<TraceWriter> writer,
                          const Limits& limits, const Slice& first_payload) REQUIRES(mutex_);
  // Whether the next record is to be written. Counts it for the sampling.
  bool AdmitsLocked() REQUIRES(mutex_);
  // Empties record_ and begins a frame in it. Its time is taken here, under the mutex.
  void BeginLocked(TraceType type) REQUIRES(mutex_);
  // Completes the frame in record_ and hands it to the writer. An error or exception ends the
  // trace.
  void WriteLocked() REQUIRES(mutex_);
  void WriteKeptLocked() REQUIRES(mutex_);
  void FailLocked(const Status& error) REQUIRES(mutex_);
  Status CloseLocked() REQUIRES(mutex_);

  const Unit unit_;
  // Written under the mutex. Relaxed: the mutex orders everything else.
  std::atomic<bool> is_on_{false};
  Mutex mutex_{LockRank::kTrace};
  // The clock of the running trace; not owned.
  SystemClock* clock_ GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<TraceWriter> writer_ GUARDED_BY(mutex_);  // null: no trace was started
  Limits limits_ GUARDED_BY(mutex_);
  uint64_t since_sample_ GUARDED_BY(mutex_) = 0;  // records since the last one that was written
  std::string record_ GUARDED_BY(mutex_);         // the record that is being encoded
  uint64_t next_place_ GUARDED_BY(mutex_) = 0;    // the first whose record is not here
  std::vector<Kept> kept_ GUARDED_BY(mutex_);     // by place modulo the size; empty: never needed
  Status error_ GUARDED_BY(mutex_);               // the first one
};

}  // namespace ashlar
