// SPDX-License-Identifier: Apache-2.0
//
// DB::ClipColumnFamily: the range is left as it was, and nothing else, neither to readers nor in
// files.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "db/options/stock_merge_operators.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class ClipFamilyTest : public testing::Test {
 protected:
  ClipFamilyTest() {
    options_.create_if_missing = true;
    options_.env = env_.get();
    options_.merge_operator = NewStringAppendOperator(",");
    options_.disable_auto_compactions = true;
    options_.target_file_size_base = 4 << 10;
  }
  void Open() {
    db_ = std::make_unique<OpenedDb>();
    ASSERT_OK(db_->Open(options_, "/db"));
  }
  DB* db() { return db_->db(); }
  static std::string Key(int i) { return StrCat("k", 100 + i); }

  // Three sorted runs and a memtable: values, operands, tombstones of both kinds, in and outside.
  void Fill(ColumnFamilyHandle* handle) {
    const WriteOptions write;
    for (int i = 0; i < 100; i++) {
      ASSERT_OK(db()->Put(write, handle, Key(i), std::string(200, 'v')));
    }
    ASSERT_OK(db()->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr));
    for (int i = 0; i < 100; i += 3) ASSERT_OK(db()->Merge(write, handle, Key(i), "op"));
    for (int i = 1; i < 100; i += 10) ASSERT_OK(db()->Delete(write, handle, Key(i)));
    ASSERT_OK(db()->Flush(FlushOptions(), handle));
    const bool is_reverse = handle->GetComparator() == ReverseBytewiseComparator();
    const auto delete_range = [&](int from, int to) {
      return is_reverse ? db()->DeleteRange(write, handle, Key(to), Key(from))
                        : db()->DeleteRange(write, handle, Key(from), Key(to));
    };
    ASSERT_OK(delete_range(2, 6));
    ASSERT_OK(delete_range(28, 33));
    ASSERT_OK(delete_range(90, 99));
    ASSERT_OK(db()->Flush(FlushOptions(), handle));
    for (int i = 5; i < 100; i += 7) ASSERT_OK(db()->Put(write, handle, Key(i), "new"));
    ASSERT_OK(delete_range(20, 22));
    ASSERT_OK(db()->SingleDelete(write, handle, Key(97)));
  }
  Rows RowsOf(const std::string& family) {
    Contents contents;
    EXPECT_OK(db_->ReadAll(&contents));
    return contents[family];
  }
  // No file of the family holds a key outside, be it deleted.
  void ExpectFilesWithin(ColumnFamilyHandle* handle, const std::string& begin,
                         const std::string& end) {
    const Comparator* const order = handle->GetComparator();
    ColumnFamilyMetaData meta;
    db()->GetColumnFamilyMetaData(handle, &meta);
    for (const LevelMetaData& level : meta.levels) {
      for (const SstFileMetaData& file : level.files) {
        EXPECT_GE(order->Compare(file.smallestkey, begin), 0) << file.name;
        EXPECT_LE(order->Compare(file.largestkey, end), 0) << file.name;
      }
    }
    EXPECT_EQ(meta.levels[0].files.size(), 0u);
  }

  const std::shared_ptr<SimFS> fs_ = SimFS::Create();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
  Options options_;
  std::unique_ptr<OpenedDb> db_;
};

TEST_F(ClipFamilyTest, LeavesTheRangeAlone) {
  Open();
  ASSERT_OK(db_->CreateFamily(options_, "second"));
  for (ColumnFamilyHandle* handle : db_->handles()) Fill(handle);
  const Rows before = RowsOf("default");
  Rows inside = before;
  inside.erase(inside.begin(), inside.lower_bound(Key(10)));
  inside.erase(inside.lower_bound(Key(40)), inside.end());
  ASSERT_OK(db()->ClipColumnFamily(db_->handles()[0], Key(10), Key(40)));
  EXPECT_EQ(RowsOf("default"), inside);
  EXPECT_EQ(RowsOf("second"), before);
  ExpectFilesWithin(db_->handles()[0], Key(10), Key(40));
  Open();
  EXPECT_EQ(RowsOf("default"), inside);
  ASSERT_OK(db()->Put(WriteOptions(), Key(60), "later"));
  inside[Key(60)] = "later";
  EXPECT_EQ(RowsOf("default"), inside);
}

TEST_F(ClipFamilyTest, WorksInAnyOrder) {
  options_.comparator = ReverseBytewiseComparator();
  Open();
  Fill(db_->handles()[0]);
  Rows inside = RowsOf("default");
  ASSERT_OK(db()->ClipColumnFamily(db_->handles()[0], Key(60), Key(30)));
  inside.erase(inside.upper_bound(Key(60)), inside.end());
  inside.erase(inside.begin(), inside.upper_bound(Key(30)));
  EXPECT_EQ(RowsOf("default"), inside);
  ExpectFilesWithin(db_->handles()[0], Key(60), Key(30));
}

TEST_F(ClipFamilyTest, MayLeaveNothingOrEverything) {
  Open();
  ASSERT_OK(db()->ClipColumnFamily(db_->handles()[0], "a", "z"));  // of an empty one
  Fill(db_->handles()[0]);
  const Rows before = RowsOf("default");
  ASSERT_OK(db()->ClipColumnFamily(db_->handles()[0], "a", "z"));
  EXPECT_EQ(RowsOf("default"), before);
  ASSERT_OK(db()->ClipColumnFamily(db_->handles()[0], "x", "x"));
  EXPECT_EQ(RowsOf("default"), Rows());
  ColumnFamilyMetaData meta;
  db()->GetColumnFamilyMetaData(db_->handles()[0], &meta);
  EXPECT_EQ(meta.file_count, 0u);
}

TEST_F(ClipFamilyTest, ASnapshotSeesWhatWasThere) {
  Open();
  Fill(db_->handles()[0]);
  std::string before;
  ASSERT_OK(db()->Get(ReadOptions(), Key(50), &before));
  ReadOptions then;
  then.snapshot = db()->GetSnapshot();
  ASSERT_OK(db()->ClipColumnFamily(db_->handles()[0], Key(10), Key(40)));
  std::string value;
  ASSERT_OK(db()->Get(then, Key(50), &value));
  EXPECT_EQ(value, before);
  EXPECT_TRUE(db()->Get(ReadOptions(), Key(50), &value).IsNotFound());
  db()->ReleaseSnapshot(then.snapshot);
}

TEST_F(ClipFamilyTest, AReversedRangeIsRefused) {
  Open();
  Fill(db_->handles()[0]);
  const Rows before = RowsOf("default");
  EXPECT_TRUE(db()->ClipColumnFamily(db_->handles()[0], "z", "a").IsInvalidArgument());
  EXPECT_EQ(RowsOf("default"), before);
}

}  // namespace
}  // namespace ashlar
