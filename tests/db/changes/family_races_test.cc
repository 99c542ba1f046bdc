// SPDX-License-Identifier: Apache-2.0
//
// Calls that meet half way: families that are dropped or created while others are at work, manual
// compactions beside other ones, a writer that is admitted while another one fills the memtable.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/listener.h"
#include "ashlar/system_clock.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/write_batch.h"
#include "env/env_adaptors.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Lets whoever comes first wait until it is opened.
class Gate {
 public:
  void Pass() {
    if (has_come_.exchange(true)) return;
    arrived_.release();
    opened_.acquire();
  }
  void AwaitArrival() { arrived_.acquire(); }
  void Open() { opened_.release(); }

 private:
  std::atomic<bool> has_come_{false};
  std::binary_semaphore arrived_{0}, opened_{0};
};

// While `gate` is set, new logs and MANIFESTs wait there.
class GatedFiles final : public FileSystemWrapper {
 public:
  GatedFiles() : FileSystemWrapper(std::make_shared<MemoryFileSystem>(SystemClock::Default())) {}
  const char* Name() const override { return "GatedFiles"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    const bool is_manifest = name.find("MANIFEST-") != std::string::npos;
    if (Gate* g = gate; g != nullptr && (is_manifest || name.ends_with(".log"))) g->Pass();
    if (is_manifest && refuses_manifests) return IOStatus::IOError(name, "refused");
    return FileSystemWrapper::NewWritableFile(name, options, file, dbg);
  }
  std::atomic<Gate*> gate{nullptr};
  std::atomic<bool> refuses_manifests{false};
};

class AtCompactionBegin final : public EventListener {
 public:
  explicit AtCompactionBegin(std::function<void()> act) : act_(std::move(act)) {}
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override {
    running++;
    act_();
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { running--; }
  std::atomic<int> running{0};

 private:
  const std::function<void()> act_;
};

class FamilyRacesTest : public testing::Test {
 protected:
  FamilyRacesTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    return status.ok() ? value : status.ToString();
  }
  uint64_t Property(ColumnFamilyHandle* family, const std::string& name) {
    uint64_t value = 0;
    EXPECT_TRUE(db_->GetIntProperty(family, name, &value));
    return value;
  }
  std::string Level0Files(ColumnFamilyHandle* family) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(family, "rocksdb.num-files-at-level0", &value));
    return value;
  }
  void AwaitProperty(ColumnFamilyHandle* family, const std::string& name, uint64_t value) {
    while (Property(family, name) != value) std::this_thread::yield();
  }

  // Of two calls at once; the others must answer InvalidArgument.
  int HowManySucceed(const std::function<Status()>& call) {
    Gate gate;
    files_->gate = &gate;
    std::atomic<int> succeeded{0};
    const auto run = [&] {
      const Status status = call();
      if (status.ok()) succeeded++;
      EXPECT_TRUE(status.ok() || status.IsInvalidArgument()) << status.ToString();
    };
    std::thread first(run);
    gate.AwaitArrival();
    std::thread second(run);
    // Every interleaving is right; this makes the interesting one likely.
    for (int i = 0; i < 20000; i++) {
      db_->GetLatestSequenceNumber();
      std::this_thread::yield();
    }
    gate.Open();
    first.join();
    second.join();
    files_->gate = nullptr;
    return succeeded;
  }

  const std::shared_ptr<GatedFiles> files_ = std::make_shared<GatedFiles>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(files_);
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(FamilyRacesTest, AFamilyMayBeDroppedWhileItsMemTableIsBeingSwitched) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "k", "v"));
  Put("k", "default");
  Gate gate;
  files_->gate = &gate;
  Status flushed;
  std::thread flusher([&] { flushed = db_->Flush(FlushOptions(), family); });
  gate.AwaitArrival();
  ASSERT_OK(db_->DropColumnFamily(family));
  gate.Open();
  flusher.join();
  files_->gate = nullptr;
  EXPECT_TRUE(flushed.IsColumnFamilyDropped()) << flushed.ToString();
  EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_EQ("default", Get("k"));
  EXPECT_OK(db_->Flush(FlushOptions()));
}

