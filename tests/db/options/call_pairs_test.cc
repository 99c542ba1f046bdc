// SPDX-License-Identifier: Apache-2.0
//
// Options of calls that exclude each other, or an option of the database: each pair is refused with
// a message that names both, or works (option_pairs_test.cc has those of the database alone).
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class CallPairsTest : public testing::Test {
 protected:
  CallPairsTest() {
    options_.env = env_.get();
    options_.create_if_missing = true;
  }
  void Open() {
    db_.reset();
    ASSERT_OK(DestroyDB("/db", options_));
    ASSERT_OK(DB::Open(options_, "/db", &db_));
    ASSERT_OK(db_->Put(WriteOptions(), "a", "1"));
  }
  static void ExpectRefused(const Status& status, const char* first, const char* second) {
    EXPECT_TRUE(status.IsInvalidArgument() || status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find(first), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(second), std::string::npos) << status.ToString();
  }
  Status Scan(const ReadOptions& read) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->SeekToFirst();
    return it->status();
  }

  const std::unique_ptr<Env> env_{NewMemEnv(Env::Default())};
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(CallPairsTest, SyncAndRateLimitsOfWritesAreRefusedWithoutALog) {
  Open();
  WriteOptions write;
  write.sync = write.disableWAL = true;
  ExpectRefused(db_->Put(write, "b", "1"), "sync", "disableWAL");
  write.sync = false;
  write.rate_limiter_priority = Env::IO_USER;
  ExpectRefused(db_->Put(write, "b", "1"), "rate_limiter_priority", "disableWAL");
  write.disableWAL = false;
  EXPECT_OK(db_->Put(write, "b", "1"));
  options_.manual_wal_flush = true;
  Open();
  ExpectRefused(db_->Put(write, "b", "1"), "rate_limiter_priority", "manual_wal_flush");
}

// Recovery goes on with the next log by its sequence number.
TEST_F(CallPairsTest, UnloggedWritesAreRefusedWhereLogsAreRecycled) {
  options_.recycle_log_file_num = 2;
  Open();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ExpectRefused(db_->Put(unlogged, "b", "1"), "disableWAL", "recycle_log_file_num");
}

TEST_F(CallPairsTest, ScansRefuseThePersistedTierAndTableFiltersBesideConversion) {
  Open();
  ReadOptions persisted;
  persisted.read_tier = kPersistedTier;
  ExpectRefused(Scan(persisted), "read_tier", "kPersistedTier");
  std::string value;
  EXPECT_OK(db_->Get(persisted, "a", &value));

  const std::function<bool(const TableProperties&)> all = [](const TableProperties&) {
    return true;
  };
  ReadOptions filtered;
  filtered.table_filter = &all;
  EXPECT_OK(Scan(filtered));
  options_.min_tombstones_for_range_conversion = 5;
  Open();
  ExpectRefused(Scan(filtered), "table_filter", "min_tombstones_for_range_conversion");
  EXPECT_OK(Scan(ReadOptions()));
}

// "Pinned" needs tables without delta encoding in RocksDB; here keys are copied where need be.
TEST_F(CallPairsTest, PinDataWorksWithAndWithoutDeltaEncoding) {
  for (const bool has_delta_encoding : {false, true}) {
    BlockBasedTableOptions table;
    table.use_delta_encoding = has_delta_encoding;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    for (int i = 0; i < 100; ++i) ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", i), "v"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    ReadOptions read;
    read.pin_data = true;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    std::vector<Slice> keys;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      std::string is_pinned;
      ASSERT_OK(it->GetProperty("rocksdb.iterator.is-key-pinned", &is_pinned));
      EXPECT_EQ(is_pinned, "1");
      keys.push_back(it->key());
    }
    ASSERT_EQ(keys.size(), 101u);
    for (size_t i = 1; i < keys.size(); ++i) EXPECT_LT(keys[i - 1].compare(keys[i]), 0);
  }
}

TEST_F(CallPairsTest, ThereAreNoSnapshotsWithUpdatesInPlace) {
  options_.inplace_update_support = true;
  options_.allow_concurrent_memtable_write = false;
  Open();
  EXPECT_EQ(db_->GetSnapshot(), nullptr);
}

TEST_F(CallPairsTest, IngestionsRefuseOptionsThatContradictEachOther) {
  Open();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/one.sst"));
  ASSERT_OK(writer.Put("k", "v"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions ingest;
  ingest.move_files = ingest.link_files = true;
  ExpectRefused(db_->IngestExternalFile({"/one.sst"}, ingest), "move_files", "link_files");
  ingest = IngestExternalFileOptions();
  ingest.ingest_behind = true;
  ExpectRefused(db_->IngestExternalFile({"/one.sst"}, ingest), "ingest_behind",
                "allow_ingest_behind");
  options_.allow_ingest_behind = true;
  Open();
  ingest.allow_db_generated_files = true;
  ExpectRefused(db_->IngestExternalFile({"/one.sst"}, ingest), "ingest_behind",
                "allow_db_generated_files");
  ingest.allow_db_generated_files = false;
  EXPECT_OK(db_->IngestExternalFile({"/one.sst"}, ingest));
}

TEST_F(CallPairsTest, SizesOfNeitherFilesNorMemTablesAreRefused) {
  Open();
  SizeApproximationOptions options;
  options.include_files = options.include_memtables = false;
  const Range range("a", "z");
  uint64_t size = 0;
  const Status status =
      db_->GetApproximateSizes(options, db_->DefaultColumnFamily(), &range, 1, &size);
  ExpectRefused(status, "include_files", "include_memtables");
}

}  // namespace
}  // namespace ashlar
