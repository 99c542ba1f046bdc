// SPDX-License-Identifier: Apache-2.0
//
// The SstFileManager alone: sums, limits, the rate at which trash is deleted, and objects that wait
// for space.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/env.h"
#include "ashlar/statistics.h"
#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "env/space/sst_file_manager_impl.h"
#include "tests/support/forked_child.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr int64_t kOneByteASecond = 1;

class SstFileManagerTest : public testing::Test {
 protected:
  void Make(int64_t rate, uint64_t chunk = 0, double max_trash_ratio = 1e9) {
    Status status = Status::Aborted();
    manager_.reset(
        NewSstFileManager(env_.get(), nullptr, "", rate, true, &status, max_trash_ratio, chunk));
    EXPECT_OK(status);
    impl_ = SstFileManagerImpl::From(manager_.get());
    ASSERT_NE(impl_, nullptr);
    manager_->SetStatisticsPtr(statistics_);
  }
  void Write(const std::string& name, uint64_t bytes) {
    memory_->PutFile("/d/" + name, std::string(bytes, 'x'));
    impl_->OnAddFile("/d/" + name, bytes);
  }
  bool Exists(const std::string& path) const {
    return fs_->FileExists(path, IOOptions(), nullptr).ok();
  }
  uint64_t Count(uint32_t ticker) const { return statistics_->getTickerCount(ticker); }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  const std::shared_ptr<FaultFileSystem> fs_ = std::make_shared<FaultFileSystem>(memory_);
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  std::unique_ptr<SstFileManager> manager_;
  SstFileManagerImpl* impl_ = nullptr;
};

TEST_F(SstFileManagerTest, SumsFilesAndKnowsTheLimit) {
  Make(0);
  impl_->OnAddFile("a", 10);
  impl_->OnAddFile("b", 20);
  impl_->OnAddFile("a", 15);
  EXPECT_EQ(manager_->GetTotalSize(), 35u);
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached()) << "without a limit";
  manager_->SetMaxAllowedSpaceUsage(36);
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
  manager_->SetMaxAllowedSpaceUsage(35);
  EXPECT_TRUE(manager_->IsMaxAllowedSpaceReached());
  impl_->OnDeleteFile("b");
  impl_->OnDeleteFile("never seen");
  EXPECT_EQ(manager_->GetTotalSize(), 15u);
  EXPECT_EQ(manager_->GetTrackedFiles().count("a"), 1u);
}

TEST_F(SstFileManagerTest, CompactionsReserveWhatFitsBesideOthersAndTheBuffer) {
  Make(0);
  impl_->OnAddFile("a", 50);
  manager_->SetMaxAllowedSpaceUsage(100);
  ASSERT_TRUE(impl_->ReserveForCompaction(30));
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
  EXPECT_FALSE(impl_->ReserveForCompaction(21));
  manager_->SetCompactionBufferSize(10);
  EXPECT_FALSE(impl_->ReserveForCompaction(11));
  ASSERT_TRUE(impl_->ReserveForCompaction(10));
  manager_->SetMaxAllowedSpaceUsage(90);
  EXPECT_TRUE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
  impl_->ReleaseReserved(40);
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
}

TEST_F(SstFileManagerTest, WithoutARateDeletesAtOnce) {
  Make(0);
  Write("1.sst", 100);
  EXPECT_OK(impl_->Delete("/d/1.sst"));
  EXPECT_FALSE(Exists("/d/1.sst"));
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
  EXPECT_EQ(Count(FILES_DELETED_IMMEDIATELY), 1u);
  EXPECT_OK(impl_->Delete("/d/1.sst")) << "one that is not there";
}

TEST_F(SstFileManagerTest, TrashWaitsForTheRateAndCountsUntilItIsGone) {
  Make(kOneByteASecond);
  for (const char* name : {"1.sst", "2.sst", "3.sst"}) Write(name, 1 << 20);
  for (const char* path : {"/d/1.sst", "/d/2.sst", "/d/3.sst"}) EXPECT_OK(impl_->Delete(path));
  EXPECT_FALSE(Exists("/d/2.sst"));
  EXPECT_TRUE(Exists("/d/3.sst.trash")) << "the first has used up the rate of a million seconds";
  EXPECT_EQ(manager_->GetTrackedFiles().count("/d/3.sst.trash"), 1u);
  EXPECT_GE(manager_->GetTotalTrashSize(), uint64_t{2} << 20);
  EXPECT_GE(manager_->GetTotalSize(), uint64_t{2} << 20);
  manager_->SetDeleteRateBytesPerSecond(0);
  impl_->AwaitEmptyTrash();
  EXPECT_FALSE(Exists("/d/2.sst.trash"));
  EXPECT_FALSE(Exists("/d/3.sst.trash"));
  EXPECT_EQ(manager_->GetTotalTrashSize(), 0u);
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
  EXPECT_EQ(Count(FILES_MARKED_TRASH), 3u);
  EXPECT_EQ(Count(FILES_DELETED_FROM_TRASH_QUEUE), 3u);
  EXPECT_EQ(Count(FILES_DELETED_IMMEDIATELY), 0u);
}

