// SPDX-License-Identifier: Apache-2.0
//
// Merge operands through the public calls: the results of reads in memory and in tables, with
// snapshots, and with merge operators that fail, throw, stop early, or are missing.
#include <malloc.h>

#include "ashlar/convenience.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/write_batch.h"
#include "tests/db/merge/merge_fixture.h"

namespace ashlar {

TEST_F(MergeTest, OperandsOverAValueATombstoneAndNothing) {
  Put("a", "A");
  Merge("a", "1");
  Merge("a", "2");
  Put("b", "B");
  Delete("b");
  Merge("b", "1");
  Merge("c", "1");
  Merge("d", "1");
  Delete("d");
  Merge("e", "1");
  Put("e", "E");
  const std::string rows = "a=A.1.2 b=-.1 c=-.1 e=E ";
  for (const char* when : {"in memory", "flushed", "compacted", "reopened"}) {
    SCOPED_TRACE(when);
    if (when == std::string("flushed")) Flush();
    if (when == std::string("compacted")) CompactAndRewrite();
    if (when == std::string("reopened")) Reopen();
    EXPECT_EQ(Get("a"), "A.1.2");
    EXPECT_EQ(Get("b"), "-.1");
    EXPECT_EQ(Get("c"), "-.1");
    EXPECT_EQ(Get("d"), "NotFound: ");
    EXPECT_EQ(Get("e"), "E");
    EXPECT_EQ(Scan(), rows);
  }
}

TEST_F(MergeTest, OperandsOfOneKeyInMemoryAndInTables) {
  Put("k", "V");
  Flush();
  Merge("k", "1");
  Flush();
  Merge("k", "2");
  Merge("k", "3");
  EXPECT_EQ(Get("k"), "V.1.2.3");
  EXPECT_EQ(Scan(), "k=V.1.2.3 ");
  Flush();
  EXPECT_EQ(Get("k"), "V.1.2.3");
  CompactAndRewrite();
  EXPECT_EQ(Get("k"), "V.1.2.3");
  EXPECT_EQ(Operands("k"), "V.1.2.3") << "compaction left one value";
}

TEST_F(MergeTest, SnapshotsSeeTheirOwnOperands) {
  Put("k", "V");
  const Snapshot* const before = db_->GetSnapshot();
  Merge("k", "1");
  const Snapshot* const middle = db_->GetSnapshot();
  Merge("k", "2");
  Merge("k", "3");
  for (int round = 0; round < 3; round++) {
    if (round == 1) Flush();
    if (round == 2) CompactAndRewrite();
    EXPECT_EQ(Get("k", before), "V");
    EXPECT_EQ(Get("k", middle), "V.1");
    EXPECT_EQ(Get("k"), "V.1.2.3");
    EXPECT_EQ(Scan(before), "k=V ");
    EXPECT_EQ(Scan(middle), "k=V.1 ");
    EXPECT_EQ(Scan(), "k=V.1.2.3 ");
  }
  db_->ReleaseSnapshot(before);
  db_->ReleaseSnapshot(middle);
}

TEST_F(MergeTest, AnIteratorTurnsAroundOnFoldedKeys) {
  for (const char* key : {"a", "b", "c"}) {
    Put(key, "V");
    Merge(key, "1");
  }
  Merge("d", "1");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek("b");
  EXPECT_EQ(RowAt(*it), "b=V.1");
  it->Prev();
  EXPECT_EQ(RowAt(*it), "a=V.1");
  it->Next();
  EXPECT_EQ(RowAt(*it), "b=V.1");
  it->Next();
  it->Next();
  EXPECT_EQ(RowAt(*it), "d=-.1") << "the merging iterator is at its end here";
  it->Prev();
  EXPECT_EQ(RowAt(*it), "c=V.1");
  it->SeekForPrev("bb");
  EXPECT_EQ(RowAt(*it), "b=V.1");
  it->Next();
  it->Next();
  it->Next();
  EXPECT_EQ(RowAt(*it), "end");
  EXPECT_OK(it->status());
}

// Long operands are not copied. No cache holds the blocks that the iterators have left.
TEST_F(MergeTest, LongOperandsOfManyBlocksAndFilesOutliveTheSteps) {
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.target_file_size_base = 8192;  // compaction cuts files between keys
  Reopen();
  std::string rows;
  for (const std::string key : {"a", "b", "c", "d"}) {
    std::string value = key == "c" ? "-" : std::string(5000, key[0]);
    if (key != "c") Put(key, value);
    for (int i = 0; i < 12; i++) {
      const std::string operand(1000 + 400 * i, static_cast<char>('0' + i));
      Merge(key, operand);
      StrAppend(&value, ".", operand);
      if (i % 4 == 3) Flush();
    }
    StrAppend(&rows, key, "=", value, " ");
  }
  Merge("c", "end");
  rows.insert(rows.find(" d="), ".end");
  for (const char* when : {"many files", "compacted"}) {
    EXPECT_TRUE(Scan() == rows) << when;  // too long to print
    EXPECT_TRUE(Get("d") == rows.substr(rows.find("d=") + 2, Get("d").size())) << when;
    CompactAndRewrite();
  }
}

TEST_F(MergeTest, MultiGetFoldsEachKeyAndFailsEachForItself) {
  Put("a", "A");
  Merge("a", "1");
  Merge("bad", "!");
  Flush();
  Merge("a", "2");
  Merge("c", "1");
  Put("p", "P");
  const std::vector<Slice> keys{"c", "bad", "a", "nope", "a", "p"};
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
  EXPECT_EQ(values[0], "-.1");
  EXPECT_EQ(statuses[1].subcode(), Status::kMergeOperatorFailed);
  EXPECT_EQ(values[1], "");
  EXPECT_EQ(values[2], "A.1.2");
  EXPECT_TRUE(statuses[3].IsNotFound());
  EXPECT_EQ(values[4], "A.1.2");
  EXPECT_EQ(values[5], "P");
}

TEST_F(MergeTest, WithoutAnOperatorMergesAreRefusedAndNothingIsLost) {
  Merge("table", "1");
  Flush();
  Merge("log", "1");
  options_.merge_operator = nullptr;
  Reopen();
  EXPECT_TRUE(db_->Merge(WriteOptions(), "k", "1").IsNotSupported());
  WriteBatch batch;
  ASSERT_OK(batch.Put("p", "1"));
  ASSERT_OK(batch.Merge("k", "1"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(Get("p"), "NotFound: ") << "a batch is written as a whole or not at all";
  Put("p", "2");
  for (const char* key : {"table", "log"}) {
    std::string value;
    EXPECT_TRUE(db_->Get(ReadOptions(), key, &value).IsInvalidArgument());
    EXPECT_EQ(Operands(key), "1") << "GetMergeOperands needs no operator";
  }
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument());
  it->Seek("p");
  EXPECT_TRUE(it->Valid());
  it.reset();
  Flush();
  CompactAndRewrite();
  options_.merge_operator = joiner_;
  Reopen();
  EXPECT_EQ(Scan(), "log=-.1 p=2 table=-.1 ");
}

TEST_F(MergeTest, AFailingOperatorFailsItsKeyOnly) {
  Put("a", "A");
  Put("bad", "B");
  Merge("bad", "!");
  Merge("c", "1");
  EXPECT_EQ(Get("bad"), "failed");
  EXPECT_EQ(Get("c"), "-.1");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsCorruption());
  EXPECT_EQ(it->status().subcode(), Status::kMergeOperatorFailed);
  it->Seek("c");
  EXPECT_TRUE(it->Valid());
  EXPECT_OK(it->status());
  it->Prev();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(it->status().subcode(), Status::kMergeOperatorFailed);
  EXPECT_GE(Ticks(NUMBER_MERGE_FAILURES), 3u);
}

TEST_F(MergeTest, AFlushKeepsOperandsThatCannotBeMerged) {
  Put("k", "V");
  Merge("k", "1");
  Merge("k", "!2");
  Flush();
  EXPECT_EQ(Get("k"), "failed");
  EXPECT_EQ(Operands("k"), "V 1 !2");
  Put("k2", "writes go on");
  EXPECT_EQ(Get("k2"), "writes go on");
}

TEST_F(MergeTest, ACompactionFailsOrKeepsAsTheOperatorSays) {
  Put("k", "V");
  Flush();
  Merge("k", "!");
  Merge("ok", "1");
  const Status failed = TryCompact();
  EXPECT_TRUE(failed.IsCorruption()) << failed.ToString();
  EXPECT_EQ(failed.subcode(), Status::kMergeOperatorFailed);
  EXPECT_EQ(Operands("k"), "V !") << "nothing is lost";
  Put("other", "goes on");
  joiner_->scope = MergeOperator::OpFailureScope::kMustMerge;
  CompactAndRewrite();
  EXPECT_EQ(Operands("k"), "V !");
  EXPECT_EQ(Get("k"), "failed");
  EXPECT_EQ(Operands("ok"), "-.1") << "others were folded";
}

// Automatic compactions keep operands that cannot be merged, for every failure scope: there is no
// background error, writes do not stop, and later compactions run.
TEST_F(MergeTest, ACompactionInTheBackgroundKeepsWhatCannotBeMerged) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Reopen();
  Put("k", "V");
  Flush();
  for (int round = 0; round < 6; round++) {
    Merge("k", round == 1 ? "!" : StrCat(round));
    Merge("ok", StrCat(round));
    Put(StrCat("other", round), "goes on");
    Flush();
    WaitForJobs();
  }
  EXPECT_LT(TableCount(0), 2) << "later compactions run";
  EXPECT_EQ(Number("rocksdb.background-errors"), 0u);
  EXPECT_EQ(Get("k"), "failed");
  EXPECT_EQ(Operands("k"), "V.0 ! 2 3 4 5") << "nothing is lost";
  EXPECT_EQ(Get("ok"), "-.0.1.2.3.4.5");
  EXPECT_GT(Ticks(NUMBER_MERGE_FAILURES), 1u);
}

