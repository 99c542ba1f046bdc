// SPDX-License-Identifier: Apache-2.0
//
// What jobs leave on the disk whose change of the MANIFEST has failed: nothing if no MANIFEST can
// name their files, and nothing after the next change that succeeds. Each change of these databases
// begins a new MANIFEST.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/listener.h"
#include "ashlar/sst_file_manager.h"
#include "env/periodic_timer.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // longer than any test runs

class RecoveryListener final : public EventListener {
 public:
  void OnFlushBegin(DB*, const FlushJobInfo&) override { flushes++; }
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool*) override {
    begun++;
    begun.notify_all();
  }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo&) override { ended++; }
  std::atomic<int> flushes{0}, begun{0}, ended{0};
};

class UnnamedFilesTest : public DbTest {
 protected:
  UnnamedFilesTest() : DbTest(TestFiles::kSim) {
    options_.listeners = {listener_};
    options_.statistics = CreateDBStatistics();
    options_.bgerror_resume_retry_interval = kHour;
    options_.max_manifest_file_size = 1;
    options_.disable_auto_compactions = true;
    options_.sst_file_manager.reset(NewSstFileManager(options_.env));
  }

  // A flush fails with an error that may go away, and at least `attempts` to repeat it fail too.
  // Then no further one begins.
  void FailFlush(CallKind kind, const std::string& path_part, int attempts) {
    Fail(kind, path_part, FaultMode::kSticky, FaultError::kInterrupted);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
    listener_->begun.wait(0);
    while (listener_->flushes < 1 + attempts) PeriodicTimer::Default()->PassTime(kHour);
    EXPECT_OK(db_->PauseBackgroundWork());  // waits for the last attempt
  }
  void LetTheNextAttemptSucceed() {
    sim_->ClearFaults();
    EXPECT_OK(db_->ContinueBackgroundWork());
    while (listener_->ended == 0) PeriodicTimer::Default()->PassTime(kHour);
  }
  int Manifests() {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren(dir_, &names));
    return static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) {
      return name.starts_with("MANIFEST-");
    }));
  }
  uint64_t BytesOfTables() {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren(dir_, &names));
    uint64_t sum = 0;
    for (const std::string& name : names) {
      if (!name.ends_with(".sst") && !name.ends_with(".blob")) continue;
      uint64_t bytes = 0;
      EXPECT_OK(env_->GetFileSize(StrCat(dir_, "/", name), &bytes));
      sum += bytes;
    }
    return sum;
  }
  // Only the files of the current version are there, and only they are counted.
  void ExpectNothingLeft() {
    EXPECT_EQ(FilesOnDisk(".sst"), static_cast<int>(Tables().size()));
    EXPECT_EQ(FilesOnDisk(".blob"), static_cast<int>(Number(DB::Properties::kNumBlobFiles)));
    EXPECT_EQ(Manifests(), 1);
    EXPECT_EQ(options_.sst_file_manager->GetTotalSize(), BytesOfTables());
  }

  const std::shared_ptr<RecoveryListener> listener_ = std::make_shared<RecoveryListener>();
};

// CURRENT may name the MANIFEST of each attempt, so all of them stay until one has succeeded.
TEST_F(UnnamedFilesTest, GoWhenTheNextFlushHasWrittenTheManifestAnew) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  Open();
  Put("a", "1");
  Put("b", std::string(1000, 'v'));
  FailFlush(CallKind::kRename, "CURRENT", /*attempts=*/3);
  EXPECT_EQ(FilesOnDisk(".sst"), listener_->flushes) << "CURRENT may lead to any of them";
  LetTheNextAttemptSucceed();
  ASSERT_EQ(Tables().size(), 1u);
  ExpectNothingLeft();
  Put("c", "3");
  Flush();
  WaitForJobs();
  ExpectNothingLeft();
  Close();
  EXPECT_EQ(options_.sst_file_manager->GetTotalSize(), 0u);
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), std::string(1000, 'v'));
}

// Nothing leads to a MANIFEST that could not be written, whatever happens next.
TEST_F(UnnamedFilesTest, AreDeletedAtOnceIfCurrentWasNotTouched) {
  Open();
  Put("a", "1");
  FailFlush(CallKind::kSync, "MANIFEST", /*attempts=*/3);
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
  EXPECT_EQ(Manifests(), 1);
  EXPECT_EQ(options_.sst_file_manager->GetTotalSize(), 0u);
  LetTheNextAttemptSucceed();
  ExpectNothingLeft();
  Reopen();
  EXPECT_EQ(Get("a"), "1");
}

// The first attempt leaves a record that may be there; those after it certainly leave nothing.
TEST_F(UnnamedFilesTest, OfTheFirstAttemptAloneStayIfItsRecordMayBeThere) {
  options_.max_manifest_file_size = 1 << 20;
  Open();
  Put("a", "1");
  FailFlush(CallKind::kSync, "MANIFEST", /*attempts=*/3);
  EXPECT_EQ(FilesOnDisk(".sst"), 1);
  LetTheNextAttemptSucceed();
  ExpectNothingLeft();
  Reopen();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(UnnamedFilesTest, AreLeftToTheNextOpeningByAClosedDatabase) {
  Open();
  Put("a", "1");
  FailFlush(CallKind::kRename, "CURRENT", /*attempts=*/2);
  IgnoreError(db_->Close(), "the error of the flush stands");
  EXPECT_EQ(options_.sst_file_manager->GetTotalSize(), 0u);
  db_.reset();
  sim_->ClearFaults();
  Open();
  ExpectNothingLeft();
  EXPECT_EQ(Get("a"), "1");
}

// The MANIFEST with its outputs is the one that CURRENT names, until the next change.
TEST_F(UnnamedFilesTest, OfACompactionGoAsWell) {
  Open();
  for (const char* value : {"1", "2"}) {
    Put("a", value);
    Flush();
  }
  WaitForJobs();
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  Fail(CallKind::kRename, "CURRENT", FaultMode::kOnce, FaultError::kIO, FaultEffect::kFull);
  EXPECT_TRUE(db_->CompactRange(rewrite, nullptr, nullptr).IsIOError());
  EXPECT_EQ(FilesOnDisk(".sst"), 2 + 1);
  EXPECT_EQ(Get("a"), "2");
  Compact(rewrite);
  WaitForJobs();
  ASSERT_EQ(Tables().size(), 1u);
  ExpectNothingLeft();
  Reopen();
  EXPECT_EQ(Get("a"), "2");
}

// While deletions are disabled, for example during a backup, these files stay as well.
TEST_F(UnnamedFilesTest, StayWhileDeletionsAreDisabled) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->DisableFileDeletions());
  FailFlush(CallKind::kRename, "CURRENT", /*attempts=*/1);
  LetTheNextAttemptSucceed();
  EXPECT_EQ(FilesOnDisk(".sst"), listener_->flushes);
  ASSERT_OK(db_->EnableFileDeletions());
  ExpectNothingLeft();
}

}  // namespace
}  // namespace ashlar
