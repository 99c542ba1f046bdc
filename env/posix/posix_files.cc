// SPDX-License-Identifier: Apache-2.0
//
// The file objects of the POSIX file system: loops around pread(2) and pwrite(2), and the calls
// that allocate, write out, sync and advise.
#include "env/posix/posix_files.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "env/io_rule.h"
#include "env/posix/posix_uring.h"

namespace ashlar {

namespace {

// Up to n bytes from `offset`; fewer only at the end of the file. A direct read that ends inside of
// a page has met the end: another one could not begin there.
IOStatus ReadAt(int fd, const std::string& path, uint64_t offset, size_t n, char* scratch,
                Slice* result, bool is_direct = false) {
  AssertIoAllowed();
  size_t done = 0;
  while (done < n) {
    const ssize_t count = RetryOnSignal(
        [&] { return pread(fd, scratch + done, n - done, static_cast<off_t>(offset + done)); });
    if (count < 0) {
      *result = Slice();
      return PosixError("pread", path, errno);
    }
    done += static_cast<size_t>(count);
    if (count == 0 || (is_direct && done % kDefaultPageSize != 0)) break;
  }
  *result = Slice(scratch, done);
  return IOStatus::OK();
}

// A request on its way through the ring.
struct RingRead {
  RingRead(int fd, const std::string& file_path, bool direct, FSReadRequest* read_request)
      : path(file_path),
        is_direct(direct),
        request(read_request),
        read{.fd = fd, .offset = request->offset, .n = request->len, .buffer = request->scratch} {}
  RingRead(const RingRead&) = delete;
  RingRead& operator=(const RingRead&) = delete;

  // What the ring has not read is read here, if only to find out why.
  void Finish() {
    assert(read.is_done && read.done_bytes <= read.n);
    Slice rest;
    const size_t done = read.done_bytes;
    request->status = IOStatus::OK();
    const bool is_at_end = is_direct && done % kDefaultPageSize != 0;
    if (done < read.n && !is_at_end) {
      request->status = ReadAt(read.fd, path, read.offset + done, read.n - done, read.buffer + done,
                               &rest, is_direct);
    }
    request->result = request->status.ok() ? Slice(read.buffer, done + rest.size()) : Slice();
  }

  const std::string& path;
  const bool is_direct;
  FSReadRequest* const request;
  UringRead read;
  // Of ReadAsync() only.
  std::shared_ptr<PosixUring> ring;
  std::function<void(FSReadRequest&, void*)> call_back;
  void* argument = nullptr;
};

// All of `data` at `offset`. On failure any part of it may have been written.
IOStatus WriteAt(int fd, const std::string& path, const Slice& data, uint64_t offset) {
  AssertIoAllowed();
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t count = RetryOnSignal([&] {
      return pwrite(fd, data.data() + done, data.size() - done, static_cast<off_t>(offset + done));
    });
    if (count < 0) return PosixError("pwrite", path, errno);
    done += static_cast<size_t>(count);
  }
  return IOStatus::OK();
}

IOStatus SyncFd(int fd, const std::string& path, bool with_metadata) {
  AssertIoAllowed();
  if (with_metadata) {
    return fsync(fd) == 0 ? IOStatus::OK() : PosixError("fsync", path, errno);
  }
  return fdatasync(fd) == 0 ? IOStatus::OK() : PosixError("fdatasync", path, errno);
}

IOStatus DropCache(int fd, const std::string& path, size_t offset, size_t length) {
  const int error = posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(length),
                                  POSIX_FADV_DONTNEED);
  return error == 0 ? IOStatus::OK() : PosixError("posix_fadvise", path, error);
}

// Device, inode and generation: the same for the same file as long as it lives. 0 if the file
// system has no generations, because inode numbers alone are used again.
size_t UniqueIdOf(int fd, char* id, size_t max_size) {
  struct stat info = {};
  long generation = 0;
  if (fstat(fd, &info) != 0 || ioctl(fd, FS_IOC_GETVERSION, &generation) != 0) return 0;
  const uint64_t parts[] = {info.st_dev, info.st_ino, static_cast<uint64_t>(generation)};
  if (max_size < sizeof(parts)) return 0;
  memcpy(id, parts, sizeof(parts));
  return sizeof(parts);
}

}  // namespace

