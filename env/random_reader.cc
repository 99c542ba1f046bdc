// SPDX-License-Identifier: Apache-2.0
//
// RandomReader: exact reads over an FSRandomAccessFile.
#include "env/random_reader.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <deque>
#include <vector>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/aligned_buffer.h"
#include "env/io_rule.h"
#include "env/rate_limiter.h"
#include "env/trace/io_trace.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The histogram for reads of `activity`, or HISTOGRAM_ENUM_MAX if there is none.
uint32_t HistogramOf(Env::IOActivity activity) {
  switch (activity) {
    case Env::IOActivity::kFlush: return FILE_READ_FLUSH_MICROS;
    case Env::IOActivity::kCompaction: return FILE_READ_COMPACTION_MICROS;
    case Env::IOActivity::kDBOpen: return FILE_READ_DB_OPEN_MICROS;
    case Env::IOActivity::kGet: return FILE_READ_GET_MICROS;
    case Env::IOActivity::kMultiGet: return FILE_READ_MULTIGET_MICROS;
    case Env::IOActivity::kDBIterator: return FILE_READ_DB_ITERATOR_MICROS;
    case Env::IOActivity::kVerifyDBChecksum: return FILE_READ_VERIFY_DB_CHECKSUM_MICROS;
    case Env::IOActivity::kVerifyFileChecksums: return FILE_READ_VERIFY_FILE_CHECKSUMS_MICROS;
    default: return HISTOGRAM_ENUM_MAX;
  }
}

// Measures one read for the statistics and for the I/O context of the thread.
class ReadWatch {
 public:
  ReadWatch(Statistics* statistics, Env::IOActivity activity, const LevelHistogramRef& by_level)
      : timer_(&IOStatsContext::read_nanos, &IOStatsContext::cpu_read_nanos),
        statistics_(WantsTimers(statistics) ? statistics : nullptr),
        of_activity_(HistogramOf(activity)),
        by_level_(by_level),
        // Without statistics the clock is not read at all.
        start_micros_(statistics_ != nullptr ? SystemClock::Default()->NowMicros() : 0) {}
  ~ReadWatch() {
    if (statistics_ == nullptr) return;
    const uint64_t micros = SystemClock::Default()->NowMicros() - start_micros_;
    statistics_->reportTimeToHistogram(SST_READ_MICROS, micros);
    if (of_activity_ != HISTOGRAM_ENUM_MAX) {
      statistics_->reportTimeToHistogram(of_activity_, micros);
    }
    by_level_.Add(micros);
  }
  ReadWatch(const ReadWatch&) = delete;
  ReadWatch& operator=(const ReadWatch&) = delete;

 private:
  const IoTimer timer_;
  Statistics* const statistics_;
  const uint32_t of_activity_;
  const LevelHistogramRef& by_level_;
  const uint64_t start_micros_;
};

// The counters of one storage tier.
struct TierCounters {
  Temperature temperature;
  uint32_t read_bytes, read_count;  // of Statistics
  uint64_t FileIOByTemperature::*bytes_of_thread;
  uint64_t FileIOByTemperature::*count_of_thread;
};
constexpr TierCounters kTierCounters[] = {
    {Temperature::kHot, HOT_FILE_READ_BYTES, HOT_FILE_READ_COUNT,
     &FileIOByTemperature::hot_file_bytes_read, &FileIOByTemperature::hot_file_read_count},
    {Temperature::kWarm, WARM_FILE_READ_BYTES, WARM_FILE_READ_COUNT,
     &FileIOByTemperature::warm_file_bytes_read, &FileIOByTemperature::warm_file_read_count},
    {Temperature::kCool, COOL_FILE_READ_BYTES, COOL_FILE_READ_COUNT,
     &FileIOByTemperature::cool_file_bytes_read, &FileIOByTemperature::cool_file_read_count},
    {Temperature::kCold, COLD_FILE_READ_BYTES, COLD_FILE_READ_COUNT,
     &FileIOByTemperature::cold_file_bytes_read, &FileIOByTemperature::cold_file_read_count},
    {Temperature::kIce, ICE_FILE_READ_BYTES, ICE_FILE_READ_COUNT,
     &FileIOByTemperature::ice_file_bytes_read, &FileIOByTemperature::ice_file_read_count},
};

}  // namespace

// A MANIFEST may name tiers that have no counters.
void RandomReader::CountInKnownTier(uint64_t n) const {
  for (const TierCounters& tier : kTierCounters) {
    if (tier.temperature != temperature_) continue;
    RecordTick(statistics_, tier.read_bytes, n);
    RecordTick(statistics_, tier.read_count);
    IOStatsContext* const context = get_iostats_context();
    if (!CountsPerf() || context->disable_iostats) return;
    context->file_io_stats_by_temperature.*tier.bytes_of_thread += n;
    context->file_io_stats_by_temperature.*tier.count_of_thread += 1;
    return;
  }
}

