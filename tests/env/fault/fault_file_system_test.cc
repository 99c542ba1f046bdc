// SPDX-License-Identifier: Apache-2.0
//
// FaultFileSystem: numbers, plans, effects and hooks, and equal hashes of equal runs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "env/fault/fault_file_system.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

const IOOptions kIo;

class FaultTest : public testing::Test {
 protected:
  FaultTest() : memory_(std::make_shared<MemoryFileSystem>()), fs_(memory_) {}

  std::unique_ptr<FSWritableFile> Create(const std::string& path) {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(fs_.NewWritableFile(path, FileOptions(), &file, nullptr));
    return file;
  }
  std::string Content(const std::string& path) { return memory_->AllFiles()[path]; }

  const std::shared_ptr<MemoryFileSystem> memory_;
  FaultFileSystem fs_;
};

TEST_F(FaultTest, CallsAreNumberedInOrder) {
  fs_.KeepCalls(true);
  auto file = Create("/f");
  ASSERT_OK(file->Append("abc", kIo, nullptr));
  ASSERT_OK(file->Sync(kIo, nullptr));
  ASSERT_OK(file->Close(kIo, nullptr));
  std::string kinds;
  for (const FileCall& call : fs_.Calls()) {
    kinds += std::to_string(call.index) + NameOf(call.kind) + " ";
  }
  EXPECT_EQ(kinds, "0create 1append 2sync 3close ");
}

TEST_F(FaultTest, OnceHitsOneCallOnly) {
  auto file = Create("/f");
  fs_.FailAt(fs_.CallCount() + 1, FaultError::kIO);
  ASSERT_OK(file->Append("a", kIo, nullptr));
  const IOStatus status = file->Append("b", kIo, nullptr);
  EXPECT_TRUE(status.IsIOError());
  EXPECT_NE(status.ToString().find("append: /f: injected at call 2"), std::string::npos)
      << status.ToString();
  ASSERT_OK(file->Append("c", kIo, nullptr));
  EXPECT_EQ(Content("/f"), "ac");
}

TEST_F(FaultTest, NextFiveThenWell) {
  auto file = Create("/f");
  fs_.FailAt(fs_.CallCount(), FaultError::kNoSpace, FaultMode::kNextFive);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(file->Append("x", kIo, nullptr).IsNoSpace());
  EXPECT_OK(file->Append("y", kIo, nullptr));
  EXPECT_EQ(fs_.Stats().TotalInjected(), 5u);
}

TEST_F(FaultTest, StickyUntilCleared) {
  auto file = Create("/f");
  fs_.FailAt(fs_.CallCount(), FaultError::kIO, FaultMode::kSticky);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(file->Append("x", kIo, nullptr).ok());
  fs_.ClearFaults();
  EXPECT_OK(file->Append("y", kIo, nullptr));
  EXPECT_EQ(Content("/f"), "y");
}

TEST_F(FaultTest, AFailingWriteMayHaveHalfOrAllOfItsEffect) {
  auto file = Create("/f");
  fs_.FailAt(fs_.CallCount(), FaultError::kIO, FaultMode::kOnce, FaultEffect::kPartial);
  EXPECT_FALSE(file->Append("12345678", kIo, nullptr).ok());
  EXPECT_EQ(Content("/f"), "1234");
  fs_.FailAt(fs_.CallCount(), FaultError::kIO, FaultMode::kOnce, FaultEffect::kFull);
  EXPECT_FALSE(file->Append("abc", kIo, nullptr).ok());
  EXPECT_EQ(Content("/f"), "1234abc");
}

TEST_F(FaultTest, ARenameMayHappenAndStillFail) {
  memory_->PutFile("/a", "x");
  fs_.FailAt(fs_.CallCount(), FaultError::kIO, FaultMode::kOnce, FaultEffect::kFull);
  EXPECT_FALSE(fs_.RenameFile("/a", "/b", kIo, nullptr).ok());
  EXPECT_EQ(Content("/b"), "x");
}

TEST_F(FaultTest, ShortReadsAnswerHalfAndOk) {
  memory_->PutFile("/f", "0123456789");
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_.NewRandomAccessFile("/f", FileOptions(), &file, nullptr));
  fs_.FailAt(fs_.CallCount(), FaultError::kShort);
  char scratch[16];
  Slice result;
  ASSERT_OK(file->Read(0, 10, kIo, &result, scratch, nullptr));
  EXPECT_EQ(result.ToString(), "01234");
}

TEST_F(FaultTest, PlansMayNameKindsAndPaths) {
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  plan.path_part = "MANIFEST";
  fs_.AddFault(plan);
  auto log = Create("/000004.log");
  auto manifest = Create("/MANIFEST-000005");
  ASSERT_OK(log->Sync(kIo, nullptr));
  ASSERT_OK(manifest->Append("x", kIo, nullptr));
  EXPECT_FALSE(manifest->Sync(kIo, nullptr).ok());
  EXPECT_OK(manifest->Sync(kIo, nullptr));
}

TEST_F(FaultTest, ALieAnswersOkWithoutSyncing) {
  auto file = Create("/f");
  fs_.FailAt(fs_.CallCount(), FaultError::kLie, FaultMode::kOnce);
  ASSERT_OK(file->Append("written all the same", kIo, nullptr));
  ASSERT_OK(file->Sync(kIo, nullptr));
  EXPECT_EQ(fs_.Stats().injected[static_cast<size_t>(CallKind::kSync)], 1u);
  EXPECT_EQ(Content("/f"), "written all the same");
}

TEST_F(FaultTest, AnInjectedLockErrorLeavesNothingLocked) {
  fs_.FailAt(fs_.CallCount(), FaultError::kIO, FaultMode::kOnce, FaultEffect::kFull);
  FileLock* lock = nullptr;
  EXPECT_FALSE(fs_.LockFile("/LOCK", kIo, &lock, nullptr).ok());
  ASSERT_OK(fs_.LockFile("/LOCK", kIo, &lock, nullptr));
  ASSERT_OK(fs_.UnlockFile(lock, kIo, nullptr));
}

TEST_F(FaultTest, TheHookSeesEachCallBeforeAndAfter) {
  std::vector<std::pair<uint64_t, bool>> seen;
  fs_.SetHook(
      [&](const FileCall& call, bool is_before) { seen.emplace_back(call.index, is_before); });
  auto file = Create("/f");
  ASSERT_OK(file->Append("x", kIo, nullptr));
  const std::vector<std::pair<uint64_t, bool>> expected = {
      {0, true}, {0, false}, {1, true}, {1, false}};
  EXPECT_EQ(seen, expected);
  fs_.SetHook(nullptr);
}

uint64_t HashOfRun(const std::string& data) {
  FaultFileSystem fs(std::make_shared<MemoryFileSystem>());
  std::unique_ptr<FSWritableFile> file;
  EXPECT_OK(fs.NewWritableFile("/f", FileOptions(), &file, nullptr));
  EXPECT_OK(file->Append(data, kIo, nullptr));
  return fs.CallLogHash();
}

TEST(FaultHash, EqualRunsHaveEqualHashesAndOthersDoNot) {
  EXPECT_EQ(HashOfRun("abc"), HashOfRun("abc"));
  EXPECT_NE(HashOfRun("abc"), HashOfRun("abd"));
}

}  // namespace
}  // namespace ashlar
