// SPDX-License-Identifier: Apache-2.0
//
// An operation that waits for its disk delays nothing else: retired objects of the process are
// freed, another database can be closed, and writers of the same database continue in bounded
// memory.
#include <atomic>
#include <functional>
#include <thread>

#include "ashlar/utilities/debug.h"
#include "tests/support/read_gate.h"
#include "tests/support/retired_call.h"
#include "tests/support/test_db.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Whether an object that is retired now is freed without waiting for the slow operation.
bool RetiredObjectsAreFreed() {
  static std::atomic<int> freed;
  const int before = freed;
  RetireCall([] { freed.fetch_add(1); });
  // More than once, because a guard of a few instructions may be open when its thread is preempted.
  for (int i = 0; i < 1000 && freed == before; i++) {
    EpochReclaimAll();
    std::this_thread::yield();
  }
  return freed != before;
}

class SlowReadTest : public DbTest {
 protected:
  static constexpr int kTables = 24;  // more than stay open

  SlowReadTest() {
    UseFiles(std::make_shared<GatedFileSystem>(memory_, &gate_));
    options_.disable_auto_compactions = true;
    options_.max_open_files = 20;  // so that operations must open tables
    options_.compression = kNoCompression;
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    for (int i = 0; i < kTables; i++) {
      Put(Key(i), std::string(100, 'v'));
      Put(Key(100 + i), std::string(100, 'v'));
      Flush();
    }
    EXPECT_OK(DB::Open(options_, "/other", &other_));
    EXPECT_OK(other_->Put(WriteOptions(), "k", "v"));
    EXPECT_OK(other_->Flush(FlushOptions()));
  }
  void TearDown() override {
    gate_.Open();
    if (reader_.joinable()) reader_.join();
    other_.reset();
    DbTest::TearDown();
  }

  // Starts `read` in a thread of its own, and returns when it waits for its disk.
  void BeginSlow(std::function<void()> read) {
    gate_.Shut();
    reader_ = std::thread([this, read = std::move(read)] {
      read();
      gate_.Leave();
    });
    gate_.AwaitReader();
    ASSERT_TRUE(gate_.HasReader()) << "it reads nothing";
  }
  void EndSlow() {
    gate_.Open();
    reader_.join();
  }
  // The whole test for one operation.
  void ExpectHoldsUpNothing(std::function<void()> read) {
    ASSERT_NO_FATAL_FAILURE(BeginSlow(std::move(read)));
    const bool is_freed = RetiredObjectsAreFreed();
    EXPECT_TRUE(is_freed);
    if (is_freed) other_.reset();  // otherwise this would wait forever
    EndSlow();
  }

  ReadGate gate_;
  std::unique_ptr<DB> other_;  // uses the environment of the fixture
  std::thread reader_;
};

TEST_F(SlowReadTest, Get) {
  ExpectHoldsUpNothing([this] { EXPECT_EQ(Get(Key(0)), std::string(100, 'v')); });
}

TEST_F(SlowReadTest, MultiGet) {
  ExpectHoldsUpNothing([this] {
    const std::string names[] = {Key(0), "absent", Key(7)};
    const std::vector<Slice> keys(names, names + 3);
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
    EXPECT_OK(statuses[0]);
    EXPECT_TRUE(statuses[1].IsNotFound());
    EXPECT_OK(statuses[2]);
    EXPECT_EQ(values[2], std::string(100, 'v'));
  });
}

TEST_F(SlowReadTest, NewIteratorAndSeek) {
  ExpectHoldsUpNothing([this] {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(Key(5));
    EXPECT_TRUE(it->Valid());
  });
}

TEST_F(SlowReadTest, VerifyChecksum) {
  ExpectHoldsUpNothing([this] { EXPECT_OK(db_->VerifyChecksum(ReadOptions())); });
}

TEST_F(SlowReadTest, PropertiesOfTables) {
  ExpectHoldsUpNothing([this] {
    TablePropertiesCollection all;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&all));
    EXPECT_EQ(all.size(), size_t{kTables});
  });
}

TEST_F(SlowReadTest, PropertyThatOpensTables) {
  ExpectHoldsUpNothing(
      [this] { EXPECT_EQ(Number("rocksdb.estimate-num-keys"), uint64_t{2 * kTables}); });
}

