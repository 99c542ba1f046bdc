// SPDX-License-Identifier: Apache-2.0
//
// Memtables under one limit: those of the families of a database and of several databases, with and
// without charges to a cache and stalls.
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/write_buffer_manager.h"
#include "tests/support/blocked_pool.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

constexpr size_t kLimitMiB = 1 << 20;
constexpr size_t kValueBytes = 1000;

class MemoryLimit : public DbTest {
 protected:
  MemoryLimit() {
    options_.statistics = CreateDBStatistics();
    options_.compression = kNoCompression;
    options_.arena_block_size = 16 << 10;  // so that memory grows in small steps
    options_.level0_file_num_compaction_trigger = 1000;
    options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 1000;
  }

  std::unique_ptr<DB> Open(const std::string& name) {
    std::unique_ptr<DB> db;
    EXPECT_OK(DB::Open(options_, name, &db));
    return db;
  }
  Status Fill(DB* db, ColumnFamilyHandle* family, size_t bytes,
              const WriteOptions& write = WriteOptions()) {
    const std::string value(kValueBytes, 'v');
    for (size_t written = 0; written < bytes; written += kValueBytes) {
      const Status status = db->Put(write, family, std::to_string(next_key_++), value);
      if (!status.ok()) return status;
    }
    return Status::OK();
  }
  Status Fill(DB* db, size_t bytes, const WriteOptions& write = WriteOptions()) {
    return Fill(db, db->DefaultColumnFamily(), bytes, write);
  }
  static uint64_t FilesOf(DB* db, ColumnFamilyHandle* family) {
    ColumnFamilyMetaData meta;
    db->GetColumnFamilyMetaData(family, &meta);
    return meta.file_count;
  }
  static void AwaitFlushes(DB* db) { EXPECT_OK(db->WaitForCompact(WaitForCompactOptions())); }

  uint64_t next_key_ = 0;
};

TEST_F(MemoryLimit, TheLargestMemTableOfADatabaseIsFlushed) {
  options_.db_write_buffer_size = 2 * kLimitMiB;
  const std::unique_ptr<DB> db = Open("/db");
  ColumnFamilyHandle* small = nullptr;
  ASSERT_OK(db->CreateColumnFamily(options_, "small", &small));
  ASSERT_OK(Fill(db.get(), small, kLimitMiB / 2));
  ASSERT_OK(Fill(db.get(), 3 * kLimitMiB / 2));
  AwaitFlushes(db.get());
  EXPECT_EQ(Ticks(FLUSH_REASON_WRITE_BUFFER_MANAGER), 1u);
  EXPECT_EQ(Ticks(FLUSH_REASON_WRITE_BUFFER_FULL), 0u);
  EXPECT_EQ(FilesOf(db.get(), db->DefaultColumnFamily()), 1u);
  EXPECT_EQ(FilesOf(db.get(), small), 0u);
  HistogramData memory;
  options_.statistics->histogramData(FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES, &memory);
  EXPECT_EQ(memory.count, 1u);
  EXPECT_LT(memory.max, 2.0 * kLimitMiB);
  ASSERT_OK(db->DestroyColumnFamilyHandle(small));
}

TEST_F(MemoryLimit, WhatIsToldIsWhatIsHeldAndIsGivenBack) {
  const auto cache = NewLRUCache(64 * kLimitMiB);
  const auto manager = std::make_shared<WriteBufferManager>(32 * kLimitMiB, cache);
  options_.write_buffer_manager = manager;
  std::unique_ptr<DB> one = Open("/one"), other = Open("/other");
  ASSERT_OK(Fill(one.get(), 2 * kLimitMiB));
  const size_t after_one = manager->memory_usage();
  EXPECT_GT(after_one, 2 * kLimitMiB);
  EXPECT_LT(after_one, 5 * kLimitMiB);
  ASSERT_OK(Fill(other.get(), 3 * kLimitMiB));
  EXPECT_GT(manager->memory_usage(), after_one + 3 * kLimitMiB);
  EXPECT_EQ(manager->memory_usage(), manager->mutable_memtable_memory_usage());
  EXPECT_GE(manager->dummy_entries_in_cache_usage(), manager->memory_usage());
  EXPECT_GE(cache->GetPinnedUsage(), manager->dummy_entries_in_cache_usage());

  ColumnFamilyHandle* dropped = nullptr;
  ASSERT_OK(one->CreateColumnFamily(options_, "dropped", &dropped));
  ASSERT_OK(Fill(one.get(), dropped, 2 * kLimitMiB));
  const size_t with_dropped = manager->memory_usage();
  ASSERT_OK(one->DropColumnFamily(dropped));
  ASSERT_OK(one->DestroyColumnFamilyHandle(dropped));
  EXPECT_LT(manager->memory_usage(), with_dropped - kLimitMiB);

  // The iterator keeps the memtable that is flushed: its memory is no longer mutable, but not free.
  std::unique_ptr<Iterator> iterator(one->NewIterator(ReadOptions()));
  const size_t before_flush = manager->memory_usage();
  ASSERT_OK(one->Flush(FlushOptions()));
  EXPECT_GE(manager->memory_usage(), before_flush);
  EXPECT_LT(manager->mutable_memtable_memory_usage(), before_flush - kLimitMiB);
  iterator.reset();
  ASSERT_OK(one->Flush(FlushOptions()));
  one.reset();
  other.reset();
  EXPECT_EQ(manager->memory_usage(), 0u);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), 0u);
  EXPECT_LE(manager->dummy_entries_in_cache_usage(), 256u << 10);
}

