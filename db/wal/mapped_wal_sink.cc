// SPDX-License-Identifier: Apache-2.0
//
// A timeline of the file:
//
//     | written ... | being staged | populated ahead   | allocated |  reserved addresses ...
//       ^ given back                    ^ trigger: when a range reaches it, both move on
//
// Populating is advice: a writer that is faster faults the pages in itself, and allocates space if
// even that is missing.
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

// Addresses only; bounds the size of one log.
constexpr uint64_t kCapacity = uint64_t{256} << 30;
constexpr uint64_t kMinPieceBytes = 256 << 10;
// While the file system makes a table durable an allocation takes 25 ms or more: this much is
// written meanwhile by who writes a gigabyte a second.
constexpr uint64_t kMaxAllocatedAhead = 32 << 20;
// What is mapped counts as memory of the process. With half of it writers met pages that were not
// there yet (p99.9 of 1 KB values on a disk: 100 to 300 us instead of 30 to 45).
constexpr uint64_t kMaxPopulatedAhead = 8 << 20;
// Not where flushes and deletions of files would keep it waiting.
constexpr Env::Priority kJobPriority = Env::Priority::USER;

}  // namespace

bool MappedWalSink::IsPossible(const WalSinkOptions& options) {
  assert(options.fs != nullptr);
  return MappedLogFactory::Of(options.fs) != nullptr && !options.file_options.use_direct_writes;
}

Result<std::unique_ptr<WalSink>> MappedWalSink::Open(const WalSinkOptions& options) {
  MappedLogFactory* const factory = MappedLogFactory::Of(options.fs);
  auto file =
      options.recycle_path.empty()
          ? factory->NewMappedLog(options.path, kMinPieceBytes, kCapacity)
          : factory->ReuseMappedLog(options.path, options.recycle_path, kMinPieceBytes, kCapacity);
  if (!file.ok()) return file.status();
  std::unique_ptr<MappedWalSink> sink(new MappedWalSink(options, file.Take()));
  if (options.expected_bytes > 0) sink->Prepare(options.expected_bytes);
  return std::unique_ptr<WalSink>(std::move(sink));
}

MappedWalSink::MappedWalSink(const WalSinkOptions& options, std::unique_ptr<MappedLogFile> file)
    : WalSink(options), env_(options.env), file_(std::move(file)), populate_trigger_(1) {}

MappedWalSink::~MappedWalSink() {
  if (!is_closed_)
    IgnoreError(Close(), "nobody is left to tell; the log is complete or has failed");
}

Status MappedWalSink::Stage(const Range& range, const Slice& head, const Slice& body) {
  try {
    return StageRecord(range, head, body);
  } catch (const std::bad_alloc&) {
    return FailWith(Status::MemoryLimit(path(), "no memory to stage a record"));
  }
}

Status MappedWalSink::StageRecord(const Range& range, const Slice& head, const Slice& body) {
  assert(range.offset < range.end && range.end <= size());
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

// Waits for its turn, so that its header too is stored in order.
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
  assert(range.offset < range.end && range.end <= size());
  Status status = order_.is_aborted() ? error() : file_->EnsureAllocated(range.end);
  return status.ok() ? status : FailWith(status);
}

Status MappedWalSink::FailWith(const Status& status) {
  assert(!status.ok());
  sync_.Fail(status);
  order_.Abort();
  return error();
}

Status MappedWalSink::CheckNotLost() {
  if (!file_->is_lost()) [[likely]]
    return Status::OK();
  return FailWith(
      Status::IOError(path(), "cannot be stored to: somebody cut it, or the disk failed"));
}

Status MappedWalSink::Deliver(uint64_t end) {
  assert(end <= size());  // of what was reserved
  RETURN_IF_ERROR(CheckNotLost());
  return order_.WaitUntil(end) ? Status::OK() : error();
}

// What is staged counts, whatever has failed behind it.
Status MappedWalSink::DeliverBeforeSync(uint64_t end) {
  assert(end <= size());
  RETURN_IF_ERROR(CheckNotLost());
  return order_.is_aborted() && order_.staged_end() < end ? error() : Status::OK();
}