bool RandomReader::IsCachedBySystem() const {
  // Only files of the operating system pass its page cache, and only without direct I/O.
  return !is_direct() && WithoutIoTrace(fs_) == FileSystem::Default().get();
}

Result<std::unique_ptr<RandomReader>> RandomReader::Open(FileSystem* fs, const std::string& path,
                                                         const FileOptions& file_options) {
  assert(fs != nullptr);
  AssertIoAllowed();
  std::unique_ptr<FSRandomAccessFile> file;
  {
    const IoTimer timer(&IOStatsContext::open_nanos);
    RETURN_IF_ERROR(fs->NewRandomAccessFile(path, file_options, &file, nullptr));
  }
  // The open file knows its size best; older files may not.
  uint64_t size = 0;
  IOStatus status = file->GetFileSize(&size);
  if (status.IsNotSupported()) {
    status = fs->GetFileSize(path, file_options.io_options, &size, nullptr);
  }
  if (!status.ok()) return status;
  auto reader = std::make_unique<RandomReader>(std::move(file), path, size, fs);
  reader->PaceBy(file_options.rate_limiter);
  reader->temperature_ = file_options.temperature;
  return reader;
}

// Must be called before other threads read the file, because tail_ has no lock.
Status RandomReader::KeepTail(size_t n) {
  assert(tail_ == nullptr);
  assert(n <= size_);
  PageArray memory = MakePageArray(n);
  Slice found;
  RETURN_IF_ERROR(ReadFile(size_ - n, n, memory.get(), &found, IOOptions()));
  // If the file is memory-mapped, the result points into the mapping and no copy is needed.
  if (found.data() != memory.get()) return Status::OK();
  tail_ = std::move(memory);
  tail_bytes_ = n;
  return Status::OK();
}

Status RandomReader::ReadExactly(uint64_t offset, size_t n, char* scratch, Slice* result,
                                 const IOOptions& io) const {
  // The condition cannot overflow, because n is compared with the rest of the file.
  if (tail_ != nullptr && offset >= size_ - tail_bytes_ && offset <= size_ && n <= size_ - offset) {
    std::memcpy(scratch, tail_.get() + (offset - (size_ - tail_bytes_)), n);
    *result = Slice(scratch, n);
    return Status::OK();
  }
  return ReadFile(offset, n, scratch, result, io);
}

Status RandomReader::ReadFile(uint64_t offset, size_t n, char* scratch, Slice* result,
                              const IOOptions& io) const {
  AssertIoAllowed();
  assert(result != nullptr);
  // Ranges beyond the end are refused without reading, so that a caller may pass an offset or
  // length that is not verified yet.
  if (offset > size_ || n > size_ - offset) {
    *result = Slice();
    return ShortRead(offset, n, static_cast<size_t>(offset < size_ ? size_ - offset : 0));
  }
  // The wait for the rate limiter does not count as time of reading.
  assert(n <= size_ - offset);
  Pace(n, io);
  {
    const ReadWatch watch(statistics_, io.io_activity, by_level_);
    RETURN_IF_ERROR(is_direct() ? ReadPages(offset, n, scratch, result, io)
                                : file_->Read(offset, n, io, result, scratch, nullptr));
  }
  AddIoBytes(&IOStatsContext::bytes_read, result->size());
  CountInTier(result->size());
  if (io.io_activity == Env::IOActivity::kVerifyDBChecksum) {
    RecordTick(statistics_, VERIFY_CHECKSUM_READ_BYTES, result->size());
  }
  return result->size() == n ? Status::OK() : ShortRead(offset, n, result->size());
}

