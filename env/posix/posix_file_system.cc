// SPDX-License-Identifier: Apache-2.0
//
// FileSystem over POSIX calls. Stateless but for the table of locks, so one object serves the
// process. Only logs are written through mappings.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "ashlar/file_system.h"
#include "env/io_rule.h"
#include "env/posix/posix_error.h"
#include "env/posix/posix_files.h"
#include "env/posix/posix_lock.h"
#include "env/posix/posix_mapped_log.h"
#include "env/posix/posix_uring.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

IOStatus Check(int result, const char* what, const std::string& path) {
  AssertIoAllowed();
  return result == 0 ? IOStatus::OK() : PosixError(what, path, errno);
}

IOStatus ToIO(const Status& status) { return status_to_io_status(Status(status)); }

// Past the page cache. Where it can be opened only otherwise, it is the file system that refuses.
Result<UniqueFd> OpenDirect(const char* what, const std::string& path, int flags) {
  Result<UniqueFd> fd = OpenFd(what, path, flags | O_DIRECT);
  if (fd.ok() || !OpenFd(what, path, O_RDONLY).ok()) return fd;
  return Status::NotSupported(StrCat(what, " ", path),
                              "the file system refuses direct I/O (O_DIRECT); leave "
                              "use_direct_reads and use_direct_io_for_flush_and_compaction off");
}

class PosixFileSystem final : public FileSystem, private MappedLogFactory {
 public:
  const char* Name() const override { return kDefaultName(); }
  const char* NickName() const override { return "posix"; }

