// SPDX-License-Identifier: Apache-2.0
//
// The engine through its public calls, on files in memory: what reads see while the tree changes
// under them, families, maintenance.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "ashlar/write_batch.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

std::string Key(int i) {
  std::string digits = std::to_string(i);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    Open();
  }
  ~EngineTest() override { Close(); }

  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) EXPECT_OK(db_->DestroyColumnFamilyHandle(handle));
    handles_.clear();
    db_.reset();
  }
  void Reopen() {
    Close();
    Open();
  }
  void OpenFamilies(const std::vector<std::string>& names) {
    Close();
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : names)
      descriptors.emplace_back(name, ColumnFamilyOptions(options_));
    ASSERT_OK(DB::Open(options_, "/db", descriptors, &handles_, &db_));
  }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
  }
  void Delete(const std::string& key) { ASSERT_OK(db_->Delete(WriteOptions(), key)); }
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  void CompactAll() { ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); }
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr,
                  ColumnFamilyHandle* family = nullptr) {
    ReadOptions read;
    read.snapshot = snapshot;
    std::string value;
    const Status status =
        db_->Get(read, family != nullptr ? family : db_->DefaultColumnFamily(), key, &value);
    return status.ok() ? value : status.IsNotFound() ? "-" : status.ToString();
  }
  static std::string At(const Iterator& it) {
    if (!it.Valid()) return it.status().ok() ? "end" : it.status().ToString();
    return it.key().ToString() + "=" + it.value().ToString();
  }
  std::string Scan(const ReadOptions& read = ReadOptions(), bool backwards = false) {
    std::unique_ptr<Iterator> it(db_->NewIterator(read));
    std::string text;
    for (backwards ? it->SeekToLast() : it->SeekToFirst(); it->Valid();
         backwards ? it->Prev() : it->Next()) {
      text += (text.empty() ? "" : " ") + At(*it);
    }
    EXPECT_OK(it->status());
    return text;
  }
  int TableFilesOnDisk() {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/db", &names));
    return static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) {
      return name.size() > 4 && name.substr(name.size() - 4) == ".sst";
    }));
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

}  // namespace

TEST_F(EngineTest, SnapshotsSeeTheirMomentThroughFlushAndCompaction) {
  Put("a", "1");
  Put("b", "1");
  const Snapshot* first = db_->GetSnapshot();
  Put("a", "2");
  Delete("b");
  const Snapshot* second = db_->GetSnapshot();
  Put("a", "3");
  Put("b", "3");
  const auto check = [&](const char* when) {
    EXPECT_EQ(Get("a", first) + Get("b", first), "11") << when;
    EXPECT_EQ(Get("a", second) + Get("b", second), "2-") << when;
    EXPECT_EQ(Get("a") + Get("b"), "33") << when;
    ReadOptions read;
    read.snapshot = second;
    EXPECT_EQ(Scan(read), "a=2") << when;
    EXPECT_EQ(Scan(read, /*backwards=*/true), "a=2") << when;
  };
  check("in memory");
  Flush();
  check("after a flush");
  CompactAll();
  check("after a compaction");
  db_->ReleaseSnapshot(first);
  db_->ReleaseSnapshot(second);
  Put("c", "4");
  CompactAll();
  EXPECT_EQ(Scan(), "a=3 b=3 c=4");
}

TEST_F(EngineTest, AnIteratorKeepsItsMomentWhileTheTreeChanges) {
  Put("a", "1");
  Flush();
  Put("b", "1");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  Put("aa", "new");
  Delete("b");
  Flush();
  CompactAll();
  EXPECT_EQ(At(*it), "a=1");
  it->Next();
  EXPECT_EQ(At(*it), "b=1");
  it->Next();
  EXPECT_EQ(At(*it), "end");
  ASSERT_OK(it->Refresh());
  it->SeekToFirst();
  it->Next();
  EXPECT_EQ(At(*it), "aa=new");
}