IOStatus PosixSequentialFile::Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                                   IODebugContext*) {
  IOStatus status = ReadAt(fd_.get(), path_, offset_, n, scratch, result);
  offset_ += result->size();
  return status;
}

IOStatus PosixSequentialFile::Skip(uint64_t n) {
  offset_ += n;
  return IOStatus::OK();
}

IOStatus PosixSequentialFile::InvalidateCache(size_t offset, size_t length) {
  return DropCache(fd_.get(), path_, offset, length);
}

IOStatus PosixSequentialFile::PositionedRead(uint64_t offset, size_t n, const IOOptions&,
                                             Slice* result, char* scratch, IODebugContext*) {
  return ReadAt(fd_.get(), path_, offset, n, scratch, result);
}

IOStatus PosixRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                     char* scratch, IODebugContext*) const {
  return ReadAt(fd_.get(), path_, offset, n, scratch, result, is_direct_);
}

IOStatus PosixRandomAccessFile::Prefetch(uint64_t offset, size_t n, const IOOptions&,
                                         IODebugContext*) {
  if (is_direct_) return IOStatus::NotSupported("no page cache keeps what is fetched", path_);
  const int error = posix_fadvise(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(n),
                                  POSIX_FADV_WILLNEED);
  return error == 0 ? IOStatus::OK() : PosixError("posix_fadvise", path_, error);
}

// All of the request, if that takes no wait for a device: a copy costs less than a way through the
// ring, and file systems in memory do not answer rings at once.
bool PosixRandomAccessFile::ReadCached(FSReadRequest* request) const {
  if (is_direct_) return false;
  const CacheAnswers answers = cache_answers_.load(std::memory_order_relaxed);
  if (answers == CacheAnswers::kNo) return false;
  const int flags = answers == CacheAnswers::kYes ? RWF_NOWAIT : 0;
  const iovec memory{request->scratch, request->len};
  const ssize_t count = RetryOnSignal(
      [&] { return preadv2(fd_.get(), &memory, 1, static_cast<off_t>(request->offset), flags); });
  if (count == static_cast<ssize_t>(request->len)) {
    request->result = Slice(request->scratch, request->len);
    request->status = IOStatus::OK();
    return true;
  }
  if (count >= 0 || errno == EAGAIN || flags == 0) return false;
  struct statfs system = {};
  const bool is_memory = fstatfs(fd_.get(), &system) == 0 && system.f_type == TMPFS_MAGIC;
  cache_answers_.store(is_memory ? CacheAnswers::kAllIsMemory : CacheAnswers::kNo,
                       std::memory_order_relaxed);
  return is_memory && ReadCached(request);
}

IOStatus PosixRandomAccessFile::MultiRead(FSReadRequest* requests, size_t count,
                                          const IOOptions& options, IODebugContext* dbg) {
  AssertIoAllowed();
  if (count <= 1) return FSRandomAccessFile::MultiRead(requests, count, options, dbg);
  while (count > 0 && ReadCached(requests)) {
    ++requests;
    --count;
  }
  if (count == 0) return IOStatus::OK();
  PosixUring* const ring = PosixUring::OfThread().get();
  if (ring == nullptr) return FSRandomAccessFile::MultiRead(requests, count, options, dbg);
  // All memory is there before the kernel is given any of it.
  std::deque<RingRead> reads;
  reads.emplace_back(fd_.get(), path_, is_direct_, &requests[0]);
  for (size_t i = 1; i < count; ++i) {
    if (!ReadCached(&requests[i])) reads.emplace_back(fd_.get(), path_, is_direct_, &requests[i]);
  }
  for (RingRead& read : reads) {
    // From Start() on it is the ring's: another thread that waits there may be told that it is
    // done.
    if (!ring->Start(&read.read)) read.read.is_done = true;
  }
  for (RingRead& read : reads) {
    ring->Wait(&read.read);
    read.Finish();
  }
  return IOStatus::OK();
}