  const void* GetOptionsPtr(const std::string& name) const override {
    if (name == kName) return static_cast<const MappedLogFactory*>(this);
    return FileSystem::GetOptionsPtr(name);
  }
  Result<std::unique_ptr<MappedLogFile>> NewMappedLog(const std::string& path,
                                                      uint64_t initial_bytes,
                                                      uint64_t capacity) override {
    return PosixMappedLog::Create(path, initial_bytes, capacity);
  }
  Result<std::unique_ptr<MappedLogFile>> ReuseMappedLog(const std::string& path,
                                                        const std::string& old_path,
                                                        uint64_t initial_bytes,
                                                        uint64_t capacity) override {
    return PosixMappedLog::Reuse(path, old_path, initial_bytes, capacity);
  }

  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext*) override {
    r->reset();
    if (options.use_direct_reads) {
      return IOStatus::NotSupported(StrCat("open ", f),
                                    "what is read once in order is read through the page cache");
    }
    auto fd = OpenFd("open for reading", f, O_RDONLY);
    if (!fd.ok()) return ToIO(fd.status());
    posix_fadvise(fd->get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    *r = std::make_unique<PosixSequentialFile>(fd.Take(), f);
    return IOStatus::OK();
  }

  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r, IODebugContext*) override {
    r->reset();
    if (options.use_mmap_reads && !options.use_direct_reads) return PosixMappedReadFile::Open(f, r);
    using Direct = PosixRandomAccessFile::Direct;
    auto fd = options.use_direct_reads ? OpenDirect("open for reading", f, O_RDONLY)
                                       : OpenFd("open for reading", f, O_RDONLY);
    if (!fd.ok()) return ToIO(fd.status());
    *r = std::make_unique<PosixRandomAccessFile>(
        fd.Take(), f, options.use_direct_reads ? Direct::kYes : Direct::kNo);
    return IOStatus::OK();
  }

  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext*) override {
    return OpenForWriting(f, options, O_CREAT | O_TRUNC, r);
  }

  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext*) override {
    return OpenForWriting(f, options, O_CREAT, r);
  }

  // Overwrites from the start; what is not overwritten stays, for the reader of recycled logs.
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext*) override {
    r->reset();
    auto fd = options.use_direct_writes ? OpenDirect("open for reuse", old, O_RDWR)
                                        : OpenFd("open for reuse", old, O_RDWR);
    if (!fd.ok()) return ToIO(fd.status());
    if (rename(old.c_str(), f.c_str()) != 0) {
      return PosixError("rename", StrCat(old, " to ", f), errno);
    }
    *r = std::make_unique<PosixWritableFile>(fd.Take(), f, 0, options);
    return IOStatus::OK();
  }

  IOStatus NewRandomRWFile(const std::string& f, const FileOptions&,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext*) override {
    r->reset();
    auto fd = OpenFd("open for reading and writing", f, O_RDWR);
    if (!fd.ok()) return ToIO(fd.status());
    *r = std::make_unique<PosixRandomRWFile>(fd.Take(), f);
    return IOStatus::OK();
  }

  IOStatus NewMemoryMappedFileBuffer(const std::string& f,
                                     std::unique_ptr<MemoryMappedFileBuffer>* r) override {
    return MapWholeFile(f, r);
  }

  IOStatus NewDirectory(const std::string& name, const IOOptions&, std::unique_ptr<FSDirectory>* r,
                        IODebugContext*) override {
    r->reset();
    auto fd = OpenFd("open directory", name, O_RDONLY | O_DIRECTORY);
    if (!fd.ok()) return ToIO(fd.status());
    *r = std::make_unique<PosixDirectory>(fd.Take(), name);
    return IOStatus::OK();
  }

  IOStatus FileExists(const std::string& f, const IOOptions&, IODebugContext*) override {
    if (access(f.c_str(), F_OK) == 0) return IOStatus::OK();
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return IOStatus::NotFound(f, "no such file");
    return PosixError("access", f, error);
  }

  IOStatus GetChildren(const std::string& dir, const IOOptions&, std::vector<std::string>* r,
                       IODebugContext*) override {
    r->clear();
    DIR* stream = opendir(dir.c_str());
    if (stream == nullptr) {
      const int open_error = errno;
      if (open_error == ENOENT || open_error == ENOTDIR) {
        return IOStatus::NotFound(dir, "no such directory");
      }
      return PosixError("opendir", dir, open_error);
    }
    errno = 0;
    for (const dirent* entry; (entry = readdir(stream)) != nullptr; errno = 0) {
      const Slice name(entry->d_name);
      if (name != Slice(".") && name != Slice("..")) r->emplace_back(entry->d_name);
    }
    const int error = errno;  // end of the directory leaves it 0
    closedir(stream);
    return error == 0 ? IOStatus::OK() : PosixError("readdir", dir, error);
  }

  IOStatus DeleteFile(const std::string& f, const IOOptions&, IODebugContext*) override {
    return Check(unlink(f.c_str()), "unlink", f);
  }
  IOStatus Truncate(const std::string& f, size_t size, const IOOptions&, IODebugContext*) override {
    return Check(truncate(f.c_str(), static_cast<off_t>(size)), "truncate", f);
  }
  IOStatus CreateDir(const std::string& d, const IOOptions&, IODebugContext*) override {
    return Check(mkdir(d.c_str(), 0755), "mkdir", d);
  }

  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& options,
                              IODebugContext* dbg) override {
    if (mkdir(d.c_str(), 0755) == 0) return IOStatus::OK();
    const int error = errno;
    bool is_dir = false;
    if (error == EEXIST && IsDirectory(d, options, &is_dir, dbg).ok() && is_dir) {
      return IOStatus::OK();
    }
    return PosixError("mkdir", d, error);
  }

  IOStatus DeleteDir(const std::string& d, const IOOptions&, IODebugContext*) override {
    return Check(rmdir(d.c_str()), "rmdir", d);
  }

  IOStatus GetFileSize(const std::string& f, const IOOptions&, uint64_t* size,
                       IODebugContext*) override {
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(f.c_str(), &info), "stat", f));
    *size = static_cast<uint64_t>(info.st_size);
    return IOStatus::OK();
  }
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions&, uint64_t* time,
                                   IODebugContext*) override {
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(f.c_str(), &info), "stat", f));
    *time = static_cast<uint64_t>(info.st_mtime);
    return IOStatus::OK();
  }
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions&,
                      IODebugContext*) override {
    if (rename(s.c_str(), t.c_str()) == 0) return IOStatus::OK();
    return PosixError("rename", StrCat(s, " to ", t), errno);
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions&,
                    IODebugContext*) override {
    if (link(s.c_str(), t.c_str()) == 0) return IOStatus::OK();
    // EPERM: a file system without links, or a file that may have no other name. EMLINK: it has too
    // many. Who wanted a link may copy.
    if (errno == EXDEV || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM ||
        errno == EMLINK) {
      return IOStatus::NotSupported(StrCat("link ", s, " to ", t), "not possible here");
    }
    return PosixError("link", StrCat(s, " to ", t), errno);
  }
  IOStatus NumFileLinks(const std::string& f, const IOOptions&, uint64_t* count,
                        IODebugContext*) override {
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(f.c_str(), &info), "stat", f));
    *count = static_cast<uint64_t>(info.st_nlink);
    return IOStatus::OK();
  }
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions&, bool* r,
                        IODebugContext*) override {
    struct stat first = {}, second = {};
    RETURN_IF_ERROR(Check(stat(a.c_str(), &first), "stat", a));
    RETURN_IF_ERROR(Check(stat(b.c_str(), &second), "stat", b));
    *r = first.st_dev == second.st_dev && first.st_ino == second.st_ino;
    return IOStatus::OK();
  }

  IOStatus LockFile(const std::string& f, const IOOptions&, FileLock** lock,
                    IODebugContext*) override {
    return AcquirePosixLock(f, lock);
  }
  IOStatus UnlockFile(FileLock* lock, const IOOptions&, IODebugContext*) override {
    return ReleasePosixLock(lock);
  }

  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override {
    const char* chosen = getenv("TEST_TMPDIR");
    *path = chosen != nullptr && *chosen != '\0' ? std::string(chosen)
                                                 : StrCat("/tmp/ashlartest-", geteuid());
    return CreateDirIfMissing(*path, options, dbg);
  }

  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* result,
                           IODebugContext*) override {
    if (!path.empty() && path[0] == '/') {
      *result = path;
      return IOStatus::OK();
    }
    char directory[4096];
    if (getcwd(directory, sizeof(directory)) == nullptr) return PosixError("getcwd", path, errno);
    *result = StrCat(directory, "/", path);
    return IOStatus::OK();
  }

  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, uint64_t* free_bytes,
                        IODebugContext*) override {
    struct statvfs info = {};
    RETURN_IF_ERROR(Check(statvfs(path.c_str(), &info), "statvfs", path));
    const uint64_t blocks = geteuid() == 0 ? info.f_bfree : info.f_bavail;
    *free_bytes = blocks * info.f_frsize;
    return IOStatus::OK();
  }

  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override {
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(path.c_str(), &info), "stat", path));
    *is_dir = S_ISDIR(info.st_mode);
    return IOStatus::OK();
  }

  void SupportedOps(int64_t& supported_ops) override {
    supported_ops = int64_t{1} << FSSupportedOps::kFSPrefetch;
    if (PosixUring::OfThread() != nullptr) supported_ops |= int64_t{1} << FSSupportedOps::kAsyncIO;
  }
  IOStatus Poll(std::vector<void*>& handles, size_t min_completions) override {
    WaitForReads(handles, min_completions);
    return IOStatus::OK();
  }
  // What the kernel has taken it also does: the reads end like any others.
  IOStatus AbortIO(std::vector<void*>& handles) override {
    WaitForReads(handles, handles.size());
    return IOStatus::OK();
  }

 private:
  static IOStatus OpenForWriting(const std::string& f, const FileOptions& options, int flags,
                                 std::unique_ptr<FSWritableFile>* r) {
    r->reset();
    auto fd = options.use_direct_writes ? OpenDirect("open for writing", f, O_RDWR | flags)
                                        : OpenFd("open for writing", f, O_RDWR | flags);
    if (!fd.ok()) return ToIO(fd.status());
    struct stat info = {};
    RETURN_IF_ERROR(Check(fstat(fd->get(), &info), "fstat", f));
    *r = std::make_unique<PosixWritableFile>(fd.Take(), f, static_cast<uint64_t>(info.st_size),
                                             options);
    return IOStatus::OK();
  }
};

}  // namespace

// Never destroyed: databases may be closed while the process ends.
std::shared_ptr<FileSystem> FileSystem::Default() {
  static const auto* fs = new std::shared_ptr<FileSystem>(std::make_shared<PosixFileSystem>());
  return *fs;
}

}  // namespace ashlar
