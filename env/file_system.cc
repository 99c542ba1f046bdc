// SPDX-License-Identifier: Apache-2.0
//
// Default implementations of the FileSystem interfaces.
#include "ashlar/file_system.h"

#include <cassert>
#include <utility>

#include "ashlar/system_clock.h"
#include "env/info_log.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The status of a function that a file system need not offer.
IOStatus CallNotOffered(const char* call, const std::string& what) {
  return IOStatus::NotSupported(StrCat(call, ": not offered by this file system"), what);
}

// The value of kCRC32c in ashlar/table.h, which belongs to a higher room and cannot be included.
constexpr auto kDefaultHandoffChecksum = static_cast<ChecksumType>(1);

}  // namespace

FileOptions::FileOptions() : handoff_checksum_type(kDefaultHandoffChecksum) {}
FileOptions::FileOptions(const EnvOptions& opts)
    : EnvOptions(opts), handoff_checksum_type(kDefaultHandoffChecksum) {}
FileOptions::FileOptions(const FileOptions& opts) = default;
FileOptions& FileOptions::operator=(const FileOptions& opts) = default;

IODebugContext::IODebugContext() = default;
IODebugContext::~IODebugContext() = default;
IODebugContext::IODebugContext(const IODebugContext& other)
    : file_path(other.file_path),
      counters(other.counters),
      msg(other.msg),
      request_id(other.request_id),
      trace_data(other.trace_data),
      cost_info(other.cost_info) {}

IODebugContext& IODebugContext::operator=(const IODebugContext& other) {
  if (this == &other) return *this;
  file_path = other.file_path;
  counters = other.counters;
  msg = other.msg;
  request_id = other.request_id;
  trace_data = other.trace_data;
  cost_info = other.cost_info;
  return *this;
}

void IODebugContext::SetRequestId(const std::string* updated_request_id) {
  request_id = updated_request_id;
  if (request_id != nullptr) trace_data |= uint64_t{1} << TraceData::kRequestID;
}

std::string IODebugContext::ToString() {
  std::string text = StrCat(file_path, ", ");
  for (const auto& [name, value] : counters) StrAppend(&text, name, ": ", value, ", ");
  return text + msg;
}

FileSystem::FileSystem() = default;
FileSystem::~FileSystem() = default;

IOStatus FileSystem::ReopenWritableFile(const std::string& fname, const FileOptions& /*options*/,
                                        std::unique_ptr<FSWritableFile>* result,
                                        IODebugContext* /*dbg*/) {
  result->reset();
  return CallNotOffered("FileSystem::ReopenWritableFile", fname);
}

IOStatus FileSystem::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                       const FileOptions& file_opts,
                                       std::unique_ptr<FSWritableFile>* result,
                                       IODebugContext* dbg) {
  // The old content is lost. A file system that keeps it saves the allocation of space.
  RETURN_IF_ERROR(RenameFile(old_fname, fname, file_opts.io_options, dbg));
  return NewWritableFile(fname, file_opts, result, dbg);
}

IOStatus FileSystem::NewRandomRWFile(const std::string& fname, const FileOptions& /*options*/,
                                     std::unique_ptr<FSRandomRWFile>* result,
                                     IODebugContext* /*dbg*/) {
  result->reset();
  return CallNotOffered("FileSystem::NewRandomRWFile", fname);
}

IOStatus FileSystem::NewMemoryMappedFileBuffer(const std::string& fname,
                                               std::unique_ptr<MemoryMappedFileBuffer>* result) {
  result->reset();
  return CallNotOffered("FileSystem::NewMemoryMappedFileBuffer", fname);
}

// A file may be deleted between the listing and the query of its size. It is left out then. Any
// other error ends the listing.
IOStatus FileSystem::GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                               std::vector<FileAttributes>* result,
                                               IODebugContext* dbg) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(GetChildren(dir, options, &names, dbg));
  result->clear();
  for (std::string& name : names) {
    FileAttributes attributes{std::move(name), 0, Temperature::kUnknown};
    const std::string path = StrCat(dir, "/", attributes.name);
    const IOStatus status = GetFileSize(path, options, &attributes.size_bytes, dbg);
    if (status.ok()) {
      result->push_back(std::move(attributes));
    } else if (FileExists(path, options, dbg).ok()) {
      return status;
    }
  }
  return IOStatus::OK();
}

IOStatus FileSystem::Truncate(const std::string& fname, size_t /*size*/,
                              const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FileSystem::Truncate", fname);
}
IOStatus FileSystem::LinkFile(const std::string& src, const std::string& /*target*/,
                              const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FileSystem::LinkFile", src);
}
IOStatus FileSystem::NumFileLinks(const std::string& fname, const IOOptions& /*options*/,
                                  uint64_t* /*count*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FileSystem::NumFileLinks", fname);
}
IOStatus FileSystem::AreFilesSame(const std::string& first, const std::string& /*second*/,
                                  const IOOptions& /*options*/, bool* /*result*/,
                                  IODebugContext* /*dbg*/) {
  return CallNotOffered("FileSystem::AreFilesSame", first);
}