IOStatus PosixRandomAccessFile::ReadAsync(FSReadRequest& request, const IOOptions& options,
                                          std::function<void(FSReadRequest&, void*)> done,
                                          void* argument, void** handle, IOHandleDeleter* deleter,
                                          IODebugContext* dbg) {
  AssertIoAllowed();
  if (ReadCached(&request)) {
    if (handle != nullptr) *handle = nullptr;
    done(request, argument);
    return IOStatus::OK();
  }
  const std::shared_ptr<PosixUring>& ring = PosixUring::OfThread();
  auto read = std::make_unique<RingRead>(fd_.get(), path_, is_direct_, &request);
  if (ring == nullptr || handle == nullptr || !ring->Start(&read->read)) {
    return FSRandomAccessFile::ReadAsync(request, options, std::move(done), argument, handle,
                                         deleter, dbg);
  }
  read->ring = ring;
  read->call_back = std::move(done);
  read->argument = argument;
  *deleter = [](void* started) { delete static_cast<RingRead*>(started); };
  *handle = read.release();
  return IOStatus::OK();
}

void WaitForReads(const std::vector<void*>& handles, size_t count) {
  AssertIoAllowed();
  for (size_t i = count; i < handles.size(); ++i) {
    if (handles[i] != nullptr) static_cast<RingRead*>(handles[i])->ring->Submit();
  }
  for (size_t i = 0; i < std::min(count, handles.size()); ++i) {
    auto* const read = static_cast<RingRead*>(handles[i]);
    if (read == nullptr || read->call_back == nullptr) continue;
    read->ring->Wait(&read->read);
    read->Finish();
    std::exchange(read->call_back, nullptr)(*read->request, read->argument);
  }
}

size_t PosixRandomAccessFile::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOf(fd_.get(), id, max_size);
}

void PosixRandomAccessFile::Hint(AccessPattern pattern) {
  int advice = POSIX_FADV_NORMAL;
  switch (pattern) {
    case kNormal: advice = POSIX_FADV_NORMAL; break;
    case kRandom: advice = POSIX_FADV_RANDOM; break;
    case kSequential: advice = POSIX_FADV_SEQUENTIAL; break;
    case kWillNeed: advice = POSIX_FADV_WILLNEED; break;
    case kWontNeed: advice = POSIX_FADV_DONTNEED; break;
  }
  posix_fadvise(fd_.get(), 0, 0, advice);  // a hint: failure changes nothing
}

IOStatus PosixRandomAccessFile::InvalidateCache(size_t offset, size_t length) {
  return DropCache(fd_.get(), path_, offset, length);
}

IOStatus PosixRandomAccessFile::GetFileSize(uint64_t* result) {
  struct stat info = {};
  if (fstat(fd_.get(), &info) != 0) return PosixError("fstat", path_, errno);
  *result = static_cast<uint64_t>(info.st_size);
  return IOStatus::OK();
}

IOStatus PosixMappedReadFile::Open(const std::string& path,
                                   std::unique_ptr<FSRandomAccessFile>* result) {
  AssertIoAllowed();
  auto fd = OpenFd("open for reading", path, O_RDONLY);
  if (!fd.ok()) return status_to_io_status(Status(fd.status()));
  struct stat info = {};
  if (fstat(fd->get(), &info) != 0) return PosixError("fstat", path, errno);
  const auto size = static_cast<size_t>(info.st_size);
  void* base = nullptr;
  if (size > 0) base = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd->get(), 0);
  if (base == MAP_FAILED) return PosixError("mmap", path, errno);
  result->reset(new PosixMappedReadFile(fd.Take(), path, static_cast<char*>(base), size));
  return IOStatus::OK();
}

PosixMappedReadFile::~PosixMappedReadFile() {
  if (base_ != nullptr) munmap(base_, size_);
}

