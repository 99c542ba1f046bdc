// SPDX-License-Identifier: Apache-2.0
//
// What an open database says about its own state (property ashlar.state): the classes behind it
// describe themselves, a line a fact, and the same state gives the same text. And the numbers whose
// answers are RocksDB's: of what is alive, how old it is, how well it is compressed; of caches that
// are there; of families that are dropped.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/table.h"
#include "env/env_adaptors.h"
#include "env/sim/sim_fs.h"
#include "tests/support/level0_tables.h"
#include "tests/support/moved_clock.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class StateTest : public testing::Test {
 protected:
  StateTest() {
    options_.create_if_missing = true;
    options_.max_bgerror_resume_count = 0;  // only a call resumes
    options_.env = env_.get();
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    EXPECT_OK(DB::Open(options_, "/db", &db_));
  }
  std::string State() {
    std::string text;
    EXPECT_TRUE(db_->GetProperty("ashlar.state", &text));
    return text;
  }
  bool Says(const std::string& line) {
    const bool says = ("\n" + State()).find("\n" + line) != std::string::npos;
    if (!says) ADD_FAILURE() << "no line begins with: " << line << "\n" << State();
    return says;
  }

  const std::shared_ptr<SimFS> sim_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(sim_);
  Options options_;
  std::unique_ptr<DB> db_;
};

class PropertiesTest : public testing::Test {
 protected:
  PropertiesTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.level_compaction_dynamic_level_bytes = false;
  }
  void Open() { ASSERT_OK(DB::Open(options_, "/db", &db_)); }
  void WriteTable(int first, int last, ColumnFamilyHandle* family = nullptr) {
    if (family == nullptr) family = db_->DefaultColumnFamily();
    for (int i = first; i <= last; i++) {
      ASSERT_OK(
          db_->Put(WriteOptions(), family, StrCat("key", 1000 + i), std::string(kValueBytes, 'v')));
    }
    ASSERT_OK(db_->Flush(FlushOptions(), family));
  }
  void CompactTo(int level) {
    CompactRangeOptions down;
    down.change_level = true;
    down.target_level = level;
    ASSERT_OK(db_->CompactRange(down, nullptr, nullptr));
  }
  uint64_t Number(const std::string& name) {
    uint64_t number = 0;
    EXPECT_TRUE(db_->GetIntProperty(name, &number)) << name;
    return number;
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
  const std::unique_ptr<Env> env_ = NewCompositeEnvOver(Env::Default(), SimFS::Create(), clock_);
  Options options_;
  std::unique_ptr<DB> db_;
};

constexpr const char* kOldestKeyTime = "rocksdb.estimate-oldest-key-time";
constexpr const char* kLiveData = "rocksdb.estimate-live-data-size";

}  // namespace

