// SPDX-License-Identifier: Apache-2.0
//
// Fields of ReadOptions for Get, MultiGet and iterators: which reads of files they allow, and until
// when. Bounds, prefixes and table filters are tested with the iterators.
#include <algorithm>
#include <chrono>

#include "ashlar/cache.h"
#include "ashlar/snapshot.h"
#include "tests/support/read_recorder.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;

constexpr int kKeys = 200;

class ReadOptionsTest : public DbTest {
 protected:
  // Two tables, the upper one with every tenth key, and one key in memory.
  ReadOptionsTest() {
    UseFiles(std::make_shared<RecordingFileSystem>(memory_, &recorder_));
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.max_open_files = 100;  // tables are opened when they are needed
    options_.avoid_flush_during_shutdown = true;
    Open();
    for (int i = 0; i < kKeys; i++) Put(Key(i), std::string(500, 'v'));
    Compact();
    for (int i = 0; i < kKeys; i += 10) Put(Key(i), std::string(500, 'w'));
    Flush();
    Reopen();
    Put("in memory", "m");
  }

  void Open() {
    BlockBasedTableOptions table;
    table.block_size = 1000;
    table.block_cache = NewLRUCache(8 << 20);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    DbTest::Open();
  }
  // With empty caches.
  void Reopen() {
    Open();
    recorder_.Take();
    recorder_.TakeOpens();
  }
  Status Get(const ReadOptions& options, const std::string& key) {
    std::string value;
    return db_->Get(options, key, &value);
  }
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<std::string>& names) {
    std::vector<std::string> values;
    return db_->MultiGet(options, std::vector<Slice>(names.begin(), names.end()), &values);
  }
  // The status at the end of a scan, and how many keys it showed.
  Status Scan(const ReadOptions& options, int* count = nullptr) {
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(options));
    int shown = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++shown;
    if (count != nullptr) *count = shown;
    return iterator->status();
  }
  static ReadOptions WithDeadline(microseconds deadline) {
    ReadOptions options;
    options.deadline = deadline;
    return options;
  }
  microseconds Now() const { return microseconds(Env::Default()->NowMicros()); }

  ReadRecorder recorder_;
};

TEST_F(ReadOptionsTest, FillCacheDecidesWhetherBlocksStay) {
  const std::vector<std::string> names = {Key(3), Key(55), Key(120)};
  for (const bool fill_cache : {false, true}) {
    ReadOptions options;
    options.fill_cache = fill_cache;
    for (int round = 0; round < 3; round++) {
      recorder_.Take();
      EXPECT_OK(Get(options, Key(77)));
      EXPECT_EQ(recorder_.Take().empty(), fill_cache && round > 0);
      for (const Status& status : MultiGet(options, names)) EXPECT_OK(status);
      EXPECT_EQ(recorder_.Take().empty(), fill_cache && round > 0);
      EXPECT_OK(Scan(options));
      EXPECT_EQ(recorder_.Take().empty(), fill_cache && round > 0);
    }
  }
}

TEST_F(ReadOptionsTest, MemoryOnlyOpensAndReadsNothing) {
  ReadOptions options;
  options.read_tier = kBlockCacheTier;
  EXPECT_OK(Get(options, "in memory"));
  EXPECT_TRUE(Get(options, Key(5)).IsIncomplete());
  const std::vector<Status> statuses = MultiGet(options, {"in memory", Key(5), Key(10), "x"});
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsIncomplete());
  EXPECT_TRUE(statuses[2].IsIncomplete());
  EXPECT_TRUE(Scan(options).IsIncomplete());
  std::string value;
  EXPECT_TRUE(db_->KeyMayExist(options, Key(5), &value));
  EXPECT_EQ(recorder_.TakeOpens(), 0);
  EXPECT_TRUE(recorder_.Take().empty());

  EXPECT_OK(Get(ReadOptions(), Key(5)));  // now the tables are open and one block is cached
  recorder_.Take();
  recorder_.TakeOpens();
  EXPECT_OK(Get(options, Key(5)));
  EXPECT_TRUE(Get(options, Key(105)).IsIncomplete());
  EXPECT_EQ(recorder_.TakeOpens(), 0);
  EXPECT_TRUE(recorder_.Take().empty());
}

TEST_F(ReadOptionsTest, ADeadlineEndsReadingFromFilesOnly) {
  const ReadOptions late = WithDeadline(microseconds(1));
  for (const bool is_open : {false, true}) {
    if (is_open) {
      EXPECT_OK(Get(ReadOptions(), Key(5)));
    }
    recorder_.Take();
    recorder_.TakeOpens();
    EXPECT_OK(Get(late, "in memory"));
    EXPECT_TRUE(Get(late, Key(105)).IsTimedOut());
    const std::vector<Status> statuses = MultiGet(late, {Key(105), "in memory", Key(150), Key(5)});
    EXPECT_TRUE(statuses[0].IsTimedOut()) << statuses[0].ToString();
    EXPECT_OK(statuses[1]);
    EXPECT_TRUE(statuses[2].IsTimedOut());
    EXPECT_EQ(statuses[3].ok(), is_open);
    EXPECT_TRUE(Scan(late).IsTimedOut());
    EXPECT_EQ(recorder_.TakeOpens(), 0);
    EXPECT_TRUE(recorder_.Take().empty());
  }
}

TEST_F(ReadOptionsTest, ADeadlineInTimeChangesNothing) {
  const ReadOptions in_time = WithDeadline(Now() + hours(10));
  EXPECT_OK(Get(in_time, Key(105)));
  for (const Status& status : MultiGet(in_time, {Key(1), Key(60), Key(190)})) EXPECT_OK(status);
  int count = 0;
  EXPECT_OK(Scan(in_time, &count));
  EXPECT_EQ(count, kKeys + 1);
}