TEST_F(SstFileManagerTest, TrashBeyondItsShareIsDeletedAtOnce) {
  Make(kOneByteASecond, 0, /*max_trash_ratio=*/0.3);
  for (const char* name : {"1.sst", "2.sst", "3.sst", "4.sst"}) Write(name, 1000);
  impl_->OnAddFile("others", 1000);
  for (const char* path : {"/d/1.sst", "/d/2.sst", "/d/3.sst"}) EXPECT_OK(impl_->Delete(path));
  // The first file may be deleted already. Two files wait, which is more than the allowed share.
  EXPECT_OK(impl_->Delete("/d/4.sst"));
  EXPECT_FALSE(Exists("/d/4.sst.trash"));
  EXPECT_GE(Count(FILES_DELETED_IMMEDIATELY), 1u);
}

TEST_F(SstFileManagerTest, LargeFilesGoInPiecesUnlessTheyHaveAnotherName) {
  Make(kOneByteASecond, /*chunk=*/1000);
  Write("1.sst", 3500);
  Write("2.sst", 3500);
  ASSERT_OK(fs_->LinkFile("/d/2.sst", "/d/checkpoint", IOOptions(), nullptr));
  EXPECT_OK(impl_->Delete("/d/1.sst"));
  EXPECT_OK(impl_->Delete("/d/2.sst"));
  manager_->SetDeleteRateBytesPerSecond(0);
  impl_->AwaitEmptyTrash();
  EXPECT_EQ(fs_->Stats().calls[static_cast<size_t>(CallKind::kTruncate)], 3u)
      << "3500 bytes: three pieces, and the rest";
  EXPECT_FALSE(Exists("/d/1.sst.trash"));
  EXPECT_FALSE(Exists("/d/2.sst.trash"));
  auto kept = FileSizeOf(fs_.get(), "/d/checkpoint");
  ASSERT_OK(kept.status());
  EXPECT_EQ(*kept, 3500u);
}

TEST_F(SstFileManagerTest, OldAndNewTrashOfOneNameDoNotMeet) {
  Make(kOneByteASecond);
  Write("0.sst", 1 << 20);
  EXPECT_OK(impl_->Delete("/d/0.sst"));
  for (int i = 0; i < 2; i++) {
    Write("1.sst", 100);
    EXPECT_OK(impl_->Delete("/d/1.sst"));
  }
  EXPECT_TRUE(Exists("/d/1.sst.trash"));
  EXPECT_TRUE(Exists("/d/1.sst.1.trash"));
  manager_->SetDeleteRateBytesPerSecond(0);
  impl_->AwaitEmptyTrash();
  EXPECT_FALSE(Exists("/d/1.sst.trash"));
  EXPECT_FALSE(Exists("/d/1.sst.1.trash"));
}

TEST_F(SstFileManagerTest, WhatCannotBeRenamedIsDeletedAtOnce) {
  Make(kOneByteASecond);
  Write("1.sst", 100);
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kRename);
  plan.first_call = fs_->CallCount();
  fs_->AddFault(plan);
  EXPECT_OK(impl_->Delete("/d/1.sst"));
  EXPECT_FALSE(Exists("/d/1.sst"));
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
}

TEST_F(SstFileManagerTest, TrashStaysWhenTheManagerGoes) {
  Make(kOneByteASecond);
  Write("1.sst", 1 << 20);
  Write("2.sst", 100);
  EXPECT_OK(impl_->Delete("/d/1.sst"));
  EXPECT_OK(impl_->Delete("/d/2.sst"));
  manager_.reset();
  EXPECT_TRUE(Exists("/d/2.sst.trash"));
  Make(0);
  EXPECT_OK(impl_->Delete("/d/2.sst.trash"));
  EXPECT_FALSE(Exists("/d/2.sst.trash"));
}

