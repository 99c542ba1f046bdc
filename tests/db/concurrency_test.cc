// SPDX-License-Identifier: Apache-2.0
//
// Many threads use one database. Each writer and reader owns a part of the keys and so knows what
// it must find, while other threads flush and compact, and create and drop families.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "ashlar/file_system_wrapper.h"
#include "ashlar/listener.h"
#include "ashlar/write_batch.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"
#include "util/random.h"

namespace ashlar {
namespace {

// Gives other threads time to run. This makes races likely; no test depends on it.
void LetOthersRun() {
  for (int i = 0; i < 200; i++) std::this_thread::yield();
}

class SlowSyncFile final : public FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    LetOthersRun();
    return FSWritableFileOwnerWrapper::Sync(options, dbg);
  }
};

// Calls back when a table is created, and makes syncs of a MANIFEST slow.
class WatchedFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "WatchedFiles"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    if (path.ends_with(".sst")) {
      if (const auto call = std::exchange(on_next_table, nullptr)) call();
    }
    IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, dbg);
    if (status.ok() && path.find("MANIFEST") != std::string::npos) {
      *file = std::make_unique<SlowSyncFile>(std::move(*file));
    }
    return status;
  }
  std::function<void()> on_next_table;
};

class ConcurrencyTest : public DbTest {
 protected:
  ConcurrencyTest() { UseFiles(files_); }
  // The caller destroys the handle.
  ColumnFamilyHandle* NewFamily(const std::string& name) {
    ColumnFamilyHandle* handle = nullptr;
    EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), name, &handle));
    return handle;
  }
  // Runs it in `count` threads at once, each with its number.
  static void InThreads(int count, const std::function<void(int)>& run) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++) threads.emplace_back(run, i);
    for (std::thread& thread : threads) thread.join();
  }

  const std::shared_ptr<WatchedFiles> files_ = std::make_shared<WatchedFiles>(memory_);
};

TEST_F(ConcurrencyTest, WhatIsAskedOfADroppedFamilyIsRefused) {
  Open();
  ColumnFamilyHandle* family = NewFamily("x");
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_TRUE(db_->SetOptions(family, {{"write_buffer_size", "70000"}}).IsColumnFamilyDropped());
  EXPECT_TRUE(db_->Flush(FlushOptions(), family).IsColumnFamilyDropped());
  EXPECT_TRUE(
      db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr).IsColumnFamilyDropped());
  EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(ConcurrencyTest, AFlushThatWaitsForRoomEndsWhenItsFamilyIsDropped) {
  Open();
  ColumnFamilyHandle* family = NewFamily("x");
  {
    const BlockedPool blocked(env_.get(), Env::Priority::HIGH);
    FlushOptions at_once;
    at_once.wait = false;
    at_once.allow_write_stall = true;
    Put(family, "a", "1");
    ASSERT_OK(db_->Flush(at_once, family));
    Put(family, "b", "2");
    std::atomic<bool> has_begun{false};
    std::thread waiting([&] {
      has_begun = true;
      EXPECT_TRUE(db_->Flush(FlushOptions(), family).IsColumnFamilyDropped());
    });
    while (!has_begun) std::this_thread::yield();
    LetOthersRun();
    ASSERT_OK(db_->DropColumnFamily(family));
    waiting.join();
  }
  EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
}

class ErrorCounter final : public EventListener {
 public:
  void OnBackgroundError(BackgroundErrorReason, Status*) override { count++; }
  std::atomic<int> count{0};
};

TEST_F(ConcurrencyTest, AJobWhoseFamilyIsDroppedIsNoErrorAndLeavesNoTable) {
  const auto errors = std::make_shared<ErrorCounter>();
  options_.listeners.push_back(errors);
  options_.disable_auto_compactions = true;
  Open();
  for (const bool is_compaction : {false, true}) {
    ColumnFamilyHandle* family = NewFamily("x");
    Put(family, "key", "1");
    if (is_compaction) {
      Flush(family);
      Put(family, "key", "2");
      Flush(family);
    }
    files_->on_next_table = [&] { EXPECT_OK(db_->DropColumnFamily(family)); };
    const Status status = is_compaction
                              ? db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr)
                              : db_->Flush(FlushOptions(), family);
    EXPECT_TRUE(status.IsColumnFamilyDropped()) << status.ToString();
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
    WaitForJobs();
    EXPECT_EQ(FilesOnDisk(".sst"), 0);
  }
  EXPECT_EQ(errors->count.load(), 0);
}

