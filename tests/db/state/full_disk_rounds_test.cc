// SPDX-License-Identifier: Apache-2.0
//
// Two hundred times while a database is open, its disk is filled completely and freed again: the
// database resumes by itself and loses no acknowledged write. There are two families, synced and
// other writes, overwrites and deletions; the disk becomes full in logs, flushes, compactions and
// MANIFESTs, wherever a round happens to end.
#include <cstdio>

#include "ashlar/listener.h"
#include "env/periodic_timer.h"
#include "tests/support/test_db.h"
#include "util/memory/page_buffer.h"
#include "util/random.h"
#include "util/text/str_cat.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

constexpr int kRounds = kHeapIsWatched ? 50 : 200;      // 200 take minutes under a sanitizer
constexpr uint64_t kHour = uint64_t{3600} * 1'000'000;  // longer than the test runs
constexpr uint64_t kNoLimit = uint64_t{1} << 40;
constexpr uint64_t kLookMicros = 10'000;

class Recoveries final : public EventListener {
 public:
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo&) override {
    MutexLock lock(&mutex_);
    has_ended_ = true;
    changed_.SignalAll();
  }
  // Waits for the end of a recovery since the last call, for at most kLookMicros.
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

class FullDiskRounds : public DbTest {
 protected:
  FullDiskRounds() : DbTest(TestFiles::kSim) {
    options_.statistics = CreateDBStatistics();
    options_.bgerror_resume_retry_interval = kHour;
    options_.write_buffer_size = 32 << 10;
    options_.max_bytes_for_level_base = 128 << 10;
    options_.target_file_size_base = 32 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_manifest_file_size = 8 << 10;
    options_.listeners.push_back(recoveries_);
  }
  // One write. If it fails, the database may have its entry or not.
  Status WriteOne() {
    const size_t family = random_.Uniform(2);
    const std::string key = StrCat("key", random_.Uniform(300));
    const std::string value = StrCat(++writes_, std::string(random_.Uniform(600), 'v'));
    const bool deletes = random_.OneIn(5);
    const WriteOptions options = random_.OneIn(4) ? Synced() : WriteOptions();
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
  // Writes until the disk is full.
  void FillDisk() {
    sim_->SetByteQuota(sim_->UsedBytes() + random_.Uniform(100 << 10));
    Status status;
    while (status.ok()) status = WriteOne();
    ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
  }
  // The database recovers when its timer runs. The pause between two writes is needed: a writer
  // that retried at once would keep the locks from the recovery.
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

  // An empty value: no entry.
  struct Row {
    std::string acknowledged, perhaps;
  };
  const std::shared_ptr<Recoveries> recoveries_ = std::make_shared<Recoveries>();
  std::map<std::string, Row> rows_[2];
  uint64_t writes_ = 0;
  Random64 random_{2530};
};

TEST_F(FullDiskRounds, NothingIsLostAndNobodyReopens) {
  Open({"default", "other"});
  for (int round = 0; round < kRounds; round++) {
    ASSERT_NO_FATAL_FAILURE(FillDisk()) << round;
    if (round % 20 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectAll("while full")) << round;
    }
    sim_->SetByteQuota(kNoLimit);
    ASSERT_NO_FATAL_FAILURE(AwaitRecovery()) << round;
    if (round % 20 == 0) {
      ASSERT_NO_FATAL_FAILURE(ExpectAll("with room again")) << round;
    }
  }
  WaitForJobs();
  ASSERT_NO_FATAL_FAILURE(ExpectAll("in the end"));
  const uint64_t resumed = Ticks(ERROR_HANDLER_AUTORESUME_SUCCESS_COUNT);
  const uint64_t attempts = Ticks(ERROR_HANDLER_AUTORESUME_RETRY_TOTAL_COUNT);
  Reopen();
  ASSERT_NO_FATAL_FAILURE(ExpectAll("opened again"));
  std::printf("full disk: %d rounds, %llu writes, resumed %llu times in %llu attempts\n", kRounds,
              static_cast<unsigned long long>(writes_), static_cast<unsigned long long>(resumed),
              static_cast<unsigned long long>(attempts));
  EXPECT_GE(attempts, resumed);
  EXPECT_GT(resumed, 0u);
}

}  // namespace
}  // namespace ashlar
