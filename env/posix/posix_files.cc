// SPDX-License-Identifier: Apache-2.0
//
// The file objects of the POSIX file system: loops around pread(2) and pwrite(2), and the calls
// that allocate space, write out, sync, and advise the kernel.
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

// Reads up to n bytes from `offset`; fewer only at the end of the file. A direct read that ends
// within a page has reached the end, and a further one could not begin there.
IOStatus ReadAt(int fd, const std::string& path, uint64_t offset, size_t n, char* scratch,
                Slice* result, bool is_direct = false) {
  assert(n == 0 || scratch != nullptr);
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
    // A short read before the end of the file is legal for read(2); only 0 bytes mean the end.
    if (count == 0 || (is_direct && done % kDefaultPageSize != 0)) break;
  }
  *result = Slice(scratch, done);
  return IOStatus::OK();
}

// A request that is read through the ring. The kernel writes to `read` and to the buffer until the
// read is done, so that the object must not move. MultiRead() keeps it on its stack; after
// ReadAsync() the caller owns it through the handle and its deleter.
struct RingRead {
  RingRead(int fd, const std::string& file_path, bool direct, FSReadRequest* read_request)
      : path(file_path),
        is_direct(direct),
        request(read_request),
        read{.fd = fd, .offset = request->offset, .n = request->len, .buffer = request->scratch} {}
  RingRead(const RingRead&) = delete;
  RingRead& operator=(const RingRead&) = delete;

  // Reads with pread() what the ring did not read. If the ring failed, this also finds the error.
  void Finish() {
    assert(read.is_done);
    assert(read.done_bytes <= read.n);
    Slice rest;
    const size_t done = read.done_bytes;
    request->status = IOStatus::OK();
    // A direct read ends within a page only at the end of the file.
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
  // For ReadAsync() only. `ring` keeps the ring alive after the thread that started the read has
  // ended. `call_back` is empty once it was called.
  std::shared_ptr<PosixUring> ring;
  std::function<void(FSReadRequest&, void*)> call_back;
  void* argument = nullptr;
};

// Writes all of `data` at `offset`. After an error any part of it may have been written.
IOStatus WriteAt(int fd, const std::string& path, const Slice& data, uint64_t offset) {
  AssertIoAllowed();
  assert(data.empty() || data.data() != nullptr);
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

// Makes the content and the size durable. Only the metadata variant also waits for the times. After
// an error the kernel may have dropped the dirty pages, so that a second sync that succeeds proves
// nothing.
IOStatus SyncFd(int fd, const std::string& path, bool with_metadata) {
  AssertIoAllowed();
  if (with_metadata) {
    return fsync(fd) == 0 ? IOStatus::OK() : PosixError("fsync", path, errno);
  }
  return fdatasync(fd) == 0 ? IOStatus::OK() : PosixError("fdatasync", path, errno);
}

// Advises the kernel to drop clean pages of the range from the page cache; a length of 0 means to
// the end of the file. Dirty pages stay.
IOStatus DropCache(int fd, const std::string& path, size_t offset, size_t length) {
  const int error = posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(length),
                                  POSIX_FADV_DONTNEED);
  return error == 0 ? IOStatus::OK() : PosixError("posix_fadvise", path, error);
}

// An id made of device, inode and generation, which stays the same as long as the file exists.
// Returns 0 if the file system has no generations, because inode numbers are reused.
size_t UniqueIdOf(int fd, char* id, size_t max_size) {
  struct stat info = {};
  long generation = 0;
  if (fstat(fd, &info) != 0 || ioctl(fd, FS_IOC_GETVERSION, &generation) != 0) return 0;
  const uint64_t parts[] = {info.st_dev, info.st_ino, static_cast<uint64_t>(generation)};
  if (max_size < sizeof(parts)) return 0;
  assert(id != nullptr);
  memcpy(id, parts, sizeof(parts));
  return sizeof(parts);
}

}  // namespace

IOStatus PosixSequentialFile::Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                                   IODebugContext*) {
  assert(result != nullptr);
  IOStatus status = ReadAt(fd_.get(), path_, offset_, n, scratch, result);
  offset_ += result->size();
  return status;
}

// The end of the file is not checked: a Read() behind it returns an empty slice.
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

// Answers the request if all of it can be read without waiting for a device. A copy from the page
// cache costs less than a read through the ring. File systems in memory also gain: through a ring
// they answer later.
bool PosixRandomAccessFile::ReadCached(FSReadRequest* request) const {
  assert(request != nullptr);
  if (is_direct_) return false;
  const CacheAnswers answers = cache_answers_.load(std::memory_order_relaxed);
  if (answers == CacheAnswers::kNo) return false;
  // RWF_NOWAIT fails with EAGAIN instead of waiting. tmpfs does not know the flag and never waits.
  const int flags = answers == CacheAnswers::kYes ? RWF_NOWAIT : 0;
  const iovec memory{request->scratch, request->len};
  const ssize_t count = RetryOnSignal(
      [&] { return preadv2(fd_.get(), &memory, 1, static_cast<off_t>(request->offset), flags); });
  if (count == static_cast<ssize_t>(request->len)) {
    request->result = Slice(request->scratch, request->len);
    request->status = IOStatus::OK();
    return true;
  }
  // A short read, a miss of the cache, or an error that the regular read finds again.
  if (count >= 0 || errno == EAGAIN || flags == 0) return false;
  struct statfs system = {};
  const bool is_memory = fstatfs(fd_.get(), &system) == 0 && system.f_type == TMPFS_MAGIC;
  cache_answers_.store(is_memory ? CacheAnswers::kAllIsMemory : CacheAnswers::kNo,
                       std::memory_order_relaxed);
  // The second call uses other flags, so that it does not come here again.
  return is_memory && ReadCached(request);
}

