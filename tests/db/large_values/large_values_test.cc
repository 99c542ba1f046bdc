// SPDX-License-Identifier: Apache-2.0
//
// Databases whose large values are in blob files: every way of reading, and the values that
// compactions move and drop.
#include "ashlar/cache.h"
#include "ashlar/wide_columns.h"
#include "tests/db/large_values/large_values_fixture.h"

namespace ashlar {
namespace {

TEST_F(LargeValuesTest, AreReadInEveryWay) {
  Put("a", Large('a'));
  Put("b", "small");
  Put("c", Large('c', 100000));
  Put("d", Large('d'));
  Merge("e", "1");
  Flush();
  EXPECT_EQ(BlobFilesOnDisk().size(), 1u);
  Merge("d", "x");
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(Get("a"), Large('a'));
    EXPECT_EQ(Get("b"), "small");
    EXPECT_EQ(Get("c"), Large('c', 100000));
    EXPECT_EQ(Get("d"), Large('d') + ".x");
    const std::vector<Slice> keys{"d", "c", "b", "a", "absent"};
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
    for (size_t i = 0; i < 4; i++) ASSERT_OK(statuses[i]);
    EXPECT_TRUE(statuses[4].IsNotFound());
    EXPECT_EQ(values[0], Large('d') + ".x");
    EXPECT_EQ(values[1], Large('c', 100000));
    EXPECT_EQ(values[2], "small");
    EXPECT_EQ(values[3], Large('a'));
    const std::string forward =
        "a=" + Large('a') + " b=small c=" + Large('c', 100000) + " d=" + Large('d') + ".x e=-.1";
    const std::string backward =
        "e=-.1 d=" + Large('d') + ".x c=" + Large('c', 100000) + " b=small a=" + Large('a');
    EXPECT_EQ(Scan(), forward);
    EXPECT_EQ(ScanBackwards(), backward);
    ReadOptions lazily;
    lazily.allow_unprepared_value = true;
    EXPECT_EQ(Scan(lazily), forward);
    EXPECT_EQ(ScanBackwards(lazily), backward);
    PinnableWideColumns columns;
    ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "a", &columns));
    EXPECT_EQ(columns.columns(), (WideColumns{{kDefaultWideColumnName, Large('a')}}));
    Reopen();
  }
}

TEST_F(LargeValuesTest, AStepBackAndForthShowsTheSame) {
  for (const char c : {'a', 'b', 'c'}) Put(std::string(1, c), Large(c));
  Flush();
  for (const bool is_lazy : {false, true}) {
    ReadOptions options;
    options.allow_unprepared_value = is_lazy;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->Seek("b");
    ASSERT_TRUE(it->Valid());
    it->Prev();
    ASSERT_TRUE(it->Valid() && it->PrepareValue());
    EXPECT_EQ(it->value(), Large('a'));
    it->Next();
    ASSERT_TRUE(it->Valid() && it->PrepareValue());
    EXPECT_EQ(it->value(), Large('b'));
    it->Next();
    ASSERT_TRUE(it->Valid() && it->PrepareValue());
    EXPECT_EQ(it->value(), Large('c'));
    it->Next();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  }
}

TEST_F(LargeValuesTest, AnUnpreparedValueIsNotRead) {
  Put("a", Large('a'));
  Flush();
  ReadOptions options;
  options.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  const uint64_t before = Ticks(BLOB_DB_BLOB_FILE_BYTES_READ);
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(Ticks(BLOB_DB_BLOB_FILE_BYTES_READ), before);
  ASSERT_TRUE(it->PrepareValue());
  EXPECT_GT(Ticks(BLOB_DB_BLOB_FILE_BYTES_READ), before);
}

TEST_F(LargeValuesTest, OperandsAreHandedOutWithTheValueBelow) {
  Put("k", Large('k'));
  Flush();
  Merge("k", "x");
  PinnableSlice operands[4];
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 4;
  int count = 0;
  ASSERT_OK(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), "k", operands,
                                  &options, &count));
  ASSERT_EQ(count, 2);
  EXPECT_EQ(operands[0], Large('k'));
  EXPECT_EQ(operands[1], "x");
}

TEST_F(LargeValuesTest, CompactionsFoldOperandsOntoThem) {
  Put("k", Large('k'));
  Flush();
  Merge("k", "x");
  Flush();
  Compact();
  EXPECT_EQ(Get("k"), Large('k') + ".x");
  EXPECT_EQ(BlobFilesOnDisk().size(), 1u);  // the new file
  EXPECT_EQ(Number("live-blob-file-garbage-size"), 0u);
}