// Properties that need tables are computed without the DB mutex, so other calls do not wait.
TEST_F(SlowReadTest, PropertiesThatOpenTablesHoldNoLock) {
  const char* const kNames[] = {
      "rocksdb.estimate-num-keys",
      "rocksdb.aggregated-table-properties",
      "rocksdb.aggregated-table-properties-at-level0",
      "rocksdb.compression-ratio-at-level0",
  };
  for (const char* name : kNames) {
    SCOPED_TRACE(name);
    const std::string before = Property(name);
    std::string value;
    ASSERT_NO_FATAL_FAILURE(BeginSlow([&] { value = Property(name); }));
    EXPECT_EQ(Number("rocksdb.num-snapshots"), 0u);
    const Snapshot* snapshot = db_->GetSnapshot();
    Put("meanwhile", "v");
    EXPECT_NE(Property("rocksdb.cfstats"), "");
    EndSlow();
    db_->ReleaseSnapshot(snapshot);
    EXPECT_EQ(value, before) << "the value is that of the time of the call";
  }
}

TEST_F(SlowReadTest, LiveFilesMetaDataHoldsNoLock) {
  std::vector<LiveFileMetaData> files;
  ASSERT_NO_FATAL_FAILURE(BeginSlow([&] { files = Tables(); }));
  Put("meanwhile", "v");
  EXPECT_OK(db_->EnableFileDeletions());
  EndSlow();
  ASSERT_EQ(files.size(), size_t{kTables});
  for (const LiveFileMetaData& file : files) {
    EXPECT_EQ(file.num_entries, 2u);
    EXPECT_FALSE(file.being_compacted);
  }
}

TEST_F(SlowReadTest, LiveFilesMetaData) {
  ExpectHoldsUpNothing([this] {
    const std::vector<LiveFileMetaData> files = Tables();
    EXPECT_EQ(files.size(), size_t{kTables});
    for (const LiveFileMetaData& file : files) EXPECT_EQ(file.num_entries, 2u);
  });
}

TEST_F(SlowReadTest, ApproximateSizes) {
  ExpectHoldsUpNothing([this] {
    const std::string begin = Key(50), end = Key(200);
    const Range range(begin, end);
    uint64_t size = 0;
    EXPECT_OK(db_->GetApproximateSizes(&range, 1, &size));
    EXPECT_GT(size, 0u);
  });
}

TEST_F(SlowReadTest, Open) {
  Close();
  ExpectHoldsUpNothing([this] { DbTest::Open(); });
}

TEST_F(SlowReadTest, Compaction) {
  ExpectHoldsUpNothing([this] { Compact(); });
}

TEST_F(SlowReadTest, ListingOfKeys) {
  ExpectHoldsUpNothing([this] {
    std::vector<KeyVersion> versions;
    EXPECT_OK(GetAllKeyVersions(db_.get(), {}, {}, 1000, &versions));
    EXPECT_EQ(versions.size(), size_t{2 * kTables});
  });
}

// The memtables that are flushed during the slow read are freed as without it.
TEST_F(SlowReadTest, WritersGoOnInBoundedMemory) {
  const size_t pending_before = EpochPendingCount();
  ASSERT_NO_FATAL_FAILURE(BeginSlow([this] { EXPECT_NE(Get(Key(0)), "(none)"); }));
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(other_->Put(WriteOptions(), Key(i), std::string(1000, 'y')));
    ASSERT_OK(other_->Flush(FlushOptions()));
  }
  EXPECT_TRUE(RetiredObjectsAreFreed());
  EXPECT_LT(EpochPendingCount(), pending_before + 64);
  EndSlow();
}

// The tables that a reader uses stay until it has ended, although they are replaced.
TEST_F(SlowReadTest, AReaderKeepsItsTablesThroughACompaction) {
  std::string value;
  ASSERT_NO_FATAL_FAILURE(BeginSlow([&] { value = Get(Key(3)); }));
  // The read began before this write and does not see it.
  Put(Key(3), "new");
  EndSlow();
  EXPECT_EQ(value, std::string(100, 'v'));
}

}  // namespace
}  // namespace ashlar
