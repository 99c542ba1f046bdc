// SPDX-License-Identifier: Apache-2.0
//
// Calls made by a listener in the thread of a job that would wait for that very job: each is
// answered, none hangs, and what does not wait works there.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/write_buffer_manager.h"
#include "env/fault/fault_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Ends the process if a test takes so long that a call must hang: nothing can end such a call.
class HangGuard {
 public:
  HangGuard() = default;
  ~HangGuard() {
    is_over_.release();
    watch_.join();
  }

 private:
  std::binary_semaphore is_over_{0};
  std::thread watch_{[this] {
    if (is_over_.try_acquire_for(std::chrono::seconds(100))) return;
    std::fputs("a call hangs\n", stderr);
    std::abort();
  }};
};

// Each callback is called once.
class Caller final : public EventListener {
 public:
  using Call = std::function<void(DB*)>;
  void OnFlushBegin(DB* db, const FlushJobInfo&) override { Take(&flush_begins, db); }
  void OnFlushCompleted(DB* db, const FlushJobInfo&) override { Take(&flush_ended, db); }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo&) override {
    Take(&compaction_ended, db);
  }
  void OnTableFileDeleted(const TableFileDeletionInfo&) override { Take(&table_deleted, nullptr); }
  void OnMemTableSealed(const MemTableInfo&) override { Take(&memtable_sealed, nullptr); }
  void OnBackgroundJobPressureChanged(DB* db, const BackgroundJobPressure& pressure) override {
    const bool is_busy = pressure.flush_running + pressure.compaction_running > 0;
    Take(is_busy ? &job_begins : &jobs_ended, db);
  }
  void Set(Call Caller::*call, Call made) {
    const std::lock_guard lock(mutex_);
    this->*call = std::move(made);
  }

  // Set while no job runs, or by Set(). Those without a DB get none.
  Call flush_begins, flush_ended, compaction_ended, table_deleted, memtable_sealed;
  Call job_begins, jobs_ended;  // one runs; none runs any more

 private:
  void Take(Call* call, DB* db) {
    Call taken;
    {
      const std::lock_guard lock(mutex_);
      taken = std::exchange(*call, nullptr);
    }
    if (taken) taken(db);
  }

  std::mutex mutex_;
};

