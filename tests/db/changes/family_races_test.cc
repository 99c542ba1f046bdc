// SPDX-License-Identifier: Apache-2.0
//
// Races of calls: families that are dropped or created while other calls use them, concurrent
// manual compactions, and a writer that is admitted while another one fills the memtable.
#include <atomic>
#include <functional>
#include <semaphore>
#include <thread>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/listener.h"
#include "ashlar/system_clock.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/write_batch.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// The first thread that passes waits until the gate is opened.
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

// While `gate` is set, the creation of logs and MANIFESTs waits there.
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

class FamilyRacesTest : public DbTest {
 protected:
  FamilyRacesTest() {
    UseFiles(files_);
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
  }
  void AwaitProperty(ColumnFamilyHandle* family, const std::string& name, uint64_t value) {
    while (Number(name, family) != value) std::this_thread::yield();
  }

  // Makes two calls at once. A call that fails must return InvalidArgument.
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
    // The test holds for every interleaving; this makes the interesting one likely.
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
};

TEST_F(FamilyRacesTest, AFamilyMayBeDroppedWhileItsMemTableIsBeingSwitched) {
  Open();
  ColumnFamilyHandle* const family = CreateFamily("f");
  Put(family, "k", "v");
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
  EXPECT_EQ(Get("k"), "default");
  Flush();
}

TEST_F(FamilyRacesTest, AnUnreferencedFamilyMayBeDroppedWhileAFullMemTableIsBeingSwitched) {
  options_.write_buffer_size = 64 << 10;
  Open();
  ColumnFamilyHandle* const family = CreateFamily("f");
  Put(family, "k", std::string(200 << 10, 'x'));
  Gate gate;
  files_->gate = &gate;
  std::thread writer([&] { Put("k", "default"); });
  gate.AwaitArrival();
  ASSERT_OK(db_->DropColumnFamily(family));
  DestroyHandles();
  gate.Open();
  writer.join();
  files_->gate = nullptr;
  EXPECT_EQ(Get("k"), "default");
}

// The first call waits at the MANIFEST while the second one comes.
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
  ColumnFamilyHandle* const family = CreateFamily("f");
  ASSERT_EQ(1, HowManySucceed([&] { return db_->DropColumnFamily(family); }));
}

// The failing call may not wait for readers, because they may wait for the database inside an
// epoch.
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
  Flush();  // retires objects that the reader keeps alive
  files_->refuses_manifests = true;
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily(options_, "f", &family).IsIOError());
  files_->refuses_manifests = false;
  may_end.release();
  reader.join();
}

TEST_F(FamilyRacesTest, WaitingForAllFlushesDoesNotFailForAFamilyThatIsDroppedMeanwhile) {
  Open();
  ColumnFamilyHandle* const family = CreateFamily("f");
  Put(family, "k", "v");
  ASSERT_OK(db_->PauseBackgroundWork());
  Status waited;
  std::thread waiter([&] {
    WaitForCompactOptions wait;
    wait.flush = true;
    waited = db_->WaitForCompact(wait);
  });
  AwaitProperty(family, "rocksdb.num-immutable-mem-table", 1);
  EXPECT_OK(db_->DropColumnFamily(family));
  DestroyHandles();
  EXPECT_OK(db_->ContinueBackgroundWork());
  waiter.join();
  EXPECT_OK(waited);
}

// The compaction of the range waits for a running one of level 0. Meanwhile the base level moves
// up, and an older version of "a" is compacted to it.
TEST_F(FamilyRacesTest, ACompactedRangeIsNotPutBelowWhatSettledWhileItWaited) {
  Gate gate;
  std::atomic<bool> is_gated{false};
  options_.listeners.push_back(std::make_shared<AtCompactionBegin>([&] {
    if (is_gated.load()) gate.Pass();
  }));
  options_.max_background_jobs = 8;
  Open();
  for (int i = 0; i < 200; i++) Put("m" + std::to_string(i), std::string(1000, 'x'));
  Compact();
  Put("a", "1");
  Flush();
  Put("z", "1");
  Flush();

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
  // This is the table with "z"; the waiting compaction has no input yet.
  EXPECT_EQ(Number("rocksdb.num-running-compaction-sorted-runs"), 1u);
  ASSERT_OK(db_->SetOptions({{"max_bytes_for_level_base", "4096"}}));
  ASSERT_LT(Number("rocksdb.base-level"), 6u);
  compact("a");
  Put("a", "2");
  Flush();
  gate.Open();
  holder.join();
  waiter.join();
  EXPECT_EQ(Get("a"), "2");
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
      begun.release();  // in case it returned before it began
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
  EXPECT_EQ(Number("rocksdb.compaction-abort-count"), 2u);
  db_->ResumeCompactions(db_->DefaultColumnFamily());
  Put("k", "v");
  Flush();
  // The flush schedules a compaction, perhaps after Flush() has returned; none may begin.
  while (Number("rocksdb.num-unscheduled-compactions") != 1) std::this_thread::yield();
  EXPECT_TRUE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsIncomplete());
  db_->ResumeAllCompactions();
  EXPECT_EQ(Number("rocksdb.compaction-abort-count"), 0u);
  Compact();
  EXPECT_EQ(Get("k"), "v");
}