TEST_F(MemoryLimit, StallsAllDatabasesUntilMemoryIsFree) {
  const auto manager =
      std::make_shared<WriteBufferManager>(2 * kLimitMiB, nullptr, /*allow_stall=*/true);
  options_.write_buffer_manager = manager;
  std::unique_ptr<DB> one = Open("/one"), other = Open("/other");
  auto no_flushes = std::make_unique<BlockedPool>(env_.get(), Env::HIGH);
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  const Status refused = Fill(one.get(), 8 * kLimitMiB, no_slowdown);
  EXPECT_TRUE(refused.IsIncomplete()) << refused.ToString();
  EXPECT_GE(manager->memory_usage(), 2 * kLimitMiB);
  EXPECT_LT(manager->memory_usage(), 4 * kLimitMiB);
  std::thread writer([&] { EXPECT_OK(Fill(other.get(), kLimitMiB)); });
  while (!manager->IsStallActive()) std::this_thread::yield();
  no_flushes.reset();
  writer.join();
  AwaitFlushes(one.get());
  EXPECT_OK(Fill(one.get(), kLimitMiB));
  std::map<std::string, std::string> stalls;
  ASSERT_TRUE(other->GetMapProperty("rocksdb.db-write-stall-stats", &stalls));
  EXPECT_NE(stalls["write-buffer-manager-limit-stops"], "0");
}

TEST_F(MemoryLimit, AnIdleDatabaseHoldsNobodyForEver) {
  const auto manager =
      std::make_shared<WriteBufferManager>(2 * kLimitMiB, nullptr, /*allow_stall=*/true);
  options_.write_buffer_manager = manager;
  std::unique_ptr<DB> idle = Open("/idle"), busy = Open("/busy");
  ASSERT_OK(Fill(idle.get(), kLimitMiB));
  manager->SetBufferSize(kLimitMiB);  // less than the idle database has
  EXPECT_OK(Fill(busy.get(), 2 * kLimitMiB));
  AwaitFlushes(busy.get());
  const uint64_t tables = FilesOf(busy.get(), busy->DefaultColumnFamily());
  EXPECT_GE(tables, 2u);
  EXPECT_LE(tables, 8u);
}

// No automatic attempt follows the failed flush of the database "one", so its memtables stay in
// memory until it is told to resume.
class MemoryOfAFailedFlush : public MemoryLimit {
 protected:
  MemoryOfAFailedFlush() {
    UseSim(SimFS::Create());
    options_.write_buffer_manager = manager_;
    options_.max_bgerror_resume_count = 0;
    options_.write_buffer_size = 400 << 10;
    options_.max_write_buffer_number = 4;
    one_ = Open("/one");
    other_ = Open("/other");
  }
  void TearDown() override {
    one_.reset();
    other_.reset();
    MemoryLimit::TearDown();
  }
  void FailNextTable(FaultError error) { Fail(CallKind::kSync, ".sst", FaultMode::kOnce, error); }
  // The memory that "one" cannot free is more than the limit. What is written here is too little to
  // be flushed.
  void ExpectOtherIsNotHeld() {
    manager_->SetBufferSize(250 << 10);
    ASSERT_TRUE(manager_->ShouldStall());
    std::future<Status> filled =
        std::async(std::launch::async, [this] { return Fill(other_.get(), 30 << 10); });
    if (filled.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
      ADD_FAILURE() << "the writer waits for ever";
      manager_->SetAllowStall(false);
    }
    EXPECT_OK(filled.get());
    WriteOptions no_slowdown;
    no_slowdown.no_slowdown = true;
    EXPECT_OK(Fill(other_.get(), 15 << 10, no_slowdown));
    manager_->SetBufferSize(16 * kLimitMiB);
  }

  const std::shared_ptr<WriteBufferManager> manager_ =
      std::make_shared<WriteBufferManager>(16 * kLimitMiB, nullptr, /*allow_stall=*/true);
  std::unique_ptr<DB> one_, other_;
};

TEST_F(MemoryOfAFailedFlush, HoldsNoOtherDatabase) {
  ASSERT_OK(Fill(one_.get(), 300 << 10));
  FailNextTable(FaultError::kIO);
  EXPECT_TRUE(one_->Flush(FlushOptions()).IsIOError());
  EXPECT_TRUE(one_->Put(WriteOptions(), "k", "v").IsIOError());
  ExpectOtherIsNotHeld();
  ASSERT_OK(one_->Resume());
  EXPECT_OK(Fill(one_.get(), 100 << 10));
}

