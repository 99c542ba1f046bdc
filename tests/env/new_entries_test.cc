// SPDX-License-Identifier: Apache-2.0
//
// NewEntries: code that creates files learns of every failed sync of their directory, and files
// that are reported as durable exist after a crash.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "env/file_util.h"
#include "env/new_entries.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/status_flags.h"

namespace ashlar {
namespace {

const IOOptions kEntryIo;

class NewEntriesTest : public testing::Test {
 protected:
  NewEntriesTest() {
    for (const char* dir : {"/db", "/other"}) EXPECT_OK(sim_->CreateDir(dir, kEntryIo, nullptr));
    sim_->SyncEverything();
  }

  void FailNextSync(FaultError error = FaultError::kIO) {
    FaultPlan plan;
    plan.kinds = KindBit(CallKind::kSyncDirectory);
    plan.error = error;
    sim_->AddFault(plan);
  }
  void FailedSync(const std::string& dir) {
    FailNextSync();
    EXPECT_TRUE(SyncDirectory(sim_.get(), dir).IsIOError());
  }
  void Create(const std::string& path) {
    EXPECT_OK(WriteStringToFile(sim_.get(), "x", path, /*should_sync=*/true));
  }
  bool SurvivesCrash(const std::string& path) const {
    return sim_->CrashContents(sim_->CallCount(), CrashPolicy::kStrict).files.contains(path);
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
};

TEST_F(NewEntriesTest, AreDurableAfterTheirSync) {
  const NewEntries entries(sim_.get(), "/db");
  Create("/db/a");
  EXPECT_FALSE(SurvivesCrash("/db/a"));
  EXPECT_OK(entries.Sync());
  EXPECT_TRUE(SurvivesCrash("/db/a"));
}

TEST_F(NewEntriesTest, AreNotTrustedAfterASyncOfSomebodyElseHasFailed) {
  const NewEntries before(sim_.get(), "/db");
  Create("/db/lost");
  FailedSync("/db");
  EXPECT_TRUE(before.Check().IsIOError());
  const NewEntries after(sim_.get(), "/db");
  Create("/db/anew");
  EXPECT_OK(after.Check());
  EXPECT_OK(after.Sync());
  EXPECT_OK(SyncDirectory(sim_.get(), "/db"));
  const Status status = before.Sync();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_NE(status.ToString().find("/db"), std::string::npos);
  EXPECT_FALSE(SurvivesCrash("/db/lost"));
  EXPECT_TRUE(SurvivesCrash("/db/anew"));
}

TEST_F(NewEntriesTest, AreNotTrustedAfterTheirOwnSyncHasFailed) {
  const NewEntries entries(sim_.get(), "/db");
  Create("/db/a");
  FailNextSync(FaultError::kInterrupted);
  EXPECT_FALSE(entries.Sync().ok());
  const Status status = entries.Sync();
  EXPECT_TRUE(status.IsIOError());
  EXPECT_TRUE(StatusFlags::IsRetryable(status)) << "as the failed one was";
  EXPECT_FALSE(SurvivesCrash("/db/a"));
}

TEST_F(NewEntriesTest, KnowTheirDirectoryHoweverItIsWritten) {
  const NewEntries slash(sim_.get(), "/db/"), slashes(sim_.get(), "//db"),
      other(sim_.get(), "/other");
  FailedSync("/db");
  EXPECT_FALSE(slash.Check().ok());
  EXPECT_FALSE(slashes.Check().ok());
  EXPECT_OK(other.Sync());
}

// If the directory could not be opened, no entry was lost.
TEST_F(NewEntriesTest, AreTrustedWhereOnlyTheOpeningFailed) {
  const NewEntries entries(sim_.get(), "/db");
  Create("/db/a");
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kOpenDirectory);
  sim_->AddFault(plan);
  EXPECT_FALSE(entries.Sync().ok());
  EXPECT_OK(entries.Sync());
  EXPECT_TRUE(SurvivesCrash("/db/a"));
}

// If the first attempt left only the name of a directory, the directory would be taken for durable.
TEST_F(NewEntriesTest, DirectoriesAreMadeAnewAfterAFailedSync) {
  FailNextSync();
  EXPECT_FALSE(CreateDirectories(sim_.get(), "/db/tables").ok());
  EXPECT_OK(CreateDirectories(sim_.get(), "/db/tables"));
  const auto image = sim_->CrashContents(sim_->CallCount(), CrashPolicy::kStrict);
  EXPECT_EQ(std::count(image.directories.begin(), image.directories.end(), "/db/tables"), 1);
}

}  // namespace
}  // namespace ashlar