class WaitingCallbacksTest : public testing::Test {
 protected:
  WaitingCallbacksTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.max_background_jobs = 1;
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 2;
    options_.listeners = {caller_};
    no_wait_.wait = false;
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  // Until a write is refused; nothing else ends it.
  static Status Fill(DB* db) {
    const std::string value(1000, 'v');
    for (int i = 0; i < 10000; ++i) {
      const Status status = db->Put(WriteOptions(), StrCat("filler", i), value);
      if (!status.ok()) return status;
    }
    return Status::OK();
  }
  void ExpectIncomplete(const std::string& call, const Status& status) {
    EXPECT_TRUE(status.IsIncomplete()) << call << ": " << status.ToString();
    EXPECT_NE(status.ToString().find("job of this database"), std::string::npos)
        << call << ": " << status.ToString();
    ++answered_;
  }
  static Status WaitInVain(DB* db) {
    WaitForCompactOptions options;
    options.timeout = std::chrono::seconds(10);
    return db->WaitForCompact(options);
  }
  // All that would wait for the job, whatever it is.
  void CallAll(DB* db) {
    ExpectIncomplete("WaitForCompact", WaitInVain(db));
    if (HasFailure()) return;  // the other calls have no timeout
    ExpectIncomplete("PauseBackgroundWork", db->PauseBackgroundWork());
    ExpectIncomplete("CompactRange", db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    db->DisableManualCompaction();
    db->EnableManualCompaction();
    // These wait for nobody.
    EXPECT_OK(db->Put(WriteOptions(), "from the callback", "v"));
    EXPECT_OK(db->SetOptions({{"level0_file_num_compaction_trigger", "3"}}));
    FlushOptions at_once = no_wait_;
    at_once.allow_write_stall = true;
    EXPECT_OK(db->Flush(at_once));
    CallWhatNeverWaits(db);
  }
  static void CallWhatNeverWaits(DB* db) {
    std::string text;
    EXPECT_TRUE(db->GetProperty("rocksdb.stats", &text));
    ColumnFamilyMetaData facts;
    db->GetColumnFamilyMetaData(&facts);
    const Snapshot* const snapshot = db->GetSnapshot();
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    EXPECT_OK(it->status());
    db->ReleaseSnapshot(snapshot);
    EXPECT_OK(db->SyncWAL());
    VectorWalPtr logs;
    EXPECT_OK(db->GetSortedWalFiles(logs));
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    EXPECT_OK(db->GetLiveFiles(files, &manifest_bytes, /*flush=*/false));
    EXPECT_OK(db->DisableFileDeletions());
    EXPECT_OK(db->EnableFileDeletions());
    EXPECT_OK(db->SuggestCompactRange(db->DefaultColumnFamily(), nullptr, nullptr));
    EXPECT_OK(db->SetDBOptions({{"max_background_jobs", "2"}}));
    EXPECT_OK(DeleteFilesInRange(db, db->DefaultColumnFamily(), nullptr, nullptr));
  }
  // CompactFiles() makes all calls in this callback.
  void CompactFilesCalling(Caller::Call Caller::*callback) {
    Open();
    ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    ASSERT_EQ(files.size(), 1u);
    caller_->Set(callback, [this](DB*) { CallAll(db_.get()); });
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), {files[0].name}, 2));
    EXPECT_EQ(answered_, 3);
    ExpectWorks();
  }
  // A purge in the background makes the call when it has deleted a table.
  void PurgeCalling(const Caller::Call& call) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    ReadOptions read;
    read.background_purge_on_iterator_cleanup = true;
    std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->SeekToFirst();
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    bool is_called = false;
    caller_->Set(&Caller::table_deleted, [this, call, &is_called](DB*) {
      is_called = true;
      call(db_.get());
    });
    it.reset();
    IgnoreError(db_->WaitForCompact(WaitForCompactOptions()), "the call may have ended all work");
    caller_->Set(&Caller::table_deleted, nullptr);
    EXPECT_TRUE(is_called);
  }
  void ExpectWorks() {
    std::string value;
    EXPECT_OK(db_->Put(WriteOptions(), "after", "v"));
    EXPECT_OK(db_->Flush(FlushOptions()));
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_OK(db_->Get(ReadOptions(), "after", &value));
    EXPECT_OK(db_->Close());
  }

  HangGuard guard_;
  const std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  const std::shared_ptr<FaultFileSystem> files_ =
      std::make_shared<FaultFileSystem>(memory_->GetFileSystem());
  const std::unique_ptr<Env> env_ = NewCompositeEnv(files_);
  const std::shared_ptr<Caller> caller_ = std::make_shared<Caller>();
  Options options_;
  FlushOptions no_wait_;
  int answered_ = 0;
  std::unique_ptr<DB> db_;
};

TEST_F(WaitingCallbacksTest, OfAFlushAreAnswered) {
  Open();
  caller_->flush_ended = [this](DB* db) {
    EXPECT_OK(db->Put(WriteOptions(), "b", "v"));
    ExpectIncomplete("Flush", db->Flush(FlushOptions()));
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    ExpectIncomplete("GetLiveFiles", db->GetLiveFiles(files, &manifest_bytes, /*flush=*/true));
    CallAll(db);
    db->AbortAllCompactions();
    db->ResumeAllCompactions();
  };
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(answered_, 5);
  ExpectWorks();
}

TEST_F(WaitingCallbacksTest, OfACompactionAreAnswered) {
  Open();
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  caller_->compaction_ended = [this](DB* db) {
    CallAll(db);
    EXPECT_OK(db->Flush(FlushOptions())) << "flushes have threads of their own";
  };
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(answered_, 3);
  ExpectWorks();
}