// The example of docs/formats/blob.md, section 5.
TEST_F(LargeValuesTest, WhatIsOverwrittenIsGarbage) {
  Put("k2", Large('B'));
  Put("k3", Large('C', 25));
  Flush();
  Put("k2", Large('D', 30));
  Flush();
  EXPECT_EQ(Number("live-blob-file-garbage-size"), 0u);
  Compact();
  for (int round = 0; round < 2; round++) {
    const ColumnFamilyMetaData metadata = MetaData();
    ASSERT_EQ(metadata.blob_files.size(), 2u);
    EXPECT_EQ(metadata.blob_files[0].total_blob_count, 2u);
    EXPECT_EQ(metadata.blob_files[0].total_blob_bytes, 133u);
    EXPECT_EQ(metadata.blob_files[0].garbage_blob_count, 1u);
    EXPECT_EQ(metadata.blob_files[0].garbage_blob_bytes, 74u);
    EXPECT_EQ(metadata.blob_files[1].garbage_blob_count, 0u);
    EXPECT_EQ(Number("live-blob-file-garbage-size"), 74u);
    EXPECT_EQ(Number("num-blob-files"), 2u);
    EXPECT_EQ(Number("live-blob-file-size"), metadata.blob_file_size);
    Reopen();
  }
}

TEST_F(LargeValuesTest, RangeTombstonesMakeGarbageOfWholeTables) {
  Put("a", Large('a'));
  Put("b", Large('b'));
  Flush();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "z"));
  Put("zz", Large('z'));
  Flush();
  Compact();
  EXPECT_EQ(BlobFilesOnDisk().size(), 1u);
  EXPECT_EQ(Scan(), "zz=" + Large('z'));
}

TEST_F(LargeValuesTest, AnIteratorKeepsItsBlobFiles) {
  Put("a", Large('a'));
  Flush();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  const std::vector<std::string> old = BlobFilesOnDisk();
  Put("a", Large('A'));
  Flush();
  Compact();
  EXPECT_EQ(BlobFilesOnDisk().size(), 2u);
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), Large('a'));
  it.reset();
  ASSERT_EQ(BlobFilesOnDisk().size(), 1u);
  EXPECT_NE(BlobFilesOnDisk(), old);
  EXPECT_EQ(Get("a"), Large('A'));
}

TEST_F(LargeValuesTest, ASnapshotKeepsItsValues) {
  Put("a", Large('a'));
  Flush();
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("a", Large('A'));
  Flush();
  Compact();
  ReadOptions options;
  options.snapshot = snapshot;
  EXPECT_EQ(Get("a", options), Large('a'));
  EXPECT_EQ(Get("a"), Large('A'));
  db_->ReleaseSnapshot(snapshot);
  Compact();
  EXPECT_EQ(BlobFilesOnDisk().size(), 1u);
}

TEST_F(LargeValuesTest, AForcedCompactionMovesTheOldest) {
  for (int i = 0; i < 4; i++) {
    Put("k" + std::to_string(i), Large(static_cast<char>('a' + i)));
    Put("same", Large('s', 50 + i));
    Flush();
  }
  const std::vector<std::string> before = BlobFilesOnDisk();
  ASSERT_EQ(before.size(), 4u);
  CompactRangeOptions options;
  options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 0.5;
  Compact(options);
  const std::vector<std::string> after = BlobFilesOnDisk();
  ASSERT_EQ(after.size(), 3u);  // two old files and a new one
  EXPECT_EQ(after[0], before[2]);
  EXPECT_EQ(after[1], before[3]);
  EXPECT_EQ(Ticks(BLOB_DB_GC_NUM_KEYS_RELOCATED), 2u);
  EXPECT_EQ(Ticks(BLOB_DB_GC_BYTES_RELOCATED), 80u);
  for (int i = 0; i < 4; i++) {
    EXPECT_EQ(Get("k" + std::to_string(i)), Large(static_cast<char>('a' + i)));
  }
  EXPECT_EQ(Get("same"), Large('s', 53));
}

TEST_F(LargeValuesTest, WithoutBlobFilesMovedValuesComeBackIntoTheTables) {
  Put("a", Large('a'));
  Flush();
  options_.enable_blob_files = false;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  Reopen();
  EXPECT_EQ(Get("a"), Large('a'));
  Compact();
  EXPECT_TRUE(BlobFilesOnDisk().empty());
  EXPECT_EQ(Number("num-blob-files"), 0u);
  EXPECT_EQ(Get("a"), Large('a'));
}

class WastefulBlobs : public LargeValuesTest,
                      public testing::WithParamInterface<CompactionStyle> {};
INSTANTIATE_TEST_SUITE_P(Styles, WastefulBlobs,
                         testing::Values(kCompactionStyleLevel, kCompactionStyleUniversal));

