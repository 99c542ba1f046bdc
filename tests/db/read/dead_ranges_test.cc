// SPDX-License-Identifier: Apache-2.0
//
// Scans that replace many consecutive point tombstones by a range tombstone: when they do so, what
// the next scan steps over, and that reads return the same rows as before.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/explain.h"
#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_writer.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr int kDeadKeys = 200;

std::string DeadKey(int i) { return StrCat("key", 1000 + i); }

class DeadRangesTest : public DbTest {
 protected:
  DeadRangesTest() {
    options_.disable_auto_compactions = true;
    options_.min_tombstones_for_range_conversion = 50;
  }
  // 200 keys in tables, of which 100 are deleted, and one key in the memtable.
  void Open() {
    DbTest::Open();
    for (int i = 0; i < kDeadKeys; i++) Put(DeadKey(i), "1");
    Flush();
    for (int i = 50; i < 150; i++) Delete(DeadKey(i));
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
  Put(DeadKey(100), "again");
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

// A filter that leaves out the tables of the point tombstones would not leave out what they became.
TEST_F(DeadRangesTest, TableFiltersAreRefused) {
  Open();
  const std::function<bool(const TableProperties&)> all = [](const TableProperties&) {
    return true;
  };
  ReadOptions read;
  read.table_filter = &all;
  const auto names_both = [](const Status& status) {
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(status.ToString().find("table_filter"), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("min_tombstones_for_range_conversion"), std::string::npos);
  };
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  EXPECT_FALSE(it->Valid());
  names_both(it->status());
  std::vector<Iterator*> iterators;
  names_both(db_->NewIterators(read, {db_->DefaultColumnFamily()}, &iterators));
  EXPECT_TRUE(iterators.empty());
  ReadExplanation explanation;
  names_both(ExplainSeek(db_.get(), read, db_->DefaultColumnFamily(), "a", &explanation));
  std::string value;
  EXPECT_OK(db_->Get(read, "z", &value)) << "lookups know no filter";
}

// What was deleted key by key stays deleted, whatever its tombstones became and a flush made of it.
TEST_F(DeadRangesTest, HideFromReadersThatIgnoreRangeDeletions) {
  DbTest::Open();
  for (int i = 0; i < kDeadKeys; i++) Put(DeadKey(i), "1");
  ASSERT_OK(db_->Flush(FlushOptions()));
  for (int i = 50; i < 150; i++) ASSERT_OK(db_->Delete(WriteOptions(), DeadKey(i)));
  Scan();  // tombstones of keys and the one of their range are in one memtable
  ASSERT_OK(db_->Flush(FlushOptions()));
  ReadOptions read;
  read.ignore_range_deletions = true;
  int rows = 0;
  Scan(read, &rows);
  EXPECT_EQ(rows, 100);
  std::string value;
  EXPECT_TRUE(db_->Get(read, DeadKey(100), &value).IsNotFound());
  const std::string names[] = {DeadKey(49), DeadKey(100)};
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(read, {names[0], names[1]}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsNotFound());
}

// A file that goes behind everything may have keys that lie between the deleted ones.
TEST_F(DeadRangesTest, AreNotMadeWhereFilesMayGoBehind) {
  options_.allow_ingest_behind = true;
  Open();
  EXPECT_EQ(Scan(), 100u);
  Scan();
  Put("z", "2");
  Scan();
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/behind.sst"));
  ASSERT_OK(writer.Put(DeadKey(100), "deleted"));
  ASSERT_OK(writer.Put(DeadKey(100) + "x", "between"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  ASSERT_OK(db_->IngestExternalFile({"/behind.sst"}, behind));
  int rows = 0;
  Scan({}, &rows);
  EXPECT_EQ(rows, 102);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek(DeadKey(60));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), DeadKey(100) + "x");
}

// They do not see all there is as of now.
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
  const std::string bound = DeadKey(120);
  const Slice end(bound);
  ReadOptions read;
  read.iterate_upper_bound = &end;
  Scan(read);
  Put(DeadKey(119), "between");  // newer than the scan
  int rows = 0;
  EXPECT_LE(Scan({}, &rows), 31u);
  EXPECT_EQ(rows, 102);
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek(DeadKey(60));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), DeadKey(119));
}

