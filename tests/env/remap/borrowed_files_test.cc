// SPDX-License-Identifier: Apache-2.0
//
// File systems that show another one differently: what they show, and that they change nothing.
#include "env/remap/borrowed_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "env/remap/read_only_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class BorrowedFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    base_->PutFile("/own/CURRENT", "current");
    base_->PutFile("/other/file", "elsewhere");
    base_->PutFile("/pool/000009_x.sst", "table");
    borrowed_ = std::make_shared<BorrowedFiles>(
        base_, "/own", std::map<std::string, std::string>{{"000009.sst", "/pool/000009_x.sst"}});
  }
  std::string Text(const std::string& path) {
    auto text = ReadWholeFile(borrowed_.get(), path);
    return text.ok() ? text.Take() : text.status().ToString();
  }

  const std::shared_ptr<MemoryFileSystem> base_ = std::make_shared<MemoryFileSystem>();
  std::shared_ptr<BorrowedFiles> borrowed_;
};

TEST_F(BorrowedFilesTest, BorrowedAndOwnFilesAreReadAlike) {
  EXPECT_EQ(Text("/own/CURRENT"), "current");
  EXPECT_EQ(Text("/own/000009.sst"), "table");
  EXPECT_EQ(Text("/own//000009.sst"), "table");
  EXPECT_EQ(Text("/pool/000009_x.sst"), "table");
  EXPECT_EQ(Text("/other/file"), "elsewhere");
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(borrowed_->NewRandomAccessFile("/own/000009.sst", FileOptions(), &file, nullptr));
  uint64_t value = 0;
  ASSERT_OK(borrowed_->GetFileSize("/own/000009.sst", IOOptions(), &value, nullptr));
  EXPECT_EQ(value, 5u);
  EXPECT_OK(borrowed_->GetFileModificationTime("/own/000009.sst", IOOptions(), &value, nullptr));
  EXPECT_OK(borrowed_->FileExists("/own/000009.sst", IOOptions(), nullptr));
  EXPECT_TRUE(borrowed_->FileExists("/own/000010.sst", IOOptions(), nullptr).IsNotFound());
  EXPECT_TRUE(borrowed_->FileExists("/pool/000009.sst", IOOptions(), nullptr).IsNotFound());
  EXPECT_TRUE(borrowed_->FileExists("/own/x/000009.sst", IOOptions(), nullptr).IsNotFound());
  bool is_same = false;
  ASSERT_OK(borrowed_->AreFilesSame("/own/000009.sst", "/pool/000009_x.sst", IOOptions(), &is_same,
                                    nullptr));
  EXPECT_TRUE(is_same);
}

TEST_F(BorrowedFilesTest, TheDirectoryListsEachNameOnce) {
  base_->PutFile("/own/000009.sst", "hidden");
  for (const char* dir : {"/own", "/own/"}) {
    auto names = ListDirectory(borrowed_.get(), dir);
    ASSERT_OK(names);
    EXPECT_EQ(*names, (std::vector<std::string>{"000009.sst", "CURRENT"}));
  }
  std::vector<FileAttributes> files;
  ASSERT_OK(borrowed_->GetChildrenFileAttributes("/own", IOOptions(), &files, nullptr));
  const auto table = std::ranges::find(files, "000009.sst", &FileAttributes::name);
  ASSERT_NE(table, files.end());
  EXPECT_EQ(table->size_bytes, 5u);
  EXPECT_EQ(Text("/own/000009.sst"), "table");
  auto pool = ListDirectory(borrowed_.get(), "/pool");
  ASSERT_OK(pool);
  EXPECT_EQ(*pool, std::vector<std::string>{"000009_x.sst"});
}

TEST(ReadOnlyFileSystem, EveryChangeIsRefused) {
  const auto base = std::make_shared<MemoryFileSystem>();
  base->PutFile("/d/f", "text");
  ReadOnlyFileSystem fs(base);
  const IOOptions io;
  std::unique_ptr<FSWritableFile> file;
  std::unique_ptr<FSRandomRWFile> both_ways;
  std::unique_ptr<MemoryMappedFileBuffer> mapped;
  std::unique_ptr<FSDirectory> directory;
  FileLock* lock = nullptr;
  std::shared_ptr<Logger> logger;
  const std::function<IOStatus()> changes[] = {
      [&] { return fs.NewWritableFile("/d/f", FileOptions(), &file, nullptr); },
      [&] { return fs.ReopenWritableFile("/d/f", FileOptions(), &file, nullptr); },
      [&] { return fs.ReuseWritableFile("/d/g", "/d/f", FileOptions(), &file, nullptr); },
      [&] { return fs.NewRandomRWFile("/d/f", FileOptions(), &both_ways, nullptr); },
      [&] { return fs.NewMemoryMappedFileBuffer("/d/f", &mapped); },
      [&] { return fs.NewDirectory("/d", io, &directory, nullptr); },
      [&] { return fs.DeleteFile("/d/f", io, nullptr); },
      [&] { return fs.Truncate("/d/f", 1, io, nullptr); },
      [&] { return fs.CreateDir("/e", io, nullptr); },
      [&] { return fs.CreateDirIfMissing("/e", io, nullptr); },
      [&] { return fs.DeleteDir("/d", io, nullptr); },
      [&] { return fs.RenameFile("/d/f", "/d/g", io, nullptr); },
      [&] { return fs.LinkFile("/d/f", "/d/g", io, nullptr); },
      [&] { return fs.SyncFile("/d/f", FileOptions(), io, false, nullptr); },
      [&] { return fs.LockFile("/d/LOCK", io, &lock, nullptr); },
      [&] { return fs.NewLogger("/d/LOG", io, &logger, nullptr); },
  };
  const auto before = base->AllFiles();
  for (const auto& change : changes) {
    const IOStatus status = change();
    EXPECT_TRUE(status.IsIOError()) << &change - changes << " " << status.ToString();
  }
  EXPECT_EQ(base->AllFiles(), before);
  EXPECT_OK(fs.CreateDirIfMissing("/d", io, nullptr));
  auto text = ReadWholeFile(&fs, "/d/f");
  ASSERT_OK(text);
  EXPECT_EQ(*text, "text");
}

}  // namespace
}  // namespace ashlar
