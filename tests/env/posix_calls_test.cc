// SPDX-License-Identifier: Apache-2.0
//
// The calls of the POSIX files into the kernel. This program defines fdatasync, fsync and fstat,
// which replace those of the C library and count. A sync that makes no call, or a call for another
// file, is detected. Its own link() fails when a test wants it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <map>
#include <memory>
#include <string>

#include "ashlar/file_system.h"
#include "env/file_util.h"
#include "env/mapped_file.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace {

struct SyncCalls {
  std::map<ino_t, int> of_data, of_all;  // by inode
  int fstats = 0;
};
SyncCalls* calls = nullptr;  // while a test counts; one thread
int link_error = 0;          // the errno that link() returns; 0: it makes the link

int CallFstat(int fd, struct stat* info) { return static_cast<int>(syscall(SYS_fstat, fd, info)); }
void Count(int fd, std::map<ino_t, int>* counts) {
  struct stat info = {};
  if (CallFstat(fd, &info) == 0) (*counts)[info.st_ino]++;
}

ino_t InodeOf(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

extern "C" int fdatasync(int fd) {
  if (calls != nullptr) Count(fd, &calls->of_data);
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}
extern "C" int fsync(int fd) {
  if (calls != nullptr) Count(fd, &calls->of_all);
  return static_cast<int>(syscall(SYS_fsync, fd));
}
extern "C" int fstat(int fd, struct stat* info) {
  if (calls != nullptr) calls->fstats++;
  return CallFstat(fd, info);
}
extern "C" int link(const char* from, const char* to) {
  if (link_error == 0)
    return static_cast<int>(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
  errno = link_error;
  return -1;
}

namespace ashlar {
namespace {

const IOOptions kCallIo;

class PosixCalls : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = FreshTempDir("posix_calls");
    calls = &calls_;
  }
  void TearDown() override { calls = nullptr; }

  FileSystem* const fs_ = FileSystem::Default().get();
  std::string dir_;
  SyncCalls calls_;
};

TEST_F(PosixCalls, SyncsReachTheKernelForTheirOwnFile) {
  const std::string path = dir_ + "/file", other = dir_ + "/other";
  std::unique_ptr<FSWritableFile> file, unsynced;
  ASSERT_OK(fs_->NewWritableFile(path, FileOptions(), &file, nullptr));
  ASSERT_OK(fs_->NewWritableFile(other, FileOptions(), &unsynced, nullptr));
  ASSERT_OK(file->Append("data", kCallIo, nullptr));
  EXPECT_TRUE(calls_.of_data.empty());
  ASSERT_OK(file->Sync(kCallIo, nullptr));
  EXPECT_EQ(calls_.of_data[InodeOf(path)], 1);
  ASSERT_OK(file->Fsync(kCallIo, nullptr));
  EXPECT_EQ(calls_.of_all[InodeOf(path)], 1);
  EXPECT_EQ(calls_.of_data[InodeOf(other)] + calls_.of_all[InodeOf(other)], 0);
}

// After the times of a file were read, the next store writes its inode again, and the next sync
// waits for that.
TEST_F(PosixCalls, ASyncOfAMappedLogAsksForNoTimes) {
  const std::string path = dir_ + "/log";
  auto log = MappedLogFactory::Of(fs_)->NewMappedLog(path, 1, 1 << 20);
  if (log.status().IsNotSupported()) GTEST_SKIP() << "no mapped log in " << dir_;
  ASSERT_OK(log);
  ASSERT_OK((*log)->EnsureAllocated(1));
  calls_.fstats = 0;
  *(*log)->At(0) = 'x';
  ASSERT_OK((*log)->Sync());
  EXPECT_EQ(calls_.of_data[InodeOf(path)], 1);
  EXPECT_EQ(calls_.fstats, 0);
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_TRUE((*log)->Sync().IsIOError()) << "the size is looked at all the same";
}

TEST_F(PosixCalls, ADirectorySyncReachesTheKernel) {
  ASSERT_OK(SyncDirectory(fs_, dir_));
  EXPECT_EQ(calls_.of_all[InodeOf(dir_)], 1);
}

TEST_F(PosixCalls, ARandomlyWrittenFileIsSyncedToo) {
  const std::string path = dir_ + "/file";
  std::unique_ptr<FSWritableFile> made;
  ASSERT_OK(fs_->NewWritableFile(path, FileOptions(), &made, nullptr));
  std::unique_ptr<FSRandomRWFile> file;
  ASSERT_OK(fs_->NewRandomRWFile(path, FileOptions(), &file, nullptr));
  ASSERT_OK(file->Sync(kCallIo, nullptr));
  EXPECT_EQ(calls_.of_data[InodeOf(path)], 1);
}

// Checkpoints and ingestions then copy the file.
TEST_F(PosixCalls, ALinkThatCannotBeHadIsNotSupported) {
  const std::string path = dir_ + "/file";
  std::unique_ptr<FSWritableFile> made;
  ASSERT_OK(fs_->NewWritableFile(path, FileOptions(), &made, nullptr));
  for (const int error : {EXDEV, EOPNOTSUPP, ENOSYS, EPERM, EMLINK, EIO}) {
    link_error = error;
    const IOStatus status = fs_->LinkFile(path, dir_ + "/link", kCallIo, nullptr);
    link_error = 0;
    EXPECT_EQ(status.IsNotSupported(), error != EIO) << error << status.ToString();
    EXPECT_FALSE(status.ok());
  }
  EXPECT_OK(fs_->LinkFile(path, dir_ + "/link", kCallIo, nullptr));
}

// The kernel writes up to the limit and returns the number of bytes. The rest fails.
TEST_F(PosixCalls, AWriteThatIsCutShortGoesOnAndFails) {
  const std::string path = dir_ + "/file";
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->NewWritableFile(path, FileOptions(), &file, nullptr));
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const IOStatus status = file->Append(std::string(2000, 'x'), kCallIo, nullptr);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(status.ok());
}

}  // namespace
}  // namespace ashlar