// Two families with two overlapping tables each. The first compaction waits when it has begun.
class AbortTest : public FamilyRacesTest {
 protected:
  void OpenWithTables() {
    options_.listeners.push_back(std::make_shared<AtCompactionBegin>([this] { gate_.Pass(); }));
    options_.level0_file_num_compaction_trigger = 2;
    Open();
    other_ = CreateFamily("other");
    for (ColumnFamilyHandle* family : {other_, db_->DefaultColumnFamily()}) {
      for (int i = 0; i < 2; i++) {
        Put(family, "k", "v");
        Flush(family);
      }
    }
  }
  // The running compaction is aborted for certain once calls for its family are refused.
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
    EXPECT_EQ(TableCount(0, other_), 2);
    Compact();
    EXPECT_EQ(TableCount(0), 0);
    db_->ResumeCompactions(other_);
    Compact(other_);
    EXPECT_EQ(TableCount(0, other_), 0);
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
  EXPECT_EQ(Number("rocksdb.background-errors", other_), 0u) << "an abort is not an error";
  ExpectOnlyOtherIsStopped();
}

// Calls a function once, when a thread that has set it reads the clock.
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

// Writers are delayed, so each reads the clock first; while the second one does, the first one
// fills the memtable.
TEST_F(FamilyRacesTest, AWriterThatIsAloneGoesOnWhenAnotherOneFilledTheMemTableBeforeIt) {
  UseFiles(files_, std::make_shared<ActingClock>());
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
    Flush();
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
  EXPECT_TRUE(has_acted) << "the second writer was not delayed";
  filler.join();
  EXPECT_EQ(Get("after"), "v");
  ASSERT_OK(db_->ContinueBackgroundWork());
  db_->ResumeAllCompactions();
}

// A call that deletes files has claimed the tables of the last level, and waits to record it.
class FileDropRaces : public FamilyRacesTest {
 protected:
  FileDropRaces() {
    options_.level_compaction_dynamic_level_bytes = false;
    options_.max_manifest_file_size = 1;  // so each change creates a MANIFEST
  }
  // Writes one table with these keys and moves it to the last level.
  void TableBelow(const std::string& keys) {
    for (const char key : keys) Put(std::string(1, key), "v");
    Flush();
    CompactRangeOptions deep;
    deep.change_level = true;
    deep.target_level = 6;
    Compact(deep);
  }
  void BeginDrop() {
    files_->gate = &gate_;
    dropper_ = std::thread([this] {
      EXPECT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr));
    });
    gate_.AwaitArrival();
  }
  void EndDrop() {
    gate_.Open();
    dropper_.join();
    files_->gate = nullptr;
  }

  Gate gate_;
  std::thread dropper_;
};

TEST_F(FileDropRaces, ALevelIsMovedBeforeOrAfterwards) {
  Open();
  TableBelow("ac");
  BeginDrop();
  Status moved;
  std::thread mover([&] {
    CompactRangeOptions up;
    up.change_level = true;
    up.target_level = 4;
    moved = db_->CompactRange(up, nullptr, nullptr);
  });
  while (Property("ashlar.background-work").find("exclusive") == std::string::npos) {
    std::this_thread::yield();
  }
  EndDrop();
  mover.join();
  EXPECT_OK(moved);
  EXPECT_EQ(Tree(), "");
  Put("after", "v");
  Reopen();
  EXPECT_EQ(Get("after"), "v");
}

TEST_F(FileDropRaces, FifoWaitsAndThenDropsTheRest) {
  Open();
  TableBelow("ac");
  options_.compaction_style = kCompactionStyleFIFO;
  Reopen();
  Put("b", "v");
  Flush();
  BeginDrop();
  ASSERT_OK(db_->SetOptions({{"compaction_options_fifo", "{max_table_files_size=1;}"}}));
  ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
  WaitForJobs();
  EXPECT_EQ(Tree(), "L0 b-b L6 a-c");
  EndDrop();
  WaitForJobs();
  EXPECT_EQ(Tree(), "");
  Put("after", "v");
}

}  // namespace
}  // namespace ashlar
