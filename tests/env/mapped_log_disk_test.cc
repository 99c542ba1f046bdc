// SPDX-License-Identifier: Apache-2.0
//
// On which file systems a log may be mapped, and how cutting its file is detected.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "env/mapped_file.h"
#include "env/posix/sigbus_guard.h"
#include "tests/support/loop_disk.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

Result<std::unique_ptr<MappedLogFile>> NewMappedLog(const std::string& path) {
  return MappedLogFactory::Of(FileSystem::Default().get())->NewMappedLog(path, 1, 1 << 20);
}

struct Disk {
  const char* name;
  const char* mkfs;
  uint64_t megabytes;
  bool is_mapped;
};
constexpr Disk kDisks[] = {
    // After a copy with shared blocks, the next store needs a new block, and there may be none.
    {"xfs", "mkfs.xfs -q -m reflink=1", 320, false},
    {"xfs_without_reflink", "mkfs.xfs -q -m reflink=0", 320, true},
    {"ext4", "mkfs.ext4 -q", 16, true},
    // It has the same type number as ext4, but space cannot be allocated ahead.
    {"ext2", "mkfs.ext2 -q", 16, false},
    {"btrfs", "mkfs.btrfs -q", 128, false},
};

class MappedLogOn : public testing::TestWithParam<Disk> {};

TEST_P(MappedLogOn, OnlyWhereSpaceIsWrittenInPlace) {
  const LoopDisk disk(GetParam().mkfs, GetParam().megabytes << 20);
  if (disk.dir().empty()) return SkipAsImpossible(std::string("mounted ") + GetParam().name);
  const auto file = NewMappedLog(disk.dir() + "/000001.log");
  if (GetParam().is_mapped) {
    EXPECT_OK(file);
  } else {
    EXPECT_TRUE(file.status().IsNotSupported()) << file.status().ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Disks, MappedLogOn, testing::ValuesIn(kDisks),
                         [](const auto& info) { return std::string(info.param.name); });

// The log is truncated while it is in use. Later stores then have no file behind them.
TEST(MappedLog, StoresIntoACutFileAreAFactAndNoSignal) {
  std::string path = FreshMappableDir("mapped");
  if (path.empty()) return SkipAsMissing(kMappableFileSystem);
  path += "/log";
  auto file = NewMappedLog(path);
  ASSERT_OK(file);
  if (!SigbusGuard::IsInstalled()) return SkipAsImpossible("SIGBUS, which somebody else handles");
  memcpy((*file)->At(0), "first", 5);
  EXPECT_FALSE((*file)->is_lost());
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  memcpy((*file)->At(5), "second", 6);
  EXPECT_TRUE((*file)->is_lost());
  EXPECT_TRUE((*file)->Sync().IsIOError());
  memcpy((*file)->At((*file)->allocated() - 5), "third", 5);
  // Other logs are not affected.
  auto other = NewMappedLog(path + "2");
  ASSERT_OK(other);
  EXPECT_FALSE((*other)->is_lost());
  ASSERT_OK((*file)->Close(11));
  struct stat info = {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 0) << "zeros would look like a whole log";
}

// This includes a SIGBUS in another mapping, and one that was sent.
TEST(MappedLogDeathTest, OtherSignalsEndTheProcessAsBefore) {
  std::string path = FreshMappableDir("mapped");
  if (path.empty()) return SkipAsMissing(kMappableFileSystem);
  path += "/log";
  const auto file = NewMappedLog(path);
  ASSERT_OK(file);
  if (!SigbusGuard::IsInstalled()) return SkipAsImpossible("SIGBUS, which somebody else handles");
  EXPECT_EXIT(raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
  const int fd = open(path.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  void* const beyond = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 1 << 30);
  ASSERT_NE(beyond, MAP_FAILED);
  EXPECT_EXIT(*static_cast<volatile char*>(beyond) = 'x', testing::KilledBySignal(SIGBUS), "");
  munmap(beyond, 4096);
  close(fd);
}

// Stores behind the end of a file, but within its last page, are lost: a sync must not report
// success for them.
TEST(MappedLog, SyncFailsForGoodWhenSomebodyCutsTheFile) {
  std::string path = FreshMappableDir("mapped");
  if (path.empty()) return SkipAsMissing(kMappableFileSystem);
  path += "/log";
  auto file = NewMappedLog(path);
  ASSERT_OK(file);
  memcpy((*file)->At(0), "first", 5);
  ASSERT_OK((*file)->Sync());
  ASSERT_EQ(truncate(path.c_str(), 5), 0);
  memcpy((*file)->At(5), "second", 6);
  const Status status = (*file)->Sync();
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  ASSERT_EQ(truncate(path.c_str(), 2 << 20), 0);
  EXPECT_EQ((*file)->Sync().ToString(), status.ToString());
}

}  // namespace
}  // namespace ashlar
