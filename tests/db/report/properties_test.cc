// SPDX-License-Identifier: Apache-2.0
//
// Property ashlar.state, a text with a line for each fact of the state, the same for the same
// state. Number properties with the values of RocksDB: live data, age and compression of tables,
// caches, and those of dropped families.
#include "ashlar/cache.h"
#include "tests/support/level0_tables.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class StateTest : public DbTest {
 protected:
  StateTest() : DbTest(TestFiles::kSim) {
    options_.max_bgerror_resume_count = 0;  // only a call resumes
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    Open();
  }
  std::string State() { return Property("ashlar.state"); }
  bool Says(const std::string& line) {
    const bool says = ("\n" + State()).find("\n" + line) != std::string::npos;
    if (!says) ADD_FAILURE() << "no line begins with: " << line << "\n" << State();
    return says;
  }
};

class PropertiesTest : public DbTest {
 protected:
  PropertiesTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.level_compaction_dynamic_level_bytes = false;
    UseFiles(memory_, clock_);
  }
  void WriteTable(int first, int last, ColumnFamilyHandle* family = nullptr) {
    for (int i = first; i <= last; i++) {
      Put(family, StrCat("key", 1000 + i), std::string(kValueBytes, 'v'));
    }
    Flush(family);
  }
  void CompactTo(int level) {
    CompactRangeOptions down;
    down.change_level = true;
    down.target_level = level;
    Compact(down);
  }
  bool IsRefused(const std::string& name) {
    uint64_t number = 0;
    std::string text;
    const bool is_refused = !db_->GetIntProperty(name, &number);
    EXPECT_EQ(is_refused, !db_->GetProperty(name, &text)) << name;
    EXPECT_EQ(is_refused, !db_->GetAggregatedIntProperty(name, &number)) << name;
    return is_refused;
  }

  static constexpr size_t kValueBytes = 100;
  const std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
};

constexpr const char* kOldestKeyTime = "rocksdb.estimate-oldest-key-time";
constexpr const char* kLiveData = "rocksdb.estimate-live-data-size";

}  // namespace

TEST_F(StateTest, ADatabaseAtRest) {
  Put("k", "v");
  EXPECT_TRUE(Says("writes: free\n"));
  EXPECT_TRUE(Says("error: OK\n"));
  EXPECT_TRUE(Says("commits: 1 begun, 1 published; sequence numbers to 1, visible to 1\n"));
  EXPECT_TRUE(Says("log "));
  EXPECT_TRUE(Says("MANIFEST "));
  EXPECT_TRUE(Says("family 0 default: version 1, 0 tables, logs from "));
  EXPECT_TRUE(Says("snapshots: 0\n"));
  EXPECT_TRUE(Says("super version 1: memtables 1, version 1 with 0 tables\n"));
  EXPECT_EQ(State(), State());
}

TEST_F(StateTest, AFlushAndASnapshotShow) {
  Put("k", "v");
  const Snapshot* snapshot = db_->GetSnapshot();
  EXPECT_TRUE(Says("snapshots: 1 @1\n"));
  Flush();
  EXPECT_TRUE(Says("family 0 default: version 2, 1 tables, logs from "));
  EXPECT_TRUE(Says("super version 3: memtables 2, version 2 with 1 tables\n"));
  EXPECT_EQ(Get("k"), "v");
  EXPECT_TRUE(Says("tables open: 1, "));
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(StateTest, LockedOutWritersShow) {
  ASSERT_OK(db_->LockWAL());
  EXPECT_TRUE(Says("writes: free, locked out by 1 calls\n"));
  EXPECT_NE(State().find(", paused 1 times, attention wanted\n"), std::string::npos) << State();
  ASSERT_OK(db_->UnlockWAL());
  EXPECT_TRUE(Says("writes: free\n"));
}

TEST_F(StateTest, AnErrorOfALogShows) {
  Fail(CallKind::kSync, ".log");
  ASSERT_FALSE(db_->Put(Synced(), "k", "v").ok());
  EXPECT_TRUE(Says("error: "));
  EXPECT_TRUE(Says("of a log: "));
  EXPECT_TRUE(Says("writes are refused\n"));
  sim_->ClearFaults();
  ASSERT_OK(db_->Resume());
  EXPECT_TRUE(Says("error: OK\nlogs before "));
}

TEST_F(PropertiesTest, AFlushTellsWhenItsOldestEntryCame) {
  options_.compaction_style = kCompactionStyleFIFO;
  Open();
  EXPECT_TRUE(IsRefused(kOldestKeyTime));  // the database is empty
  int64_t now = 0;
  clock_->moved_by_seconds = -1000;
  ASSERT_OK(clock_->GetCurrentTime(&now));
  const auto begin = static_cast<uint64_t>(now);
  Put("first", "v");
  clock_->moved_by_seconds = -500;
  Put("second", "v");
  EXPECT_NEAR(static_cast<double>(Number(kOldestKeyTime)), static_cast<double>(begin), 60);
  WriteTable(1, 2);
  clock_->moved_by_seconds = 0;
  WriteTable(3, 4);
  EXPECT_NEAR(static_cast<double>(Number(kOldestKeyTime)), static_cast<double>(begin), 60);
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 2u);
  for (const auto& [name, table] : tables) EXPECT_GE(table->oldest_key_time, begin) << name;
}