// Only the thread that syncs waits for the records before its own: the others sleep once.
Status MappedWalSink::Sync(uint64_t end) {
  assert(end <= size() && !is_closed_);
  RETURN_IF_ERROR(DeliverBeforeSync(end));
  Status status = sync_.ReachWhenReady(
      end, [this] { return order_.staged_end(); },
      [this](uint64_t, uint64_t) { return SyncFile(); },
      [this, end] { return order_.WaitUntil(end); }, /*gathers=*/true);
  if (!status.ok()) order_.Abort();
  return status;
}

// An exception would leave those who wait for this sync waiting for ever.
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

// Of a log that nobody writes to yet. By a job of its own: who waits for the log waits for no more.
void MappedWalSink::Prepare(uint64_t expected_bytes) {
  assert(size() == 0 && expected_bytes > 0);
  expected_bytes_ = expected_bytes;
  // Half of what a log that is written to has: this one waits while the other is still in use.
  const uint64_t populated = std::clamp(expected_bytes / 2, kMinPieceBytes, kMaxPopulatedAhead / 2);
  populate_end_.store(populated, std::memory_order_relaxed);
  if (Schedule(&PopulateJob)) populate_trigger_.store(populated / 2, std::memory_order_relaxed);
}

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

void MappedWalSink::PopulateAhead(uint64_t end) {
  assert(end <= size());  // of a range that was reserved
  // A log that has become large is expected to grow on: look ahead in proportion.
  const uint64_t ahead = std::clamp(end, kMinPieceBytes, kMaxPopulatedAhead);
  uint64_t trigger = populate_trigger_.load(std::memory_order_relaxed);
  do {
    if (trigger > end) return;  // somebody else was faster
  } while (!populate_trigger_.compare_exchange_weak(trigger, end + ahead / 2,
                                                    std::memory_order_relaxed));
  populate_end_.store(end + ahead, std::memory_order_relaxed);
  if (env_ != nullptr) {
    Schedule(&PopulateJob);  // otherwise the writer that needs the space makes it
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
  // In pieces that are large but for a small log: each is a transaction of the file system.
  const uint64_t wanted = std::max(staged, sink->expected_bytes_);
  if (file.allocated() < staged + std::min(wanted, kMaxAllocatedAhead / 2)) {
    IgnoreError(file.EnsureAllocated(staged + std::min(wanted, kMaxAllocatedAhead)),
                "the same one sees it");
  }
  // What is complete need not stay mapped: the log would count twice, here and in the memtable.
  file.ReleaseBehind(staged);
  CancelJob(sink);
}

void MappedWalSink::CancelJob(void* argument) {
  auto* sink = static_cast<MappedWalSink*>(argument);
  MutexLock lock(&sink->job_mutex_);
  assert(sink->jobs_ > 0);
  --sink->jobs_;
  sink->job_done_.SignalAll();
}

// While it is paused no writer waits for a job that has the file.
void MappedWalSink::Seal() {
  assert(!is_closed_ && (order_.is_aborted() || order_.staged_end() == size()));
  is_sealed_.store(true, std::memory_order_relaxed);
  if (!Schedule(&SealJob)) GiveBack();
}

void MappedWalSink::SealJob(void* argument) {
  auto* sink = static_cast<MappedWalSink*>(argument);
  sink->GiveBack();
  CancelJob(sink);
}

void MappedWalSink::GiveBack() {
  assert(is_sealed_.load(std::memory_order_relaxed));
  file_->EndGrowth();
  file_->ReleaseBehind(file_->allocated());
}

// After a failure what was staged before it stays: a valid log up to there.
Status MappedWalSink::CloseAt(uint64_t file_bytes) {
  if (is_closed_) return error();
  is_closed_ = true;
  if (env_ != nullptr) env_->UnSchedule(/*tag=*/this, kJobPriority);
  {
    MutexLock lock(&job_mutex_);
    while (jobs_ > 0) job_done_.Wait();
  }
  assert(order_.is_aborted() || order_.staged_end() == size());  // no writer is left in it
  Status status = file_->Close(file_bytes);
  const Status first = error();
  return first.ok() ? status : first;
}

}  // namespace ashlar
