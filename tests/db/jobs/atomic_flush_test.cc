// SPDX-License-Identifier: Apache-2.0
//
// atomic_flush and force_atomic_flush: entries that several families received without a log are in
// the tables of all these families or of none, wherever a crash or a failing call ends the flush.
#include <atomic>
#include <functional>
#include <semaphore>
#include <set>
#include <utility>

#include "ashlar/listener.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class AtomicFlushListener final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    if (on_flush_begin) on_flush_begin(db, info);
  }
  std::function<void(DB*, const FlushJobInfo&)> on_flush_begin;
};

class AtomicFlushTest : public DbTest {
 protected:
  AtomicFlushTest() : DbTest(TestFiles::kSim) {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 8;
    options_.atomic_flush = true;
    options_.info_log_level = InfoLogLevel::FATAL_LEVEL;
    options_.statistics = CreateDBStatistics();
    options_.listeners.push_back(listener_);
    unlogged_.disableWAL = true;
  }

  void Open() { DbTest::Open({"default", "one", "two"}); }
  ColumnFamilyHandle* base() { return handles_[0]; }
  ColumnFamilyHandle* one() { return handles_[1]; }
  ColumnFamilyHandle* two() { return handles_[2]; }

  // One batch for all families; the default family gets a value of this size.
  Status PutToAll(int i, size_t bytes = 10) {
    WriteBatch batch;
    const std::string key = StrCat("k", i);
    EXPECT_OK(batch.Put(key, std::string(bytes, 'x')));
    for (ColumnFamilyHandle* handle : {one(), two()}) EXPECT_OK(batch.Put(handle, key, "value"));
    return db_->Write(unlogged_, &batch);
  }
  std::string Files(ColumnFamilyHandle* family) { return StrCat(TableCount(0, family)); }
  std::string Files() { return Files(base()) + Files(one()) + Files(two()); }

  // The keys of these families in an image.
  std::vector<std::set<std::string>> KeysIn(const std::shared_ptr<SimFS>& image,
                                            const std::vector<std::string>& families) {
    TestDb opened(image, options_);
    opened.options().listeners.clear();
    opened.OpenAll();
    Contents contents = opened.ReadAll();
    std::vector<std::set<std::string>> keys;
    for (const std::string& name : families) {
      keys.emplace_back();
      for (const auto& [key, value] : contents[name]) keys.back().insert(key);
    }
    return keys;
  }
  // Checks a crash after every call from `begin` on. Returns how many keys the last image has.
  size_t ExpectAllOrNothing(uint64_t begin, const std::vector<std::string>& families) {
    size_t last = 0;
    for (const FileCall& call : sim_->MutatingCalls()) {
      if (call.index < begin) continue;
      for (const CrashPolicy policy :
           {CrashPolicy::kStrict, CrashPolicy::kAll, CrashPolicy::kTorn, CrashPolicy::kReorder}) {
        const auto image = sim_->CrashImage(call.index + 1, policy, call.index);
        const auto keys = KeysIn(image, families);
        for (const auto& others : keys) {
          EXPECT_EQ(others, keys.front()) << "after call " << call.index << ", " << NameOf(policy);
        }
        last = keys.front().size();
        if (HasFailure()) return last;
      }
    }
    return last;
  }

  const std::shared_ptr<AtomicFlushListener> listener_ = std::make_shared<AtomicFlushListener>();
  WriteOptions unlogged_;
};