// Parts of a compaction have threads of their own.
TEST_F(WaitingCallbacksTest, OfAllPartsOfACompactionAreAnswered) {
  class PartsCaller final : public EventListener {
   public:
    void OnSubcompactionBegin(const SubcompactionJobInfo& info) override {
      const Status status = db->WaitForCompact(WaitForCompactOptions());
      const std::lock_guard lock(mutex);
      threads.insert(info.thread_id);
      if (!status.IsIncomplete()) wrong.push_back(status);
    }
    std::mutex mutex;
    DB* db = nullptr;
    std::set<uint64_t> threads;
    std::vector<Status> wrong;
  };
  const auto parts = std::make_shared<PartsCaller>();
  options_.listeners = {parts};
  options_.max_subcompactions = 4;
  options_.target_file_size_base = 32 << 10;
  options_.write_buffer_size = 1 << 20;
  options_.compression = kNoCompression;
  Open();
  parts->db = db_.get();
  const std::string value(1000, 'v');
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 400; ++i) {
      ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", 1000 + i), value));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  }
  EXPECT_GE(parts->threads.size(), 2U);
  EXPECT_TRUE(parts->wrong.empty()) << parts->wrong.front().ToString();
  ExpectWorks();
}

// A helper thread of a compaction reads and merges.
TEST_F(WaitingCallbacksTest, OfTheOperatorsOfACompactionAreAnswered) {
  class WaitingOperator final : public AssociativeMergeOperator {
   public:
    const char* Name() const override { return "WaitingOperator"; }
    bool Merge(const Slice&, const Slice*, const Slice& value, std::string* merged,
               Logger*) const override {
      if (db != nullptr) is_answered &= db->WaitForCompact(WaitForCompactOptions()).IsIncomplete();
      calls++;
      *merged = value.ToString();
      return true;
    }
    mutable bool is_answered = true;
    mutable int calls = 0;
    DB* db = nullptr;
  };
  const auto merges = std::make_shared<WaitingOperator>();
  options_.merge_operator = merges;
  options_.max_background_jobs = 4;
  options_.write_buffer_size = 8 << 20;
  options_.compression = kNoCompression;
  Open();
  const std::string value(4096, 'v');  // enough for a helper
  for (int i = 0; i < 3; ++i) {
    for (int key = 0; key < 400; ++key) {
      ASSERT_OK(db_->Merge(WriteOptions(), StrCat("key", 1000 + key), value));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  merges->db = db_.get();
  merges->calls = 0;
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_GT(merges->calls, 0);
  EXPECT_TRUE(merges->is_answered);
  merges->db = nullptr;
  ExpectWorks();
}

// It is a job although a thread of the program runs it.
TEST_F(WaitingCallbacksTest, OfCompactFilesAreAnswered) {
  CompactFilesCalling(&Caller::compaction_ended);
}

TEST_F(WaitingCallbacksTest, OfCompactFilesAreAnsweredAtItsBegin) {
  CompactFilesCalling(&Caller::job_begins);
}

TEST_F(WaitingCallbacksTest, OfCompactFilesAreAnsweredWhenItsInputIsDeleted) {
  CompactFilesCalling(&Caller::table_deleted);
}

TEST_F(WaitingCallbacksTest, OfCompactFilesAreAnsweredAtItsEnd) {
  CompactFilesCalling(&Caller::jobs_ended);
}

TEST_F(WaitingCallbacksTest, OfAPurgeAreAnswered) {
  Open();
  PurgeCalling([this](DB* db) {
    ExpectIncomplete("WaitForCompact", WaitInVain(db));
    // It holds up nothing else.
    EXPECT_OK(db->PauseBackgroundWork());
    EXPECT_OK(db->ContinueBackgroundWork());
    EXPECT_OK(db->Put(WriteOptions(), "from the callback", "v"));
    EXPECT_OK(db->Flush(FlushOptions()));
    EXPECT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    CallWhatNeverWaits(db);
  });
  EXPECT_EQ(answered_, 1);
  ExpectWorks();
}

// A purge waits for a job in its callback, so that the job may not wait for the purge in its own.
TEST_F(WaitingCallbacksTest, OfAJobForWhichAPurgeWaitsAreAnswered) {
  Open();
  std::atomic<int> calls{0};
  const auto disable = [&calls](DB* db) {
    EXPECT_OK(db->DisableFileDeletions());
    EXPECT_OK(db->EnableFileDeletions());
    calls++;
  };
  PurgeCalling([&](DB* db) {
    caller_->Set(&Caller::flush_ended, disable);
    EXPECT_OK(db->Put(WriteOptions(), "a", "from the callback"));
    EXPECT_OK(db->Flush(FlushOptions()));
    caller_->Set(&Caller::compaction_ended, disable);
    EXPECT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  });
  EXPECT_EQ(calls, 2);
  ExpectWorks();
}

TEST_F(WaitingCallbacksTest, OfAPurgeWithTheOnlyThreadAreAnswered) {
  Open();
  env_->SetBackgroundThreads(1, Env::HIGH);
  PurgeCalling([this](DB* db) {
    EXPECT_OK(db->Put(WriteOptions(), "from the callback", "v"));
    ExpectIncomplete("Flush", db->Flush(FlushOptions()));
  });
  EXPECT_EQ(answered_, 1);
  ExpectWorks();
}

// A flush of a recovery runs in the thread of Resume().
TEST_F(WaitingCallbacksTest, OfAFlushThatIsRepeatedAreAnswered) {
  options_.max_bgerror_resume_count = 0;  // only Resume() recovers
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  files_->AddFault(
      {.error = FaultError::kInterrupted, .kinds = KindBit(CallKind::kSync), .path_part = ".sst"});
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  ASSERT_OK(db_->PauseBackgroundWork());  // the failed flush has ended
  ASSERT_OK(db_->ContinueBackgroundWork());
  caller_->Set(&Caller::job_begins, [this](DB* db) {
    ExpectIncomplete("PauseBackgroundWork", db->PauseBackgroundWork());
  });
  ASSERT_OK(db_->Resume());
  EXPECT_EQ(answered_, 1);
  ExpectWorks();
}

TEST_F(WaitingCallbacksTest, OfAFlushOfAllMemTablesAreAnswered) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  files_->AddFault({.kinds = KindBit(CallKind::kSync), .path_part = ".log"});
  WriteOptions durable;
  durable.sync = true;
  EXPECT_TRUE(db_->Put(durable, "b", "v").IsIOError());
  caller_->Set(&Caller::memtable_sealed, [this](DB*) {
    ExpectIncomplete("PauseBackgroundWork", db_->PauseBackgroundWork());
  });
  ASSERT_OK(db_->Resume());
  EXPECT_EQ(answered_, 1);
  ExpectWorks();
}

// The memtable that is being flushed is the one that would have to go first.
TEST_F(WaitingCallbacksTest, WritesThatAStallWouldHoldAreRefused) {
  Open();
  caller_->flush_begins = [this](DB* db) {
    ExpectIncomplete("Put", Fill(db));
    ExpectIncomplete("DeleteRange", db->DeleteRange(WriteOptions(), "x", "y"));
    ExpectIncomplete("Flush", db->Flush(no_wait_));
    WriteOptions no_slowdown;
    no_slowdown.no_slowdown = true;
    EXPECT_TRUE(db->Put(no_slowdown, "z", "v").IsIncomplete());
  };
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(answered_, 3);
  ExpectWorks();
}

TEST_F(WaitingCallbacksTest, SoAreThoseThatAWriteBufferManagerWouldHold) {
  options_.write_buffer_size = 8 << 20;
  options_.write_buffer_manager =
      std::make_shared<WriteBufferManager>(1 << 20, nullptr, /*allow_stall=*/true);
  Open();
  caller_->flush_begins = [](DB* db) {
    const Status status = Fill(db);
    EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  };
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ExpectWorks();
}

TEST_F(WaitingCallbacksTest, AnotherDatabaseIsWaitedFor) {
  Open();
  Options other_options = options_;
  other_options.listeners.clear();
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(other_options, "/other", &other));
  env_->SetBackgroundThreads(4, Env::HIGH);
  caller_->flush_ended = [&](DB*) {
    EXPECT_OK(other->Put(WriteOptions(), "a", "v"));
    EXPECT_OK(other->Flush(FlushOptions()));
  };
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ExpectWorks();
}

TEST_F(WaitingCallbacksTest, CancellingDoesNotWaitForItself) {
  Open();
  caller_->flush_ended = [](DB* db) { CancelAllBackgroundWork(db, /*wait=*/true); };
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  IgnoreError(db_->Flush(FlushOptions()), "it may hear of the end first");
  EXPECT_OK(db_->Close());
}

TEST_F(WaitingCallbacksTest, NorDoesItInAPurge) {
  Open();
  PurgeCalling([](DB* db) { CancelAllBackgroundWork(db, /*wait=*/true); });
  EXPECT_OK(db_->Close());
}

}  // namespace
}  // namespace ashlar
