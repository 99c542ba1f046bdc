// SPDX-License-Identifier: Apache-2.0
//
// PosixMappedLog reserves addresses for the whole capacity when it is created, without memory
// (PROT_NONE). To grow, it first allocates blocks on disk, which also extends the file, and then
// maps the new part over the reservation. Therefore no store can hit a hole or an address beyond
// the end of the file.
#include "env/posix/posix_mapped_log.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "env/posix/posix_error.h"
#include "util/text/str_cat.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels return EINVAL
#endif

namespace ashlar {

namespace {

// How much the file grows at a time: enough that growing is rare, and little enough that a short
// log wastes little space.
constexpr uint64_t kSegmentBytes = 1 << 20;

// `value` is at most the capacity of a log, so that the sum cannot overflow.
uint64_t RoundUp(uint64_t value) {
  return (value + kSegmentBytes - 1) / kSegmentBytes * kSegmentBytes;
}

// Whether this XFS was made without shared blocks. If it has them, a copy of the log may share its
// blocks (cp does that by default). Each store then allocates a new block, and ends in a SIGBUS
// when the disk is full.
bool IsXfsWithoutReflink(int fd) {
  // The struct xfs_fsop_geom_v1 of the kernel, whose header is rarely installed.
  struct Geometry {
    uint32_t numbers[8];
    uint64_t counts[4];
    unsigned char uuid[16];
    uint32_t stripe[2];
    int32_t version;
    uint32_t flags;
    uint32_t rest[3];
  };
  static_assert(sizeof(Geometry) == 112, "the size is part of the request's number");
  constexpr unsigned long kGetGeometry = _IOR('X', 100, Geometry);
  constexpr uint32_t kHasReflink = 1u << 20;
  Geometry geometry = {};
  return ioctl(fd, kGetGeometry, &geometry) == 0 && (geometry.flags & kHasReflink) == 0;
}

// Whether the file is on a file system that is known to write allocated space in place. Only
// truncating the file can break this. On other file systems a store may need new space and end in a
// SIGBUS.
bool IsWrittenInPlace(int fd) {
  constexpr long kExt4 = 0xEF53, kXfs = 0x58465342, kTmpfs = 0x01021994;
  struct statfs info = {};
  if (fstatfs(fd, &info) != 0) return false;
  const long type = static_cast<long>(info.f_type);
  return type == kExt4 || type == kTmpfs || (type == kXfs && IsXfsWithoutReflink(fd));
}

}  // namespace

Result<std::unique_ptr<MappedLogFile>> PosixMappedLog::Create(const std::string& path,
                                                              uint64_t initial_bytes,
                                                              uint64_t capacity) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFd("create log", path, O_RDWR | O_CREAT | O_TRUNC));
  ASSIGN_OR_RETURN(std::unique_ptr<PosixMappedLog> file,
                   Reserve(path, std::move(fd), std::max(capacity, initial_bytes)));
  // An error leaves an empty file. The log writer opens it again without a mapping.
  RETURN_IF_ERROR(file->EnsureAllocated(initial_bytes));
  return std::unique_ptr<MappedLogFile>(std::move(file));
}

Result<std::unique_ptr<MappedLogFile>> PosixMappedLog::Reuse(const std::string& path,
                                                             const std::string& old_path,
                                                             uint64_t initial_bytes,
                                                             uint64_t capacity) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenFd("open log for reuse", old_path, O_RDWR));
  ASSIGN_OR_RETURN(std::unique_ptr<PosixMappedLog> file,
                   Reserve(path, std::move(fd), std::max(capacity, initial_bytes)));
  // The rename comes last: an error before it leaves the old file, except for allocated space
  // behind its end.
  RETURN_IF_ERROR(file->MapWritten());
  RETURN_IF_ERROR(file->EnsureAllocated(initial_bytes));
  if (rename(old_path.c_str(), path.c_str()) != 0) {
    return PosixError("rename", StrCat(old_path, " to ", path), errno);
  }
  return std::unique_ptr<MappedLogFile>(std::move(file));
}