// Reads that the page cache can answer are done at once; the others go to the kernel together.
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
  // All RingReads are allocated before the kernel gets the first, so that running out of memory
  // leaves no read behind.
  std::deque<RingRead> reads;
  reads.emplace_back(fd_.get(), path_, is_direct_, &requests[0]);
  for (size_t i = 1; i < count; ++i) {
    if (!ReadCached(&requests[i])) reads.emplace_back(fd_.get(), path_, is_direct_, &requests[i]);
  }
  for (RingRead& read : reads) {
    // After a successful Start() the ring owns `is_done`: another thread that waits on the same
    // ring may set it.
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
  // The callback runs in this call, and there is nothing to wait for.
  if (ReadCached(&request)) {
    if (handle != nullptr) *handle = nullptr;
    done(request, argument);
    return IOStatus::OK();
  }
  const std::shared_ptr<PosixUring>& ring = PosixUring::OfThread();
  auto read = std::make_unique<RingRead>(fd_.get(), path_, is_direct_, &request);
  // The base class reads at once and calls `done`. That `read` is unused then is no waste: without
  // a ring this path is rare.
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
  // These reads run in the kernel while this thread waits for the first ones.
  for (size_t i = count; i < handles.size(); ++i) {
    if (handles[i] != nullptr) static_cast<RingRead*>(handles[i])->ring->Submit();
  }
  for (size_t i = 0; i < std::min(count, handles.size()); ++i) {
    auto* const read = static_cast<RingRead*>(handles[i]);
    // The read was done at once, or an earlier call waited for it already.
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
  posix_fadvise(fd_.get(), 0, 0, advice);  // only a hint, so that errors are ignored
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
  // The file is finished, so that its size does not change while it is mapped.
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
  assert(result != nullptr);
  AssertIoAllowed();  // a page fault may read from the device
  *result = Slice();
  if (offset >= size_) return IOStatus::OK();
  *result = Slice(base_ + offset, std::min(n, size_ - static_cast<size_t>(offset)));
  return IOStatus::OK();
}

// Applies madvise() to the pages that contain the range. Returns 0 or the errno.
int PosixMappedReadFile::Advise(uint64_t offset, size_t n, int advice) const {
  if (offset >= size_) return 0;
  // madvise() demands an address at the start of a page.
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

// The other hints say nothing about the whole mapping.
void PosixMappedReadFile::Hint(AccessPattern pattern) {
  if (pattern == kRandom) Advise(0, size_, MADV_RANDOM);
  if (pattern == kSequential) Advise(0, size_, MADV_SEQUENTIAL);
  if (pattern == kNormal) Advise(0, size_, MADV_NORMAL);
}

// A page cannot leave the page cache while it is mapped. Therefore it is dropped from the mapping
// first.
IOStatus PosixMappedReadFile::InvalidateCache(size_t offset, size_t length) {
  const int error = Advise(offset, length, MADV_DONTNEED);
  if (error != 0) return PosixError("madvise", path_, error);
  return DropCache(fd_.get(), path_, offset, length);
}

IOStatus PosixMappedReadFile::GetFileSize(uint64_t* result) {
  assert(result != nullptr);
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

// A crash or an unclosed file may leave allocated space behind the end. Readers ignore it: it reads
// as zeros or is beyond the file size.
PosixWritableFile::~PosixWritableFile() {
  if (fd_.is_open()) IgnoreError(Close(IOOptions(), nullptr), "a destructor cannot return errors");
}

IOStatus PosixWritableFile::Append(const Slice& data, const IOOptions&, IODebugContext*) {
  // After an error the offset stays, so that a repeated append overwrites the part that was
  // written.
  RETURN_IF_ERROR(WriteAt(fd_.get(), path_, data, size_));
  size_ += data.size();
  return IOStatus::OK();
}

IOStatus PosixWritableFile::PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                                             IODebugContext*) {
  RETURN_IF_ERROR(WriteAt(fd_.get(), path_, data, offset));
  // Direct writes rewrite their last page, so that `offset` may be before size_.
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
  // Truncating to the present size gives back the blocks behind it, also those beyond the file
  // size.
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

// In strict mode the call also waits for the write-out that earlier calls started. This limits the
// amount of dirty pages.
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
  // A kernel without the call loses only the pacing of write-out, not durability.
  if (result == 0 || errno == ENOSYS) return IOStatus::OK();
  return PosixError("sync_file_range", path_, errno);
}

// A file system that cannot allocate is not asked again.
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
  // The file system cannot allocate. The flag saves the same failing call for each step.
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

// The base class stores address and length but does not unmap.
class PosixMapping : public MemoryMappedFileBuffer {
 public:
  PosixMapping(void* base, size_t length) : MemoryMappedFileBuffer(base, length) {}
  ~PosixMapping() override { munmap(base_, length_); }
};

}  // namespace

IOStatus MapWholeFile(const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result) {
  assert(result != nullptr);
  result->reset();
  auto fd = OpenFd("open for mapping", path, O_RDWR);
  if (!fd.ok()) return status_to_io_status(Status(fd.status()));
  struct stat info = {};
  if (fstat(fd->get(), &info) != 0) return PosixError("fstat", path, errno);
  const auto size = static_cast<size_t>(info.st_size);
  // An empty file cannot be mapped: mmap() of length 0 returns EINVAL, which the caller gets.
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
  if (base == MAP_FAILED) return PosixError("mmap", path, errno);
  *result = std::make_unique<PosixMapping>(base, size);
  return IOStatus::OK();
}

}  // namespace ashlar
