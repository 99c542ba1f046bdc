// SPDX-License-Identifier: Apache-2.0
//
// A FileSystem built on POSIX calls. Its only state is the table of locks, so that one object
// serves the whole process. Only logs are written through mappings.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cassert>
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

// Converts the result of a POSIX call that returns 0 for success and otherwise sets errno. Call it
// at once, before anything else changes errno.
IOStatus Check(int result, const char* what, const std::string& path) {
  AssertIoAllowed();
  return result == 0 ? IOStatus::OK() : PosixError(what, path, errno);
}

// Converts the error of a function that returns Result<T> to the type that a FileSystem returns.
IOStatus ToIO(const Status& status) { return status_to_io_status(Status(status)); }

// Opens a file with O_DIRECT. If that fails although the file can be opened without it, then the
// file system does not support direct I/O.
Result<UniqueFd> OpenDirect(const char* what, const std::string& path, int flags) {
  Result<UniqueFd> fd = OpenFd(what, path, flags | O_DIRECT);
  if (fd.ok() || !OpenFd(what, path, O_RDONLY).ok()) return fd;
  return Status::NotSupported(StrCat(what, " ", path),
                              "the file system refuses direct I/O (O_DIRECT); leave "
                              "use_direct_reads and use_direct_io_for_flush_and_compaction off");
}

// One object serves all databases of the process. No function holds a lock while it waits for the
// disk, except those for file locks.
class PosixFileSystem final : public FileSystem, private MappedLogFactory {
 public:
  const char* Name() const override { return kDefaultName(); }
  const char* NickName() const override { return "posix"; }

