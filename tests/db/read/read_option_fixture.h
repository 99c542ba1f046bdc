// SPDX-License-Identifier: Apache-2.0
//
// A database on several levels of which nothing is cached, and the results and file reads of reads
// with given options. Threads: one at a time.
#pragma once

#include <algorithm>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/read_recorder.h"
#include "tests/support/test_db.h"

namespace ashlar {

inline constexpr int kKeys = 400;

inline std::string Value(char c) { return std::string(500, c); }

// All keys are in several files of the last level. A table of level 0 has every tenth key and a
// range tombstone over Key(200) to Key(209). One key is in memory. Nothing is cached.
class ReadOptionFixture : public DbTest {
 protected:
  static std::string Key(int i) { return "key" + std::to_string(1000 + i); }

  ReadOptionFixture() {
    UseFiles(std::make_shared<RecordingFileSystem>(memory_, &recorder_));
    recorder_.ClaimAsync();
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.max_open_files = 100;  // tables are opened when they are needed
    options_.avoid_flush_during_shutdown = true;
    options_.target_file_size_base = 64 << 10;
    options_.prefix_extractor.reset(NewFixedPrefixTransform(6));
    options_.merge_operator = NewStockMergeOperator("stringappend");
    Open();
    for (int i = 0; i < kKeys; i++) Put(Key(i), Value('v'));
    Compact();
    for (int i = 0; i < kKeys; i += 10) Put(Key(i), Value('w'));
    DeleteRange(Key(200), Key(210));
    Flush();
    Reopen();
  }

  void Open() {
    BlockBasedTableOptions table;
    table.block_size = 1000;
    table.block_cache = NewLRUCache(8 << 20);
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.statistics = CreateDBStatistics();
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    DbTest::Open();
  }
  void Reopen() {
    Open();
    Put("in memory", "m");
    recorder_.Take();
    recorder_.TakeOpens();
  }
  // The value, or the text of the status.
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
  ReadOptions read_;
  Status scan_status_;  // of the last Scan()
};

}  // namespace ashlar