// Reserves addresses without memory. Parts of the file are mapped into this range as it grows, so
// no address ever changes.
Result<std::unique_ptr<PosixMappedLog>> PosixMappedLog::Reserve(const std::string& path,
                                                                UniqueFd fd, uint64_t bytes) {
  if (!IsWrittenInPlace(fd.get())) {
    return Status::NotSupported(StrCat("mapped log: ", path), "not on this kind of file system");
  }
  const uint64_t reserved = RoundUp(bytes);
  void* base =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return Status::NotSupported(StrCat("mapped log: ", path), "no addresses left to reserve");
  }
  return std::unique_ptr<PosixMappedLog>(
      new PosixMappedLog(path, fd.Release(), static_cast<char*>(base), reserved));
}

PosixMappedLog::PosixMappedLog(const std::string& path, int fd, char* base, uint64_t capacity)
    : MappedLogFile(path, base, capacity), fd_(fd), reserved_(capacity) {
  // The guard has length 0 until the first part is mapped.
  guard_.Watch(base);
  lost_ = guard_.lost();
}

// Without Close() the file keeps its allocated zeros. Readers of logs take zeros at the end for
// unused space.
PosixMappedLog::~PosixMappedLog() {
  guard_.Unwatch();
  if (base_ != nullptr) munmap(base_, reserved_);
  if (fd_ >= 0) close(fd_);
}

Status PosixMappedLog::EnsureAllocated(uint64_t end) {
  // The check without the mutex is enough: the value only grows until Close().
  if (end <= allocated()) return Status::OK();
  MutexLock lock(&grow_mutex_);
  return AllocateLocked(end);
}

Status PosixMappedLog::AllocateLocked(uint64_t end) {
  const uint64_t old_end = allocated_.load(std::memory_order_relaxed);
  if (end <= old_end) return Status::OK();
  if (end > reserved_) {
    return Status::InvalidArgument(StrCat("grow log: ", path_),
                                   StrCat(end, " bytes wanted, the capacity is ", reserved_));
  }
  const uint64_t new_end = RoundUp(end);
  const auto offset = static_cast<off_t>(old_end);
  const auto bytes = static_cast<off_t>(new_end - old_end);
  // After a crash from here on, the file is longer than its records. The rest reads as zeros.
  const int allocated = RetryOnSignal([&] { return fallocate(fd_, 0, offset, bytes); });
  if (allocated != 0 && errno == EOPNOTSUPP) {  // ext2 and ext3 have the same type number as ext4
    return Status::NotSupported(StrCat("allocate log space: ", path_), "not on this file system");
  }
  // ENOSPC arrives here as an error, and not as a SIGBUS of a later store.
  if (allocated != 0) return PosixError("allocate log space", path_, errno);
  return MapLocked(new_end);
}

// The space up to `new_end` must be allocated.
Status PosixMappedLog::MapLocked(uint64_t new_end) {
  const uint64_t old_end = allocated_.load(std::memory_order_relaxed);
  assert(old_end < new_end);
  assert(new_end <= reserved_);
  void* mapped = mmap(base_ + old_end, new_end - old_end, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd_, static_cast<off_t>(old_end));
  if (mapped == MAP_FAILED) return PosixError("map log", path_, errno);
  guard_.Grow(new_end);  // before any thread stores there
  // Pairs with the acquire of allocated(): a thread that sees the new end also sees the mapping.
  allocated_.store(new_end, std::memory_order_release);
  return Status::OK();
}

// Maps what the recycled file already has, in whole segments. Nothing is allocated there: an
// allocation alone would make the next sync commit the journal of the file system. If the file has
// holes, nothing is mapped here, and its space is allocated as for a new file.
Status PosixMappedLog::MapWritten() {
  struct stat info = {};
  if (fstat(fd_, &info) != 0) return PosixError("fstat", path_, errno);
  MutexLock lock(&grow_mutex_);
  assert(allocated() == 0);
  constexpr uint64_t kBlockBytes = 512;  // the unit of st_blocks on every file system
  const auto size = static_cast<uint64_t>(info.st_size);
  const bool is_whole = static_cast<uint64_t>(info.st_blocks) * kBlockBytes >= size;
  const uint64_t end = std::min(size, reserved_) / kSegmentBytes * kSegmentBytes;
  return is_whole && end > 0 ? MapLocked(end) : Status::OK();
}

