// SPDX-License-Identifier: Apache-2.0
//
// Mapped logs of SimFS: what each crash policy preserves of stores, failed syncs and syncs that
// report a false success, quotas, and that readers of the file see the stores.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "env/file_util.h"
#include "env/mapped_file.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/db/1.log";

class SimMappedLogTest : public testing::Test {
 protected:
  SimMappedLogTest() : sim_(SimFS::Create()) {
    sim_->OfferMappedLogs(true);
    EXPECT_OK(sim_->CreateDir("/db", IOOptions(), nullptr));
    auto log = MappedLogFactory::Of(sim_.get())->NewMappedLog(kPath, 1);
    EXPECT_OK(log);
    log_ = log.Take();
    sim_->SyncEverything();
  }

  void Store(uint64_t offset, const std::string& data) {
    ASSERT_LE(offset + data.size(), log_->allocated());
    memcpy(log_->At(offset), data.data(), data.size());
    sim_->ObserveStores();
  }
  // Returns the content without the zeros at its end.
  static std::string Trimmed(std::string bytes) {
    bytes.resize(bytes.find_last_not_of('\0') + 1);
    return bytes;
  }
  std::string Crash(CrashPolicy policy, uint64_t seed = 0) const {
    return Trimmed(sim_->CrashContents(sim_->CallCount(), policy, seed).files[kPath]);
  }
  std::string Read(FileSystem* fs) {
    auto bytes = ReadWholeFile(fs, kPath);
    EXPECT_OK(bytes);
    return bytes.ok() ? Trimmed(bytes.Take()) : "";
  }

  std::shared_ptr<SimFS> sim_;
  std::unique_ptr<MappedLogFile> log_;
};

TEST_F(SimMappedLogTest, AReusedFileHoldsWhatItHeldUntilItIsSyncedAnew) {
  ASSERT_NO_FATAL_FAILURE(Store(0, "old record"));
  sim_->SyncEverything();
  ASSERT_OK(log_->Close(MappedLogFile::kKeepsSize));
  auto log = MappedLogFactory::Of(sim_.get())->ReuseMappedLog("/db/2.log", kPath, 1);
  ASSERT_OK(log);
  log_ = log.Take();
  ASSERT_OK(SyncDirectory(sim_.get(), "/db"));
  ASSERT_NO_FATAL_FAILURE(Store(0, "new"));
  const auto crash = [this](CrashPolicy policy) {
    SimImage image = sim_->CrashContents(sim_->CallCount(), policy, 0);
    EXPECT_FALSE(image.files.contains(kPath));
    return Trimmed(image.files["/db/2.log"]);
  };
  EXPECT_EQ(crash(CrashPolicy::kStrict), "old record");
  EXPECT_EQ(crash(CrashPolicy::kAll), "new record");
  ASSERT_OK(log_->Sync());
  EXPECT_EQ(crash(CrashPolicy::kStrict), "new record");
  EXPECT_EQ(log_->Close(3).ToString(), "OK");
  EXPECT_EQ(crash(CrashPolicy::kAll), "new");
}

TEST_F(SimMappedLogTest, OnlyWhereItIsOffered) {
  EXPECT_EQ(MappedLogFactory::Of(SimFS::Create().get()), nullptr);
  const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kAll);
  EXPECT_NE(MappedLogFactory::Of(image.get()), nullptr);
}

TEST_F(SimMappedLogTest, AStoreOutlivesTheProcessAtOnceAndTheMachineOnceSynced) {
  Store(0, "first");
  EXPECT_EQ(Crash(CrashPolicy::kAll), "first");
  EXPECT_EQ(Crash(CrashPolicy::kStrict), "");
  ASSERT_OK(log_->Sync());
  Store(5, "second");
  EXPECT_EQ(Crash(CrashPolicy::kAll), "firstsecond");
  EXPECT_EQ(Crash(CrashPolicy::kStrict), "first");
}

