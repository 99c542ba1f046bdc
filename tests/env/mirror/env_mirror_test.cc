// SPDX-License-Identifier: Apache-2.0
//
// Two environments that are compared. What file systems guarantee is in ../file_system_test.cc.
#include "ashlar/utilities/env_mirror.h"

#include <gtest/gtest.h>

#include "ashlar/file_system.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class EnvMirrorTest : public testing::Test {
 protected:
  EnvMirrorTest() {
    for (size_t i = 0; i < 2; i++) envs_[i] = NewCompositeEnv(files_[i]);
    mirror_ = std::make_unique<EnvMirror>(envs_[0].get(), envs_[1].get());
  }
  static void Differs(const Status& status, const std::string& path) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(path), std::string::npos) << status.ToString();
  }

  const std::shared_ptr<MemoryFileSystem> files_[2] = {std::make_shared<MemoryFileSystem>(),
                                                       std::make_shared<MemoryFileSystem>()};
  std::unique_ptr<Env> envs_[2];
  std::unique_ptr<EnvMirror> mirror_;
};

TEST_F(EnvMirrorTest, ADatabaseIsInBoth) {
  TestDb test;
  test.UseEnv(std::make_unique<EnvMirror>(envs_[0].get(), envs_[1].get()));
  test.Open();
  test.Fill(100);
  test.Flush();
  test.Put("b", "2");
  test.Reopen();
  test.Compact();
  const Rows rows = test.ReadRows();
  EXPECT_EQ(rows.size(), 101u);
  test.Close();
  for (const auto& files : files_) {
    TestDb half(files);
    half.dir() = test.dir();
    half.Open();
    EXPECT_EQ(half.ReadRows(), rows);
  }
}

TEST_F(EnvMirrorTest, DifferencesAreReported) {
  files_[0]->PutFile("/d/bytes", "1");
  files_[1]->PutFile("/d/bytes", "2");
  files_[0]->PutFile("/d/size", "1");
  files_[1]->PutFile("/d/size", "12");
  files_[1]->PutFile("/d/second", "");
  uint64_t size = 0;
  Differs(mirror_->GetFileSize("/d/size", &size), "/d/size");
  Differs(mirror_->FileExists("/d/second"), "/d/second");
  std::vector<std::string> names;
  Differs(mirror_->GetChildren("/d", &names), "/d");
  Differs(mirror_->RenameFile("/d/second", "/d/third"), "/d/second");
  char scratch[4];
  Slice result;
  std::unique_ptr<RandomAccessFile> file;
  ASSERT_OK(mirror_->NewRandomAccessFile("/d/bytes", &file, EnvOptions()));
  Differs(file->Read(0, 1, &result, scratch), "/d/bytes");
  std::unique_ptr<SequentialFile> sequential;
  ASSERT_OK(mirror_->NewSequentialFile("/d/bytes", &sequential, EnvOptions()));
  Differs(sequential->Read(1, &result, scratch), "/d/bytes");
}

// A difference is one in the bytes up to the end of either file, not in how many come at a time.
TEST_F(EnvMirrorTest, ALongerFileDiffersAtTheEndOfTheOther) {
  files_[0]->PutFile("/size", "1");
  files_[1]->PutFile("/size", "12");
  char scratch[4];
  Slice result;
  std::unique_ptr<RandomAccessFile> file;
  ASSERT_OK(mirror_->NewRandomAccessFile("/size", &file, EnvOptions()));
  ASSERT_OK(file->Read(0, 1, &result, scratch));
  EXPECT_EQ(result.ToString(), "1");
  Differs(file->Read(1, 1, &result, scratch), "/size");
  std::unique_ptr<SequentialFile> sequential;
  ASSERT_OK(mirror_->NewSequentialFile("/size", &sequential, EnvOptions()));
  ASSERT_OK(sequential->Skip(1));
  Differs(sequential->Read(1, &result, scratch), "/size");
}

// A file that could be locked on one side only is unlocked there.
TEST_F(EnvMirrorTest, ALockOfOneSideIsGivenBack) {
  FileLock* other = nullptr;
  ASSERT_OK(envs_[1]->LockFile("/LOCK", &other));
  FileLock* lock = nullptr;
  Differs(mirror_->LockFile("/LOCK", &lock), "/LOCK");
  EXPECT_EQ(lock, nullptr);
  ASSERT_OK(envs_[1]->UnlockFile(other));
  ASSERT_OK(mirror_->LockFile("/LOCK", &lock));
  EXPECT_OK(mirror_->UnlockFile(lock));
}

}  // namespace
}  // namespace ashlar