TEST_P(WastefulBlobs, TooMuchGarbageIsReasonForACompaction) {
  options_.compaction_style = GetParam();
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  options_.blob_garbage_collection_force_threshold = 0.5;
  Reopen();
  for (const char c : {'a', 'b', 'c', 'd'}) Put(std::string(1, c), Large(c));
  Flush();
  for (const char c : {'a', 'b', 'c'}) Put(std::string(1, c), "small");
  Flush();
  CompactRangeOptions keeps_blobs;
  keeps_blobs.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kDisable;
  Compact(keeps_blobs);
  ASSERT_GT(Number("live-blob-file-garbage-size"), 0u);
  ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
  WaitForJobs();
  EXPECT_EQ(Number("live-blob-file-garbage-size"), 0u);
  EXPECT_EQ(Get("d"), Large('d'));
}

TEST_F(LargeValuesTest, FifoDropsThemWithTheirTables) {
  options_.compaction_style = kCompactionStyleFIFO;
  Reopen();
  for (const char c : {'a', 'b', 'c'}) {
    Put(std::string(1, c), Large(c, 1000));
    Flush();
  }
  const ColumnFamilyMetaData metadata = MetaData();
  ASSERT_EQ(metadata.blob_files.size(), 3u);
  ASSERT_EQ(metadata.levels[0].files.size(), 3u);
  // The limit is reached by dropping the oldest table, if its blob file is counted.
  options_.compaction_options_fifo.max_data_files_size = metadata.size + metadata.blob_file_size -
                                                         metadata.levels[0].files.back().size -
                                                         metadata.blob_files.front().blob_file_size;
  Reopen();
  EXPECT_EQ(Number("compaction-pending"), 1u) << "the tables alone are within the limit";
  Compact();
  EXPECT_EQ(Number("compaction-pending"), 0u);
  EXPECT_EQ(BlobFilesOnDisk().size(), 2u);
  EXPECT_EQ(Scan(), "b=" + Large('b', 1000) + " c=" + Large('c', 1000));
}

TEST_F(LargeValuesTest, UpperLevelsMayKeepTheirValues) {
  options_.blob_file_starting_level = 1;
  Reopen();
  Put("a", Large('a'));
  Flush();
  EXPECT_TRUE(BlobFilesOnDisk().empty());
  Compact();
  EXPECT_EQ(BlobFilesOnDisk().size(), 1u);
  EXPECT_EQ(Get("a"), Large('a'));
}

TEST_F(LargeValuesTest, WhatBlobFilesTakeCountsAsWritten) {
  constexpr int kValues = 100;
  for (int i = 0; i < kValues; i++) Put(std::to_string(1000 + i), Large('v', 10'000));
  Flush();
  const auto live_bytes = [this] {
    return Number("live-blob-file-size") + Number("live-sst-files-size");
  };
  const uint64_t flushed = live_bytes();
  EXPECT_GT(flushed, kValues * 10'000u);
  EXPECT_EQ(Ticks(FLUSH_WRITE_BYTES), flushed);
  CompactRangeOptions options;
  options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  options.blob_garbage_collection_age_cutoff = 1;
  Compact(options);
  const uint64_t compacted = live_bytes();  // all values are moved
  EXPECT_EQ(Ticks(COMPACT_WRITE_BYTES), compacted);
  std::map<std::string, std::string> map;
  ASSERT_TRUE(db_->GetMapProperty("rocksdb.cfstats", &map));
  constexpr double kGigabyte = 1 << 30;
  EXPECT_NEAR(std::stod(map["compaction.Sum.WriteGB"]),
              static_cast<double>(flushed + compacted) / kGigabyte, 2e-6);
}

TEST_F(LargeValuesTest, EstimatesOfRangesShareTheBytesOfBlobFilesOut) {
  for (int i = 0; i < 4000; i++) Put(std::to_string(10'000 + i), Large('v', 100));
  Flush();
  const Range half("10000", "12000"), all("0", "2");
  const auto estimate = [this](const Range& range, bool with_blobs) {
    SizeApproximationOptions options;
    options.include_blob_files = with_blobs;
    uint64_t bytes = 0;
    EXPECT_OK(db_->GetApproximateSizes(options, db_->DefaultColumnFamily(), &range, 1, &bytes));
    return static_cast<double>(bytes);
  };
  const auto blob_bytes = static_cast<double>(Number("live-blob-file-size"));
  const double of_half = estimate(half, true) - estimate(half, false);
  EXPECT_NEAR(of_half / blob_bytes, 0.5, 0.1);
  const double of_all = estimate(all, true) - estimate(all, false);
  EXPECT_NEAR(of_all / blob_bytes, 1, 0.1);
  uint64_t bytes = 0;
  EXPECT_TRUE(
      db_->GetApproximateSizes(&half, 1, &bytes, DB::SizeApproximationFlags::INCLUDE_BLOB_FILES)
          .IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
