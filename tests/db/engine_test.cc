// SPDX-License-Identifier: Apache-2.0
//
// The engine through its public calls, on files in memory: what reads see while the tree changes,
// families, maintenance.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/listener.h"
#include "ashlar/slice_transform.h"
#include "ashlar/write_batch.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/skip.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class EngineTest : public DbTest {
 protected:
  EngineTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    Open();
  }
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
    EXPECT_EQ(Get("a", AsOf(first)) + Get("b", AsOf(first)), "11") << when;
    EXPECT_EQ(Get("a", AsOf(second)) + Get("b", AsOf(second)), "2(none)") << when;
    EXPECT_EQ(Get("a") + Get("b"), "33") << when;
    EXPECT_EQ(Scan(AsOf(second)), "a=2") << when;
    EXPECT_EQ(ScanBackwards(AsOf(second)), "a=2") << when;
  };
  check("in memory");
  Flush();
  check("after a flush");
  Compact();
  check("after a compaction");
  db_->ReleaseSnapshot(first);
  db_->ReleaseSnapshot(second);
  Put("c", "4");
  Compact();
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
  Compact();
  EXPECT_EQ(RowAt(*it), "a=1");
  it->Next();
  EXPECT_EQ(RowAt(*it), "b=1");
  it->Next();
  EXPECT_EQ(RowAt(*it), "end");
  ASSERT_OK(it->Refresh());
  it->SeekToFirst();
  it->Next();
  EXPECT_EQ(RowAt(*it), "aa=new");
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
  EXPECT_EQ(RowAt(*it), "bb=new");
  it->Prev();
  EXPECT_EQ(RowAt(*it), "a=old");
  it->Next();
  EXPECT_EQ(RowAt(*it), "bb=new");
  it->Next();
  EXPECT_EQ(RowAt(*it), "c=new");
  it->Next();
  EXPECT_EQ(RowAt(*it), "e=old");
  it->Prev();
  EXPECT_EQ(RowAt(*it), "c=new");
  it->SeekForPrev("d");
  EXPECT_EQ(RowAt(*it), "c=new");
  it->Prev();
  it->Prev();
  it->Prev();
  EXPECT_EQ(RowAt(*it), "end");
  it.reset(db_->NewIterator(AsOf(snapshot)));
  it->SeekForPrev("bz");
  EXPECT_EQ(RowAt(*it), "b=old");
  it->Next();
  EXPECT_EQ(RowAt(*it), "c=old");
  it->Prev();
  EXPECT_EQ(RowAt(*it), "b=old");
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
  EXPECT_EQ(ScanBackwards(read), Key(5) + "=v " + Key(4) + "=v " + Key(3) + "=v");
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek(Key(0));
  EXPECT_EQ(RowAt(*it), Key(3) + "=v");
  it->Seek(Key(6));
  EXPECT_EQ(RowAt(*it), "end");
  it->SeekForPrev(Key(9));
  EXPECT_EQ(RowAt(*it), Key(5) + "=v");
  it->SeekForPrev(Key(2));
  EXPECT_EQ(RowAt(*it), "end");
}

TEST_F(EngineTest, ATailingIteratorSeesWhatIsWrittenLater) {
  Put("a", "1");
  ReadOptions read;
  read.tailing = true;
  std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->Seek("b");
  EXPECT_EQ(RowAt(*it), "end");
  Put("b", "2");
  it->Seek("b");
  EXPECT_EQ(RowAt(*it), "b=2");
  Flush();
  Put("c", "3");
  it->Seek("c");
  EXPECT_EQ(RowAt(*it), "c=3");
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
  EXPECT_EQ(RowAt(*it), "aa1=v");
  it->Next();
  EXPECT_EQ(RowAt(*it), "aa2=v");
  it->Next();
  EXPECT_EQ(RowAt(*it), "end");
}

TEST_F(EngineTest, FamiliesAreMadeFilledDroppedAndReopened) {
  ColumnFamilyHandle* const one = CreateFamily("one");
  ColumnFamilyHandle* const two = CreateFamily("two");
  ColumnFamilyHandle* again = nullptr;
  EXPECT_FALSE(db_->CreateColumnFamily(options_, "one", &again).ok());
  WriteBatch batch;
  ASSERT_OK(batch.Put("k", "default"));
  ASSERT_OK(batch.Put(one, "k", "1"));
  ASSERT_OK(batch.Put(two, "k", "2"));
  Write(&batch);
  Flush(one);
  std::vector<std::string> values;
  const std::vector<Status> found = db_->MultiGet(
      ReadOptions(), {two, db_->DefaultColumnFamily(), one, one}, {"k", "k", "k", "x"}, &values);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(values[0] + values[1] + values[2], "2default1");
  EXPECT_TRUE(found[3].IsNotFound());
  ASSERT_OK(db_->DropColumnFamily(two));
  EXPECT_FALSE(db_->Put(WriteOptions(), two, "k", "late").ok());
  EXPECT_EQ(Get(two, "k"), "2");  // readable as long as the handle lives
  Open({"default", "one"});
  EXPECT_EQ(Get(handles_[1], "k"), "1");
  EXPECT_EQ(Get(handles_[0], "k"), "default");
  std::vector<std::string> names;
  ASSERT_OK(DB::ListColumnFamilies(options_, "/db", &names));
  EXPECT_EQ(names, (std::vector<std::string>{"default", "one"}));
  Close();
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  Open({"default", "one"});
}