TEST_F(MergeTest, WhatAnOperatorThrowsIsAFailure) {
  Put("k", "V");
  Merge("k", "^");
  std::string value;
  const Status status = db_->Get(ReadOptions(), "k", &value);
  EXPECT_EQ(status.subcode(), Status::kMergeOperatorFailed);
  EXPECT_NE(status.ToString().find("too much"), std::string::npos) << status.ToString();
  EXPECT_EQ(status.ToString().find(": :"), std::string::npos) << status.ToString();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  it.reset();
  Flush();
  EXPECT_FALSE(TryCompact().ok());
  Put("l", "nothing stayed locked");
  EXPECT_EQ(Get("l"), "nothing stayed locked");
}

TEST_F(MergeTest, GetMergeOperands) {
  Put("k", "V");
  Merge("k", "1");
  Flush();
  Merge("k", std::string(5000, 'x'));
  Merge("k", "3");
  const std::string all = "V 1 " + std::string(5000, 'x') + " 3";
  EXPECT_EQ(Operands("k"), "V.1 " + std::string(5000, 'x') + " 3") << "the flush folded the first";
  EXPECT_EQ(Operands("k", {.expected_max_number_of_operands = 2}), "incomplete 3");
  Put("only", "value");
  EXPECT_EQ(Operands("only"), "value");
  EXPECT_EQ(Operands("none"), "NotFound: ");
  Delete("only");
  EXPECT_EQ(Operands("only"), "NotFound: ");
  Merge("only", "1");
  EXPECT_EQ(Operands("only"), "1");
}

