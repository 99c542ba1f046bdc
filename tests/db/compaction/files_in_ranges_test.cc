// SPDX-License-Identifier: Apache-2.0
//
// DeleteFilesInRanges: which files it deletes, and which rows remain.
#include "db/compaction/files_in_ranges.h"

#include "ashlar/convenience.h"
#include "db/manifest/version_edit.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version_builder.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class FilesInRanges : public testing::Test {
 protected:
  FilesInRanges() {
    TableCacheOptions options(comparator_);
    options.fs = &fs_;
    options.paths = {"/db"};
    tables_ = std::make_unique<TableCache>(options);
  }
  void Add(Level level, FileNumber number, const Slice& smallest, const Slice& largest,
           bool is_exclusive = false, SequenceNumber seqno = 5) {
    FileMetadata meta;
    meta.number = number;
    meta.file_size = 1;
    meta.smallest = MakeInternalKey(smallest, seqno, kTypeValue);
    meta.largest = is_exclusive ? MakeInternalKey(largest, kMaxSequenceNumber, kTypeRangeDeletion)
                                : MakeInternalKey(largest, seqno, kTypeValue);
    edit_.AddFile(level, meta);
  }
  std::string Chosen(const std::vector<RangeOpt>& ranges, bool include_end = true,
                     FileNumber busy = {}) {
    VersionBuilder builder(comparator_, tables_.get(), nullptr, 7);
    EXPECT_OK(builder.Apply(edit_));
    BuiltVersion built;
    EXPECT_OK(builder.Build(&built));
    MutexLock lock(&mutex_);
    for (const auto& file : built.added) file->being_compacted = file->meta.number == busy;
    std::string text;
    for (const LevelFiles& level : FilesInsideRanges(*built.version, ranges, include_end)) {
      for (const TableFile* file : level.files)
        text += std::to_string(file->meta.number.value()) + " ";
    }
    return text;
  }

  DbMutex mutex_;
  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::unique_ptr<TableCache> tables_;
  VersionEdit edit_;
};

TEST_F(FilesInRanges, AreWhollyInsideAndBelowLevelZero) {
  Add(0, 1, "c", "d");
  Add(1, 2, "a", "c");
  Add(1, 3, "d", "e");
  Add(2, 4, "b", "b");
  Add(2, 5, "e", "g");
  EXPECT_EQ(Chosen({{"b", "f"}}), "3 4 ");
  EXPECT_EQ(Chosen({{nullptr, "e"}}), "2 3 4 ");
  EXPECT_EQ(Chosen({{nullptr, "e"}}, /*include_end=*/false), "2 4 ");
  EXPECT_EQ(Chosen({{nullptr, nullptr}}), "2 3 4 5 ");
  EXPECT_EQ(Chosen({{"a", "c"}, {"e", "g"}}), "2 4 5 ");
  EXPECT_EQ(Chosen({{"a", "c"}, {"c", "e"}}), "2 3 4 ");
  EXPECT_EQ(Chosen({}), "");
}

TEST_F(FilesInRanges, AreNotThoseOfACompaction) {
  Add(1, 2, "a", "c");
  Add(1, 3, "d", "e");
  EXPECT_EQ(Chosen({{"a", "z"}}, true, /*busy=*/2), "3 ");
}

TEST_F(FilesInRanges, VersionsOfAKeyGoTogetherOrStay) {
  Add(1, 2, "a", "c", false, 9);
  Add(1, 3, "c", "e", false, 5);
  Add(1, 4, "f", "h", /*is_exclusive=*/true);
  Add(1, 5, "h", "k");
  EXPECT_EQ(Chosen({{"b", "e"}}), "");
  EXPECT_EQ(Chosen({{"a", "e"}}), "2 3 ");
  EXPECT_EQ(Chosen({{"a", "h"}}, /*include_end=*/false),
            "2 3 4 ");  // the end of the range is exclusive
}

TEST(DeleteFilesInRange, LeavesTheRestAndWhatReadersHold) {
  TestDb test;
  test.options().target_file_size_base = 1000;
  test.options().disable_auto_compactions = true;
  test.options().compression = kNoCompression;
  test.Open();
  test.Fill(100);
  test.Compact();
  std::unique_ptr<Iterator> before(test.db()->NewIterator({}));
  const std::string begin = TestDb::Key(20), end = TestDb::Key(80);
  const Slice low(begin), high(end);
  ASSERT_OK(DeleteFilesInRange(test.db(), test.db()->DefaultColumnFamily(), &low, &high));
  const std::string value(100, 'v');
  EXPECT_EQ(test.Get(TestDb::Key(50)), "(none)");
  EXPECT_EQ(test.Get(TestDb::Key(19)), value);
  EXPECT_EQ(test.Get(TestDb::Key(81)), value);
  int rows = 0;
  for (before->SeekToFirst(); before->Valid(); before->Next()) rows++;
  EXPECT_EQ(rows, 100);
}

}  // namespace
}  // namespace ashlar