TEST_F(AtomicFlushTest, AFullMemTableTakesAllFamiliesAlong) {
  Open();
  const uint64_t begin = sim_->CallCount();
  for (int i = 0; i < 7; ++i) {
    ASSERT_OK(PutToAll(i, 40'000));
    WaitForJobs();
  }
  EXPECT_EQ(Files(), "333");
  EXPECT_EQ(Ticks(ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL), 3u);
  EXPECT_EQ(Ticks(FLUSH_REASON_WRITE_BUFFER_FULL), 9u);
  EXPECT_EQ(ExpectAllOrNothing(begin, {"default", "one", "two"}), 6u);
}

TEST_F(AtomicFlushTest, WhatWaitsBehindAFlushGoesTogetherToo) {
  Open();
  const uint64_t begin = sim_->CallCount();
  {
    const BlockedPool no_flush(env_.get(), Env::Priority::HIGH);
    for (int i = 0; i < 5; ++i) ASSERT_OK(PutToAll(i, 70'000));
    ASSERT_OK(db_->Put(unlogged_, one(), "k5", "v"));
    ASSERT_OK(db_->Put(unlogged_, base(), "k5", "v"));
    ASSERT_OK(db_->Put(unlogged_, two(), "k5", "v"));
  }
  WaitForJobs();
  EXPECT_EQ(Files(), "111");
  EXPECT_EQ(ExpectAllOrNothing(begin, {"default", "one", "two"}), 5u);
}

TEST_F(AtomicFlushTest, ACallFlushesTheFamiliesThatItNames) {
  Open();
  ASSERT_OK(PutToAll(0));
  Flush(one());
  EXPECT_EQ(Files(), "010");
  Flush({base(), two()});
  EXPECT_EQ(Files(), "111");
  EXPECT_EQ(Ticks(ATOMIC_FLUSH_REQUEST_REASON_OTHER), 2u);
}

// If a call needs a flush of one family, all families are flushed.
TEST_F(AtomicFlushTest, OtherCallsFlushAllFamilies) {
  Open();
  ASSERT_OK(PutToAll(0));
  Compact(one());
  EXPECT_EQ(Files(base()) + Files(two()), "11");
  const uint64_t begin = sim_->CallCount();
  ASSERT_OK(PutToAll(1));
  Close();
  EXPECT_EQ(ExpectAllOrNothing(begin, {"default", "one", "two"}), 2u);
}

TEST_F(AtomicFlushTest, AForcedFlushIsOneOfTheNamedFamilies) {
  options_.atomic_flush = false;
  Open();
  ASSERT_OK(PutToAll(0));
  const uint64_t begin = sim_->CallCount();
  FlushOptions together;
  together.force_atomic_flush = true;
  ASSERT_OK(db_->Flush(together, {one(), two()}));
  EXPECT_EQ(Files(), "011");
  EXPECT_EQ(ExpectAllOrNothing(begin, {"one", "two"}), 1u);
}

// A family that is not flushed keeps its log.
TEST_F(AtomicFlushTest, LogsOfOtherFamiliesStay) {
  Open();
  unlogged_.disableWAL = false;
  ASSERT_OK(PutToAll(0));
  Flush({base(), one()});
  ASSERT_OK(PutToAll(1));
  ASSERT_OK(db_->SyncWAL());
  for (const CrashPolicy policy : {CrashPolicy::kStrict, CrashPolicy::kAll}) {
    for (const auto& keys : KeysIn(CrashImage(policy), {"default", "one", "two"})) {
      EXPECT_EQ(keys.size(), 2u);
    }
  }
}

// The memtable was sealed before the call, and is not flushed yet.
TEST_F(AtomicFlushTest, AForcedFlushTakesWhatWaitsAlready) {
  options_.atomic_flush = false;
  options_.min_write_buffer_number_to_merge = 3;
  Open();
  ASSERT_OK(PutToAll(0, 70'000));
  ASSERT_OK(db_->Put(unlogged_, two(), "k0", "v"));  // seals the memtable of the default family
  EXPECT_EQ(Files(), "000");
  const uint64_t begin = sim_->CallCount();
  FlushOptions together;
  together.force_atomic_flush = true;
  ASSERT_OK(db_->Flush(together, {base(), one()}));
  EXPECT_EQ(Files(), "110");
  EXPECT_EQ(ExpectAllOrNothing(begin, {"default", "one"}), 1u);
}

// A flush of one of the families alone is running.
TEST_F(AtomicFlushTest, AForcedFlushWaitsForTheOneBefore) {
  options_.atomic_flush = false;
  options_.max_background_flushes = 2;
  options_.max_background_compactions = 1;
  Open();
  std::counting_semaphore<> has_begun{0}, may_go_on{0};
  listener_->on_flush_begin = [&, is_first = true](DB*, const FlushJobInfo&) mutable {
    if (!std::exchange(is_first, false)) return;
    has_begun.release();
    may_go_on.acquire();
  };
  ASSERT_OK(PutToAll(0, 70'000));
  ASSERT_OK(db_->Put(unlogged_, two(), "k0", "v"));
  has_begun.acquire();
  ASSERT_OK(PutToAll(1));
  FlushOptions together;
  together.force_atomic_flush = together.allow_write_stall = true;
  together.wait = false;
  ASSERT_OK(db_->Flush(together, {base(), one()}));
  EXPECT_EQ(Files(), "000");
  may_go_on.release();
  WaitForJobs();
  EXPECT_EQ(Files(), "210");
}

TEST_F(AtomicFlushTest, AFamilyThatIsDroppedMeanwhileKeepsNobody) {
  Open();
  ASSERT_OK(PutToAll(0));
  listener_->on_flush_begin = [this](DB* db, const FlushJobInfo& info) {
    if (info.cf_name != "one") return;
    EXPECT_OK(db->DropColumnFamily(one()));
  };
  const Status status = db_->Flush(FlushOptions(), {base(), one(), two()});
  EXPECT_TRUE(status.ok() || status.IsColumnFamilyDropped()) << status.ToString();
  WaitForJobs();
  EXPECT_EQ(Files(base()) + Files(two()), "11");
  ASSERT_OK(db_->Put(unlogged_, two(), "k", "v"));
  Flush(two());
}

// Each file call of a flush fails once, after it has written a part of its bytes.
TEST_F(AtomicFlushTest, AFailedFlushTakesNothingAndIsMadeUpFor) {
  bool is_through = false;
  for (int n = 0; !is_through; ++n) {
    SCOPED_TRACE(StrCat("call ", n));
    ASSERT_LT(n, 200);
    UseSim(SimFS::Create());
    Open();
    ASSERT_OK(PutToAll(0));
    Flush({base(), one(), two()});
    ASSERT_OK(PutToAll(1));
    sim_->FailAt(sim_->CallCount() + static_cast<uint64_t>(n), FaultError::kIO, FaultMode::kOnce,
                 FaultEffect::kPartial);
    const uint64_t first = sim_->CallCount();
    const Status flushed = db_->Flush(FlushOptions(), {base(), one(), two()});
    is_through = sim_->CallCount() <= first + static_cast<uint64_t>(n);
    sim_->ClearFaults();
    const auto crashed = KeysIn(CrashImage(CrashPolicy::kStrict), {"default", "one", "two"});
    EXPECT_EQ(crashed[0], crashed[1]);
    EXPECT_EQ(crashed[0], crashed[2]);
    if (flushed.ok()) {
      EXPECT_EQ(crashed[0].size(), 2u);
    }
    ASSERT_OK(db_->Resume());
    ASSERT_OK(PutToAll(2));
    Flush({base(), one(), two()});
    const std::set<std::string> all{"k0", "k1", "k2"};
    for (const auto& keys : KeysIn(CrashImage(CrashPolicy::kStrict), {"default", "one", "two"})) {
      EXPECT_EQ(keys, all);
    }
    Close();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ashlar