Status RandomReader::ReadAgain(uint64_t offset, size_t n, char* scratch, Slice* result) const {
  AssertIoAllowed();
  // The kernel drops only whole pages from its cache, so the range is widened to whole pages. It
  // may extend beyond the end of the file.
  const uint64_t begin = offset / kDefaultPageSize * kDefaultPageSize;
  const uint64_t end = (offset + n + kDefaultPageSize - 1) / kDefaultPageSize * kDefaultPageSize;
  assert(begin <= offset && end >= offset + n);
  IgnoreError(file_->InvalidateCache(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
              "then the same bytes are read again, and their checksum is checked");
  IOOptions io;
  int64_t supported = 0;
  if (fs_ != nullptr) fs_->SupportedOps(supported);
  // File systems with other copies of the bytes return one whose checksum fits.
  io.verify_and_reconstruct_read =
      (supported >> FSSupportedOps::kVerifyAndReconstructRead & 1) != 0;
  return ReadFile(offset, n, scratch, result, io);
}

Status RandomReader::MultiReadExactly(FSReadRequest* requests, size_t count,
                                      const IOOptions& io) const {
  AssertIoAllowed();
  assert(requests != nullptr || count == 0);
  // All bytes are paid for before the first read, because the requests run together.
  for (size_t i = 0; i < count; ++i) Pace(requests[i].len, io);
  {
    const ReadWatch watch(statistics_, io.io_activity, by_level_);
    RETURN_IF_ERROR(is_direct() ? MultiReadPages(requests, count, io)
                                : file_->MultiRead(requests, count, io, nullptr));
  }
  Status first_error;
  // Short reads are found here for each request.
  for (FSReadRequest* request = requests; request != requests + count; ++request) {
    if (request->status.ok() && request->result.size() != request->len) {
      request->status =
          status_to_io_status(ShortRead(request->offset, request->len, request->result.size()));
    }
    if (request->status.ok()) {
      AddIoBytes(&IOStatsContext::bytes_read, request->result.size());
      CountInTier(request->result.size());
    }
    // The others are still checked, because each request has a status of its own.
    first_error.UpdateIfOk(request->status);
  }
  return first_error;
}

void RandomReader::AwaitTurn(size_t n, const IOOptions& io) const {
  AwaitTokens(rate_limiter_, n, io.rate_limiter_priority, statistics_, RateLimiter::OpType::kRead);
}

// The aligned range of pages that covers [offset, offset + n), and memory for its bytes.
struct RandomReader::Pages {
  Pages(uint64_t offset, size_t n, size_t alignment)
      : begin(offset / alignment * alignment),
        bytes(static_cast<size_t>((offset + n + alignment - 1) / alignment * alignment - begin)),
        front(static_cast<size_t>(offset - begin)),
        memory(bytes, alignment) {
    assert(front < alignment);
    assert(bytes >= front + n);
  }
  // Copies the requested range out of `found`, the bytes that were read. They may end before the
  // range does, if the file ends there.
  Slice Take(const Slice& found, size_t n, char* scratch) const {
    const size_t there = found.size() > front ? std::min(found.size() - front, n) : 0;
    if (there > 0) std::memcpy(scratch, found.data() + front, there);
    return {scratch, there};
  }

  const uint64_t begin;
  const size_t bytes;
  const size_t front;
  const AlignedBuffer memory;
};

IOStatus RandomReader::ReadPages(uint64_t offset, size_t n, char* scratch, Slice* result,
                                 const IOOptions& io) const {
  assert(result != nullptr);
  assert(is_direct());
  assert(alignment_ > 0);
  const Pages pages(offset, n, alignment_);
  Slice found;
  IOStatus status = file_->Read(pages.begin, pages.bytes, io, &found, pages.memory.data(), nullptr);
  *result = pages.Take(status.ok() ? found : Slice(), n, scratch);
  return status;
}

IOStatus RandomReader::MultiReadPages(FSReadRequest* requests, size_t count,
                                      const IOOptions& io) const {
  assert(is_direct());
  assert(requests != nullptr || count == 0);
  // A deque, because Pages cannot be moved.
  std::deque<Pages> pages;
  std::vector<FSReadRequest> whole(count);
  for (size_t i = 0; i < count; ++i) {
    pages.emplace_back(requests[i].offset, requests[i].len, alignment_);
    whole[i].offset = pages[i].begin;
    whole[i].len = pages[i].bytes;
    whole[i].scratch = pages[i].memory.data();
  }
  // The requests keep their own statuses; memory is freed when the copies are made.
  RETURN_IF_ERROR(file_->MultiRead(whole.data(), count, io, nullptr));
  assert(pages.size() == count);
  for (size_t i = 0; i < count; ++i) {
    requests[i].status = whole[i].status;
    const Slice found = whole[i].status.ok() ? whole[i].result : Slice();
    requests[i].result = pages[i].Take(found, requests[i].len, requests[i].scratch);
  }
  return IOStatus::OK();
}

Status RandomReader::Prefetch(uint64_t offset, size_t n) const {
  AssertIoAllowed();
  const IOStatus status = file_->Prefetch(offset, n, IOOptions(), nullptr);
  // A hint that a file system does not know is no error.
  if (status.IsNotSupported()) return Status::OK();
  return status;
}

Status RandomReader::ShortRead(uint64_t offset, size_t expected, size_t found) const {
  return Status::Corruption(
      StrCat(path_, ": offset ", offset),
      StrCat("expected ", expected, " bytes, found ", found, " before the end of the file"));
}

}  // namespace ashlar
