// SPDX-License-Identifier: Apache-2.0
//
// RandomReader: exact reads over an FSRandomAccessFile.
#include "env/random_reader.h"

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/io_rule.h"
#include "util/perf_level_impl.h"
#include "util/statistics.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

// The histogram of reads for one kind of work; HISTOGRAM_ENUM_MAX: none.
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

// Measures one read, for whoever wants to know.
class ReadWatch {
 public:
  ReadWatch(Statistics* statistics, Env::IOActivity activity)
      : timer_(&IOStatsContext::read_nanos, &IOStatsContext::cpu_read_nanos),
        all_(SystemClock::Default().get(), statistics, SST_READ_MICROS),
        of_activity_(SystemClock::Default().get(),
                     HistogramOf(activity) == HISTOGRAM_ENUM_MAX ? nullptr : statistics,
                     HistogramOf(activity)) {}

 private:
  const IoTimer timer_;
  const StopWatch all_;
  const StopWatch of_activity_;
};

}  // namespace

Result<std::unique_ptr<RandomReader>> RandomReader::Open(FileSystem* fs, const std::string& path,
                                                         const FileOptions& file_options) {
  AssertIoAllowed();
  std::unique_ptr<FSRandomAccessFile> file;
  {
    const IoTimer timer(&IOStatsContext::open_nanos);
    RETURN_IF_ERROR(fs->NewRandomAccessFile(path, file_options, &file, nullptr));
  }
  uint64_t size = 0;
  IOStatus status = file->GetFileSize(&size);
  if (status.IsNotSupported()) {
    status = fs->GetFileSize(path, file_options.io_options, &size, nullptr);
  }
  if (!status.ok()) return status;
  return std::make_unique<RandomReader>(std::move(file), path, size, fs);
}

Status RandomReader::ReadExactly(uint64_t offset, size_t n, char* scratch, Slice* result,
                                 const IOOptions& io) const {
  AssertIoAllowed();
  // The size may be asked to prove impossible ranges wrong before a buffer is filled.
  if (offset > size_ || n > size_ - offset) {
    *result = Slice();
    return ShortRead(offset, n, static_cast<size_t>(offset < size_ ? size_ - offset : 0));
  }
  {
    const ReadWatch watch(statistics_, io.io_activity);
    RETURN_IF_ERROR(file_->Read(offset, n, io, result, scratch, nullptr));
  }
  AddIoBytes(&IOStatsContext::bytes_read, result->size());
  if (io.io_activity == Env::IOActivity::kVerifyDBChecksum) {
    RecordTick(statistics_, VERIFY_CHECKSUM_READ_BYTES, result->size());
  }
  return result->size() == n ? Status::OK() : ShortRead(offset, n, result->size());
}

Status RandomReader::MultiReadExactly(FSReadRequest* requests, size_t count,
                                      const IOOptions& io) const {
  AssertIoAllowed();
  {
    const ReadWatch watch(statistics_, io.io_activity);
    RETURN_IF_ERROR(file_->MultiRead(requests, count, io, nullptr));
  }
  Status first_error;
  for (FSReadRequest* request = requests; request != requests + count; ++request) {
    if (request->status.ok() && request->result.size() != request->len) {
      request->status =
          status_to_io_status(ShortRead(request->offset, request->len, request->result.size()));
    }
    if (request->status.ok()) AddIoBytes(&IOStatsContext::bytes_read, request->result.size());
    first_error.UpdateIfOk(request->status);
  }
  return first_error;
}

Status RandomReader::Prefetch(uint64_t offset, size_t n) const {
  AssertIoAllowed();
  const IOStatus status = file_->Prefetch(offset, n, IOOptions(), nullptr);
  if (status.IsNotSupported()) return Status::OK();
  return status;
}

Status RandomReader::ShortRead(uint64_t offset, size_t expected, size_t found) const {
  return Status::Corruption(
      StrCat(path_, ": offset ", offset),
      StrCat("expected ", expected, " bytes, found ", found, " before the end of the file"));
}

}  // namespace ashlar