// Tables that compactions write have no time of their oldest key.
TEST_F(PropertiesTest, TheOldestKeyIsKnownOnlyWhereNothingIsCompacted) {
  Open();
  WriteTable(1, 2);
  EXPECT_TRUE(IsRefused(kOldestKeyTime));
  WriteTable(1, 2);
  CompactTo(1);
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->oldest_key_time, 0u);
}

// The thread of a flush deletes obsolete files after the call has returned; that is no running
// flush.
TEST_F(PropertiesTest, OnlyLevelledCompactionHasABaseLevel) {
  Open();
  ColumnFamilyOptions universal = options_, fifo = options_;
  universal.compaction_style = kCompactionStyleUniversal;
  fifo.compaction_style = kCompactionStyleFIFO;
  fifo.num_levels = 1;
  uint64_t level = 0;
  EXPECT_TRUE(db_->GetIntProperty("rocksdb.base-level", &level));
  EXPECT_EQ(level, 1u);
  for (const ColumnFamilyOptions* options : {&universal, &fifo}) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(*options, "other", &family));
    EXPECT_TRUE(db_->GetIntProperty(family, "rocksdb.base-level", &level));
    EXPECT_EQ(level, UINT64_MAX) << "-1 without a sign";
    ASSERT_OK(db_->DropColumnFamily(family));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  }
}

TEST_F(PropertiesTest, NoFlushRunsAfterOneThatWasWaitedFor) {
  Open();
  for (int i = 0; i < 50; ++i) {
    WriteTable(1, 1);
    uint64_t running = 1;
    ASSERT_TRUE(db_->GetIntProperty(DB::Properties::kNumRunningFlushes, &running));
    ASSERT_EQ(running, 0u) << "after flush " << i;
  }
}

TEST_F(PropertiesTest, WhatLiesOverNothingIsAlive) {
  Open();
  WriteTable(500, 500);
  CompactTo(2);
  WriteTable(1, 100);
  const uint64_t total = Number("rocksdb.total-sst-files-size");
  ASSERT_GT(total, 100 * kValueBytes);
  EXPECT_EQ(Number(kLiveData), total);  // not only the one entry of the deepest level
  WriteTable(50, 60);                   // overwrites entries of the first table
  EXPECT_GT(Number("rocksdb.total-sst-files-size"), total);
  EXPECT_LE(Number(kLiveData), total);
}

TEST_F(PropertiesTest, LiveBlobBytesAreAlive) {
  options_.enable_blob_files = true;
  Open();
  WriteTable(1, 100);
  const uint64_t live = Number(kLiveData);
  EXPECT_GT(live, Number("rocksdb.total-sst-files-size") + 100 * kValueBytes);
  WriteTable(1, 50);
  CompactTo(1);  // half of the first file is garbage
  EXPECT_NEAR(static_cast<double>(Number(kLiveData)), static_cast<double>(live), 10 * kValueBytes);
  EXPECT_GT(Number("rocksdb.total-blob-file-size"), 150 * kValueBytes);
}

TEST_F(PropertiesTest, TextsTellOfBlobFiles) {
  options_.enable_blob_files = true;
  Open();
  const auto tells = [this](const std::string& text) {
    return Property("rocksdb.cfstats").find(StrCat("\nBlob file count: ", text, "\n")) !=
           std::string::npos;
  };
  EXPECT_TRUE(tells("0, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 0.0"));
  WriteTable(1, 100);
  EXPECT_TRUE(tells("1, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 1.0"));
  WriteTable(1, 80);
  CompactTo(1);
  EXPECT_TRUE(tells("2, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 1.8"));
}

TEST_F(PropertiesTest, CompressionIsMeasuredByWholeFiles) {
  Open();
  WriteTable(1, 1);
  const std::string ratio = Property("rocksdb.compression-ratio-at-level0");
  const double raw_bytes = 7 + 8 + kValueBytes;  // a key with its trailer, and a value
  EXPECT_NEAR(std::stod(ratio),
              raw_bytes / static_cast<double>(Number("rocksdb.total-sst-files-size")), 1e-6);
}

TEST_F(PropertiesTest, TablesThatOnlyReadersHoldCountAmongAll) {
  Open();
  WriteTable(1, 10);
  WriteTable(1, 10);
  WaitForJobs();
  const uint64_t before = Number("rocksdb.total-sst-files-size");
  EXPECT_EQ(Number("rocksdb.live-sst-files-size"), before);
  std::unique_ptr<Iterator> reader(db_->NewIterator(ReadOptions()));
  Compact();
  WaitForJobs();
  const uint64_t live = Number("rocksdb.live-sst-files-size");
  EXPECT_LT(live, before);
  EXPECT_EQ(Number("rocksdb.total-sst-files-size"), before + live);
  reader.reset();
  EXPECT_EQ(Number("rocksdb.total-sst-files-size"), live);
}