TEST_F(EngineTest, IteratorsTurnAroundOverDeletesAndOldVersions) {
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, "old");
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  Delete("b");
  Put("c", "new");
  Delete("d");
  Put("bb", "new");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek("b");
  EXPECT_EQ(At(*it), "bb=new");
  it->Prev();
  EXPECT_EQ(At(*it), "a=old");
  it->Next();
  EXPECT_EQ(At(*it), "bb=new");
  it->Next();
  EXPECT_EQ(At(*it), "c=new");
  it->Next();
  EXPECT_EQ(At(*it), "e=old");
  it->Prev();
  EXPECT_EQ(At(*it), "c=new");
  it->SeekForPrev("d");
  EXPECT_EQ(At(*it), "c=new");
  it->Prev();
  it->Prev();
  it->Prev();
  EXPECT_EQ(At(*it), "end");
  ReadOptions read;
  read.snapshot = snapshot;
  it.reset(db_->NewIterator(read));
  it->SeekForPrev("bz");
  EXPECT_EQ(At(*it), "b=old");
  it->Next();
  EXPECT_EQ(At(*it), "c=old");
  it->Prev();
  EXPECT_EQ(At(*it), "b=old");
  it.reset();
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(EngineTest, BoundsHoldInBothDirections) {
  for (int i = 0; i < 10; i++) Put(Key(i), "v");
  Flush();
  const std::string low = Key(3), high = Key(6);
  const Slice lower(low), upper(high);
  ReadOptions read;
  read.iterate_lower_bound = &lower;
  read.iterate_upper_bound = &upper;
  EXPECT_EQ(Scan(read), Key(3) + "=v " + Key(4) + "=v " + Key(5) + "=v");
  EXPECT_EQ(Scan(read, /*backwards=*/true), Key(5) + "=v " + Key(4) + "=v " + Key(3) + "=v");
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek(Key(0));
  EXPECT_EQ(At(*it), Key(3) + "=v");
  it->Seek(Key(6));
  EXPECT_EQ(At(*it), "end");
  it->SeekForPrev(Key(9));
  EXPECT_EQ(At(*it), Key(5) + "=v");
  it->SeekForPrev(Key(2));
  EXPECT_EQ(At(*it), "end");
}

TEST_F(EngineTest, ATailingIteratorSeesWhatIsWrittenLater) {
  Put("a", "1");
  ReadOptions read;
  read.tailing = true;
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek("b");
  EXPECT_EQ(At(*it), "end");
  Put("b", "2");
  it->Seek("b");
  EXPECT_EQ(At(*it), "b=2");
  Flush();
  Put("c", "3");
  it->Seek("c");
  EXPECT_EQ(At(*it), "c=3");
}

TEST_F(EngineTest, PrefixSameAsStartEndsWithThePrefix) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(2));
  Reopen();
  for (const char* key : {"aa1", "aa2", "ab1", "b"}) Put(key, "v");
  Flush();
  ReadOptions read;
  read.prefix_same_as_start = true;
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek("aa1");
  EXPECT_EQ(At(*it), "aa1=v");
  it->Next();
  EXPECT_EQ(At(*it), "aa2=v");
  it->Next();
  EXPECT_EQ(At(*it), "end");
}