// Writes go on after the error, until all write buffers are in use.
TEST_F(MemoryOfAFailedFlush, HoldsNoneThatIsFilledLater) {
  ASSERT_OK(Fill(one_.get(), 50 << 10));
  FailNextTable(FaultError::kInterrupted);
  EXPECT_TRUE(one_->Flush(FlushOptions()).IsIOError());
  ASSERT_OK(Fill(one_.get(), 400 << 10));
  std::string immutable;
  ASSERT_TRUE(one_->GetProperty("rocksdb.num-immutable-mem-table", &immutable));
  EXPECT_EQ(immutable, "2");
  ExpectOtherIsNotHeld();
  ASSERT_OK(one_->Resume());
}

// The attempt makes the memtables of all families immutable.
TEST_F(MemoryOfAFailedFlush, HoldsNoneThatAFailedResumeHasSealed) {
  ColumnFamilyHandle* second = nullptr;
  ASSERT_OK(one_->CreateColumnFamily(options_, "second", &second));
  ASSERT_OK(Fill(one_.get(), second, 300 << 10));
  ASSERT_OK(Fill(one_.get(), 1 << 10));
  FailNextTable(FaultError::kIO);
  EXPECT_TRUE(one_->Flush(FlushOptions()).IsIOError());
  FailNextTable(FaultError::kIO);
  EXPECT_TRUE(one_->Resume().IsIOError());
  ExpectOtherIsNotHeld();
  ASSERT_OK(one_->Resume());
  ASSERT_OK(one_->DestroyColumnFamilyHandle(second));
}

// A write that may not wait is refused where another one would wait, and nowhere else.
TEST_F(MemoryLimit, NoSlowdownIsRefusedOnlyWhereAWriteWouldWait) {
  const auto manager =
      std::make_shared<WriteBufferManager>(2 * kLimitMiB, nullptr, /*allow_stall=*/true);
  options_.write_buffer_manager = manager;
  std::unique_ptr<DB> idle = Open("/idle"), busy = Open("/busy");
  ASSERT_OK(Fill(idle.get(), kLimitMiB));
  manager->SetBufferSize(kLimitMiB);  // less than the idle one holds, and nothing is being flushed
  ASSERT_TRUE(manager->ShouldStall());
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_OK(Fill(busy.get(), 100 << 10, no_slowdown));
  auto no_flushes = std::make_unique<BlockedPool>(env_.get(), Env::HIGH);
  FlushOptions flush;
  flush.wait = false;
  ASSERT_OK(busy->Flush(flush));  // begins when it may, and frees memory
  const Status refused = Fill(busy.get(), 100 << 10, no_slowdown);
  EXPECT_TRUE(refused.IsIncomplete()) << refused.ToString();
  no_flushes.reset();
  AwaitFlushes(busy.get());
  EXPECT_OK(Fill(busy.get(), 100 << 10, no_slowdown));
}

TEST_F(MemoryLimit, ADatabaseIsClosedWhileAWriterWaits) {
  const auto manager =
      std::make_shared<WriteBufferManager>(kLimitMiB, nullptr, /*allow_stall=*/true);
  options_.write_buffer_manager = manager;
  std::unique_ptr<DB> db = Open("/db");
  auto no_flushes = std::make_unique<BlockedPool>(env_.get(), Env::HIGH);
  Status status;
  std::thread writer([&] { status = Fill(db.get(), 8 * kLimitMiB); });
  while (!manager->IsStallActive()) std::this_thread::yield();
  CancelAllBackgroundWork(db.get(), /*wait=*/false);
  writer.join();
  EXPECT_TRUE(status.IsShutdownInProgress()) << status.ToString();
  no_flushes.reset();
}

TEST_F(MemoryLimit, HoldsBesideManyWritersAndFamilies) {
  const auto cache = NewLRUCache(16 * kLimitMiB);
  const auto manager =
      std::make_shared<WriteBufferManager>(4 * kLimitMiB, cache, /*allow_stall=*/true);
  options_.write_buffer_manager = manager;
  std::unique_ptr<DB> db = Open("/db");
  std::vector<ColumnFamilyHandle*> families(4);
  for (size_t i = 0; i < families.size(); ++i) {
    ASSERT_OK(db->CreateColumnFamily(options_, std::to_string(i), &families[i]));
  }
  std::vector<std::thread> writers;
  std::atomic<size_t> most{0};
  for (ColumnFamilyHandle* family : families) {
    writers.emplace_back([&, family] {
      const std::string value(kValueBytes, 'v');
      for (int i = 0; i < 8000; ++i) {
        ASSERT_OK(db->Put(WriteOptions(), family, std::to_string(i % 5000), value));
        const size_t now = manager->memory_usage();
        for (size_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  // Above the limit there may be one write of each thread, the rest of arena blocks and new
  // memtables.
  EXPECT_LT(most.load(), 8 * kLimitMiB);
  AwaitFlushes(db.get());
  std::string value;
  for (ColumnFamilyHandle* family : families) {
    for (int i = 0; i < 5000; i += 7) {
      ASSERT_OK(db->Get(ReadOptions(), family, std::to_string(i), &value));
    }
    ASSERT_OK(db->DestroyColumnFamilyHandle(family));
  }
  db.reset();
  EXPECT_EQ(manager->memory_usage(), 0u);
}

}  // namespace
}  // namespace ashlar