TEST_F(PropertiesTest, BlobFilesThatOnlyReadersHoldCountAmongAll) {
  options_.enable_blob_files = true;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Open();
  WriteTable(1, 10);
  const uint64_t before = Number("rocksdb.total-blob-file-size");
  EXPECT_EQ(Number("rocksdb.live-blob-file-size"), before);
  std::unique_ptr<Iterator> reader(db_->NewIterator(ReadOptions()));
  WriteTable(1, 5);
  Compact();  // rewrites all values
  const uint64_t live = Number("rocksdb.live-blob-file-size");
  EXPECT_LT(live, before + 5 * kValueBytes);
  EXPECT_GE(Number("rocksdb.total-blob-file-size"), before + live);
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(Number("rocksdb.total-blob-file-size"), live);
}

TEST_F(PropertiesTest, StallsAreALineOfText) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 1;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 3;
  Open();
  ASSERT_NO_FATAL_FAILURE(WriteLevel0(db_.get(), db_->DefaultColumnFamily(), 3));
  EXPECT_EQ(Property("rocksdb.cf-write-stall-stats"),
            "Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, "
            "cf-l0-file-count-limit-stops-with-ongoing-compaction: 0, "
            "l0-file-count-limit-delays: 1, l0-file-count-limit-stops: 1, "
            "memtable-limit-delays: 0, memtable-limit-stops: 0, "
            "pending-compaction-bytes-delays: 0, pending-compaction-bytes-stops: 0, "
            "total-delays: 1, total-stops: 1\n");
  EXPECT_EQ(Property("rocksdb.db-write-stall-stats"),
            "Write Stall (count): write-buffer-manager-limit-stops: 0\n");
}

// With the last buffer full the next write waits for a flush, as it does with more full buffers
// than are allowed.
TEST_F(PropertiesTest, WritesThatWaitForABufferAreStopped) {
  options_.write_buffer_size = 64 << 10;
  options_.max_write_buffer_number = 2;
  Open();
  ASSERT_OK(db_->PauseBackgroundWork());
  WriteOptions at_once;
  at_once.no_slowdown = true;
  Status status;
  while (status.ok()) {
    EXPECT_EQ(Property("rocksdb.is-write-stopped"), "0");
    status = db_->Put(at_once, "key", std::string(10000, 'v'));
    if (!status.ok()) break;
  }
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_EQ(Property("rocksdb.is-write-stopped"), "1");
  ASSERT_OK(db_->ContinueBackgroundWork());
  ASSERT_OK(db_->Put(WriteOptions(), "key", "waits"));
  EXPECT_EQ(Property("rocksdb.is-write-stopped"), "0");
}

// The hidden family of stored counters has no block cache.
TEST_F(PropertiesTest, ACacheThatFamiliesShareCountsOnce) {
  constexpr size_t kSharedBytes = 1 << 20, kOwnBytes = 3 << 20;
  const auto use_cache = [this](size_t bytes) {
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(bytes);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  };
  use_cache(kSharedBytes);
  options_.persist_stats_to_disk = true;
  Open();
  CreateFamily("same");
  uint64_t bytes = 0;
  EXPECT_TRUE(db_->GetAggregatedIntProperty("rocksdb.block-cache-capacity", &bytes));
  EXPECT_EQ(bytes, kSharedBytes);
  use_cache(kOwnBytes);
  CreateFamily("own");
  EXPECT_TRUE(db_->GetAggregatedIntProperty("rocksdb.block-cache-capacity", &bytes));
  EXPECT_EQ(bytes, kSharedBytes + kOwnBytes);
}

TEST_F(PropertiesTest, CachesThatAreNotThereAreRefused) {
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (const char* fact : {"capacity", "usage", "pinned-usage"}) {
    EXPECT_TRUE(IsRefused(StrCat("rocksdb.blob-cache-", fact)));
    EXPECT_TRUE(IsRefused(StrCat("rocksdb.block-cache-", fact)));
  }
}

TEST_F(PropertiesTest, ADroppedFamilyAnswersWhileItIsHeld) {
  Open();
  ColumnFamilyHandle* const family = CreateFamily("family");
  WriteTable(1, 10, family);
  ASSERT_OK(db_->DropColumnFamily(family));
  const std::string levels = Property("rocksdb.levelstats", family);
  EXPECT_NE(levels.find("\n  0        1 "), std::string::npos) << levels;
  EXPECT_EQ(Number("rocksdb.estimate-num-keys", family), 10u);
  const uint64_t bytes = Number("rocksdb.total-sst-files-size", family);
  EXPECT_GT(bytes, 10 * kValueBytes);
  Number("ashlar.seconds-until-slowdown", family);
  Property("ashlar.state", family);
  std::map<std::string, std::string> map;
  EXPECT_TRUE(db_->GetMapProperty(family, "rocksdb.cfstats", &map));
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family, &metadata);
  EXPECT_EQ(metadata.file_count, 1u);
  EXPECT_EQ(metadata.size, bytes);
}

}  // namespace ashlar