// The pages are faulted in without the mutex, so that other threads that need it do not wait. That
// is safe because what is allocated stays mapped until Close().
Status PosixMappedLog::PopulateAhead(uint64_t end) {
  RETURN_IF_ERROR(EnsureAllocated(end));
  const uint64_t new_end = std::min(RoundUp(end), allocated());
  uint64_t begin = new_end;
  {
    MutexLock lock(&grow_mutex_);
    if (populated_ < new_end) begin = std::exchange(populated_, new_end);
  }
  // This only saves time: without it, each writer would fault in its own pages.
  if (begin < new_end) (void)madvise(base_ + begin, new_end - begin, MADV_POPULATE_WRITE);
  return Status::OK();
}

// No part of the file is lost: only addresses behind the allocated part are given back, which were
// never mapped to it.
void PosixMappedLog::EndGrowth() {
  MutexLock lock(&grow_mutex_);
  const uint64_t kept = allocated_.load(std::memory_order_relaxed);
  if (munmap(base_ + kept, reserved_ - kept) == 0) reserved_ = kept;
}

// Drops only the page table entries of this process. The bytes stay in the page cache, dirty ones
// too, and are mapped again if somebody reads them.
void PosixMappedLog::ReleaseBehind(uint64_t end) {
  constexpr uint64_t kGranularity = 64 << 10;  // a multiple of every page size
  MutexLock lock(&grow_mutex_);
  const uint64_t release_end = end / kGranularity * kGranularity;
  if (release_end <= released_) return;
  (void)madvise(base_ + released_, release_end - released_, MADV_DONTNEED);
  released_ = release_end;
}

// The size is compared after the sync: a file that was cut behind our back has lost stores.
Status PosixMappedLog::SyncNow() {
  // Read before the sync, because the file may grow meanwhile.
  const uint64_t expected = allocated();
  if (fdatasync(fd_) != 0) return PosixError("fdatasync", path_, errno);
  // fstat() is not used: a kernel with fine-grained timestamps gives a new timestamp to the next
  // store after a file's time was read, and ext4 without a journal writes the inode with every sync
  // then.
  const off_t size = lseek(fd_, 0, SEEK_END);
  if (size < 0) return PosixError("lseek", path_, errno);
  if (static_cast<uint64_t>(size) >= expected && !is_lost()) return Status::OK();
  // If the file was cut within a page, stores to the rest of this page succeed but are never
  // written.
  return Status::IOError(StrCat("sync log: ", path_),
                         StrCat("somebody cut it, or the disk failed: ", size, " bytes"));
}

Status PosixMappedLog::Close(uint64_t final_size) {
  assert(final_size <= allocated() || final_size == kKeepsSize);
  if (fd_ < 0) return Status::OK();
  MutexLock lock(&grow_mutex_);
  Status status;
  // A log that has lost bytes must not be cut: its zeros would look like the regular end of a log.
  const bool keeps_size = final_size == kKeepsSize || is_lost();
  // The caller ensures that no thread stores or syncs any more.
  lost_ = &kNeverLost;
  guard_.Unwatch();
  if (munmap(std::exchange(base_, nullptr), reserved_) != 0) {
    status = PosixError("unmap log", path_, errno);
  }
  if (!keeps_size &&
      RetryOnSignal([&] { return ftruncate(fd_, static_cast<off_t>(final_size)); }) != 0) {
    status.UpdateIfOk(PosixError("ftruncate", path_, errno));
  }
  UniqueFd fd(std::exchange(fd_, -1));
  const int error = fd.Close();
  if (error != 0) status.UpdateIfOk(PosixError("close", path_, error));
  return status;
}

}  // namespace ashlar
