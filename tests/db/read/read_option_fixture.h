// SPDX-License-Identifier: Apache-2.0
//
// A database on several levels of which nothing is cached, and what a read of it with some options
// shows and asks of the file system. Threads: one at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/read_recorder.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

inline constexpr int kKeys = 400;

inline std::string Key(int i) { return "key" + std::to_string(1000 + i); }
inline std::string Value(char c) { return std::string(500, c); }

// A last level of several files with all keys, a table of level 0 with every tenth one and a range
// tombstone over Key(200) to Key(209), and a key in memory. Nothing is cached.
class ReadOptionFixture : public testing::Test {
 protected:
  ReadOptionFixture() {
    recorder_.ClaimAsync();
    Open();
    for (int i = 0; i < kKeys; i++) Put(Key(i), Value('v'));
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    for (int i = 0; i < kKeys; i += 10) Put(Key(i), Value('w'));
    EXPECT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), Key(200), Key(210)));
    EXPECT_OK(db_->Flush(FlushOptions()));
    Reopen();
  }

  void Open() {
    BlockBasedTableOptions table;
    table.block_size = 1000;
    table.block_cache = NewLRUCache(8 << 20);
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.compression = kNoCompression;
    options.max_open_files = 100;  // tables are opened when they are needed
    options.avoid_flush_during_shutdown = true;
    options.target_file_size_base = 64 << 10;
    options.prefix_extractor.reset(NewFixedPrefixTransform(6));
    options.merge_operator = NewStockMergeOperator("stringappend");
    options.statistics = CreateDBStatistics();
    statistics_ = options.statistics;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    ASSERT_OK(DB::Open(options, "/db", &db_));
  }
  void Reopen() {
    db_.reset();
    Open();
    Put("in memory", "m");
    recorder_.Take();
    recorder_.TakeOpens();
  }
  void Put(const std::string& key, const std::string& value) {
    EXPECT_OK(db_->Put(WriteOptions(), key, value));
  }
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(read_, key, &value);
    return status.ok() ? value : status.ToString();
  }
  std::vector<Status> MultiGet(const std::vector<std::string>& names) {
    std::vector<std::string> values;
    return db_->MultiGet(read_, std::vector<Slice>(names.begin(), names.end()), &values);
  }
  std::unique_ptr<Iterator> NewIterator() {
    return std::unique_ptr<Iterator>(db_->NewIterator(read_));
  }
  // How many keys a scan shows; -1 if it fails.
  int Scan() {
    const auto it = NewIterator();
    int shown = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++shown;
    scan_status_ = it->status();
    return scan_status_.ok() ? shown : -1;
  }
  int TablesOnDisk() {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren("/db", &names));
    return static_cast<int>(std::count_if(names.begin(), names.end(), [](const std::string& name) {
      return name.ends_with(".sst");
    }));
  }
  uint64_t Take(Tickers ticker) { return statistics_->getAndResetTickerCount(ticker); }

  // The reads of a scan that is not cached.
  std::vector<ReadRecorder::Read> ReadsOfScan() {
    read_.fill_cache = false;
    recorder_.Take();
    EXPECT_GT(Scan(), 0) << scan_status_.ToString();
    return recorder_.Take();
  }
  static size_t Longest(const std::vector<ReadRecorder::Read>& reads) {
    size_t longest = 0;
    for (const auto& read : reads) longest = std::max(longest, read.n);
    return longest;
  }

  ReadRecorder recorder_;
  const std::unique_ptr<Env> memory_{NewMemEnv(Env::Default())};
  const std::unique_ptr<Env> env_{
      NewCompositeEnv(std::make_shared<RecordingFileSystem>(memory_->GetFileSystem(), &recorder_))};
  std::shared_ptr<Statistics> statistics_;
  std::unique_ptr<DB> db_;
  ReadOptions read_;
  Status scan_status_;  // of the last Scan()
};

}  // namespace ashlar