TEST_F(EngineTest, FamiliesAreMadeFilledDroppedAndReopened) {
  ColumnFamilyHandle* one = nullptr;
  ColumnFamilyHandle* two = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "one", &one));
  ASSERT_OK(db_->CreateColumnFamily(options_, "two", &two));
  EXPECT_FALSE(db_->CreateColumnFamily(options_, "one", &handles_.emplace_back()).ok());
  handles_.clear();
  WriteBatch batch;
  ASSERT_OK(batch.Put("k", "default"));
  ASSERT_OK(batch.Put(one, "k", "1"));
  ASSERT_OK(batch.Put(two, "k", "2"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  ASSERT_OK(db_->Flush(FlushOptions(), one));
  std::vector<std::string> values;
  const std::vector<Status> found = db_->MultiGet(
      ReadOptions(), {two, db_->DefaultColumnFamily(), one, one}, {"k", "k", "k", "x"}, &values);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(values[0] + values[1] + values[2], "2default1");
  EXPECT_TRUE(found[3].IsNotFound());
  ASSERT_OK(db_->DropColumnFamily(two));
  EXPECT_FALSE(db_->Put(WriteOptions(), two, "k", "late").ok());
  EXPECT_EQ(Get("k", nullptr, two), "2");  // readable as long as the handle lives
  handles_ = {one, two};
  OpenFamilies({"default", "one"});
  EXPECT_EQ(Get("k", nullptr, handles_[1]), "1");
  EXPECT_EQ(Get("k", nullptr, handles_[0]), "default");
  std::vector<std::string> names;
  ASSERT_OK(DB::ListColumnFamilies(options_, "/db", &names));
  EXPECT_EQ(names, (std::vector<std::string>{"default", "one"}));
  Close();
  EXPECT_TRUE(DB::Open(options_, "/db", &db_).IsInvalidArgument());
  OpenFamilies({"default", "one"});
}

// It is the last one that reads of the family, which goes with it.
TEST_F(EngineTest, FilesOfADroppedFamilyGoWithItsLastIterator) {
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "family", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "k", "v"));
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family));
  it->SeekToFirst();
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_EQ(At(*it), "k=v");
  const auto tables = [this] {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/db", &names));
    return std::count_if(names.begin(), names.end(),
                         [](const std::string& name) { return name.ends_with(".sst"); });
  };
  EXPECT_EQ(tables(), 1);
  it.reset();
  // A thread that is just leaving an epoch leaves it to one of the background.
  for (int i = 0; i < 100'000 && tables() != 0; ++i) std::this_thread::yield();
  EXPECT_EQ(tables(), 0);
}

TEST_F(EngineTest, ObsoleteTablesAreGoneAfterCompaction) {
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 50; i++) Put(Key(i), std::to_string(round));
    Flush();
  }
  EXPECT_EQ(TableFilesOnDisk(), 4);
  CompactAll();
  EXPECT_EQ(TableFilesOnDisk(), 1);
  EXPECT_EQ(Get(Key(7)), "3");
  std::string value;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &value));
  EXPECT_EQ(value, "0");
}

TEST_F(EngineTest, AnIteratorHoldsTheTablesItReads) {
  for (int i = 0; i < 50; i++) Put(Key(i), "old");
  Flush();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (int i = 0; i < 50; i++) Delete(Key(i));
  Flush();
  CompactAll();
  int count = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
  EXPECT_OK(it->status());
  EXPECT_EQ(count, 50);
  it.reset();
  EXPECT_EQ(Scan(), "");
}

TEST_F(EngineTest, UnloggedWritesAreFlushedOnClose) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_OK(db_->Put(unlogged, "a", "1"));
  Reopen();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(EngineTest, LoggedWritesComeBackWithoutAFlush) {
  options_.avoid_flush_during_shutdown = true;
  Reopen();
  Put("a", "1");
  Delete("a");
  Put("b", "2");
  Reopen();
  EXPECT_EQ(Scan(), "b=2");
}

TEST_F(EngineTest, ManualLogFlushHoldsBytesBackUntilAsked) {
  options_.manual_wal_flush = true;
  Reopen();
  Put("a", "1");
  ASSERT_OK(db_->FlushWAL(/*sync=*/true));
  ASSERT_OK(db_->LockWAL());
  ASSERT_OK(db_->UnlockWAL());
  Put("b", "2");
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=2");
}

TEST_F(EngineTest, NoSlowdownDoesNotWaitForAnUnlock) {
  ASSERT_OK(db_->LockWAL());
  WriteOptions impatient;
  impatient.no_slowdown = true;
  EXPECT_TRUE(db_->Put(impatient, "a", "1").IsIncomplete());
  ASSERT_OK(db_->UnlockWAL());
  EXPECT_OK(db_->Put(impatient, "b", "2"));
  EXPECT_EQ(Scan(), "b=2");
}

TEST_F(EngineTest, ClosingWithALiveSnapshotIsRefused) {
  const Snapshot* snapshot = db_->GetSnapshot();
  EXPECT_TRUE(db_->Close().IsAborted());
  db_->ReleaseSnapshot(snapshot);
  EXPECT_OK(db_->Close());
}

