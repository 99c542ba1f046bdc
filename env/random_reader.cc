// SPDX-License-Identifier: Apache-2.0
//
// RandomReader: exact reads over an FSRandomAccessFile.
#include "env/random_reader.h"

#include "env/io_rule.h"
#include "util/str_cat.h"

namespace ashlar {

Result<std::unique_ptr<RandomReader>> RandomReader::Open(FileSystem* fs, const std::string& path,
                                                         const FileOptions& file_options) {
  AssertIoAllowed();
  std::unique_ptr<FSRandomAccessFile> file;
  RETURN_IF_ERROR(fs->NewRandomAccessFile(path, file_options, &file, nullptr));
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
  RETURN_IF_ERROR(file_->Read(offset, n, io, result, scratch, nullptr));
  return result->size() == n ? Status::OK() : ShortRead(offset, n, result->size());
}

Status RandomReader::MultiReadExactly(FSReadRequest* requests, size_t count,
                                      const IOOptions& io) const {
  AssertIoAllowed();
  RETURN_IF_ERROR(file_->MultiRead(requests, count, io, nullptr));
  Status first_error;
  for (FSReadRequest* request = requests; request != requests + count; ++request) {
    if (request->status.ok() && request->result.size() != request->len) {
      request->status =
          status_to_io_status(ShortRead(request->offset, request->len, request->result.size()));
    }
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
