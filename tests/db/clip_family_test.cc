// SPDX-License-Identifier: Apache-2.0
//
// DB::ClipColumnFamily: the rows of the range stay as they were; all others are gone for readers
// and from the files.
#include "ashlar/comparator.h"
#include "db/options/stock_merge_operators.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class ClipFamilyTest : public DbTest {
 protected:
  ClipFamilyTest() {
    options_.merge_operator = NewStringAppendOperator(",");
    options_.disable_auto_compactions = true;
    options_.target_file_size_base = 4 << 10;
  }
  static std::string Key(int i) { return StrCat("k", 100 + i); }

  // Three sorted runs and a memtable with values, operands and tombstones of both kinds, some of
  // them in the range and some outside.
  void Fill(ColumnFamilyHandle* handle) {
    for (int i = 0; i < 100; i++) Put(handle, Key(i), std::string(200, 'v'));
    Compact(handle);
    for (int i = 0; i < 100; i += 3) Merge(handle, Key(i), "op");
    for (int i = 1; i < 100; i += 10) Delete(handle, Key(i));
    Flush(handle);
    const bool is_reverse = handle->GetComparator() == ReverseBytewiseComparator();
    const auto delete_range = [&](int from, int to) {
      is_reverse ? DeleteRange(handle, Key(to), Key(from))
                 : DeleteRange(handle, Key(from), Key(to));
    };
    delete_range(2, 6);
    delete_range(28, 33);
    delete_range(90, 99);
    Flush(handle);
    for (int i = 5; i < 100; i += 7) Put(handle, Key(i), "new");
    delete_range(20, 22);
    ASSERT_OK(db_->SingleDelete(WriteOptions(), handle, Key(97)));
  }
  Rows RowsOf(const std::string& family) { return ReadAll()[family]; }
  // No file of the family holds a key outside of the range, not even a tombstone.
  void ExpectFilesWithin(ColumnFamilyHandle* handle, const std::string& begin,
                         const std::string& end) {
    const Comparator* const order = handle->GetComparator();
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(handle, &meta);
    for (const LevelMetaData& level : meta.levels) {
      for (const SstFileMetaData& file : level.files) {
        EXPECT_GE(order->Compare(file.smallestkey, begin), 0) << file.name;
        EXPECT_LE(order->Compare(file.largestkey, end), 0) << file.name;
      }
    }
    EXPECT_EQ(meta.levels[0].files.size(), 0u);
  }
};

TEST_F(ClipFamilyTest, LeavesTheRangeAlone) {
  Open({"default", "second"});
  for (ColumnFamilyHandle* handle : handles_) Fill(handle);
  const Rows before = RowsOf("default");
  Rows inside = before;
  inside.erase(inside.begin(), inside.lower_bound(Key(10)));
  inside.erase(inside.lower_bound(Key(40)), inside.end());
  ASSERT_OK(db_->ClipColumnFamily(handles_[0], Key(10), Key(40)));
  EXPECT_EQ(RowsOf("default"), inside);
  EXPECT_EQ(RowsOf("second"), before);
  ExpectFilesWithin(handles_[0], Key(10), Key(40));
  Reopen();
  EXPECT_EQ(RowsOf("default"), inside);
  Put(Key(60), "later");
  inside[Key(60)] = "later";
  EXPECT_EQ(RowsOf("default"), inside);
}

TEST_F(ClipFamilyTest, WorksInAnyOrder) {
  options_.comparator = ReverseBytewiseComparator();
  Open({"default"});
  Fill(handles_[0]);
  Rows inside = RowsOf("default");
  ASSERT_OK(db_->ClipColumnFamily(handles_[0], Key(60), Key(30)));
  inside.erase(inside.upper_bound(Key(60)), inside.end());
  inside.erase(inside.begin(), inside.upper_bound(Key(30)));
  EXPECT_EQ(RowsOf("default"), inside);
  ExpectFilesWithin(handles_[0], Key(60), Key(30));
}

TEST_F(ClipFamilyTest, MayLeaveNothingOrEverything) {
  Open({"default"});
  ASSERT_OK(db_->ClipColumnFamily(handles_[0], "a", "z"));  // of an empty family
  Fill(handles_[0]);
  const Rows before = RowsOf("default");
  ASSERT_OK(db_->ClipColumnFamily(handles_[0], "a", "z"));
  EXPECT_EQ(RowsOf("default"), before);
  ASSERT_OK(db_->ClipColumnFamily(handles_[0], "x", "x"));
  EXPECT_EQ(RowsOf("default"), Rows());
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(handles_[0], &meta);
  EXPECT_EQ(meta.file_count, 0u);
}

TEST_F(ClipFamilyTest, ASnapshotSeesWhatWasThere) {
  Open({"default"});
  Fill(handles_[0]);
  const std::string before = Get(Key(50));
  EXPECT_NE(before, "(none)");
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_OK(db_->ClipColumnFamily(handles_[0], Key(10), Key(40)));
  EXPECT_EQ(Get(Key(50), AsOf(snapshot)), before);
  EXPECT_EQ(Get(Key(50)), "(none)");
  db_->ReleaseSnapshot(snapshot);
}

// A table that has only the tombstone of the first or the last key is dropped as a whole, but not
// the table with the key.
TEST_F(ClipFamilyTest, DeletedKeysAtTheEndsDoNotComeBack) {
  Open({"default"});
  for (const char* const key : {"a", "b", "m", "n", "y", "z"}) Put(key);
  Compact();
  for (const char* const key : {"a", "z"}) {
    Delete(key);
    Flush();
  }
  ASSERT_OK(db_->PromoteL0(handles_[0], 1));
  ASSERT_EQ(Tree(), "L1 a-a z-z L6 a-z");
  ASSERT_OK(db_->ClipColumnFamily(handles_[0], "m", "y"));
  EXPECT_EQ(Scan(), "m=v n=v");
  EXPECT_EQ(Get("a"), "(none)");
  EXPECT_EQ(Get("z"), "(none)");
}

TEST_F(ClipFamilyTest, AReversedRangeIsRefused) {
  Open({"default"});
  Fill(handles_[0]);
  const Rows before = RowsOf("default");
  EXPECT_TRUE(db_->ClipColumnFamily(handles_[0], "z", "a").IsInvalidArgument());
  EXPECT_EQ(RowsOf("default"), before);
}

}  // namespace
}  // namespace ashlar
