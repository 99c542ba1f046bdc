// SPDX-License-Identifier: Apache-2.0
//
// Exclusive locks on files. The table is checked before the file is opened, because opening and
// closing a locked file would release the lock without notice.
#include "env/posix/posix_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <vector>

#include "env/posix/posix_error.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {

namespace {

// Lives from AcquirePosixLock() to ReleasePosixLock(). The table has a pointer to it, and the
// descriptor holds the lock of the kernel.
class PosixLock : public FileLock {
 public:
  PosixLock(UniqueFd fd, std::string path, dev_t device, ino_t inode)
      : fd(std::move(fd)), path(std::move(path)), device(device), inode(inode) {}

  UniqueFd fd;
  const std::string path;
  const dev_t device;
  const ino_t inode;
};

// The locks that this process holds. They are found by path, in case the file was replaced
// meanwhile, and by inode, in case the same file has another name.
struct LockTable {
  Mutex mutex{LockRank::kFile};
  std::vector<const PosixLock*> held GUARDED_BY(mutex);

  bool Contains(const std::string& path, const struct stat* info) REQUIRES(mutex) {
    return std::any_of(held.begin(), held.end(), [&](const PosixLock* lock) {
      return lock->path == path ||
             (info != nullptr && lock->device == info->st_dev && lock->inode == info->st_ino);
    });
  }
};

LockTable& Table() {
  static auto* table = new LockTable;  // never destroyed: locks may outlive main()
  return *table;
}

struct flock WholeFile(short type) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  return range;  // start 0 and length 0 mean the whole file
}

IOStatus HeldBySelf(const std::string& path) {
  return IOStatus::IOError(StrCat("lock ", path),
                           StrCat("already held by this process (", getpid(),
                                  "); close the database that is open on this directory"));
}

// Asks the kernel who holds the lock, for the message only: by the time of the answer the holder
// may be another process, or none.
IOStatus HeldByOther(const std::string& path, int fd, int error) {
  assert(fd >= 0);
  if (error != EAGAIN && error != EACCES) return PosixError("lock", path, error);
  struct flock range = WholeFile(F_WRLCK);
  std::string holder = "another process";
  if (fcntl(fd, F_GETLK, &range) == 0 && range.l_type != F_UNLCK && range.l_pid > 0) {
    holder = StrCat("process ", range.l_pid);
  }
  return IOStatus::IOError(StrCat("lock ", path),
                           StrCat("held by ", holder, "; only one process may write a database"));
}

}  // namespace

// POSIX locks belong to the process, so a table is needed to exclude threads of the same process.
IOStatus AcquirePosixLock(const std::string& path, FileLock** lock) {
  assert(lock != nullptr);
  *lock = nullptr;
  LockTable& table = Table();
  // Held while the file is opened: otherwise another thread could lock the same file in between,
  // and our close() would release its lock.
  MutexLock guard(&table.mutex);
  struct stat info = {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (table.Contains(path, exists ? &info : nullptr)) return HeldBySelf(path);

  // The file is created if it is missing, and is never deleted: a process that still has the old
  // inode open could lock it while another process locks the new file.
  auto fd = OpenFd("open lock file", path, O_RDWR | O_CREAT);
  if (!fd.ok()) return status_to_io_status(Status(fd.status()));
  struct flock range = WholeFile(F_WRLCK);
  if (fcntl(fd->get(), F_SETLK, &range) != 0) return HeldByOther(path, fd->get(), errno);
  // Asked again, because the file may not have existed before it was opened.
  if (fstat(fd->get(), &info) != 0) return PosixError("fstat", path, errno);
  auto* held = new PosixLock(fd.Take(), path, info.st_dev, info.st_ino);
  table.held.push_back(held);
  *lock = held;
  return IOStatus::OK();
}

IOStatus ReleasePosixLock(FileLock* lock) {
  assert(lock != nullptr);
  auto* held = static_cast<PosixLock*>(lock);
  LockTable& table = Table();
  MutexLock guard(&table.mutex);
  assert(std::count(table.held.begin(), table.held.end(), held) == 1);
  std::erase(table.held, held);
  const std::string path = held->path;
  const int error = held->fd.Close();  // closing releases the lock
  delete held;
  return error == 0 ? IOStatus::OK() : PosixError("unlock", path, error);
}

}  // namespace ashlar