// Each read of a file gets a timeout from the options.
TEST_F(ReadOptionsTest, EachReadIsToldItsTime) {
  EXPECT_OK(Get(ReadOptions(), Key(5)));
  const auto check = [this](const ReadOptions& options, microseconds low, microseconds high) {
    recorder_.Take();
    EXPECT_OK(Get(options, Key(105)));
    for (const Status& status : MultiGet(options, {Key(1), Key(60), Key(190)})) EXPECT_OK(status);
    EXPECT_OK(Scan(options));
    const auto reads = recorder_.Take();
    EXPECT_GE(reads.size(), 5u);
    for (const auto& read : reads) {
      EXPECT_GE(read.timeout, low);
      EXPECT_LE(read.timeout, high);
    }
  };
  ReadOptions options;
  options.fill_cache = false;
  check(options, microseconds(0), microseconds(0));
  options.io_timeout = hours(2);
  check(options, hours(2), hours(2));
  options.deadline = Now() + hours(1);
  check(options, microseconds(1), hours(1));
  options.deadline = Now() + hours(9);
  check(options, hours(2), hours(2));
}

TEST_F(ReadOptionsTest, ReadaheadSizeIsReadInOneGo) {
  ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 32 << 10;
  recorder_.Take();
  EXPECT_OK(Scan(options));
  size_t longest = 0;
  for (const auto& read : recorder_.Take()) longest = std::max(longest, read.n);
  EXPECT_GE(longest, size_t{32} << 10);
}

TEST_F(ReadOptionsTest, AsyncIoFetchesTheNextPieceMeanwhile) {
  EXPECT_OK(Scan(ReadOptions()));
  for (const size_t readahead_size : {0, 16 << 10}) {
    for (const bool async_io : {false, true}) {
      ReadOptions options;
      options.fill_cache = false;
      options.async_io = async_io;
      options.readahead_size = readahead_size;
      Reopen();
      EXPECT_OK(Scan(options));
      uint64_t fetched_end = 0;
      int fetches = 0, hits = 0;
      for (const auto& read : recorder_.Take()) {
        hits += !read.is_prefetch && read.offset < fetched_end && read.offset > 0 ? 1 : 0;
        fetches += read.is_prefetch ? 1 : 0;
        if (read.is_prefetch) fetched_end = read.offset + read.n;
      }
      EXPECT_EQ(fetches > 0, async_io) << readahead_size;
      EXPECT_EQ(hits > 0, async_io) << readahead_size;
    }
  }
}

TEST_F(ReadOptionsTest, TooManyHiddenEntriesEndAScan) {
  for (int i = 50; i < 80; i++) Delete(Key(i));
  ReadOptions options;
  options.max_skippable_internal_keys = 10;
  int count = 0;
  EXPECT_TRUE(Scan(options, &count).IsIncomplete());
  EXPECT_EQ(count, 51);  // with the key in memory
  options.max_skippable_internal_keys = 100;
  EXPECT_OK(Scan(options, &count));
  EXPECT_EQ(count, kKeys - 30 + 1);
}

TEST_F(ReadOptionsTest, PropertiesOfAnIteratorNeedAPlace) {
  for (const bool pins : {false, true}) {
    ReadOptions options;
    options.pin_data = pins;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->SeekToFirst();
    for (const char* name :
         {"rocksdb.iterator.is-key-pinned", "rocksdb.iterator.super-version-number",
          "rocksdb.iterator.internal-key", "rocksdb.iterator.write-time", "ashlar.address", "?"}) {
      EXPECT_TRUE(it->GetProperty(name, nullptr).IsInvalidArgument()) << name << " " << pins;
    }
  }
}

TEST_F(ReadOptionsTest, TheTimeOfAnEntryIsUnknown) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  std::string time = "before";
  EXPECT_TRUE(it->GetProperty("rocksdb.iterator.write-time", &time).IsInvalidArgument());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  ASSERT_OK(it->GetProperty("rocksdb.iterator.write-time", &time));
  EXPECT_EQ(time, std::string(8, '\xff'));
}

TEST_F(ReadOptionsTest, AnIteratorRefreshesItselfUnderItsSnapshot) {
  for (const bool refreshes : {false, true}) {
    const Snapshot* const snapshot = db_->GetSnapshot();
    ReadOptions options;
    options.snapshot = snapshot;
    options.auto_refresh_iterator_with_snapshot = refreshes;
    {
      const std::unique_ptr<Iterator> iterator(db_->NewIterator(options));
      iterator->Seek(Key(0));
      std::string before, after;
      ASSERT_OK(iterator->GetProperty("rocksdb.iterator.super-version-number", &before));
      Put(Key(0), "new");
      Put(Key(0) + "x", "new");
      Flush();
      Compact();
      iterator->Seek(Key(0));
      ASSERT_TRUE(iterator->Valid());
      EXPECT_EQ(iterator->value(), std::string(500, 'w'));
      iterator->Next();
      ASSERT_TRUE(iterator->Valid());
      EXPECT_EQ(iterator->key(), Key(1));
      ASSERT_OK(iterator->GetProperty("rocksdb.iterator.super-version-number", &after));
      EXPECT_EQ(before != after, refreshes);
    }
    db_->ReleaseSnapshot(snapshot);
    Delete(Key(0) + "x");
    Put(Key(0), std::string(500, 'w'));
  }
}

}  // namespace
}  // namespace ashlar