// A table is not read beyond the bound, so the next key of the scan may be a far key of another
// run.
TEST_F(DeadRangesTest, ABoundIsNoLiveKey) {
  BlockBasedTableOptions table;
  table.block_size = 1;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  const std::string bound = DeadKey(149) + "x";
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
  Put(DeadKey(70), "newer");
  for (old->SeekToFirst(); old->Valid(); old->Next()) {
  }
  int rows = 0;
  EXPECT_EQ(Scan({}, &rows), 99u);
  EXPECT_EQ(rows, 102);
}

// Whatever scans leave, every view shows what was written: with bounds, both ways, within a prefix,
// as of a snapshot, and without the tombstones of ranges, of which the program has made none.
TEST_F(DeadRangesTest, NobodySeesAnythingElse) {
  options_.min_tombstones_for_range_conversion = 3;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(4));
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Random64 random(seed);
    DbTest::Open();
    Rows rows;
    std::vector<std::pair<const Snapshot*, Rows>> moments;
    const auto any_key = [&] { return DeadKey(static_cast<int>(random.Uniform(60))); };
    const auto compare = [&](ReadOptions read, const Rows& expected) {
      const std::string lower = any_key();
      const std::string bound = random.OneIn(2) ? lower + "~" : any_key();
      const Slice begin(lower), end(bound);
      Rows within = expected;
      if (random.OneIn(3)) {
        read.iterate_lower_bound = &begin;
        within.erase(within.begin(), within.lower_bound(lower));
      }
      if (random.OneIn(3)) {
        read.iterate_upper_bound = &end;
        within.erase(within.lower_bound(bound), within.end());
      }
      if (read.iterate_lower_bound != nullptr && read.iterate_upper_bound != nullptr &&
          bound < lower) {
        return;
      }
      Rows found;
      const std::unique_ptr<Iterator> it(db_->NewIterator(read));
      const bool is_forward = !random.OneIn(3);
      for (is_forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
           is_forward ? it->Next() : it->Prev()) {
        found[it->key().ToString()] = it->value().ToString();
      }
      EXPECT_OK(it->status());
      EXPECT_EQ(found, within);
      const std::string key = any_key();
      std::string value;
      const Status status = db_->Get(read, key, &value);
      EXPECT_EQ(status.ok() ? value : "none", expected.contains(key) ? expected.at(key) : "none");
    };
    for (int step = 0; step < 400 && !HasFailure(); ++step) {
      const std::string key = any_key(), value = StrCat(seed, ".", step);
      switch (random.Uniform(16)) {
        case 0:
        case 1:
        case 2: Put(key, rows[key] = value); break;
        case 3:
        case 4:
        case 5:
        case 6: {  // a row of them
          const int first = static_cast<int>(random.Uniform(60));
          for (int i = first; i < first + 6; ++i) {
            Delete(DeadKey(i));
            rows.erase(DeadKey(i));
          }
          break;
        }
        case 7: Flush(); break;
        case 8:
          if (random.OneIn(5)) Compact();
          break;
        case 9: {
          SstFileWriter writer(EnvOptions(), options_);
          ASSERT_OK(writer.Open("/outside.sst"));
          ASSERT_OK(writer.Put(key, rows[key] = value));
          ASSERT_OK(writer.Finish());
          ASSERT_OK(db_->IngestExternalFile({"/outside.sst"}, IngestExternalFileOptions()));
          break;
        }
        case 10:
          if (moments.size() == 3) {
            db_->ReleaseSnapshot(moments.front().first);
            moments.erase(moments.begin());
          }
          moments.emplace_back(db_->GetSnapshot(), rows);
          break;
        case 11: {
          if (moments.empty()) break;
          ReadOptions then;
          then.snapshot = moments[random.Uniform(moments.size())].first;
          for (const auto& [snapshot, expected] : moments) {
            if (snapshot == then.snapshot) compare(then, expected);
          }
          break;
        }
        case 12: {
          ReadOptions ignoring;
          ignoring.ignore_range_deletions = true;
          compare(ignoring, rows);
          break;
        }
        default: compare(ReadOptions(), rows);
      }
    }
    for (const auto& [snapshot, expected] : moments) db_->ReleaseSnapshot(snapshot);
    Close();
    ASSERT_OK(DestroyDB(dir_, options_));
  }
}

}  // namespace
}  // namespace ashlar
