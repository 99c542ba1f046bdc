// SPDX-License-Identifier: Apache-2.0
//
// What listeners are told of a background error: how severe it is, and as what it counts.
#include <gtest/gtest.h>

#include <chrono>
#include <climits>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "env/sim/sim_fs.h"
#include "tests/support/damaged_files.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class Listener final : public EventListener {
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
  // Jobs tell of their errors maybe after their waiters went on. OK: nobody tells of any.
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

class ErrorFactsTest : public testing::Test {
 protected:
  ErrorFactsTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.listeners = {listener_};
    options_.disable_auto_compactions = true;
    options_.level0_file_num_compaction_trigger = 2;
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void MakeTables(int count) {
    for (int i = 0; i < count; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), "k", StrCat(i)));
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  void Fail(CallKind kind, const std::string& path_part) {
    FaultPlan plan;
    plan.kinds = KindBit(kind);
    plan.path_part = path_part;
    plan.mode = FaultMode::kSticky;
    plan.error = FaultError::kNoSpace;
    plan.first_call = sim_->CallCount();
    sim_->AddFault(plan);
  }
  BackgroundErrorReason ReasonOfFailedFlush(const std::string& path_part) {
    EXPECT_OK(db_->Put(WriteOptions(), "k", "v"));
    Fail(CallKind::kSync, path_part);
    EXPECT_TRUE(db_->Flush(FlushOptions()).IsNoSpace());
    sim_->ClearFaults();
    return listener_->AwaitError().reason;
  }
  void DamageTables() { damage_.count = INT_MAX, damage_.first = damage_.reads; }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  Damage damage_;
  const std::unique_ptr<Env> env_ = NewCompositeEnv(std::make_shared<DamagedFiles>(sim_, &damage_));
  const std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(ErrorFactsTest, AFlushThatFailsIsHard) {
  Open();
  EXPECT_EQ(ReasonOfFailedFlush(".sst"), BackgroundErrorReason::kFlushNoWAL);
  EXPECT_EQ(listener_->AwaitError().error.severity(), Status::kHardError);
}

TEST_F(ErrorFactsTest, ACompactionThatFailsIsSoftAlsoWhereItsRecoveryBegins) {
  Open();
  MakeTables(2);
  Fail(CallKind::kAppend, ".sst");
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
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
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
  const Listener::Told told = listener_->AwaitError();
  EXPECT_EQ(told.reason, BackgroundErrorReason::kCompaction);
  EXPECT_EQ(told.error.severity(), Status::kUnrecoverableError);
  EXPECT_TRUE(db_->Put(WriteOptions(), "refused", "v").IsCorruption());
  EXPECT_TRUE(db_->Resume().IsCorruption());
}

TEST_F(ErrorFactsTest, ADiskThatFailsTheCallIsNobodyElsesConcern) {
  Open();
  MakeTables(2);
  Fail(CallKind::kAppend, ".sst");
  EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsNoSpace());
  sim_->ClearFaults();
  EXPECT_OK(db_->Put(WriteOptions(), "goes on", "v"));
  ASSERT_OK(db_->Close());
  EXPECT_EQ(listener_->error_count(), 0u);
}

}  // namespace
}  // namespace ashlar