IOStatus PosixMappedReadFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                   char* /*scratch*/, IODebugContext*) const {
  AssertIoAllowed();  // a page fault is a read
  *result = Slice();
  if (offset >= size_) return IOStatus::OK();
  *result = Slice(base_ + offset, std::min(n, size_ - static_cast<size_t>(offset)));
  return IOStatus::OK();
}

// Whole pages around the range; 0 or what is wrong.
int PosixMappedReadFile::Advise(uint64_t offset, size_t n, int advice) const {
  if (offset >= size_) return 0;
  const size_t begin = static_cast<size_t>(offset) / kDefaultPageSize * kDefaultPageSize;
  const size_t end = std::min(size_, static_cast<size_t>(offset) + n);
  return madvise(base_ + begin, end - begin, advice) == 0 ? 0 : errno;
}

IOStatus PosixMappedReadFile::Prefetch(uint64_t offset, size_t n, const IOOptions&,
                                       IODebugContext*) {
  const int error = Advise(offset, n, MADV_WILLNEED);
  return error == 0 ? IOStatus::OK() : PosixError("madvise", path_, error);
}

size_t PosixMappedReadFile::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOf(fd_.get(), id, max_size);
}

void PosixMappedReadFile::Hint(AccessPattern pattern) {
  if (pattern == kRandom) Advise(0, size_, MADV_RANDOM);
  if (pattern == kSequential) Advise(0, size_, MADV_SEQUENTIAL);
  if (pattern == kNormal) Advise(0, size_, MADV_NORMAL);
}

// A page that is mapped does not leave the page cache: first it leaves the mapping.
IOStatus PosixMappedReadFile::InvalidateCache(size_t offset, size_t length) {
  const int error = Advise(offset, length, MADV_DONTNEED);
  if (error != 0) return PosixError("madvise", path_, error);
  return DropCache(fd_.get(), path_, offset, length);
}

IOStatus PosixMappedReadFile::GetFileSize(uint64_t* result) {
  *result = size_;
  return IOStatus::OK();
}

PosixWritableFile::PosixWritableFile(UniqueFd fd, std::string path, uint64_t size,
                                     const FileOptions& options)
    : FSWritableFile(options),
      fd_(std::move(fd)),
      path_(std::move(path)),
      size_(size),
      may_allocate_(options.allow_fallocate),
      keeps_size_(options.fallocate_with_keep_size),
      is_direct_(options.use_direct_writes),
      is_strict_(options.strict_bytes_per_sync) {}

PosixWritableFile::~PosixWritableFile() {
  if (fd_.is_open()) IgnoreError(Close(IOOptions(), nullptr), "nobody is left to tell");
}

IOStatus PosixWritableFile::Append(const Slice& data, const IOOptions&, IODebugContext*) {
  RETURN_IF_ERROR(WriteAt(fd_.get(), path_, data, size_));
  size_ += data.size();
  return IOStatus::OK();
}

IOStatus PosixWritableFile::PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                                             IODebugContext*) {
  RETURN_IF_ERROR(WriteAt(fd_.get(), path_, data, offset));
  size_ = std::max(size_, offset + data.size());
  return IOStatus::OK();
}

IOStatus PosixWritableFile::Truncate(uint64_t size, const IOOptions&, IODebugContext*) {
  const int result = RetryOnSignal([&] { return ftruncate(fd_.get(), static_cast<off_t>(size)); });
  if (result != 0) return PosixError("ftruncate", path_, errno);
  size_ = size;
  return IOStatus::OK();
}

IOStatus PosixWritableFile::Close(const IOOptions& options, IODebugContext* dbg) {
  if (!fd_.is_open()) return IOStatus::OK();
  IOStatus status;
  if (allocated_ > size_) status = Truncate(size_, options, dbg);
  const int error = fd_.Close();
  if (status.ok() && error != 0) status = PosixError("close", path_, error);
  return status;
}

IOStatus PosixWritableFile::Flush(const IOOptions&, IODebugContext*) {
  return IOStatus::OK();  // nothing is buffered here
}

IOStatus PosixWritableFile::Sync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, /*with_metadata=*/false);
}