TEST_F(FamilyRacesTest, AnUnreferencedFamilyMayBeDroppedWhileAFullMemTableIsBeingSwitched) {
  options_.write_buffer_size = 64 << 10;
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "k", std::string(200 << 10, 'x')));
  Gate gate;
  files_->gate = &gate;
  std::thread writer([&] { EXPECT_OK(db_->Put(WriteOptions(), "k", "default")); });
  gate.AwaitArrival();
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
  gate.Open();
  writer.join();
  files_->gate = nullptr;
  EXPECT_EQ("default", Get("k"));
}

// The first is held up at the MANIFEST, the second comes then.
TEST_F(FamilyRacesTest, OfTwoWhoCreateAFamilyOfOneNameAtOnceOneSucceeds) {
  options_.max_manifest_file_size = 1;
  Open();
  ASSERT_EQ(1, HowManySucceed([&] {
              ColumnFamilyHandle* family = nullptr;
              const Status status = db_->CreateColumnFamily(options_, "f", &family);
              if (family != nullptr) {
                EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
              }
              return status;
            }));
}

TEST_F(FamilyRacesTest, AFamilyThatIsRefusedUsesUpNoId) {
  Open();
  const auto id_of_new = [&](const std::string& name) {
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db_->CreateColumnFamily(options_, name, &family));
    const uint32_t id = family->GetID();
    EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
    return id;
  };
  EXPECT_EQ(id_of_new("a"), 1u);
  ColumnFamilyHandle* none = nullptr;
  for (const char* taken : {"a", "default"}) {
    const Status status = db_->CreateColumnFamily(options_, taken, &none);
    EXPECT_EQ(status.ToString(), StrCat("Invalid argument: Column family already exists: ", taken));
  }
  Options unbuilt = options_;
  unbuilt.enable_blob_direct_write = true;
  EXPECT_TRUE(db_->CreateColumnFamily(unbuilt, "x", &none).IsNotSupported());
  EXPECT_EQ(id_of_new("b"), 2u);
}

TEST_F(FamilyRacesTest, OfTwoWhoDropAFamilyAtOnceOneSucceeds) {
  options_.max_manifest_file_size = 1;
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "f", &family));
  ASSERT_EQ(1, HowManySucceed([&] { return db_->DropColumnFamily(family); }));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

// Readers may wait for the database while they are in an epoch.
TEST_F(FamilyRacesTest, AFamilyThatCannotBeCreatedWaitsForNoReader) {
  options_.max_manifest_file_size = 1;
  Open();
  std::binary_semaphore has_begun{0}, may_end{0};
  std::thread reader([&] {
    const EpochGuard guard;
    has_begun.release();
    may_end.acquire();
  });
  has_begun.acquire();
  Put("k", "v");
  ASSERT_OK(db_->Flush(FlushOptions()));  // leaves something to the reader
  files_->refuses_manifests = true;
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "f", &family).IsIOError());
  files_->refuses_manifests = false;
  may_end.release();
  reader.join();
}

TEST_F(FamilyRacesTest, WaitingForAllFlushesDoesNotFailForAFamilyThatIsDroppedMeanwhile) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "k", "v"));
  ASSERT_OK(db_->PauseBackgroundWork());
  Status waited;
  std::thread waiter([&] {
    WaitForCompactOptions wait;
    wait.flush = true;
    waited = db_->WaitForCompact(wait);
  });
  AwaitProperty(family, "rocksdb.num-immutable-mem-table", 1);
  EXPECT_OK(db_->DropColumnFamily(family));
  EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_OK(db_->ContinueBackgroundWork());
  waiter.join();
  EXPECT_OK(waited);
}