TEST_F(ConcurrencyTest, WorkOnAllFamiliesEndsWellWhileFamiliesComeAndGo) {
  Open();
  std::atomic<bool> is_over{false};
  InThreads(4, [&](int i) {
    for (int round = 0; i < 2 && round < 60; round++) {
      ColumnFamilyHandle* family = NewFamily("x" + std::to_string(i));
      Put(family, "key", "value");
      if (i == 1) {
        const Status status = db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr);
        EXPECT_OK(status);
      }
      ASSERT_OK(db_->DropColumnFamily(family));
      ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
      is_over = round == 59;
    }
    while (i >= 2 && !is_over) {
      std::vector<std::string> files;
      uint64_t manifest_bytes, keys;
      EXPECT_OK(db_->GetLiveFiles(files, &manifest_bytes, /*flush_memtable=*/true));
      WaitForCompactOptions wait;
      wait.flush = true;
      wait.timeout = std::chrono::microseconds(1);
      const Status status = db_->WaitForCompact(wait);
      EXPECT_TRUE(status.ok() || status.IsTimedOut()) << status.ToString();
      EXPECT_TRUE(db_->GetAggregatedIntProperty("rocksdb.estimate-num-keys", &keys));
      EXPECT_OK(db_->SetDBOptions({{"max_background_jobs", std::to_string(2 + keys % 3)}}));
    }
  });
}

// ---- Everything at once

// The keys of one thread in two families, and the values that they must have.
class Owner {
 public:
  Owner(DB* db, std::vector<ColumnFamilyHandle*> families, int number, uint64_t seed)
      : db_(db),
        families_(std::move(families)),
        rows_(families_.size()),
        random_(seed),
        prefix_(std::string(1, static_cast<char>('a' + number))),
        end_(std::string(1, static_cast<char>('b' + number))) {}

  void Step() {
    switch (random_.Uniform(6)) {
      case 0: return CheckScan(NewIterator(0, nullptr).get(), rows_[0]);
      case 1: return TakeOrCheckSnapshot();
      case 2: return CheckGets();
      default: return WriteSome();
    }
  }
  void CheckAll() {
    for (size_t i = 0; i < families_.size(); i++) {
      CheckScan(NewIterator(i, nullptr).get(), rows_[i]);
    }
  }
  void Release() {
    if (snapshot_ != nullptr) db_->ReleaseSnapshot(std::exchange(snapshot_, nullptr));
  }
  void MoveTo(DB* db, std::vector<ColumnFamilyHandle*> families) {
    db_ = db;
    families_ = std::move(families);
  }

 private:
  std::string RandomKey() { return prefix_ + std::to_string(random_.Uniform(100)); }

  void WriteSome() {
    WriteBatch batch;
    std::vector<Rows> after = rows_;
    for (uint64_t n = 1 + random_.Uniform(8); n > 0; n--) {
      const size_t i = random_.Uniform(families_.size());
      const std::string key = RandomKey();
      if (random_.Uniform(4) == 0) {
        ASSERT_OK(batch.Delete(families_[i], key));
        after[i].erase(key);
      } else {
        after[i][key] = std::to_string(++values_) + std::string(random_.Uniform(200), 'v');
        ASSERT_OK(batch.Put(families_[i], key, after[i][key]));
      }
    }
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
    rows_ = std::move(after);
  }
  void CheckGets() {
    for (int n = 0; n < 10; n++) {
      const size_t i = random_.Uniform(families_.size());
      const std::string key = RandomKey();
      std::string value;
      const Status status = db_->Get(ReadOptions(), families_[i], key, &value);
      const auto row = rows_[i].find(key);
      ASSERT_EQ(status.ok() ? value : status.ToString(),
                row != rows_[i].end() ? row->second : Status::NotFound().ToString());
    }
  }
  void TakeOrCheckSnapshot() {
    if (snapshot_ == nullptr) {
      snapshot_ = db_->GetSnapshot();
      rows_then_ = rows_[1];
      return;
    }
    CheckScan(NewIterator(1, snapshot_).get(), rows_then_);
    if (random_.Uniform(3) == 0) Release();
  }
  std::unique_ptr<Iterator> NewIterator(size_t family, const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    options.iterate_lower_bound = &lower_;
    options.iterate_upper_bound = &upper_;
    return std::unique_ptr<Iterator>(db_->NewIterator(options, families_[family]));
  }
  static void CheckScan(Iterator* it, const Rows& rows) {
    it->SeekToFirst();
    for (const auto& [key, value] : rows) {
      ASSERT_TRUE(it->Valid()) << key << " " << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), key);
      ASSERT_EQ(it->value().ToString(), value);
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    it->SeekToLast();
    for (auto row = rows.rbegin(); row != rows.rend(); ++row, it->Prev()) {
      ASSERT_TRUE(it->Valid()) << row->first << " " << it->status().ToString();
      ASSERT_EQ(it->key().ToString(), row->first);
    }
    ASSERT_FALSE(it->Valid());
    ASSERT_OK(it->status());
  }

  DB* db_;
  std::vector<ColumnFamilyHandle*> families_;
  std::vector<Rows> rows_;
  Rows rows_then_;
  const Snapshot* snapshot_ = nullptr;
  uint64_t values_ = 0;
  Random64 random_;
  const std::string prefix_, end_;
  const Slice lower_{prefix_}, upper_{end_};
};