TEST_F(MergeTest, GetMergeOperandsGoesOnAsLongAsItsCallbackSays) {
  Put("k", "V");
  Flush();
  for (const char* operand : {"1", "2"}) Merge("k", operand);
  Flush();
  for (const char* operand : {"3", "4"}) Merge("k", operand);
  std::string asked;
  GetMergeOperandsOptions options;
  options.continue_cb = [&](Slice operand) {
    asked += operand.ToString();
    return operand != Slice("2");
  };
  EXPECT_EQ(Operands("k", options), "2 3 4");
  EXPECT_EQ(asked, "432");
  options.continue_cb = [&](Slice) { return true; };
  EXPECT_EQ(Operands("k", options), "V 1 2 3 4");
}

TEST_F(MergeTest, ShouldMergeEndsALookup) {
  joiner_->stop_after = 2;
  Put("k", "V");
  for (const char* operand : {"1", "2", "3"}) Merge("k", operand);
  EXPECT_EQ(Get("k"), "-.2.3");
  joiner_->stop_after = 3;
  EXPECT_EQ(Get("k"), "-.1.2.3") << "the value is older than the last operand asked about";
  joiner_->stop_after = 4;
  EXPECT_EQ(Get("k"), "V.1.2.3");
}

TEST_F(MergeTest, PartialMergesAcrossFlushes) {
  joiner_->merges_partially = true;
  Put("k", "V");
  Flush();
  for (const char* operand : {"1", "2", "3"}) Merge("k", operand);
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (const char* operand : {"4", "5"}) Merge("k", operand);
  Flush();
  EXPECT_EQ(Operands("k"), "V 1.2.3 4.5") << "operands that a snapshot separates stay apart";
  EXPECT_EQ(Get("k", snapshot), "V.1.2.3");
  EXPECT_EQ(Get("k"), "V.1.2.3.4.5");
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(MergeTest, StockOperatorsThatHandBackAnInputPinIt) {
  ASSERT_OK(MergeOperator::CreateFromString(ConfigOptions(), "max", &options_.merge_operator));
  Reopen();
  const std::string small(3000, 'a'), large(3000, 'b');
  Put("base", large);
  Merge("base", small);
  Merge("newer", small);
  Merge("newer", large);
  Merge("short", "x");
  for (int round = 0; round < 2; round++) {
    PinnableSlice base, newer, shorter;
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "base", &base));
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "newer", &newer));
    ASSERT_OK(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "short", &shorter));
    EXPECT_TRUE(newer.IsPinned());
    EXPECT_FALSE(shorter.IsPinned());
    if (round == 0) {
      Flush();
      Put("newer", small);
      Merge("newer", large);
    }
    EXPECT_TRUE(base == large);
    EXPECT_TRUE(newer == large) << "alive after its memtable was flushed";
    EXPECT_EQ(shorter, "x");
  }
  EXPECT_TRUE(Scan() == StrCat("base=", large, " newer=", large, " short=x "));
}