TEST_F(SstFileManagerTest, EmptiesTheOldDirectoryOfTrash) {
  memory_->PutFile("/trash/1", "x");
  Status status = Status::Aborted();
  manager_.reset(NewSstFileManager(env_.get(), nullptr, "/trash", 0, false, &status));
  EXPECT_OK(status);
  EXPECT_TRUE(Exists("/trash/1"));
  manager_.reset(NewSstFileManager(env_.get(), nullptr, "/trash", 0, true, &status));
  EXPECT_OK(status);
  EXPECT_FALSE(Exists("/trash/1"));
}

// Files that are waiting are left to the parent.
TEST_F(SstFileManagerTest, AChildDeletesByAThreadOfItsOwn) {
  if (!kChildMayStartThreads) return SkipAsImpossible(kThreadsInChildren);
  Make(kOneByteASecond);
  Write("1.sst", 1 << 20);
  Write("2.sst", 100);
  EXPECT_OK(impl_->Delete("/d/1.sst"));
  EXPECT_OK(impl_->Delete("/d/2.sst"));
  // The first file is deleted, and the thread waits before the next.
  while (manager_->GetTotalTrashSize() != 100) std::this_thread::yield();
  EXPECT_TRUE(PassesInChild([this] {
    impl_->AwaitEmptyTrash();
    Write("3.sst", 100);
    if (!impl_->Delete("/d/3.sst").ok()) return false;
    manager_->SetDeleteRateBytesPerSecond(0);
    impl_->AwaitEmptyTrash();
    manager_.reset();
    return !Exists("/d/3.sst.trash") && Exists("/d/2.sst.trash");
  }));
}

class Waiter final : public SpaceWaiter {
 public:
  explicit Waiter(uint64_t needed) : needed_(needed) {}
  const std::string& directory() const override { return directory_; }
  bool TryWith(uint64_t free_bytes) override {
    calls++;
    calls.notify_all();
    return free_bytes >= needed_;
  }
  void AwaitCallsAbove(int count) {
    for (int seen = calls; seen <= count; seen = calls) calls.wait(seen);
  }

  std::atomic<int> calls{0};

 private:
  const uint64_t needed_;
  const std::string directory_ = "/d";
};

TEST(SpaceWatch, AsksUntilThereIsSpaceAndNoMoreAfterwards) {
  const auto fs = std::make_shared<MemoryFileSystem>();
  fs->SetByteQuota(100);
  SpaceWatch watch(fs, /*poll_micros=*/100);
  Waiter waiter(1000), other(50);
  ASSERT_TRUE(watch.Await(&waiter));
  waiter.AwaitCallsAbove(2);
  ASSERT_TRUE(watch.Await(&other));
  other.AwaitCallsAbove(0);
  waiter.AwaitCallsAbove(waiter.calls + 1);  // a round after the other one was done
  EXPECT_EQ(other.calls, 1);
  const int without_space = waiter.calls;
  fs->SetByteQuota(10000);  // the next call may be the last one
  waiter.AwaitCallsAbove(without_space);
  ASSERT_TRUE(watch.Await(&other));
  other.AwaitCallsAbove(1);
  watch.Forget(&waiter);
  watch.Forget(&other);
}

TEST(SpaceWatch, ForgetsOneThatItNeverCalledAgain) {
  const auto fs = std::make_shared<MemoryFileSystem>();
  fs->SetByteQuota(100);
  SpaceWatch watch(fs, /*poll_micros=*/100);
  Waiter other(UINT64_MAX);
  {
    Waiter waiter(UINT64_MAX);
    ASSERT_TRUE(watch.Await(&waiter));
    ASSERT_TRUE(watch.Await(&other));
    waiter.AwaitCallsAbove(0);
    watch.Forget(&waiter);
  }
  other.AwaitCallsAbove(other.calls + 2);
  watch.Forget(&other);
}

TEST(SpaceWatch, AChildWatchesByAThreadOfItsOwn) {
  if (!kChildMayStartThreads) return SkipAsImpossible(kThreadsInChildren);
  const auto fs = std::make_shared<MemoryFileSystem>();
  fs->SetByteQuota(100);
  auto watch = std::make_unique<SpaceWatch>(fs, /*poll_micros=*/uint64_t{3600} * 1'000'000);
  Waiter waiter(1000), other(50);
  ASSERT_TRUE(watch->Await(&waiter));
  waiter.AwaitCallsAbove(0);
  EXPECT_TRUE(PassesInChild([&] {
    watch->Forget(&waiter);
    if (!watch->Await(&other)) return false;
    other.AwaitCallsAbove(0);
    watch->Forget(&other);
    watch.reset();
    return true;
  }));
  watch->Forget(&waiter);
}

}  // namespace
}  // namespace ashlar