TEST_F(StateTest, ADatabaseAtRest) {
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
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
  ASSERT_OK(db_->Put(WriteOptions(), "k", "v"));
  const Snapshot* snapshot = db_->GetSnapshot();
  EXPECT_TRUE(Says("snapshots: 1 @1\n"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_TRUE(Says("family 0 default: version 2, 1 tables, logs from "));
  EXPECT_TRUE(Says("super version 3: memtables 2, version 2 with 1 tables\n"));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "k", &value));
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
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  plan.path_part = ".log";
  plan.mode = FaultMode::kOnce;
  plan.first_call = sim_->CallCount();
  sim_->AddFault(plan);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_FALSE(db_->Put(sync, "k", "v").ok());
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
  EXPECT_TRUE(IsRefused(kOldestKeyTime));  // nothing is in it
  int64_t now = 0;
  clock_->moved_by_seconds = -1000;
  ASSERT_OK(clock_->GetCurrentTime(&now));
  const auto begin = static_cast<uint64_t>(now);
  ASSERT_OK(db_->Put(WriteOptions(), "first", "v"));
  clock_->moved_by_seconds = -500;
  ASSERT_OK(db_->Put(WriteOptions(), "second", "v"));
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

// Compactions write tables of which nobody knows it.
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

TEST_F(PropertiesTest, WhatLiesOverNothingIsAlive) {
  Open();
  WriteTable(500, 500);
  CompactTo(2);
  WriteTable(1, 100);
  const uint64_t total = Number("rocksdb.total-sst-files-size");
  ASSERT_GT(total, 100 * kValueBytes);
  EXPECT_EQ(Number(kLiveData), total);  // not the deepest level's one entry
  WriteTable(50, 60);                   // over the others
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
    std::string all;
    EXPECT_TRUE(db_->GetProperty("rocksdb.cfstats", &all));
    return all.find(StrCat("\nBlob file count: ", text, "\n")) != std::string::npos;
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
  std::string ratio;
  ASSERT_TRUE(db_->GetProperty("rocksdb.compression-ratio-at-level0", &ratio));
  const double raw_bytes = 7 + 8 + kValueBytes;  // a key with its trailer, and a value
  EXPECT_NEAR(std::stod(ratio),
              raw_bytes / static_cast<double>(Number("rocksdb.total-sst-files-size")), 1e-6);
}

TEST_F(PropertiesTest, TablesThatOnlyReadersHoldCountAmongAll) {
  Open();
  WriteTable(1, 10);
  WriteTable(1, 10);
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  const uint64_t before = Number("rocksdb.total-sst-files-size");
  EXPECT_EQ(Number("rocksdb.live-sst-files-size"), before);
  std::unique_ptr<Iterator> reader(db_->NewIterator(ReadOptions()));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
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
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));  // writes all values again
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
  std::string text;
  ASSERT_TRUE(db_->GetProperty("rocksdb.cf-write-stall-stats", &text));
  EXPECT_EQ(text,
            "Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: 0, "
            "cf-l0-file-count-limit-stops-with-ongoing-compaction: 0, "
            "l0-file-count-limit-delays: 1, l0-file-count-limit-stops: 1, "
            "memtable-limit-delays: 0, memtable-limit-stops: 0, "
            "pending-compaction-bytes-delays: 0, pending-compaction-bytes-stops: 0, "
            "total-delays: 1, total-stops: 1\n");
  ASSERT_TRUE(db_->GetProperty("rocksdb.db-write-stall-stats", &text));
  EXPECT_EQ(text, "Write Stall (count): write-buffer-manager-limit-stops: 0\n");
}

// The hidden family of stored counters has no cache at all.
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
  ColumnFamilyHandle *same = nullptr, *own = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "same", &same));
  uint64_t bytes = 0;
  EXPECT_TRUE(db_->GetAggregatedIntProperty("rocksdb.block-cache-capacity", &bytes));
  EXPECT_EQ(bytes, kSharedBytes);
  use_cache(kOwnBytes);
  ASSERT_OK(db_->CreateColumnFamily(options_, "own", &own));
  EXPECT_TRUE(db_->GetAggregatedIntProperty("rocksdb.block-cache-capacity", &bytes));
  EXPECT_EQ(bytes, kSharedBytes + kOwnBytes);
  for (ColumnFamilyHandle* family : {same, own}) {
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  }
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
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "family", &family));
  WriteTable(1, 10, family);
  ASSERT_OK(db_->DropColumnFamily(family));
  std::string text;
  EXPECT_TRUE(db_->GetProperty(family, "rocksdb.levelstats", &text));
  EXPECT_NE(text.find("\n  0        1 "), std::string::npos) << text;
  uint64_t keys = 0, bytes = 0;
  EXPECT_TRUE(db_->GetIntProperty(family, "rocksdb.estimate-num-keys", &keys));
  EXPECT_EQ(keys, 10u);
  EXPECT_TRUE(db_->GetIntProperty(family, "rocksdb.total-sst-files-size", &bytes));
  EXPECT_GT(bytes, 10 * kValueBytes);
  EXPECT_TRUE(db_->GetIntProperty(family, "ashlar.seconds-until-slowdown", &keys));
  EXPECT_TRUE(db_->GetProperty(family, "ashlar.state", &text));
  std::map<std::string, std::string> map;
  EXPECT_TRUE(db_->GetMapProperty(family, "rocksdb.cfstats", &map));
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family, &metadata);
  EXPECT_EQ(metadata.file_count, 1u);
  EXPECT_EQ(metadata.size, bytes);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

}  // namespace ashlar