// The iterator holds the last reference to the family.
TEST_F(EngineTest, FilesOfADroppedFamilyGoWithItsLastIterator) {
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "family", &family));
  Put(family, "k", "v");
  Flush(family);
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family));
  it->SeekToFirst();
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_EQ(RowAt(*it), "k=v");
  EXPECT_EQ(FilesOnDisk(".sst"), 1);
  it.reset();
  // A background thread deletes the files if another thread is just leaving an epoch.
  for (int i = 0; i < 100'000 && FilesOnDisk(".sst") != 0; ++i) std::this_thread::yield();
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
}

TEST_F(EngineTest, ObsoleteTablesAreGoneAfterCompaction) {
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 50; i++) Put(Key(i), std::to_string(round));
    Flush();
  }
  EXPECT_EQ(FilesOnDisk(".sst"), 4);
  Compact();
  EXPECT_EQ(FilesOnDisk(".sst"), 1);
  EXPECT_EQ(Get(Key(7)), "3");
  EXPECT_EQ(TableCount(0), 0);
}

TEST_F(EngineTest, AnIteratorHoldsTheTablesItReads) {
  for (int i = 0; i < 50; i++) Put(Key(i), "old");
  Flush();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (int i = 0; i < 50; i++) Delete(Key(i));
  Flush();
  Compact();
  int count = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
  EXPECT_OK(it->status());
  EXPECT_EQ(count, 50);
  it.reset();
  EXPECT_EQ(Scan(), "");
}

TEST_F(EngineTest, UnloggedWritesAreFlushedOnClose) {
  ASSERT_OK(db_->Put(Unlogged(), "a", "1"));
  Reopen();
  EXPECT_EQ(Get("a"), "1");
}

// The flush begins in spite of the pauses. A call that waits nevertheless is helped on, so that the
// test ends.
TEST_F(EngineTest, UnloggedWritesAreFlushedOnCloseAlthoughBackgroundWorkIsPaused) {
  for (int i = 0; i < 2; i++) ASSERT_OK(db_->PauseBackgroundWork());
  ASSERT_OK(db_->Put(Unlogged(), "a", "1"));
  std::future<Status> closed = std::async(std::launch::async, [this] { return db_->Close(); });
  if (closed.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
    ADD_FAILURE() << "Close() waits for a flush that does not begin";
    while (db_->ContinueBackgroundWork().ok()) continue;
  }
  EXPECT_OK(closed.get());
  db_.reset();
  Open();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(EngineTest, CompactionsStayPausedWhileUnloggedWritesAreFlushedOnClose) {
  struct Watcher final : public EventListener {
    void OnFlushBegin(DB* db, const FlushJobInfo&) override {
      EXPECT_TRUE(db->GetProperty("ashlar.background-work", &work));
    }
    void OnCompactionBegin(DB*, const CompactionJobInfo&) override { compactions++; }
    std::string work;  // during the last flush
    std::atomic<int> compactions{0};
  };
  const auto watcher = std::make_shared<Watcher>();
  options_.listeners = {watcher};
  options_.level0_file_num_compaction_trigger = 2;
  Reopen();
  for (int i = 0; i < 4; i++) {
    Put("a", std::to_string(i));
    Flush();
  }
  WaitForJobs();
  ASSERT_OK(db_->PauseBackgroundWork());
  ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
  ASSERT_OK(db_->Put(Unlogged(), "b", "1"));
  watcher->work.clear();
  ASSERT_OK(db_->Close());
  EXPECT_NE(watcher->work.find("compactions: scheduled 0, running 0, queued default"),
            std::string::npos)
      << watcher->work;
  EXPECT_EQ(watcher->compactions, 0);
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
  EXPECT_EQ(Number("rocksdb.num-entries-active-mem-table"), 1000u);
  Flush();
  for (const char* name : {"rocksdb.stats", "rocksdb.levelstats", "rocksdb.estimate-num-keys",
                           "rocksdb.total-sst-files-size", "rocksdb.num-snapshots"}) {
    EXPECT_NE(Property(name), "") << name;
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
  EXPECT_EQ(Ticks(WAL_FILE_SYNCED), 2u);
}

TEST_F(EngineTest, WaitForCompactComesBackWhenNothingIsLeftToDo) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Reopen();
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 20; i++) Put(Key(i), std::to_string(round));
    Flush();
  }
  WaitForJobs();
  EXPECT_EQ(Number("rocksdb.compaction-pending"), 0u);
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
  EXPECT_EQ(Get(Key(written - 1)), "(none)");
  ASSERT_OK(db_->ContinueBackgroundWork());
  Put("patient", "1");
  EXPECT_EQ(Get("patient"), "1");
}

// No background thread takes the compaction, so only the flag can end the call.
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