// Syncing any descriptor of a file makes all of its bytes durable. The file is opened for append,
// which does not change it.
IOStatus FileSystem::SyncFile(const std::string& fname, const FileOptions& file_opts,
                              const IOOptions& io_opts, bool use_fsync, IODebugContext* dbg) {
  std::unique_ptr<FSWritableFile> file;
  RETURN_IF_ERROR(ReopenWritableFile(fname, file_opts, &file, dbg));
  RETURN_IF_ERROR(use_fsync ? file->Fsync(io_opts, dbg) : file->Sync(io_opts, dbg));
  return file->Close(io_opts, dbg);
}

IOStatus FileSystem::NewLogger(const std::string& fname, const IOOptions& /*io_opts*/,
                               std::shared_ptr<Logger>* result, IODebugContext* /*dbg*/) {
  assert(result != nullptr);
  result->reset();
  // The logger must not outlive this file system, so the shared pointer owns nothing.
  const std::shared_ptr<FileSystem> self(std::shared_ptr<FileSystem>(), this);
  auto logger = OpenLogFile(self, SystemClock::Default(), fname, InfoLogLevel::INFO_LEVEL);
  if (!logger.ok()) return status_to_io_status(Status(logger.status()));
  *result = logger.Take();
  return IOStatus::OK();
}

// Logs and MANIFESTs are read once from the start, so direct reads would gain nothing.
FileOptions FileSystem::OptimizeForLogRead(const FileOptions& file_options) const {
  FileOptions result = file_options;
  result.use_direct_reads = false;
  return result;
}
FileOptions FileSystem::OptimizeForManifestRead(const FileOptions& file_options) const {
  FileOptions result = file_options;
  result.use_direct_reads = false;
  return result;
}
FileOptions FileSystem::OptimizeForManifestWrite(const FileOptions& file_options) const {
  FileOptions result = file_options;
  result.use_direct_writes = result.use_mmap_writes = false;
  return result;
}
FileOptions FileSystem::OptimizeForCompactionTableWrite(
    const FileOptions& file_options, const ImmutableDBOptions& /*options*/) const {
  return file_options;
}
FileOptions FileSystem::OptimizeForCompactionTableRead(
    const FileOptions& file_options, const ImmutableDBOptions& /*options*/) const {
  return file_options;
}
FileOptions FileSystem::OptimizeForBlobFileRead(const FileOptions& file_options,
                                                const ImmutableDBOptions& /*options*/) const {
  return file_options;
}

IOStatus FileSystem::GetFreeSpace(const std::string& path, const IOOptions& /*options*/,
                                  uint64_t* /*diskfree*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FileSystem::GetFreeSpace", path);
}

// By default ReadAsync() has finished the read when it returns, so there is nothing to wait for.
IOStatus FileSystem::Poll(std::vector<void*>& /*io_handles*/, size_t /*min_completions*/) {
  return IOStatus::OK();
}
IOStatus FileSystem::AbortIO(std::vector<void*>& /*io_handles*/) { return IOStatus::OK(); }

FileSystemWrapper::FileSystemWrapper(const std::shared_ptr<FileSystem>& t) : target_(t) {}
FileSystemWrapper::~FileSystemWrapper() = default;

FSSequentialFile::~FSSequentialFile() = default;
IOStatus FSSequentialFile::InvalidateCache(size_t /*offset*/, size_t /*length*/) {
  return CallNotOffered("FSSequentialFile::InvalidateCache", "");
}
IOStatus FSSequentialFile::PositionedRead(uint64_t /*offset*/, size_t /*n*/,
                                          const IOOptions& /*options*/, Slice* /*result*/,
                                          char* /*scratch*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FSSequentialFile::PositionedRead", "");
}

FSRandomAccessFile::~FSRandomAccessFile() = default;
IOStatus FSRandomAccessFile::Prefetch(uint64_t /*offset*/, size_t /*n*/,
                                      const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FSRandomAccessFile::Prefetch", "");
}
IOStatus FSRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs,
                                       const IOOptions& options, IODebugContext* dbg) {
  // Serves the requests one after the other. Each has a status of its own, so the call itself
  // succeeds.
  for (FSReadRequest* req = reqs; req != reqs + num_reqs; ++req) {
    req->status = Read(req->offset, req->len, options, &req->result, req->scratch, dbg);
  }
  return IOStatus::OK();
}
IOStatus FSRandomAccessFile::InvalidateCache(size_t /*offset*/, size_t /*length*/) {
  return CallNotOffered("FSRandomAccessFile::InvalidateCache", "");
}
IOStatus FSRandomAccessFile::ReadAsync(FSReadRequest& req, const IOOptions& opts,
                                       std::function<void(FSReadRequest&, void*)> cb, void* cb_arg,
                                       void** io_handle, IOHandleDeleter* /*del_fn*/,
                                       IODebugContext* dbg) {
  // No handle: the read is done, and nothing must be awaited.
  if (io_handle != nullptr) *io_handle = nullptr;
  req.status = Read(req.offset, req.len, opts, &req.result, req.scratch, dbg);
  cb(req, cb_arg);
  return IOStatus::OK();
}
bool FSRandomAccessFile::SubmitReadAsync(FSReadRequest& /*req*/, const IOOptions& /*opts*/,
                                         std::function<void(FSReadRequest&)> /*cb*/,
                                         IODebugContext* /*dbg*/) {
  return false;
}
IOStatus FSRandomAccessFile::GetFileSize(uint64_t* /*result*/) {
  return CallNotOffered("FSRandomAccessFile::GetFileSize", "");
}
IOStatus FSRandomAccessFile::GetFileOpenMetadata(std::string* /*metadata*/) {
  return CallNotOffered("FSRandomAccessFile::GetFileOpenMetadata", "");
}