TEST_F(EngineTest, OptionsChangeWhileOpenOrNotAtAll) {
  EXPECT_OK(db_->SetOptions({{"write_buffer_size", "1048576"}}));
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1048576u);
  EXPECT_FALSE(db_->SetOptions({{"no_such_option", "1"}}).ok());
  EXPECT_FALSE(db_->SetOptions({{"write_buffer_size", "many"}}).ok());
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1048576u);
  EXPECT_OK(db_->SetDBOptions({{"max_background_jobs", "3"}}));
  for (const char* name : {"max_log_file_size", "keep_log_file_num"}) {
    const Status status = db_->SetDBOptions({{name, "1048576"}});
    EXPECT_TRUE(status.IsNotFound()) << status.ToString();
    EXPECT_NE(status.ToString().find(name), std::string::npos) << status.ToString();
  }
}

TEST_F(EngineTest, PropertiesAndSizesTellOfTheData) {
  for (int i = 0; i < 1000; i++) Put(Key(i), std::string(100, 'v'));
  uint64_t number = 0;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.num-entries-active-mem-table", &number));
  EXPECT_EQ(number, 1000u);
  Flush();
  for (const char* name : {"rocksdb.stats", "rocksdb.levelstats", "rocksdb.estimate-num-keys",
                           "rocksdb.total-sst-files-size", "rocksdb.num-snapshots"}) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(name, &value)) << name;
    EXPECT_NE(value, "") << name;
  }
  std::string value;
  EXPECT_FALSE(db_->GetProperty("rocksdb.no-such-property", &value));
  const std::string begin = Key(0), middle = Key(500), end = Key(1000);
  const Range ranges[] = {{begin, middle}, {begin, end}, {end, "z"}};
  uint64_t sizes[3] = {};
  ASSERT_OK(db_->GetApproximateSizes(SizeApproximationOptions(), db_->DefaultColumnFamily(), ranges,
                                     3, sizes));
  EXPECT_NEAR(static_cast<double>(sizes[0]), 60000, 12000);
  EXPECT_NEAR(static_cast<double>(sizes[1]), 120000, 20000);
  EXPECT_LT(sizes[2], 2000u);
}

TEST_F(EngineTest, SyncsOfTheLogCountWhoeverAsksForThem) {
  options_.statistics = CreateDBStatistics();
  Reopen();
  Put("a", "v");
  ASSERT_OK(db_->FlushWAL(/*sync=*/false));
  ASSERT_OK(db_->SyncWAL());
  ASSERT_OK(db_->FlushWAL(/*sync=*/true));
  EXPECT_EQ(options_.statistics->getTickerCount(WAL_FILE_SYNCED), 2u);
}

TEST_F(EngineTest, WaitForCompactComesBackWhenNothingIsLeftToDo) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Reopen();
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 20; i++) Put(Key(i), std::to_string(round));
    Flush();
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  uint64_t pending = 1;
  ASSERT_TRUE(db_->GetIntProperty("rocksdb.compaction-pending", &pending));
  EXPECT_EQ(pending, 0u);
  EXPECT_EQ(Get(Key(3)), "3");
}

TEST_F(EngineTest, NoSlowdownIsRefusedWhileWritesAreStopped) {
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 2;
  Reopen();
  ASSERT_OK(db_->PauseBackgroundWork());
  WriteOptions impatient;
  impatient.no_slowdown = true;
  Status status;
  int written = 0;
  for (; written < 10000 && status.ok(); written++) {
    status = db_->Put(impatient, Key(written), std::string(1000, 'v'));
  }
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_EQ(Get(Key(written - 1)), "-");
  ASSERT_OK(db_->ContinueBackgroundWork());
  Put("patient", "1");
  EXPECT_EQ(Get("patient"), "1");
}

// The promise of the read path: every cache line that a cached Get touches is only read.
// No background thread ever takes the compaction: only the flag can end the call.
TEST_F(EngineTest, AManualCompactionIsCanceledByItsCallerWhileItWaits) {
  const BlockedPool no_compactions(env_.get(), Env::LOW);
  Put("key", "1");
  Flush();
  Put("key", "2");
  std::atomic<bool> is_canceled{false};
  CompactRangeOptions range;
  range.canceled = &is_canceled;
  Status status;
  std::thread caller([&] { status = db_->CompactRange(range, nullptr, nullptr); });
  is_canceled.store(true);
  caller.join();
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_EQ(status.subcode(), Status::kManualCompactionPaused);
  EXPECT_EQ(Get("key"), "2");
}

}  // namespace ashlar