void MaintainOnce(DB* db, ColumnFamilyHandle* family, Random64* random) {
  FlushOptions flush;
  flush.wait = random->Uniform(2) == 0;
  CompactRangeOptions compact;
  compact.exclusive_manual_compaction = random->Uniform(2) == 0;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  const auto check = [](const Status& status) { EXPECT_OK(status); };
  switch (random->Uniform(9)) {
    case 0: return check(db->Flush(flush, family));
    case 1: return check(db->CompactRange(compact, family, nullptr, nullptr));
    case 2: check(db->PauseBackgroundWork()); return check(db->ContinueBackgroundWork());
    case 3: check(db->LockWAL()); return check(db->UnlockWAL());
    case 4: return check(db->VerifyChecksum());
    case 5:
      return check(db->SetOptions(
          family, {{"write_buffer_size", std::to_string(8192 + random->Uniform(60000))}}));
    case 6: return check(db->FlushWAL(/*sync=*/true));
    case 7: {
      ColumnFamilyHandle* made = nullptr;
      const Status status = db->CreateColumnFamily(ColumnFamilyOptions(), "short-lived", &made);
      if (!status.ok()) return;  // the other thread has created this family
      check(db->Put(WriteOptions(), made, "key", "value"));
      check(db->DropColumnFamily(made));
      return check(db->DestroyColumnFamilyHandle(made));
    }
    default: {
      std::vector<std::string> files;
      uint64_t manifest_bytes;
      check(db->DisableFileDeletions());
      check(db->GetLiveFiles(files, &manifest_bytes, random->Uniform(2) == 0));
      return check(db->EnableFileDeletions());
    }
  }
}

class ConcurrentRunTest : public ConcurrencyTest, public testing::WithParamInterface<int> {};

TEST_P(ConcurrentRunTest, EveryThreadFindsWhatItWroteUntilAfterReopening) {
  const auto seed = static_cast<uint64_t>(GetParam());
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random64 draw(seed);
  options_.write_buffer_size = 8192 << draw.Uniform(3);
  options_.max_write_buffer_number = 2 + static_cast<int>(draw.Uniform(3));
  options_.max_open_files = draw.Uniform(2) == 0 ? -1 : 12;
  options_.max_subcompactions = 1 + static_cast<uint32_t>(draw.Uniform(3));
  options_.target_file_size_base = 8192;
  options_.max_bytes_for_level_base = 64 << 10;
  options_.manual_wal_flush = draw.Uniform(3) == 0;
  constexpr int kOwners = 3, kMaintainers = 2, kSteps = 150;
  std::vector<std::unique_ptr<Owner>> owners;
  for (int life = 0; life < 2; life++) {
    Open({"default", "second"});
    for (int i = 0; i < kOwners; i++) {
      if (life == 0) owners.push_back(std::make_unique<Owner>(db_.get(), handles_, i, draw.Next()));
      owners[static_cast<size_t>(i)]->MoveTo(db_.get(), handles_);
      owners[static_cast<size_t>(i)]->CheckAll();
    }
    std::atomic<int> working{kOwners};
    const uint64_t maintenance_seed = draw.Next();
    InThreads(kOwners + kMaintainers, [&](int i) {
      if (i < kOwners) {
        Owner& owner = *owners[static_cast<size_t>(i)];
        for (int step = 0; step < kSteps && !HasFatalFailure(); step++) owner.Step();
        owner.CheckAll();
        owner.Release();
        working--;
        return;
      }
      Random64 random(maintenance_seed + static_cast<uint64_t>(i));
      while (working > 0) MaintainOnce(db_.get(), handles_[random.Uniform(2)], &random);
    });
    Close();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConcurrentRunTest, testing::Range(1, 7));

}  // namespace
}  // namespace ashlar
