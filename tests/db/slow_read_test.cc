// SPDX-License-Identifier: Apache-2.0
//
// An operation that waits for its disk holds up nothing but itself: whatever else the process
// retires is freed, another database closes, and the writers of its own go on in bounded memory.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/table.h"
#include "ashlar/utilities/debug.h"
#include "tests/support/read_gate.h"
#include "tests/support/retired_call.h"
#include "tests/support/status_matchers.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

std::string Key(int i) { return "key" + std::to_string(1000 + i); }

// Frees of what is retired now do not wait for anybody.
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

class SlowReadTest : public testing::Test {
 protected:
  static constexpr int kTables = 24;  // more than stay open

  SlowReadTest() {
    Options options = MakeOptions();
    EXPECT_OK(DB::Open(options, "/slow", &db_));
    for (int i = 0; i < kTables; i++) {
      EXPECT_OK(db_->Put(WriteOptions(), Key(i), std::string(100, 'v')));
      EXPECT_OK(db_->Put(WriteOptions(), Key(100 + i), std::string(100, 'v')));
      EXPECT_OK(db_->Flush(FlushOptions()));
    }
    EXPECT_OK(DB::Open(options, "/other", &other_));
    EXPECT_OK(other_->Put(WriteOptions(), "k", "v"));
    EXPECT_OK(other_->Flush(FlushOptions()));
  }
  ~SlowReadTest() override {
    gate_.Open();
    if (reader_.joinable()) reader_.join();
  }

  Options MakeOptions() const {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.max_open_files = 20;  // so that operations must open tables
    options.compression = kNoCompression;
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return options;
  }

  // Starts `read` in a thread of its own, and comes back when it waits for its disk.
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
    if (is_freed) other_.reset();  // else it would wait for ever
    EndSlow();
  }

  std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  ReadGate gate_;
  std::unique_ptr<Env> env_{
      NewCompositeEnv(std::make_shared<GatedFileSystem>(memory_->GetFileSystem(), &gate_))};
  std::unique_ptr<DB> db_, other_;
  std::thread reader_;
};

TEST_F(SlowReadTest, Get) {
  ExpectHoldsUpNothing([this] {
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), Key(0), &value));
    EXPECT_EQ(value, std::string(100, 'v'));
  });
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
  ExpectHoldsUpNothing([this] {
    uint64_t keys = 0;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.estimate-num-keys", &keys));
    EXPECT_EQ(keys, uint64_t{2 * kTables});
  });
}

// Nor the other calls of the database itself: what needs tables is worked out without its mutex.
TEST_F(SlowReadTest, PropertiesThatOpenTablesHoldNoLock) {
  const char* const kNames[] = {
      "rocksdb.estimate-num-keys",
      "rocksdb.aggregated-table-properties",
      "rocksdb.aggregated-table-properties-at-level0",
      "rocksdb.compression-ratio-at-level0",
  };
  for (const char* name : kNames) {
    SCOPED_TRACE(name);
    std::string before, value, other;
    ASSERT_TRUE(db_->GetProperty(name, &before));
    ASSERT_NO_FATAL_FAILURE(BeginSlow([&] { EXPECT_TRUE(db_->GetProperty(name, &value)); }));
    uint64_t number = 0;
    EXPECT_TRUE(db_->GetIntProperty("rocksdb.num-snapshots", &number));
    const Snapshot* snapshot = db_->GetSnapshot();
    EXPECT_OK(db_->Put(WriteOptions(), "meanwhile", "v"));
    EXPECT_TRUE(db_->GetProperty("rocksdb.cfstats", &other));
    EndSlow();
    db_->ReleaseSnapshot(snapshot);
    EXPECT_EQ(value, before) << "of the moment when it was asked for";
  }
}

TEST_F(SlowReadTest, LiveFilesMetaDataHoldsNoLock) {
  std::vector<LiveFileMetaData> files;
  ASSERT_NO_FATAL_FAILURE(BeginSlow([&] { db_->GetLiveFilesMetaData(&files); }));
  EXPECT_OK(db_->Put(WriteOptions(), "meanwhile", "v"));
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
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
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
  db_.reset();
  ExpectHoldsUpNothing([this] { EXPECT_OK(DB::Open(MakeOptions(), "/slow", &db_)); });
}

TEST_F(SlowReadTest, Compaction) {
  ExpectHoldsUpNothing(
      [this] { EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr)); });
}

TEST_F(SlowReadTest, ListingOfKeys) {
  ExpectHoldsUpNothing([this] {
    std::vector<KeyVersion> versions;
    EXPECT_OK(GetAllKeyVersions(db_.get(), {}, {}, 1000, &versions));
    EXPECT_EQ(versions.size(), size_t{2 * kTables});
  });
}

// The memtables that are flushed meanwhile go as if nobody read.
TEST_F(SlowReadTest, WritersGoOnInBoundedMemory) {
  const size_t pending_before = EpochPendingCount();
  ASSERT_NO_FATAL_FAILURE(BeginSlow([this] {
    std::string value;
    EXPECT_OK(db_->Get(ReadOptions(), Key(0), &value));
  }));
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(other_->Put(WriteOptions(), Key(i), std::string(1000, 'y')));
    ASSERT_OK(other_->Flush(FlushOptions()));
  }
  EXPECT_TRUE(RetiredObjectsAreFreed());
  EXPECT_LT(EpochPendingCount(), pending_before + 64);
  EndSlow();
}

// What a reader in the middle of a read stands on stays, although all of it is replaced.
TEST_F(SlowReadTest, AReaderKeepsItsTablesThroughACompaction) {
  std::string value;
  ASSERT_NO_FATAL_FAILURE(BeginSlow([&] { EXPECT_OK(db_->Get(ReadOptions(), Key(3), &value)); }));
  // Written meanwhile, and not to be seen: the read began before.
  ASSERT_OK(db_->Put(WriteOptions(), Key(3), "new"));
  EndSlow();
  EXPECT_EQ(value, std::string(100, 'v'));
}

}  // namespace
}  // namespace ashlar
