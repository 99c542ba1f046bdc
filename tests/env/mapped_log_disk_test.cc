// SPDX-License-Identifier: Apache-2.0
//
// On which file systems a log may be mapped, and what is noticed of somebody who cuts it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "env/mapped_file.h"
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
    // A reflinked copy makes the next store allocate, and there may be nothing to allocate.
    {"xfs", "mkfs.xfs -q -m reflink=1", 320, false},
    {"xfs_without_reflink", "mkfs.xfs -q -m reflink=0", 320, true},
    {"ext4", "mkfs.ext4 -q", 16, true},
    // The same type number as ext4, but nothing can be allocated ahead.
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

// Stores behind the end of a file, but within its last page, go nowhere: a sync must not claim
// them.
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
