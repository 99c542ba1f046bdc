// SPDX-License-Identifier: Apache-2.0
//
// Scans that replace many consecutive point tombstones by a range tombstone: when they do so, what
// the next scan steps over, and that reads return the same rows as before.
#include <functional>

#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "tests/support/test_db.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

constexpr int kKeys = 200;

std::string KeyAt(int i) { return StrCat("key", 1000 + i); }

class DeadRangesTest : public DbTest {
 protected:
  DeadRangesTest() {
    options_.disable_auto_compactions = true;
    options_.min_tombstones_for_range_conversion = 50;
  }
  // 200 keys in tables, of which 100 are deleted, and one key in the memtable.
  void Open() {
    DbTest::Open();
    for (int i = 0; i < kKeys; i++) Put(KeyAt(i), "1");
    Flush();
    for (int i = 50; i < 150; i++) Delete(KeyAt(i));
    Flush();
    Put("z", "1");
  }
  // How many tombstones a full scan steps over.
  uint64_t Scan(const ReadOptions& read = {}, int* rows = nullptr) {
    get_perf_context()->Reset();
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
    EXPECT_OK(it->status());
    if (rows != nullptr) *rows = count;
    return get_perf_context()->internal_delete_skipped_count;
  }
};

TEST_F(DeadRangesTest, TheSecondScanStepsOverNone) {
  Open();
  const Snapshot* const before = db_->GetSnapshot();
  int rows = 0;
  EXPECT_EQ(Scan({}, &rows), 100u);
  EXPECT_EQ(rows, 101);
  const SequenceNumber number = db_->GetLatestSequenceNumber();
  EXPECT_EQ(Scan({}, &rows), 0u);
  EXPECT_EQ(rows, 101);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), number) << "the tombstone takes no sequence number";
  Put(KeyAt(100), "again");
  EXPECT_EQ(Scan({}, &rows), 0u);
  EXPECT_EQ(rows, 102);
  Scan(AsOf(before), &rows);
  EXPECT_EQ(rows, 101);
  db_->ReleaseSnapshot(before);
  Flush();
  EXPECT_EQ(Scan({}, &rows), 0u) << "the tombstone is flushed like any other";
  EXPECT_EQ(rows, 102);
  Reopen();
  Scan({}, &rows);
  EXPECT_EQ(rows, 102);
}

TEST_F(DeadRangesTest, FewTombstonesAreLeftAlone) {
  options_.min_tombstones_for_range_conversion = 101;
  Open();
  EXPECT_EQ(Scan(), 100u);
  EXPECT_EQ(Scan(), 100u);
}

// These scans do not see all entries of the current state.
TEST_F(DeadRangesTest, SomeScansLeaveNothing) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(4));
  Open();
  ReadOptions read;
  read.prefix_same_as_start = true;
  EXPECT_EQ(Scan(read), 100u);
  read.prefix_same_as_start = false;
  read.auto_prefix_mode = true;
  EXPECT_EQ(Scan(read), 100u);
  read.auto_prefix_mode = false;
  read.snapshot = db_->GetSnapshot();
  EXPECT_EQ(Scan(read), 100u);
  db_->ReleaseSnapshot(read.snapshot);
  read.snapshot = nullptr;
  const std::function<bool(const TableProperties&)> all = [](const TableProperties&) {
    return true;
  };
  read.table_filter = &all;
  EXPECT_EQ(Scan(read), 100u);
  read.table_filter = nullptr;
  read.ignore_range_deletions = true;
  EXPECT_EQ(Scan(read), 100u);
  read.ignore_range_deletions = false;
  Flush();
  EXPECT_EQ(Scan(read), 100u) << "the memtable is empty";
  Put("z", "2");
  EXPECT_EQ(Scan(read), 100u);
  EXPECT_EQ(Scan(read), 0u);
}

// The scan ended at a bound, so keys after the last tombstone before it are not covered.
TEST_F(DeadRangesTest, NothingBehindTheLastTombstoneIsTouched) {
  Open();
  const std::string bound = KeyAt(120);
  const Slice end(bound);
  ReadOptions read;
  read.iterate_upper_bound = &end;
  Scan(read);
  Put(KeyAt(119), "between");  // newer than the scan
  int rows = 0;
  EXPECT_LE(Scan({}, &rows), 31u);
  EXPECT_EQ(rows, 102);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek(KeyAt(60));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), KeyAt(119));
}

// A table is not read beyond the bound, so the next key of the scan may be a far key of another
// run.
TEST_F(DeadRangesTest, ABoundIsNoLiveKey) {
  BlockBasedTableOptions table;
  table.block_size = 1;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  const std::string bound = KeyAt(149) + "x";
  const Slice end(bound);
  ReadOptions read;
  read.iterate_upper_bound = &end;
  int rows = 0;
  EXPECT_EQ(Scan(read, &rows), 100u);
  EXPECT_EQ(rows, 50);
  EXPECT_EQ(Scan(read, &rows), 1u) << "all but the last are covered";
  EXPECT_EQ(Scan({}, &rows), 1u);
  EXPECT_EQ(rows, 101);
}

// An iterator that was created before the memtable was sealed writes nothing to the next one.
TEST_F(DeadRangesTest, AnOlderViewLeavesNothing) {
  Open();
  const std::unique_ptr<Iterator> old(db_->NewIterator(ReadOptions()));
  Flush();
  Put(KeyAt(70), "newer");
  for (old->SeekToFirst(); old->Valid(); old->Next()) {
  }
  int rows = 0;
  EXPECT_EQ(Scan({}, &rows), 99u);
  EXPECT_EQ(rows, 102);
}

}  // namespace
}  // namespace ashlar
