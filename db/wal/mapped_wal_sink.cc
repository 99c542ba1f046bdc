// SPDX-License-Identifier: Apache-2.0
//
// A timeline of the file:
//
//     | written ... | being staged | populated ahead   | allocated |  reserved addresses ...
//       ^ unmapped                      ^ trigger: when a range reaches it, both move on
//
// Populating is advice. A writer that is faster takes the page faults itself, and allocates space
// if even that is missing.
#include "db/wal/mapped_wal_sink.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/wal/stage_record.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"

namespace ashlar {
namespace {

constexpr uint64_t kMinPieceBytes = 256 << 10;
// While the file system makes a table durable, an allocation takes 25 ms or more. A writer of one
// gigabyte per second writes this much in that time.
constexpr uint64_t kMaxAllocatedAhead = 32 << 20;
// Mapped pages count as memory of the process. With half of this size, writers met pages that were
// not populated yet (p99.9 of 1 KB values on a disk: 100 to 300 us instead of 30 to 45).
constexpr uint64_t kMaxPopulatedAhead = 8 << 20;
// A pool in which flushes and deletions of files do not delay the job.
constexpr Env::Priority kJobPriority = Env::Priority::USER;

}  // namespace

bool MappedWalSink::IsPossible(const WalSinkOptions& options) {
  assert(options.fs != nullptr);
  return MappedLogFactory::Of(options.fs) != nullptr && !options.file_options.use_direct_writes;
}

Result<std::unique_ptr<WalSink>> MappedWalSink::Open(const WalSinkOptions& options) {
  MappedLogFactory* const factory = MappedLogFactory::Of(options.fs);
  auto file = options.recycle_path.empty()
                  ? factory->NewMappedLog(options.path, kMinPieceBytes, options.mapped_capacity)
                  : factory->ReuseMappedLog(options.path, options.recycle_path, kMinPieceBytes,
                                            options.mapped_capacity);
  if (!file.ok()) return file.status();
  std::unique_ptr<MappedWalSink> sink(new MappedWalSink(options, file.Take()));
  if (options.expected_bytes > 0) sink->Prepare(options.expected_bytes);
  return std::unique_ptr<WalSink>(std::move(sink));
}

MappedWalSink::MappedWalSink(const WalSinkOptions& options, std::unique_ptr<MappedLogFile> file)
    : WalSink(options), env_(options.env), file_(std::move(file)), populate_trigger_(1) {}

MappedWalSink::~MappedWalSink() {
  if (!is_closed_) IgnoreError(Close(), "the log is complete or has failed, and no caller is left");
}

Status MappedWalSink::Stage(const Range& range, const Slice& head, const Slice& body) {
  try {
    return StageRecord(range, head, body);
  } catch (const std::bad_alloc&) {
    return FailWith(Status::MemoryLimit(path(), "no memory to stage a record"));
  }
}

Status MappedWalSink::StageRecord(const Range& range, const Slice& head, const Slice& body) {
  assert(range.offset < range.end);
  assert(range.end <= size());
  if (order_.is_aborted()) [[unlikely]]
    return error();
  if (range.end >= populate_trigger_.load(std::memory_order_relaxed)) [[unlikely]] {
    PopulateAhead(range.end);
  }
  if (range.end > file_->allocated()) [[unlikely]]
    RETURN_IF_ERROR(MakeRoom(range));
  const auto memory_at = [this](uint64_t offset) { return file_->At(offset); };
  StageInOrder(framing(), range, head, body, memory_at, &order_);
  AddIoBytes(&IOStatsContext::bytes_written, range.end - range.offset);
  return Status::OK();
}

// Waits until all bytes before the range are staged, so that the header of this record is stored in
// order too.
Status MappedWalSink::StageRaw(const Range& range, const Slice& bytes) {
  assert(range.end - range.offset == bytes.size());
  if (range.end > file_->allocated()) RETURN_IF_ERROR(MakeRoom(range));
  if (!order_.WaitUntil(range.offset)) return error();
  assert(order_.staged_end() == range.offset);  // its turn
  std::memcpy(file_->At(range.offset), bytes.data(), bytes.size());
  order_.Complete(range.offset, range.end, std::vector<LogHeaderStore>());
  AddIoBytes(&IOStatsContext::bytes_written, bytes.size());
  return Status::OK();
}

Status MappedWalSink::MakeRoom(const Range& range) {
  assert(range.offset < range.end);
  assert(range.end <= size());
  Status status = order_.is_aborted() ? error() : file_->EnsureAllocated(range.end);
  return status.ok() ? status : FailWith(status);
}

// Makes this the error of all later calls, unless an earlier one is set, and wakes all waiting
// threads.
Status MappedWalSink::FailWith(const Status& status) {
  assert(!status.ok());
  sync_.Fail(status);
  order_.Abort();
  return error();
}

// Fails if a store into the mapping did not reach the file.
Status MappedWalSink::CheckNotLost() {
  if (!file_->is_lost()) [[likely]]
    return Status::OK();
  return FailWith(
      Status::IOError(path(), "cannot be stored to: the file was truncated, or the disk failed"));
}

Status MappedWalSink::Deliver(uint64_t end) {
  assert(end <= size());
  RETURN_IF_ERROR(CheckNotLost());
  return order_.WaitUntil(end) ? Status::OK() : error();
}

// Counts the bytes that are staged, even if bytes before or after them have failed.
Status MappedWalSink::DeliverBeforeSync(uint64_t end) {
  assert(end <= size());
  RETURN_IF_ERROR(CheckNotLost());
  return order_.is_aborted() && order_.staged_end() < end ? error() : Status::OK();
}

// Only the thread that runs the sync waits for the records before its own; the others sleep once.
Status MappedWalSink::Sync(uint64_t end) {
  assert(end <= size());
  assert(!is_closed_);
  RETURN_IF_ERROR(DeliverBeforeSync(end));
  Status status = sync_.ReachWhenReady(
      end, [this] { return order_.staged_end(); },
      [this](uint64_t, uint64_t) { return SyncFile(); },
      [this, end] { return order_.WaitUntil(end); }, /*gathers=*/true);
  if (!status.ok()) order_.Abort();
  return status;
}

// An exception must not escape, because the threads that wait for this sync would wait for ever.
Status MappedWalSink::SyncFile() {
  const StopWatch watch(SystemClock::Default().get(), statistics(), WAL_FILE_SYNC_MICROS);
  CountSync();
  const IoTimer timer(&IOStatsContext::fsync_nanos);
  try {
    return file_->Sync();
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit(path(), "no memory to sync the log");
  }
}

// ---- Pages ahead

// For a log that is not written yet. A job of its own populates it, so threads that wait for the
// log wait for nothing more.
void MappedWalSink::Prepare(uint64_t expected_bytes) {
  assert(size() == 0);
  assert(expected_bytes > 0);
  expected_bytes_ = expected_bytes;
  // Half of what a log in use has, because this log waits while the other one is still in use.
  const uint64_t populated = std::clamp(expected_bytes / 2, kMinPieceBytes, kMaxPopulatedAhead / 2);
  populate_end_.store(populated, std::memory_order_relaxed);
  if (Schedule(&PopulateJob)) populate_trigger_.store(populated / 2, std::memory_order_relaxed);
}

// The job is counted before it is scheduled, because it may end before Schedule() returns. If it
// cannot be scheduled, the count is taken back, and the caller has to do without the job.
bool MappedWalSink::Schedule(void (*job)(void*)) {
  if (env_ == nullptr) return false;
  {
    MutexLock lock(&job_mutex_);
    ++jobs_;
  }
  try {
    env_->Schedule(job, this, kJobPriority, /*tag=*/this, &CancelJob);
  } catch (const std::bad_alloc&) {
    CancelJob(this);
    return false;
  }
  return true;
}

// Lets a background job touch the pages that later writes need, so writers do not wait for page
// faults.
void MappedWalSink::PopulateAhead(uint64_t end) {
  assert(end <= size());
  // A large log is expected to grow further, so it looks ahead in proportion.
  const uint64_t ahead = std::clamp(end, kMinPieceBytes, kMaxPopulatedAhead);
  uint64_t trigger = populate_trigger_.load(std::memory_order_relaxed);
  do {
    if (trigger > end) return;  // another thread was faster
  } while (!populate_trigger_.compare_exchange_weak(trigger, end + ahead / 2,
                                                    std::memory_order_relaxed));
  populate_end_.store(end + ahead, std::memory_order_relaxed);
  if (env_ != nullptr) {
    Schedule(&PopulateJob);  // if this fails, the writer that needs the space allocates it
    return;
  }
  IgnoreError(file_->PopulateAhead(end + ahead), "the writer that needs the space sees the error");
}

void MappedWalSink::PopulateJob(void* argument) {
  auto* sink = static_cast<MappedWalSink*>(argument);
  if (sink->is_sealed_.load(std::memory_order_relaxed)) return CancelJob(sink);
  const uint64_t end = sink->populate_end_.load(std::memory_order_relaxed);
  MappedLogFile& file = *sink->file_;
  IgnoreError(file.PopulateAhead(end), "the writer that needs the space sees the error");
  const uint64_t staged = sink->order_.staged_end();
  // Allocates large pieces unless the log is small, because each is a transaction of the file
  // system.
  const uint64_t wanted = std::max(staged, sink->expected_bytes_);
  if (file.allocated() < staged + std::min(wanted, kMaxAllocatedAhead / 2)) {
    IgnoreError(file.EnsureAllocated(staged + std::min(wanted, kMaxAllocatedAhead)),
                "the writer that needs the space sees the error");
  }
  // Complete bytes need not stay mapped; otherwise they would count twice, here and in the
  // memtable.
  file.ReleaseBehind(staged);
  CancelJob(sink);
}

// Ends a job, whether it has run or was cancelled.
void MappedWalSink::CancelJob(void* argument) {
  auto* sink = static_cast<MappedWalSink*>(argument);
  MutexLock lock(&sink->job_mutex_);
  assert(sink->jobs_ > 0);
  --sink->jobs_;
  sink->job_done_.SignalAll();
}

// Called while the commit pipeline is paused, so that no writer waits for a job that locks the
// file.
void MappedWalSink::Seal() {
  assert(!is_closed_);
  assert((order_.is_aborted() || order_.staged_end() == size()));
  is_sealed_.store(true, std::memory_order_relaxed);
  if (!Schedule(&SealJob)) GiveBack();
}

void MappedWalSink::SealJob(void* argument) {
  auto* sink = static_cast<MappedWalSink*>(argument);
  sink->GiveBack();
  CancelJob(sink);
}

// Frees the memory and the space of a log to which no more records are written.
void MappedWalSink::GiveBack() {
  assert(is_sealed_.load(std::memory_order_relaxed));
  file_->EndGrowth();
  file_->ReleaseBehind(file_->allocated());
}

// After a failure the records that were staged before it are kept: they are a valid log.
Status MappedWalSink::CloseAt(uint64_t file_bytes) {
  if (is_closed_) return error();
  is_closed_ = true;
  if (env_ != nullptr) env_->UnSchedule(/*tag=*/this, kJobPriority);
  {
    MutexLock lock(&job_mutex_);
    while (jobs_ > 0) job_done_.Wait();
  }
  assert(order_.is_aborted() || order_.staged_end() == size());  // no writer is in the log
  Status status = file_->Close(file_bytes);
  const Status first = error();
  return first.ok() ? status : first;
}

}  // namespace ashlar