TEST_F(SimMappedLogTest, AnySubsetOfUnsyncedPiecesSurvives) {
  Store(0, std::string(1536, 'x'));
  std::set<std::string> images;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::string bytes =
        sim_->CrashContents(sim_->CallCount(), CrashPolicy::kReorder, seed).files[kPath];
    bytes.resize(1536);
    std::string pieces;
    for (size_t i = 0; i < 3; ++i) pieces += bytes[i * 512] == 'x' ? 'x' : '-';
    images.insert(pieces);
  }
  EXPECT_EQ(images.size(), 8u);
}

TEST_F(SimMappedLogTest, StoresAreFoundBeforeTheNextCallAndReadersSeeThem) {
  const uint64_t before = sim_->CallCount();
  memcpy(log_->At(100), "unannounced", 11);
  EXPECT_EQ(Read(sim_.get()), std::string(100, '\0') + "unannounced");
  EXPECT_EQ(sim_->MutatingCalls().back().kind, CallKind::kStore);
  EXPECT_EQ(sim_->MutatingCalls().back().index, before);
}

// Distant changes are two writes, of which only the second may survive.
TEST_F(SimMappedLogTest, DistantStoresAreWritesOfTheirOwn) {
  const size_t before = sim_->MutatingCalls().size();
  *log_->At(0) = 'a';
  *log_->At(2000) = 'b';
  sim_->ObserveStores();
  EXPECT_EQ(sim_->MutatingCalls().size(), before + 2);
  sim_->ObserveStores();
  EXPECT_EQ(sim_->MutatingCalls().size(), before + 2) << "nothing new";
}

TEST_F(SimMappedLogTest, AFailedSyncLosesTheStoresAndIsFinal) {
  Store(0, "safe");
  ASSERT_OK(log_->Sync());
  Store(4, "lost");
  sim_->FailAt(sim_->CallCount(), FaultError::kIO);
  EXPECT_TRUE(log_->Sync().IsIOError());
  EXPECT_EQ(std::string(log_->At(0), 8), std::string("safe\0\0\0\0", 8));
  EXPECT_EQ(Read(sim_.get()), "safe");
  EXPECT_TRUE(log_->Sync().IsIOError()) << "nobody asks the disk again";
}

TEST_F(SimMappedLogTest, ALyingSyncMakesNothingDurable) {
  Store(0, "x");
  sim_->FailAt(sim_->CallCount(), FaultError::kLie);
  EXPECT_OK(log_->Sync());
  EXPECT_EQ(Crash(CrashPolicy::kStrict), "");
}

TEST_F(SimMappedLogTest, AFullDiskIsAnErrorOfGrowthAlone) {
  sim_->SetByteQuota(sim_->UsedBytes());
  const uint64_t allocated = log_->allocated();
  EXPECT_TRUE(log_->EnsureAllocated(allocated + 1).IsNoSpace());
  EXPECT_EQ(log_->allocated(), allocated);
  Store(allocated - 1, "x");
  sim_->SetByteQuota(UINT64_MAX);
  ASSERT_OK(log_->EnsureAllocated(allocated + 1));
  EXPECT_GT(log_->allocated(), allocated);
  EXPECT_EQ(*log_->At(allocated - 1), 'x');
}

TEST_F(SimMappedLogTest, ClosingCutsTheZerosOff) {
  Store(0, "whole");
  ASSERT_OK(log_->Close(5));
  EXPECT_EQ(sim_->memory()->AllFiles()[kPath], "whole");
}

TEST_F(SimMappedLogTest, OnlyDroppedItKeepsThem) {
  *log_->At(0) = 'x';
  const uint64_t allocated = log_->allocated();
  log_.reset();
  EXPECT_EQ(sim_->memory()->AllFiles()[kPath].size(), allocated);
  EXPECT_EQ(Crash(CrashPolicy::kAll), "x");
}

}  // namespace
}  // namespace ashlar
