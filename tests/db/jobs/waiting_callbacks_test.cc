// SPDX-License-Identifier: Apache-2.0
//
// Calls made by a listener in the thread of a job that would wait for that very job: each is
// answered, none hangs, and what does not wait works there.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/merge_operator.h"
#include "ashlar/write_buffer_manager.h"
#include "tests/support/status_matchers.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Each callback is called once.
class Caller final : public EventListener {
 public:
  using Call = std::function<void(DB*)>;
  void OnFlushBegin(DB* db, const FlushJobInfo&) override { Take(&flush_begins, db); }
  void OnFlushCompleted(DB* db, const FlushJobInfo&) override { Take(&flush_ended, db); }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo&) override {
    Take(&compaction_ended, db);
  }

  Call flush_begins, flush_ended, compaction_ended;  // set while no job runs

 private:
  static void Take(Call* call, DB* db) {
    const Call taken = std::exchange(*call, nullptr);
    if (taken) taken(db);
  }
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
  // All that would wait for the job, whatever it is.
  void CallAll(DB* db) {
    ExpectIncomplete("PauseBackgroundWork", db->PauseBackgroundWork());
    ExpectIncomplete("WaitForCompact", db->WaitForCompact(WaitForCompactOptions()));
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
  void ExpectWorks() {
    std::string value;
    EXPECT_OK(db_->Put(WriteOptions(), "after", "v"));
    EXPECT_OK(db_->Flush(FlushOptions()));
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_OK(db_->Get(ReadOptions(), "after", &value));
    EXPECT_OK(db_->Close());
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
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
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "v"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  caller_->compaction_ended = [this](DB* db) { CallAll(db); };
  ASSERT_OK(db_->CompactFiles(CompactionOptions(), {files[0].name}, 2));
  EXPECT_EQ(answered_, 3);
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

}  // namespace
}  // namespace ashlar
