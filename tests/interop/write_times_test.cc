// SPDX-License-Identifier: Apache-2.0
//
// Times of sequence numbers between our engine and RocksDB, which opens the same directory with the
// same options: each continues with what the tables of the other know. Skipped if RocksDB's tools
// are not installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/table_properties.h"
#include "db/output/seqno_times.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class WriteTimes78 : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasProgram("ldb") || !HasProgram("sst_dump")) return SkipAsMissing("ldb of RocksDB");
    char dir[] = "/tmp/write_times_XXXXXX";
    dir_ = mkdtemp(dir);
    options_.create_if_missing = true;
    options_.compression = kNoCompression;
    options_.write_compatible_with = "7.8";
    options_.preserve_internal_time_seconds = 1'000'000;
  }
  ~WriteTimes78() override {
    db_.reset();
    if (!dir_.empty()) std::filesystem::remove_all(dir_);
  }
  void Open() { ASSERT_OK(DB::Open(options_, dir_ + "/db", &db_)); }
  std::string Ldb(const std::string& command) {
    return RunCommand("ldb --db=" + dir_ + "/db --try_load_options " + command);
  }
  // The only table.
  LiveFileMetaData OnlyTable() {
    std::vector<LiveFileMetaData> tables;
    db_->GetLiveFilesMetaData(&tables);
    EXPECT_EQ(tables.size(), 1u);
    return tables.empty() ? LiveFileMetaData() : tables.front();
  }
  std::string Property() {
    TablePropertiesCollection properties;
    EXPECT_OK(db_->GetPropertiesOfAllTables(&properties));
    EXPECT_EQ(properties.size(), 1u);
    return properties.empty() ? "" : properties.begin()->second->seqno_to_time_mapping;
  }

  std::string dir_;
  Options options_;
  std::unique_ptr<DB> db_;
};

}  // namespace

TEST_F(WriteTimes78, RocksDbShowsAndKeepsOurs) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "a", "ours"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  const std::string path = dir_ + "/db" + OnlyTable().name;
  const std::string ours = Property();
  EXPECT_FALSE(ours.empty());
  db_.reset();
  const std::string shown = RunCommand("sst_dump --show_properties --command=none --file=" + path);
  EXPECT_NE(shown.find("equence number to time mapping"), std::string::npos) << shown;
  EXPECT_EQ(Ldb("put b theirs"), "OK\n");
  Ldb("compact");
  EXPECT_EQ(Ldb("scan"), "a : ours\nb : theirs\n");
  Open();
  SeqnoTimes times;
  EXPECT_OK(times.MergeEncoded(Property()));
  EXPECT_FALSE(times.empty());
  EXPECT_EQ(OnlyTable().smallest_seqno, 1u);  // young, so it has kept its number
}

TEST_F(WriteTimes78, WeKeepThoseOfRocksDb) {
  Open();  // writes the OPTIONS file
  db_.reset();
  EXPECT_EQ(Ldb("put a theirs"), "OK\n");
  Ldb("compact");
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "b", "ours"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
  SeqnoTimes times;
  EXPECT_OK(times.MergeEncoded(Property()));
  EXPECT_FALSE(times.empty());
  EXPECT_GT(OnlyTable().largest_seqno, 0u);
}

}  // namespace ashlar