// As long as it lives, freed memory is overwritten at once, if the C library can do that. The
// sanitizers see the use of freed memory by themselves.
class FreedMemoryIsOverwritten {
 public:
  FreedMemoryIsOverwritten() { Set(0x55); }
  ~FreedMemoryIsOverwritten() { Set(0); }

 private:
  static void Set([[maybe_unused]] int byte) {
#ifdef M_PERTURB
    mallopt(M_PERTURB, byte);
#endif
  }
};

// The result is in a block that the compaction has left when it writes the result. No cache holds
// the block, and each base has a file of its own. The memory of blocks is freed when 64 of them
// have been left; blocks of 20 KiB and less are reused instead.
TEST_F(MergeTest, BasesThatAreTheResultOutliveTheirBlocksInACompaction) {
  ASSERT_OK(MergeOperator::CreateFromString(ConfigOptions(), "max", &options_.merge_operator));
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.target_file_size_base = 1;
  Reopen();
  constexpr int kKeys = 200;
  const auto base_of = [](int i) { return Key(i) + std::string(30'000, 'x'); };
  for (int i = 0; i < kKeys; i++) Put(Key(i), base_of(i));
  Flush();
  CompactAndRewrite();
  ASSERT_EQ(Tables().size(), size_t{kKeys});
  for (int i = 0; i < kKeys; i++) Merge(Key(i), "a");
  Flush();
  {
    const FreedMemoryIsOverwritten overwriting;
    CompactAndRewrite();
  }
  for (int i = 0; i < kKeys; i++) {
    EXPECT_TRUE(Get(Key(i)) == base_of(i)) << i;  // too long to print
    EXPECT_EQ(Operands(Key(i)).size(), base_of(i).size()) << "they were folded";
  }
}

TEST_F(MergeTest, CountsAndTimes) {
  SetPerfLevel(kEnableTime);
  get_perf_context()->Reset();
  Put("k", "V");
  for (const char* operand : {"1", "2", "3"}) Merge("k", operand);
  EXPECT_EQ(Get("k"), "V.1.2.3");
  EXPECT_EQ(get_perf_context()->internal_merge_point_lookup_count, 3u);
  EXPECT_GT(get_perf_context()->merge_operator_time_nanos, 0u);
  EXPECT_EQ(get_perf_context()->internal_merge_count, 0u);
  Scan();
  EXPECT_EQ(get_perf_context()->internal_merge_count, 6u) << "forward and backward";
  EXPECT_GT(Ticks(MERGE_OPERATION_TOTAL_TIME), 0u);
  HistogramData operands;
  options_.statistics->histogramData(READ_NUM_MERGE_OPERANDS, &operands);
  EXPECT_EQ(operands.count, 3u);
  EXPECT_EQ(operands.max, 3.0);
  SetPerfLevel(kDisable);
}

TEST_F(MergeTest, ManyOperandsAreReportedOnRequest) {
  for (const char* operand : {"1", "2", "3"}) Merge("k", operand);
  ReadOptions read;
  std::string value;
  read.merge_operand_count_threshold = 3;
  EXPECT_FALSE(db_->Get(read, "k", &value).IsOkMergeOperandThresholdExceeded());
  read.merge_operand_count_threshold = 2;
  const Status status = db_->Get(read, "k", &value);
  EXPECT_OK(status);
  EXPECT_TRUE(status.IsOkMergeOperandThresholdExceeded());
  EXPECT_EQ(value, "-.1.2.3");
}

// The first block of a key is in memory and the next one is not: the operands of the first block
// are used once.
TEST_F(MergeTest, AKeyWhoseBlocksAreOnlyPartlyInMemory) {
  BlockBasedTableOptions table;
  table.block_size = 100;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Reopen();
  joiner_->merges_partially = false;
  const std::string wide(200, 'x');
  Merge("k", "1" + wide);
  const Snapshot* const snapshot = db_->GetSnapshot();
  Merge("k", "2" + wide);
  Put("j", "neighbour");
  Flush();
  db_->ReleaseSnapshot(snapshot);
  for (const bool is_batch : {false, true}) {
    Reopen();
    EXPECT_EQ(Get("j"), "neighbour");  // reads the block of the newest operand into the cache
    const std::string expected = StrCat("-.1", wide, ".2", wide);
    if (is_batch) {
      std::vector<std::string> values;
      const std::vector<Slice> keys{"i", "k"};
      ASSERT_OK(db_->MultiGet(ReadOptions(), keys, &values)[1]);
      EXPECT_EQ(values[1], expected);
    } else {
      EXPECT_EQ(Get("k"), expected);
    }
  }
}

}  // namespace ashlar
