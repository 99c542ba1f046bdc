// SPDX-License-Identifier: Apache-2.0
//
// PosixMappedLog: addresses for the whole capacity are reserved at once, without memory behind them
// (PROT_NONE). Growing allocates blocks on disk first, which also extends the file, and then maps
// the new part over the reservation; so no store can hit a hole or lie past the end of the file.
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
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels answer EINVAL
#endif

namespace ashlar {

namespace {

// Growth step: large enough that growing is rare, small enough that a short log wastes little.
constexpr uint64_t kSegmentBytes = 1 << 20;

uint64_t RoundUp(uint64_t value) {
  return (value + kSegmentBytes - 1) / kSegmentBytes * kSegmentBytes;
}

// Whether an XFS was made without shared blocks. With them a copy of the log (cp takes them by
// default) makes each store allocate anew, and end in a SIGBUS when the disk is full.
bool IsXfsWithoutReflink(int fd) {
  // What the kernel calls xfs_fsop_geom_v1; its header is rarely installed.
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

// File systems known to write allocated space in place, whatever is done to the file meanwhile
// short of cutting it. On all others a store may need new space and end in a SIGBUS.
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
  RETURN_IF_ERROR(file->MapWritten());
  RETURN_IF_ERROR(file->EnsureAllocated(initial_bytes));
  if (rename(old_path.c_str(), path.c_str()) != 0) {
    return PosixError("rename", StrCat(old_path, " to ", path), errno);
  }
  return std::unique_ptr<MappedLogFile>(std::move(file));
}

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
  guard_.Watch(base);
  lost_ = guard_.lost();
}

PosixMappedLog::~PosixMappedLog() {
  guard_.Unwatch();
  if (base_ != nullptr) munmap(base_, reserved_);
  if (fd_ >= 0) close(fd_);
}

Status PosixMappedLog::EnsureAllocated(uint64_t end) {
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
  const int allocated = RetryOnSignal([&] { return fallocate(fd_, 0, offset, bytes); });
  if (allocated != 0 && errno == EOPNOTSUPP) {  // ext2 and ext3 share ext4's type
    return Status::NotSupported(StrCat("allocate log space: ", path_), "not on this file system");
  }
  if (allocated != 0) return PosixError("allocate log space", path_, errno);
  return MapLocked(new_end);
}

// The space must be allocated.
Status PosixMappedLog::MapLocked(uint64_t new_end) {
  const uint64_t old_end = allocated_.load(std::memory_order_relaxed);
  assert(old_end < new_end && new_end <= reserved_);
  void* mapped = mmap(base_ + old_end, new_end - old_end, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, fd_, static_cast<off_t>(old_end));
  if (mapped == MAP_FAILED) return PosixError("map log", path_, errno);
  guard_.Grow(new_end);  // before anybody stores there
  allocated_.store(new_end, std::memory_order_release);
  return Status::OK();
}

// What the file has from an earlier life, as far as there are whole segments of it. No call
// allocates there: that alone would make the next sync commit the file system's journal. Where
// somebody has dug holes the space is taken as that of a new file is.
Status PosixMappedLog::MapWritten() {
  struct stat info = {};
  if (fstat(fd_, &info) != 0) return PosixError("fstat", path_, errno);
  MutexLock lock(&grow_mutex_);
  assert(allocated() == 0);
  constexpr uint64_t kBlockBytes = 512;  // the unit of st_blocks, whatever the file system has
  const auto size = static_cast<uint64_t>(info.st_size);
  const bool is_whole = static_cast<uint64_t>(info.st_blocks) * kBlockBytes >= size;
  const uint64_t end = std::min(size, reserved_) / kSegmentBytes * kSegmentBytes;
  return is_whole && end > 0 ? MapLocked(end) : Status::OK();
}

// Who needs the mutex meanwhile waits for no page: what is allocated stays mapped until Close().
Status PosixMappedLog::PopulateAhead(uint64_t end) {
  RETURN_IF_ERROR(EnsureAllocated(end));
  const uint64_t new_end = std::min(RoundUp(end), allocated());
  uint64_t begin = new_end;
  {
    MutexLock lock(&grow_mutex_);
    if (populated_ < new_end) begin = std::exchange(populated_, new_end);
  }
  // Only a matter of speed: without it each writer faults its own pages in.
  if (begin < new_end) (void)madvise(base_ + begin, new_end - begin, MADV_POPULATE_WRITE);
  return Status::OK();
}

void PosixMappedLog::EndGrowth() {
  MutexLock lock(&grow_mutex_);
  const uint64_t kept = allocated_.load(std::memory_order_relaxed);
  if (munmap(base_ + kept, reserved_ - kept) == 0) reserved_ = kept;
}

// The page cache keeps the bytes: only this process's page table entries go.
void PosixMappedLog::ReleaseBehind(uint64_t end) {
  constexpr uint64_t kGranularity = 64 << 10;  // a multiple of any page size
  MutexLock lock(&grow_mutex_);
  const uint64_t release_end = end / kGranularity * kGranularity;
  if (release_end <= released_) return;
  (void)madvise(base_ + released_, release_end - released_, MADV_DONTNEED);
  released_ = release_end;
}

Status PosixMappedLog::SyncNow() {
  // Read first: the file may grow meanwhile, which this is not about.
  const uint64_t expected = allocated();
  if (fdatasync(fd_) != 0) return PosixError("fdatasync", path_, errno);
  // Not fstat(): a kernel with fine-grained times makes a new one at the next store to a file whose
  // time was asked for, and an ext4 without a journal writes that with every sync.
  const off_t size = lseek(fd_, 0, SEEK_END);
  if (size < 0) return PosixError("lseek", path_, errno);
  if (static_cast<uint64_t>(size) >= expected && !is_lost()) return Status::OK();
  // Of a page that is cut in the middle the rest can be stored to, but is never written.
  return Status::IOError(StrCat("sync log: ", path_),
                         StrCat("somebody cut it, or the disk failed: ", size, " bytes"));
}

Status PosixMappedLog::Close(uint64_t final_size) {
  assert(final_size <= allocated() || final_size == kKeepsSize);
  if (fd_ < 0) return Status::OK();
  MutexLock lock(&grow_mutex_);
  Status status;
  // Of one that is lost, zeros would look like a log that ends there.
  const bool keeps_size = final_size == kKeepsSize || is_lost();
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