  // The log writer finds the factory of mapped logs by this name; wrappers of file systems forward
  // or hide it.
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
    // Callers may ask for direct reads for all files of a database. They open the file again
    // without the flag.
    if (options.use_direct_reads) {
      return IOStatus::NotSupported(StrCat("open ", f),
                                    "what is read once in order is read through the page cache");
    }
    assert(r != nullptr);
    auto fd = OpenFd("open for reading", f, O_RDONLY);
    if (!fd.ok()) return ToIO(fd.status());
    // The call only tells the kernel how the file will be read, so its errors are ignored.
    posix_fadvise(fd->get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    *r = std::make_unique<PosixSequentialFile>(fd.Take(), f);
    return IOStatus::OK();
  }

  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r, IODebugContext*) override {
    assert(r != nullptr);
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

  // Cuts an existing file to 0 bytes.
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext*) override {
    return OpenForWriting(f, options, O_CREAT | O_TRUNC, r);
  }

  // Keeps the content; appends begin behind it.
  IOStatus ReopenWritableFile(const std::string& f, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* r, IODebugContext*) override {
    return OpenForWriting(f, options, O_CREAT, r);
  }

  // Overwrites the file from the start. The old content behind what is written stays, which readers
  // of recycled logs expect.
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext*) override {
    assert(r != nullptr);
    r->reset();
    auto fd = options.use_direct_writes ? OpenDirect("open for reuse", old, O_RDWR)
                                        : OpenFd("open for reuse", old, O_RDWR);
    if (!fd.ok()) return ToIO(fd.status());
    // Opened before the rename: if that fails, the old file is unchanged. A crash after the rename
    // leaves the old content under the new name, which readers of logs recognize by the log number
    // in each record.
    if (rename(old.c_str(), f.c_str()) != 0) {
      return PosixError("rename", StrCat(old, " to ", f), errno);
    }
    *r = std::make_unique<PosixWritableFile>(fd.Take(), f, 0, options);
    return IOStatus::OK();
  }

  IOStatus NewRandomRWFile(const std::string& f, const FileOptions&,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext*) override {
    assert(r != nullptr);
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
    assert(r != nullptr);
    r->reset();
    auto fd = OpenFd("open directory", name, O_RDONLY | O_DIRECTORY);
    if (!fd.ok()) return ToIO(fd.status());
    *r = std::make_unique<PosixDirectory>(fd.Take(), name);
    return IOStatus::OK();
  }

  // A path through something that is not a directory counts as missing, not as an error.
  IOStatus FileExists(const std::string& f, const IOOptions&, IODebugContext*) override {
    if (access(f.c_str(), F_OK) == 0) return IOStatus::OK();
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return IOStatus::NotFound(f, "no such file");
    return PosixError("access", f, error);
  }

  IOStatus GetChildren(const std::string& dir, const IOOptions&, std::vector<std::string>* r,
                       IODebugContext*) override {
    assert(r != nullptr);
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
    const int error = errno;  // 0 at the end of the directory
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

  // Another process may create the directory at the same time; then this succeeds as well. A file
  // of that name is an error.
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
    assert(size != nullptr);
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(f.c_str(), &info), "stat", f));
    *size = static_cast<uint64_t>(info.st_size);
    return IOStatus::OK();
  }
  IOStatus GetFileModificationTime(const std::string& f, const IOOptions&, uint64_t* time,
                                   IODebugContext*) override {
    assert(time != nullptr);
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(f.c_str(), &info), "stat", f));
    // The unit is seconds since 1970.
    *time = static_cast<uint64_t>(info.st_mtime);
    return IOStatus::OK();
  }
  // Replaces an existing target atomically. Durable only after the directory was synced.
  IOStatus RenameFile(const std::string& s, const std::string& t, const IOOptions&,
                      IODebugContext*) override {
    if (rename(s.c_str(), t.c_str()) == 0) return IOStatus::OK();
    return PosixError("rename", StrCat(s, " to ", t), errno);
  }
  IOStatus LinkFile(const std::string& s, const std::string& t, const IOOptions&,
                    IODebugContext*) override {
    if (link(s.c_str(), t.c_str()) == 0) return IOStatus::OK();
    // EPERM means that the file system has no links, or that this file may have no other name.
    // EMLINK means that it has too many. The caller may copy the file instead.
    if (errno == EXDEV || errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM ||
        errno == EMLINK) {
      return IOStatus::NotSupported(StrCat("link ", s, " to ", t), "not possible here");
    }
    return PosixError("link", StrCat(s, " to ", t), errno);
  }
  IOStatus NumFileLinks(const std::string& f, const IOOptions&, uint64_t* count,
                        IODebugContext*) override {
    assert(count != nullptr);
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(f.c_str(), &info), "stat", f));
    *count = static_cast<uint64_t>(info.st_nlink);
    return IOStatus::OK();
  }
  // Two names are the same file if they have one inode, whether by link or by symbolic link.
  IOStatus AreFilesSame(const std::string& a, const std::string& b, const IOOptions&, bool* r,
                        IODebugContext*) override {
    assert(r != nullptr);
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

  // Tests of one user share the directory; each makes its own below it.
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override {
    assert(path != nullptr);
    const char* chosen = getenv("TEST_TMPDIR");
    *path = chosen != nullptr && *chosen != '\0' ? std::string(chosen)
                                                 : StrCat("/tmp/ashlartest-", geteuid());
    return CreateDirIfMissing(*path, options, dbg);
  }

  // The path is not normalized and need not exist.
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
    assert(free_bytes != nullptr);
    struct statvfs info = {};
    RETURN_IF_ERROR(Check(statvfs(path.c_str(), &info), "statvfs", path));
    // Most file systems reserve some blocks for root.
    const uint64_t blocks = geteuid() == 0 ? info.f_bfree : info.f_bavail;
    *free_bytes = blocks * info.f_frsize;
    return IOStatus::OK();
  }

  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override {
    assert(is_dir != nullptr);
    struct stat info = {};
    RETURN_IF_ERROR(Check(stat(path.c_str(), &info), "stat", path));
    *is_dir = S_ISDIR(info.st_mode);
    return IOStatus::OK();
  }

  // Asynchronous reads depend on the thread that asks: one thread may have a ring and another not.
  void SupportedOps(int64_t& supported_ops) override {
    supported_ops = int64_t{1} << FSSupportedOps::kFSPrefetch;
    if (PosixUring::OfThread() != nullptr) supported_ops |= int64_t{1} << FSSupportedOps::kAsyncIO;
  }
  // Waits for the first `min_completions` handles, in their order, and not for any that many.
  IOStatus Poll(std::vector<void*>& handles, size_t min_completions) override {
    WaitForReads(handles, min_completions);
    return IOStatus::OK();
  }
  // A read that the kernel has accepted cannot be taken back, so that this waits until it is done.
  IOStatus AbortIO(std::vector<void*>& handles) override {
    WaitForReads(handles, handles.size());
    return IOStatus::OK();
  }

 private:
  static IOStatus OpenForWriting(const std::string& f, const FileOptions& options, int flags,
                                 std::unique_ptr<FSWritableFile>* r) {
    assert(r != nullptr);
    r->reset();
    auto fd = options.use_direct_writes ? OpenDirect("open for writing", f, O_RDWR | flags)
                                        : OpenFd("open for writing", f, O_RDWR | flags);
    if (!fd.ok()) return ToIO(fd.status());
    // The size is taken after O_TRUNC did its work, so that it is 0 for a new file.
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
