// SPDX-License-Identifier: Apache-2.0
//
// Which severity and reason of a background error listeners receive.
#include <chrono>
#include <climits>
#include <condition_variable>
#include <mutex>

#include "ashlar/listener.h"
#include "tests/support/damaged_files.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class ErrorListener final : public EventListener {
 public:
  struct Told {
    BackgroundErrorReason reason = BackgroundErrorReason::kMemTable;
    Status error;
  };
  void OnBackgroundError(BackgroundErrorReason reason, Status* error) override {
    Keep(&errors_, reason, *error);
  }
  void OnErrorRecoveryBegin(BackgroundErrorReason reason, Status error, bool*) override {
    Keep(&begun_, reason, error);
  }
  // Waits for the call: jobs may report an error after the callers that wait for them have
  // returned. OK if no call comes.
  Told AwaitError() { return Await(errors_); }
  Told AwaitRecovery() { return Await(begun_); }
  size_t error_count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return errors_.size();
  }

 private:
  void Keep(std::vector<Told>* list, BackgroundErrorReason reason, const Status& error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    list->push_back({reason, error});
    changed_.notify_all();
  }
  Told Await(const std::vector<Told>& list) {
    std::unique_lock<std::mutex> lock(mutex_);
    const bool is_told =
        changed_.wait_for(lock, std::chrono::seconds(5), [&] { return !list.empty(); });
    return is_told ? list.front() : Told();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Told> errors_, begun_;
};

class ErrorFactsTest : public DbTest {
 protected:
  ErrorFactsTest() : DbTest(TestFiles::kSim) {
    UseFiles(std::make_shared<DamagedFiles>(sim_, &damage_));
    options_.listeners = {listener_};
    options_.disable_auto_compactions = true;
    options_.level0_file_num_compaction_trigger = 2;
  }
  void MakeTables(int count) {
    for (int i = 0; i < count; i++) {
      Put("k", StrCat(i));
      Flush();
    }
  }
  void FailFromNowOn(CallKind kind, const std::string& path_part) {
    Fail(kind, path_part, FaultMode::kSticky, FaultError::kNoSpace);
  }
  BackgroundErrorReason ReasonOfFailedFlush(const std::string& path_part) {
    Put("k", "v");
    FailFromNowOn(CallKind::kSync, path_part);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsNoSpace());
    sim_->ClearFaults();
    return listener_->AwaitError().reason;
  }
  void DamageTables() { damage_.count = INT_MAX, damage_.first = damage_.reads; }

  Damage damage_;
  const std::shared_ptr<ErrorListener> listener_ = std::make_shared<ErrorListener>();
};

TEST_F(ErrorFactsTest, AFlushThatFailsIsHard) {
  Open();
  EXPECT_EQ(ReasonOfFailedFlush(".sst"), BackgroundErrorReason::kFlushNoWAL);
  EXPECT_EQ(listener_->AwaitError().error.severity(), Status::kHardError);
}

TEST_F(ErrorFactsTest, ACompactionThatFailsIsSoftAlsoWhereItsRecoveryBegins) {
  Open();
  MakeTables(2);
  FailFromNowOn(CallKind::kAppend, ".sst");
  ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
  EXPECT_EQ(listener_->AwaitError().reason, BackgroundErrorReason::kCompaction);
  EXPECT_EQ(listener_->AwaitError().error.severity(), Status::kSoftError);
  EXPECT_EQ(listener_->AwaitRecovery().error.severity(), Status::kSoftError);
}

TEST_F(ErrorFactsTest, TheManifestOfAFlushIsToldApart) {
  Open();
  EXPECT_EQ(ReasonOfFailedFlush("MANIFEST"), BackgroundErrorReason::kManifestWriteNoWAL);
}

TEST_F(ErrorFactsTest, AFlushThatFindsItsTableDamagedIsNoErrorOfTheDisk) {
  options_.paranoid_file_checks = true;
  Open();
  Put("k", "v");
  DamageTables();
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsCorruption());
  EXPECT_EQ(listener_->AwaitError().reason, BackgroundErrorReason::kFlush);
  EXPECT_EQ(listener_->AwaitError().error.severity(), Status::kUnrecoverableError);
}

TEST_F(ErrorFactsTest, DamageThatACallMeetsStopsWrites) {
  Open();
  MakeTables(2);
  DamageTables();
  EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsCorruption());
  const ErrorListener::Told told = listener_->AwaitError();
  EXPECT_EQ(told.reason, BackgroundErrorReason::kCompaction);
  EXPECT_EQ(told.error.severity(), Status::kUnrecoverableError);
  EXPECT_TRUE(db_->Put(WriteOptions(), "refused", "v").IsCorruption());
  EXPECT_TRUE(db_->Resume().IsCorruption());
}

TEST_F(ErrorFactsTest, ADiskThatFailsTheCallIsNobodyElsesConcern) {
  Open();
  MakeTables(2);
  FailFromNowOn(CallKind::kAppend, ".sst");
  EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsNoSpace());
  sim_->ClearFaults();
  Put("goes on", "v");
  ASSERT_OK(db_->Close());
  EXPECT_EQ(listener_->error_count(), 0u);
}

}  // namespace
}  // namespace ashlar
