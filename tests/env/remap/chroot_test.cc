// SPDX-License-Identifier: Apache-2.0
//
// Files below one directory. What file systems guarantee is in ../file_system_test.cc.
#include "ashlar/utilities/env_chroot.h"

#include <gtest/gtest.h>

#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class ChrootTest : public testing::Test {
 protected:
  void SetUp() override {
    base_->PutFile("/home/inside", "in");
    base_->PutFile("/outside", "out");
    base_->PutFile("/homes", "out");
    fs_ = NewChrootFileSystem(base_, "/home/");
    ASSERT_NE(fs_, nullptr);
  }
  std::string Text(const std::string& path) {
    auto text = ReadWholeFile(fs_.get(), path);
    return text.ok() ? text.Take() : text.status().ToString();
  }

  const std::shared_ptr<MemoryFileSystem> base_ = std::make_shared<MemoryFileSystem>();
  std::shared_ptr<FileSystem> fs_;
};

TEST_F(ChrootTest, NoPathLeadsOut) {
  for (const char* const path : {"/inside", "//inside", "/./inside", "/x/../inside", "/../inside",
                                 "/../../x/../../inside"}) {
    EXPECT_EQ(Text(path), "in") << path;
  }
  for (const char* const path : {"/../outside", "/home/inside", "/s", "/..s"}) {
    EXPECT_TRUE(fs_->FileExists(path, IOOptions(), nullptr).IsNotFound()) << path;
  }
  EXPECT_TRUE(fs_->FileExists("inside", IOOptions(), nullptr).IsInvalidArgument());
  EXPECT_TRUE(fs_->RenameFile("/inside", "there", IOOptions(), nullptr).IsInvalidArgument());
  ASSERT_OK(fs_->RenameFile("/inside", "/../there", IOOptions(), nullptr));
  EXPECT_OK(base_->FileExists("/home/there", IOOptions(), nullptr));
  std::string absolute;
  ASSERT_OK(fs_->GetAbsolutePath("/a/../b/", IOOptions(), &absolute, nullptr));
  EXPECT_EQ(absolute, "/b");
}

TEST_F(ChrootTest, TheDirectoryMustExist) {
  EXPECT_EQ(NewChrootFileSystem(base_, "/none"), nullptr);
  EXPECT_EQ(NewChrootFileSystem(base_, "/outside"), nullptr);
  const std::unique_ptr<Env> env = NewCompositeEnv(base_);
  EXPECT_EQ(NewChrootEnv(env.get(), "/none"), nullptr);
  EXPECT_NE(std::unique_ptr<Env>(NewChrootEnv(env.get(), "/home")), nullptr);
}

TEST_F(ChrootTest, ADatabaseIsBelowTheDirectory) {
  const std::unique_ptr<Env> env = NewCompositeEnv(base_);
  TestDb test;
  test.UseEnv(std::unique_ptr<Env>(NewChrootEnv(env.get(), "/home")));
  test.dir() = "/db";
  test.options().wal_dir = "/logs";
  test.Open();
  test.Put("a", "1");
  test.Flush();
  test.Put("b", "2");
  test.Reopen();
  EXPECT_EQ(test.Scan(), "a=1 b=2");
  EXPECT_OK(base_->FileExists("/home/db/CURRENT", IOOptions(), nullptr));
  EXPECT_OK(base_->FileExists("/home/logs", IOOptions(), nullptr));
  EXPECT_TRUE(base_->FileExists("/db", IOOptions(), nullptr).IsNotFound());
  test.Drop();
}

}  // namespace
}  // namespace ashlar