// The range waits for a running compaction out of level 0. Meanwhile the base level rises, and an
// older version of "a" settles on it.
TEST_F(FamilyRacesTest, ACompactedRangeIsNotPutBelowWhatSettledWhileItWaited) {
  Gate gate;
  std::atomic<bool> is_gated{false};
  options_.listeners.push_back(std::make_shared<AtCompactionBegin>([&] {
    if (is_gated.load()) gate.Pass();
  }));
  options_.max_background_jobs = 8;
  Open();
  for (int i = 0; i < 200; i++) Put("m" + std::to_string(i), std::string(1000, 'x'));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Put("a", "1");
  ASSERT_OK(db_->Flush(FlushOptions()));
  Put("z", "1");
  ASSERT_OK(db_->Flush(FlushOptions()));

  const auto compact = [&](const char* key) {
    const Slice range(key == nullptr ? "" : key);
    const Slice* bound = key == nullptr ? nullptr : &range;
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), bound, bound));
  };
  is_gated = true;
  std::thread holder([&] { compact("z"); });
  gate.AwaitArrival();
  std::thread waiter([&] { compact(nullptr); });
  AwaitProperty(db_->DefaultColumnFamily(), "rocksdb.num-running-compactions", 2);
  // Of the table with "z"; the one that waits has no input yet.
  EXPECT_EQ(Property(db_->DefaultColumnFamily(), "rocksdb.num-running-compaction-sorted-runs"), 1u);
  ASSERT_OK(db_->SetOptions({{"max_bytes_for_level_base", "4096"}}));
  ASSERT_LT(Property(db_->DefaultColumnFamily(), "rocksdb.base-level"), 6u);
  compact("a");
  Put("a", "2");
  ASSERT_OK(db_->Flush(FlushOptions()));
  gate.Open();
  holder.join();
  waiter.join();
  EXPECT_EQ("2", Get("a"));
}

TEST_F(FamilyRacesTest, NoManualCompactionRunsOnceTheyAreDisabled) {
  std::counting_semaphore<> begun{0};
  const auto listener = std::make_shared<AtCompactionBegin>([&] { begun.release(); });
  options_.listeners.push_back(listener);
  Open();
  for (int i = 0; i < 20000; i++) Put("k" + std::to_string(i), std::string(100, 'x'));
  for (int round = 0; round < 5; round++) {
    std::thread compactor([&] {
      CompactRangeOptions force;
      force.bottommost_level_compaction = BottommostLevelCompaction::kForce;
      const Status status = db_->CompactRange(force, nullptr, nullptr);
      EXPECT_TRUE(status.ok() || status.IsIncomplete()) << status.ToString();
      begun.release();  // in case it was done without beginning
    });
    begun.acquire();
    db_->DisableManualCompaction();
    EXPECT_EQ(0, listener->running.load());
    db_->EnableManualCompaction();
    compactor.join();
    while (begun.try_acquire()) {
    }
  }
}

TEST_F(FamilyRacesTest, FlushesGoOnWhileCompactionsAreAborted) {
  Open();
  db_->AbortAllCompactions();
  db_->AbortCompactions(db_->DefaultColumnFamily());
  EXPECT_EQ(Property(db_->DefaultColumnFamily(), "rocksdb.compaction-abort-count"), 2u);
  db_->ResumeCompactions(db_->DefaultColumnFamily());
  Put("k", "v");
  EXPECT_OK(db_->Flush(FlushOptions()));
  // The flush asks for a compaction, perhaps after it has woken who waits for it; none may begin.
  while (Property(db_->DefaultColumnFamily(), "rocksdb.num-unscheduled-compactions") != 1)
    std::this_thread::yield();
  EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsIncomplete());
  db_->ResumeAllCompactions();
  EXPECT_EQ(Property(db_->DefaultColumnFamily(), "rocksdb.compaction-abort-count"), 0u);
  EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ("v", Get("k"));
}

