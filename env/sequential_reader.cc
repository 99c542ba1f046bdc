// SPDX-License-Identifier: Apache-2.0
//
// SequentialReader: whole reads over an FSSequentialFile.
#include "env/sequential_reader.h"

#include <cassert>
#include <cstring>

#include "env/io_rule.h"

namespace ashlar {

Result<std::unique_ptr<SequentialReader>> SequentialReader::Open(FileSystem* fs,
                                                                 const std::string& path,
                                                                 const FileOptions& file_options) {
  assert(fs != nullptr);
  AssertIoAllowed();
  std::unique_ptr<FSSequentialFile> file;
  // The file is read once, in order, so that bypassing the page cache would gain nothing.
  FileOptions cached = file_options;
  cached.use_direct_reads = false;
  RETURN_IF_ERROR(fs->NewSequentialFile(path, cached, &file, nullptr));
  return std::make_unique<SequentialReader>(std::move(file), path);
}

// A file system may return fewer bytes than there are; only an empty result means the end of the
// file.
Status SequentialReader::Read(size_t n, char* scratch, Slice* result) {
  assert(result != nullptr);
  AssertIoAllowed();
  *result = Slice();
  RETURN_IF_ERROR(file_->Read(n, IOOptions(), result, scratch, nullptr));
  offset_ += result->size();
  if (result->empty() || result->size() == n) return Status::OK();
  size_t done = result->size();
  // The file system returned memory of its own; the whole result must be contiguous.
  if (result->data() != scratch) memmove(scratch, result->data(), done);
  while (done < n) {
    Slice more;
    RETURN_IF_ERROR(file_->Read(n - done, IOOptions(), &more, scratch + done, nullptr));
    if (more.empty()) break;
    if (more.data() != scratch + done) memmove(scratch + done, more.data(), more.size());
    done += more.size();
    offset_ += more.size();
  }
  *result = Slice(scratch, done);
  return Status::OK();
}

Status SequentialReader::Skip(uint64_t n) {
  RETURN_IF_ERROR(file_->Skip(n));
  offset_ += n;
  return Status::OK();
}

}  // namespace ashlar
