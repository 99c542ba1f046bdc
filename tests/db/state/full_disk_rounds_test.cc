// SPDX-License-Identifier: Apache-2.0
//
// Two hundred times in one opening the disk is filled to the brim, freed, and work goes on: the
// database resumes by itself, and nothing that was acknowledged is lost. Two families, synced and
// other writes, overwrites and deletions; the disk is full in logs, flushes, compactions and
// MANIFESTs, wherever a round happens to end.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/statistics.h"
#include "env/periodic_timer.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "util/memory/page_buffer.h"
#include "util/random.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr int kRounds = kHeapIsWatched ? 50 : 200;      // under a sanitizer they take minutes
constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // no test takes as long
constexpr uint64_t kNoLimit = uint64_t{1} << 40;
constexpr uint64_t kLookMicros = 10'000;

class Recoveries final : public EventListener {
 public:
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo&) override {
    MutexLock lock(&mutex_);
    has_ended_ = true;
    changed_.SignalAll();
  }
  // One that has not been waited for, or for a look's time.
  void AwaitEnd() {
    MutexLock lock(&mutex_);
    if (!has_ended_) changed_.WaitFor(kLookMicros);
    has_ended_ = false;
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  CondVar changed_{&mutex_};
  bool has_ended_ GUARDED_BY(mutex_) = false;
};

class FullDiskRounds : public testing::Test {
 protected:
  FullDiskRounds() {
    options_.env = env_.get();
    options_.create_if_missing = options_.create_missing_column_families = true;
    options_.statistics = CreateDBStatistics();
    options_.bgerror_resume_retry_interval = kHour;
    options_.write_buffer_size = 32 << 10;
    options_.max_bytes_for_level_base = 128 << 10;
    options_.target_file_size_base = 32 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_manifest_file_size = 8 << 10;
    options_.listeners.push_back(recoveries_);
  }
  ~FullDiskRounds() override { Close(); }
  void Open() {
    ASSERT_OK(
        DB::Open(options_, "/db", {{"default", options_}, {"other", options_}}, &handles_, &db_));
  }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }

  // One write that is acknowledged, or fails. What fails may have taken place or not.
  Status WriteOne() {
    const size_t family = random_.Uniform(2);
    const std::string key = StrCat("key", random_.Uniform(300));
    const std::string value = StrCat(++writes_, std::string(random_.Uniform(600), 'v'));
    const bool deletes = random_.OneIn(5);
    WriteOptions options;
    options.sync = random_.OneIn(4);
    const Status status = deletes ? db_->Delete(options, handles_[family], key)
                                  : db_->Put(options, handles_[family], key, value);
    Row& row = rows_[family][key];
    const std::string written = deletes ? "" : value;
    if (status.ok()) {
      row = {written, written};
    } else {
      row.perhaps = written;
    }
    return status;
  }
  // Until the disk is full.
  void Fill() {
    sim_->SetByteQuota(sim_->UsedBytes() + random_.Uniform(100 << 10));
    Status status;
    while (status.ok()) status = WriteOne();
    ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
  }
  // By itself: each look of the timer may bring it. A writer that tries without a pause would take
  // the locks from those that recover.
  void AwaitRecovery() {
    for (;;) {
      PeriodicTimer::Default()->PassTime(kHour);
      recoveries_->AwaitEnd();
      const Status status = WriteOne();
      if (status.ok()) return;
      ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
    }
  }
  void ExpectAll(const char* when) {
    for (size_t family = 0; family < 2; family++) {
      for (const auto& [key, row] : rows_[family]) {
        std::string value;
        const Status status = db_->Get(ReadOptions(), handles_[family], key, &value);
        ASSERT_TRUE(status.ok() || status.IsNotFound()) << when << ": " << status.ToString();
        if (status.IsNotFound()) value.clear();
        ASSERT_TRUE(value == row.acknowledged || value == row.perhaps)
            << when << ": " << key << " of family " << family << " is '" << value.substr(0, 10)
            << "', not '" << row.acknowledged.substr(0, 10) << "'";
      }
    }
  }

  // Empty: there is none.
  struct Row {
    std::string acknowledged, perhaps;
  };
  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  const std::shared_ptr<Recoveries> recoveries_ = std::make_shared<Recoveries>();
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::map<std::string, Row> rows_[2];
  uint64_t writes_ = 0;
  Random64 random_{2530};
};

TEST_F(FullDiskRounds, NothingIsLostAndNobodyReopens) {
  ASSERT_NO_FATAL_FAILURE(Open());
  for (int round = 0; round < kRounds; round++) {
    ASSERT_NO_FATAL_FAILURE(Fill()) << round;
    if (round % 20 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectAll("while full")) << round;
    }
    sim_->SetByteQuota(kNoLimit);
    ASSERT_NO_FATAL_FAILURE(AwaitRecovery()) << round;
    if (round % 20 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectAll("with room again")) << round;
    }
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_NO_FATAL_FAILURE(ExpectAll("in the end"));
  const uint64_t resumed =
      options_.statistics->getTickerCount(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
  const uint64_t attempts =
      options_.statistics->getTickerCount(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT);
  Close();
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(ExpectAll("opened again"));
  std::printf("full disk: %d rounds, %llu writes, resumed %llu times in %llu attempts\n", kRounds,
              static_cast<unsigned long long>(writes_), static_cast<unsigned long long>(resumed),
              static_cast<unsigned long long>(attempts));
  EXPECT_GE(attempts, resumed);
  EXPECT_GT(resumed, 0u);
}

}  // namespace
}  // namespace ashlar