IOStatus PosixWritableFile::Fsync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, /*with_metadata=*/true);
}

size_t PosixWritableFile::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOf(fd_.get(), id, max_size);
}

IOStatus PosixWritableFile::InvalidateCache(size_t offset, size_t length) {
  return DropCache(fd_.get(), path_, offset, length);
}

// Waiting for the write-out asked for before keeps the amount of dirty pages bounded (strict).
IOStatus PosixWritableFile::RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions&,
                                      IODebugContext*) {
  unsigned flags = SYNC_FILE_RANGE_WRITE;
  uint64_t begin = offset;
  if (is_strict_) {
    flags |= SYNC_FILE_RANGE_WAIT_BEFORE;
    begin = 0;
  }
  const int result = sync_file_range(fd_.get(), static_cast<off_t>(begin),
                                     static_cast<off_t>(offset + nbytes - begin), flags);
  if (result == 0 || errno == ENOSYS) return IOStatus::OK();
  return PosixError("sync_file_range", path_, errno);
}

IOStatus PosixWritableFile::Allocate(uint64_t offset, uint64_t len, const IOOptions&,
                                     IODebugContext*) {
  if (!may_allocate_) return IOStatus::OK();
  const int mode = keeps_size_ ? FALLOC_FL_KEEP_SIZE : 0;
  const int result = RetryOnSignal([&] {
    return fallocate(fd_.get(), mode, static_cast<off_t>(offset), static_cast<off_t>(len));
  });
  if (result == 0) {
    allocated_ = std::max(allocated_, offset + len);
    return IOStatus::OK();
  }
  if (errno == EOPNOTSUPP || errno == ENOSYS) {
    may_allocate_ = false;
    return IOStatus::OK();
  }
  return PosixError("fallocate", path_, errno);
}

IOStatus PosixRandomRWFile::Write(uint64_t offset, const Slice& data, const IOOptions&,
                                  IODebugContext*) {
  return WriteAt(fd_.get(), path_, data, offset);
}
IOStatus PosixRandomRWFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                 char* scratch, IODebugContext*) const {
  return ReadAt(fd_.get(), path_, offset, n, scratch, result);
}
IOStatus PosixRandomRWFile::Flush(const IOOptions&, IODebugContext*) { return IOStatus::OK(); }
IOStatus PosixRandomRWFile::Sync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, /*with_metadata=*/false);
}
IOStatus PosixRandomRWFile::Fsync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, /*with_metadata=*/true);
}
IOStatus PosixRandomRWFile::Close(const IOOptions&, IODebugContext*) {
  const int error = fd_.Close();
  return error == 0 ? IOStatus::OK() : PosixError("close", path_, error);
}

IOStatus PosixDirectory::Fsync(const IOOptions&, IODebugContext*) {
  return SyncFd(fd_.get(), path_, /*with_metadata=*/true);
}
IOStatus PosixDirectory::Close(const IOOptions&, IODebugContext*) {
  const int error = fd_.Close();
  return error == 0 ? IOStatus::OK() : PosixError("close", path_, error);
}
size_t PosixDirectory::GetUniqueId(char* id, size_t max_size) const {
  return UniqueIdOf(fd_.get(), id, max_size);
}

namespace {

class PosixMapping : public MemoryMappedFileBuffer {
 public:
  PosixMapping(void* base, size_t length) : MemoryMappedFileBuffer(base, length) {}
  ~PosixMapping() override { munmap(base_, length_); }
};

}  // namespace

IOStatus MapWholeFile(const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result) {
  result->reset();
  auto fd = OpenFd("open for mapping", path, O_RDWR);
  if (!fd.ok()) return status_to_io_status(Status(fd.status()));
  struct stat info = {};
  if (fstat(fd->get(), &info) != 0) return PosixError("fstat", path, errno);
  const auto size = static_cast<size_t>(info.st_size);
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
  if (base == MAP_FAILED) return PosixError("mmap", path, errno);
  *result = std::make_unique<PosixMapping>(base, size);
  return IOStatus::OK();
}

}  // namespace ashlar