FSWritableFile::~FSWritableFile() = default;
IOStatus FSWritableFile::PositionedAppend(const Slice& /*data*/, uint64_t /*offset*/,
                                          const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FSWritableFile::PositionedAppend", "");
}
IOStatus FSWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                          const IOOptions& options,
                                          const DataVerificationInfo& /*verification_info*/,
                                          IODebugContext* dbg) {
  return PositionedAppend(data, offset, options, dbg);
}
// Does nothing by default: only files with padding, or with space allocated ahead, need to be cut.
IOStatus FSWritableFile::Truncate(uint64_t /*size*/, const IOOptions& /*options*/,
                                  IODebugContext* /*dbg*/) {
  return IOStatus::OK();
}
IOStatus FSWritableFile::InvalidateCache(size_t /*offset*/, size_t /*length*/) {
  return CallNotOffered("FSWritableFile::InvalidateCache", "");
}
IOStatus FSWritableFile::RangeSync(uint64_t /*offset*/, uint64_t /*nbytes*/,
                                   const IOOptions& options, IODebugContext* dbg) {
  // Without write-out in the background, a strict file syncs everything.
  return strict_bytes_per_sync_ ? Sync(options, dbg) : IOStatus::OK();
}
IOStatus FSWritableFile::Allocate(uint64_t /*offset*/, uint64_t /*len*/,
                                  const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return IOStatus::OK();
}

// Allocates space in whole blocks ahead of the write. Block 0 begins at the start of the file.
void FSWritableFile::PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                                  IODebugContext* dbg) {
  if (preallocation_block_size_ == 0) return;
  const size_t block = preallocation_block_size_;
  const size_t blocks_needed = (offset + len + block - 1) / block;
  if (blocks_needed <= last_preallocated_block_) return;
  IgnoreError(Allocate(block * last_preallocated_block_,
                       block * (blocks_needed - last_preallocated_block_), options, dbg),
              "allocating ahead is a hint; the write will report errors");
  last_preallocated_block_ = blocks_needed;
}

FSRandomRWFile::~FSRandomRWFile() = default;
FSMemoryMappedFileBuffer::~FSMemoryMappedFileBuffer() = default;
FSDirectory::~FSDirectory() = default;
IOStatus FSDirectory::Close(const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return CallNotOffered("FSDirectory::Close", "");
}

// A file that could not be written completely is deleted again.
IOStatus WriteStringToFile(FileSystem* fs, const Slice& data, const std::string& fname,
                           bool should_sync, const IOOptions& io_options,
                           const FileOptions& file_options) {
  std::unique_ptr<FSWritableFile> file;
  RETURN_IF_ERROR(fs->NewWritableFile(fname, file_options, &file, nullptr));
  IOStatus status = file->Append(data, io_options, nullptr);
  if (status.ok() && should_sync) status = file->Sync(io_options, nullptr);
  const IOStatus close_status = file->Close(io_options, nullptr);
  if (status.ok()) status = close_status;
  if (!status.ok()) {
    IgnoreError(fs->DeleteFile(fname, io_options, nullptr), "the first error is returned");
  }
  return status;
}

// Reads in chunks until the end, because the size of a growing file is not known before.
IOStatus ReadFileToString(FileSystem* fs, const std::string& fname, std::string* data) {
  return ReadFileToString(fs, fname, IOOptions(), data);
}

IOStatus ReadFileToString(FileSystem* fs, const std::string& fname, const IOOptions& opts,
                          std::string* data) {
  assert(data != nullptr);
  constexpr size_t kChunkBytes = 64 * 1024;
  data->clear();
  FileOptions file_options;
  file_options.io_options = opts;
  std::unique_ptr<FSSequentialFile> file;
  RETURN_IF_ERROR(fs->NewSequentialFile(fname, file_options, &file, nullptr));
  const std::unique_ptr<char[]> scratch(new char[kChunkBytes]);
  for (;;) {
    Slice chunk;
    RETURN_IF_ERROR(file->Read(kChunkBytes, opts, &chunk, scratch.get(), nullptr));
    if (chunk.empty()) return IOStatus::OK();
    data->append(chunk.data(), chunk.size());
  }
}

}  // namespace ashlar