// Two families with two overlapping tables each. The first compaction waits where it has begun.
class AbortTest : public FamilyRacesTest {
 protected:
  void OpenWithTables() {
    options_.listeners.push_back(std::make_shared<AtCompactionBegin>([this] { gate_.Pass(); }));
    options_.level0_file_num_compaction_trigger = 2;
    Open();
    ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other_));
    for (ColumnFamilyHandle* family : {other_, db_->DefaultColumnFamily()}) {
      for (int i = 0; i < 2; i++) {
        ASSERT_OK(db_->Put(WriteOptions(), family, "k", "v"));
        ASSERT_OK(db_->Flush(FlushOptions(), family));
      }
    }
  }
  // It is sure to be aborted once calls in its family are refused.
  void AbortTheOneThatRuns() {
    gate_.AwaitArrival();
    std::thread aborter([&] { db_->AbortCompactions(other_); });
    std::atomic<bool> is_canceled{true};
    CompactRangeOptions only_asks;
    only_asks.canceled = &is_canceled;
    while (!db_->CompactRange(only_asks, other_, nullptr, nullptr).IsCompactionAborted()) {
      std::this_thread::yield();
    }
    gate_.Open();
    aborter.join();
  }
  void ExpectOnlyOtherIsStopped() {
    EXPECT_EQ(Level0Files(other_), "2");
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_EQ(Level0Files(db_->DefaultColumnFamily()), "0");
    db_->ResumeCompactions(other_);
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), other_, nullptr, nullptr));
    EXPECT_EQ(Level0Files(other_), "0");
    ASSERT_OK(db_->DestroyColumnFamilyHandle(other_));
  }

  Gate gate_;
  ColumnFamilyHandle* other_ = nullptr;
};

TEST_F(AbortTest, StopsTheCallThatRunsInItsFamily) {
  OpenWithTables();
  std::thread compactor([&] {
    const Status status = db_->CompactRange(CompactRangeOptions(), other_, nullptr, nullptr);
    EXPECT_TRUE(status.IsCompactionAborted()) << status.ToString();
  });
  AbortTheOneThatRuns();
  compactor.join();
  ExpectOnlyOtherIsStopped();
}

TEST_F(AbortTest, StopsTheAutomaticOneThatRunsInItsFamily) {
  OpenWithTables();
  ASSERT_OK(db_->SetOptions(other_, {{"disable_auto_compactions", "false"}}));
  AbortTheOneThatRuns();
  EXPECT_EQ(Property(other_, "rocksdb.background-errors"), 0u) << "being stopped is none";
  ExpectOnlyOtherIsStopped();
}

// Acts once, when the thread that asks for it reads the clock.
class ActingClock final : public SystemClockWrapper {
 public:
  ActingClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "ActingClock"; }
  uint64_t NowNanos() override {
    if (act_in_this_thread) std::exchange(act_in_this_thread, nullptr)();
    return SystemClockWrapper::NowNanos();
  }
  static thread_local std::function<void()> act_in_this_thread;
};
thread_local std::function<void()> ActingClock::act_in_this_thread;

class GatedWrite final : public UserWriteCallback {
 public:
  explicit GatedWrite(Gate* gate) : gate_(gate) {}
  void OnWriteEnqueued() override {}
  void OnWalWriteFinish() override { gate_->Pass(); }

 private:
  Gate* const gate_;
};

// Writers are delayed, so each asks first; while the second one does, the first fills the memtable.
TEST_F(FamilyRacesTest, AWriterThatIsAloneGoesOnWhenAnotherOneFilledTheMemTableBeforeIt) {
  const std::unique_ptr<Env> env =
      NewCompositeEnvOver(Env::Default(), files_, std::make_shared<ActingClock>());
  options_.env = env.get();
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 100;
  options_.delayed_write_rate = uint64_t{1} << 40;
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 4;
  Open();
  db_->AbortAllCompactions();
  for (int i = 0; i < 2; i++) {
    Put("k", "v");
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  ASSERT_OK(db_->PauseBackgroundWork());
  Gate gate;
  GatedWrite callback(&gate);
  std::binary_semaphore is_written{0};
  std::thread filler([&] {
    WriteBatch batch;
    EXPECT_OK(batch.Put("big", std::string(200 << 10, 'x')));
    EXPECT_OK(db_->WriteWithCallback(WriteOptions(), &batch, &callback));
    is_written.release();
  });
  gate.AwaitArrival();
  bool has_acted = false;
  ActingClock::act_in_this_thread = [&] {
    has_acted = true;
    gate.Open();
    is_written.acquire();
  };
  Put("after", "v");
  EXPECT_TRUE(has_acted) << "the second writer was not held up";
  filler.join();
  EXPECT_EQ("v", Get("after"));
  ASSERT_OK(db_->ContinueBackgroundWork());
  db_->ResumeAllCompactions();
  db_.reset();
}

}  // namespace
}  // namespace ashlar
