// SPDX-License-Identifier: Apache-2.0
//
// An explained read has the result of the read, and lists the places that it searched in order,
// with what it found in each.
#include "ashlar/explain.h"

#include "ashlar/cache.h"
#include "ashlar/perf_context.h"
#include "ashlar/utilities/stackable_db.h"
#include "tests/db/read/explain_fixture.h"

namespace ashlar {
namespace {

using Place = ExplainedPlace;
using Block = ExplainedBlock;

TEST_F(ExplainTest, AKeyInTheMemtableIsFoundThere) {
  Put("a", "1234");
  const ReadExplanation explanation = Get("a");
  EXPECT_OK(explanation.status);
  EXPECT_EQ(explanation.value_bytes, 4u);
  EXPECT_EQ(explanation.table_count, 0u);
  ASSERT_EQ(explanation.places.size(), 1u);
  EXPECT_EQ(explanation.places[0].kind, Place::Kind::kMemTable);
  EXPECT_EQ(explanation.places[0].found, Place::Found::kValue);
  EXPECT_EQ(explanation.places[0].seqno, 1u);
  EXPECT_NE(explanation.ToString().find("Get of 'a' at sequence number 1: 4 bytes"),
            std::string::npos)
      << explanation.ToString();
}

TEST_F(ExplainTest, SealedMemtablesComeBehindTheActiveOne) {
  options_.max_write_buffer_number = 4;
  options_.min_write_buffer_number_to_merge = 4;
  Open();
  Put("a", "1");
  FlushOptions no_wait;
  ASSERT_OK(db_->PauseBackgroundWork());
  no_wait.wait = false;
  no_wait.allow_write_stall = true;
  ASSERT_OK(db_->Flush(no_wait));
  Put("b", "1");
  const ReadExplanation explanation = Get("a");
  ASSERT_EQ(explanation.places.size(), 2u) << explanation.ToString();
  EXPECT_EQ(explanation.places[0].kind, Place::Kind::kMemTable);
  EXPECT_EQ(explanation.places[0].found, Place::Found::kNothing);
  EXPECT_EQ(explanation.places[1].kind, Place::Kind::kImmutableMemTable);
  EXPECT_EQ(explanation.places[1].found, Place::Found::kValue);
  EXPECT_LT(explanation.places[1].number, explanation.places[0].number);
  EXPECT_NE(explanation.ToString().find("immutable memtable"), std::string::npos);
  ASSERT_OK(db_->ContinueBackgroundWork());
}

TEST_F(ExplainTest, TheFilterOfAMemtableAnswersToo) {
  options_.memtable_prefix_bloom_size_ratio = 0.2;
  options_.memtable_whole_key_filtering = true;
  Open();
  Put("a", "1");
  EXPECT_EQ(Get("a").places.at(0).filter, Place::Filter::kLetThrough);
  EXPECT_EQ(Get("nosuch").places.at(0).filter, Place::Filter::kRejected);
}

// Three tables of level 0 and one of the last level: the key is not in the range of the first one,
// the filter of the second one rejects it, and the third one has a tombstone for it.
TEST_F(ExplainTest, PlacesComeInTheOrderOfTheSearch) {
  for (const char* key : {"a", "m", "z"}) Put(key, std::string(2000, 'v'));
  Flush();
  Compact();
  Put("a", "new"), Put("z", "new");
  Flush();
  Put("x", "1"), Put("y", "1");
  Flush();
  const ReadExplanation found = Get("m");
  EXPECT_OK(found.status);
  EXPECT_EQ(found.table_count, 3u);
  ASSERT_EQ(found.places.size(), 3u);
  EXPECT_EQ(found.places[0].found, Place::Found::kNothing);
  EXPECT_EQ(found.places[1].level, 0);
  EXPECT_EQ(found.places[1].smallest_key, "a");
  EXPECT_EQ(found.places[1].largest_key, "z");
  EXPECT_EQ(found.places[1].filter, Place::Filter::kRejected);
  EXPECT_EQ(found.places[1].found, Place::Found::kNothing);
  EXPECT_TRUE(found.places[1].blocks.empty());
  EXPECT_EQ(found.places[2].level, 6);
  EXPECT_EQ(found.places[2].filter, Place::Filter::kLetThrough);
  EXPECT_EQ(found.places[2].found, Place::Found::kValue);
  EXPECT_GT(found.places[2].file_bytes, 0u);
  EXPECT_EQ(found.places[2].blocks.size(), 1u);

  Delete("m");
  Flush();
  const ReadExplanation deleted = Get("m");
  EXPECT_TRUE(deleted.status.IsNotFound());
  ASSERT_EQ(deleted.places.size(), 2u);
  EXPECT_EQ(deleted.places[1].found, Place::Found::kTombstone);
  EXPECT_NE(deleted.ToString().find("1 of 4 tables"), std::string::npos) << deleted.ToString();
}

TEST_F(ExplainTest, MergeOperandsAreCountedWhereTheyLie) {
  Put("a", "1");
  Flush();
  Merge("a", "2");
  Flush();
  for (const char* operand : {"3", "4"}) Merge("a", operand);
  const ReadExplanation explanation = Get("a");
  EXPECT_OK(explanation.status);
  EXPECT_EQ(explanation.value_bytes, 7u);  // 1,2,3,4
  EXPECT_EQ(explanation.merge_operands, 3u);
  ASSERT_EQ(explanation.places.size(), 3u);
  EXPECT_EQ(explanation.places[0].found, Place::Found::kMergeOperands);
  EXPECT_EQ(explanation.places[0].merge_operands, 2u);
  EXPECT_EQ(explanation.places[1].found, Place::Found::kMergeOperands);
  EXPECT_EQ(explanation.places[1].merge_operands, 1u);
  EXPECT_EQ(explanation.places[2].found, Place::Found::kValue);
  EXPECT_EQ(explanation.places[2].merge_operands, 0u);
  EXPECT_NE(explanation.ToString().find("3 operands merged"), std::string::npos);

  const ReadExplanation seek = Seek("a");
  EXPECT_EQ(seek.value_bytes, 7u);
  EXPECT_EQ(seek.merge_operands, 3u);
  ASSERT_EQ(seek.places.size(), 3u) << seek.ToString();
  EXPECT_EQ(seek.places[0].found, Place::Found::kMergeOperands);
  EXPECT_EQ(seek.places[0].merge_operands, 2u);
  EXPECT_EQ(seek.places[1].merge_operands, 1u);
}

TEST_F(ExplainTest, ARangeTombstoneEndsTheSearch) {
  Put("b", "1");
  Flush();
  DeleteRange("a", "c");
  const ReadExplanation explanation = Get("b");
  EXPECT_TRUE(explanation.status.IsNotFound());
  ASSERT_EQ(explanation.places.size(), 1u);
  EXPECT_EQ(explanation.places[0].found, Place::Found::kRangeTombstone);
  EXPECT_EQ(explanation.places[0].seqno, 2u);
  ASSERT_EQ(explanation.places[0].tombstones.size(), 1u);
  EXPECT_EQ(explanation.places[0].tombstones[0].begin, "a");
  EXPECT_EQ(explanation.places[0].tombstones[0].end, "c");
  EXPECT_EQ(explanation.places[0].tombstones[0].seqno, 2u);
  ReadOptions all;
  all.ignore_range_deletions = true;
  EXPECT_EQ(Get("b", all).places.size(), 2u);
}

TEST_F(ExplainTest, TombstonesOfTablesAreNamedWithTheirKeys) {
  Put("b", "1");
  Flush();
  Compact();
  Put("a", "1");
  DeleteRange("aa", "c");
  Flush();
  const ReadExplanation explanation = Get("b");
  EXPECT_TRUE(explanation.status.IsNotFound());
  ASSERT_EQ(explanation.places.size(), 2u) << explanation.ToString();
  const Place& table = explanation.places[1];
  EXPECT_EQ(table.level, 0);
  EXPECT_EQ(table.found, Place::Found::kRangeTombstone);
  ASSERT_EQ(table.tombstones.size(), 1u);
  EXPECT_EQ(table.tombstones[0].begin, "aa");
  EXPECT_EQ(table.tombstones[0].end, "c");
  EXPECT_NE(explanation.ToString().find("range tombstone from 'aa' to 'c' at sequence number 3"),
            std::string::npos)
      << explanation.ToString();
}

// The first read of a table opens it and reads from the file; later reads find the block through
// its slot, or through the hash table of the cache if it has no slot.
TEST_F(ExplainTest, BlocksComeFromTheFileTheCacheOrTheirSlot) {
  Put("a", std::string(2000, 'v'));
  Flush();
  const Place cold = Get("a").places.at(1);
  EXPECT_TRUE(cold.was_opened);
  ASSERT_EQ(cold.blocks.size(), 1u);
  EXPECT_EQ(cold.blocks[0].kind, Block::Kind::kData);
  EXPECT_EQ(cold.blocks[0].origin, Block::Origin::kFile);
  EXPECT_EQ(cold.blocks[0].offset, 0u);
  EXPECT_GT(cold.blocks[0].bytes, 20u);
  EXPECT_GT(cold.blocks[0].micros, 0);
  EXPECT_GE(cold.micros, cold.blocks[0].micros);
  EXPECT_GT(cold.bytes_read, cold.blocks[0].bytes);  // the index and the filter too
  EXPECT_NE(cold.ToString().find(": opened"), std::string::npos) << cold.ToString();
  for (int round = 0; round < 3; round++) {  // the block becomes hot, is decoded, and is hot
    const Place warm = Get("a").places.at(1);
    EXPECT_FALSE(warm.was_opened);
    ASSERT_EQ(warm.blocks.size(), 1u);
    EXPECT_EQ(warm.blocks[0].origin, Block::Origin::kSlot);
    EXPECT_EQ(warm.blocks[0].bytes, cold.blocks[0].bytes);
    EXPECT_EQ(warm.bytes_read, 0u);
  }
  const Place sought = Seek("a").places.at(1);
  ASSERT_EQ(sought.blocks.size(), 1u);
  EXPECT_EQ(sought.blocks[0].origin, Block::Origin::kSlot);
}

TEST_F(ExplainTest, WithoutACacheEachBlockComesFromTheFile) {
  table_.no_block_cache = true;
  Open();
  Put("a", "1");
  Flush();
  for (int round = 0; round < 3; round++) {
    const Place place = Get("a").places.at(1);
    ASSERT_EQ(place.blocks.size(), 1u);
    EXPECT_EQ(place.blocks[0].origin, Block::Origin::kFile);
  }
}

TEST_F(ExplainTest, ASnapshotIsReadAsOfItsNumber) {
  Put("a", "1");
  const Snapshot* snapshot = db_->GetSnapshot();
  Put("a", "22");
  ReadOptions then;
  then.snapshot = snapshot;
  const ReadExplanation explanation = Get("a", then);
  EXPECT_EQ(explanation.seqno, 1u);
  EXPECT_EQ(explanation.value_bytes, 1u);
  EXPECT_EQ(explanation.places.at(0).seqno, 1u);
  const ReadExplanation seek = Seek("a", then);
  EXPECT_EQ(seek.seqno, 1u);
  EXPECT_EQ(seek.value_bytes, 1u);
  EXPECT_EQ(seek.places.at(0).seqno, 1u);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(ExplainTest, AMissOfTheCacheOnlyIsAnAnswerToo) {
  Put("a", "1");
  Flush();
  Open();
  ReadOptions options;
  options.read_tier = kBlockCacheTier;
  EXPECT_TRUE(Get("a", options).status.IsIncomplete());
  EXPECT_EQ(Get("a", options).places.at(1).found, Place::Found::kFailure);
  EXPECT_TRUE(Seek("a", options).status.IsIncomplete());
}

TEST_F(ExplainTest, ARowIsNamed) {
  options_.row_cache = NewLRUCache(1 << 20);
  Open();
  Put("a", "1");
  Flush();
  ReadExplanation first, second;
  ASSERT_OK(ExplainGet(db_.get(), ReadOptions(), db_->DefaultColumnFamily(), "a", &first));
  EXPECT_FALSE(first.places.at(1).was_in_row_cache);
  EXPECT_EQ(first.places.at(1).blocks.size(), 1u);
  ASSERT_OK(ExplainGet(db_.get(), ReadOptions(), db_->DefaultColumnFamily(), "a", &second));
  EXPECT_TRUE(second.places.at(1).was_in_row_cache);
  EXPECT_EQ(second.places.at(1).found, Place::Found::kValue);
  EXPECT_TRUE(second.places.at(1).blocks.empty());
}

TEST_F(ExplainTest, FamiliesHavePlacesOfTheirOwn) {
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "other", &other));
  Put("a", "1");
  Flush();
  ASSERT_OK(db_->Put(WriteOptions(), other, "a", "22"));
  ReadExplanation explanation;
  ASSERT_OK(ExplainGet(db_.get(), ReadOptions(), other, "a", &explanation));
  EXPECT_EQ(explanation.value_bytes, 2u);
  EXPECT_EQ(explanation.places.size(), 1u);
  EXPECT_EQ(explanation.table_count, 0u);
  ASSERT_OK(ExplainSeek(db_.get(), ReadOptions(), other, "", &explanation));
  EXPECT_EQ(explanation.found_key, "a");
  EXPECT_EQ(explanation.run_count, 1u);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
}

TEST_F(ExplainTest, ThePerfContextOfTheThreadStaysAsItWas) {
  Put("a", "1");
  Flush();
  SetPerfLevel(kEnableCount);
  PerfContext& context = *get_perf_context();
  context.Reset();
  context.EnablePerLevelPerfContext();
  (*context.level_to_perf_context)[3].bloom_filter_useful = 5;
  context.block_read_count = 77;
  ReadExplanation explanation;
  ASSERT_OK(ExplainGet(db_.get(), ReadOptions(), db_->DefaultColumnFamily(), "a", &explanation));
  ASSERT_OK(ExplainSeek(db_.get(), ReadOptions(), db_->DefaultColumnFamily(), "a", &explanation));
  EXPECT_EQ(context.block_read_count, 77u);
  EXPECT_EQ(context.get_read_bytes, 0u);
  EXPECT_EQ((*context.level_to_perf_context)[3].bloom_filter_useful, 5u);
  EXPECT_EQ(GetPerfLevel(), kEnableCount);
  context.ClearPerLevelPerfContext();
}

TEST_F(ExplainTest, KeysOfAnyBytesArePrintable) {
  Put(std::string("\0'\xff", 3), "1");
  const std::string text = Get(std::string("\0'\xff", 3)).ToString();
  EXPECT_NE(text.find(R"('\x00\x27\xff')"), std::string::npos) << text;
}

TEST_F(ExplainTest, OptionsAreCheckedAsForTheReadItself) {
  ReadOptions bad;
  const Slice timestamp("t");
  bad.timestamp = &timestamp;
  ReadExplanation explanation;
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  EXPECT_TRUE(ExplainGet(db_.get(), bad, family, "a", &explanation).IsInvalidArgument());
  EXPECT_TRUE(ExplainSeek(db_.get(), bad, family, "a", &explanation).IsInvalidArgument());
}

TEST_F(ExplainTest, AWrappedDatabaseIsExplained) {
  Put("a", "1");
  StackableDB wrapper(db_.release());
  ReadExplanation explanation;
  ASSERT_OK(ExplainGet(&wrapper, ReadOptions(), wrapper.DefaultColumnFamily(), "a", &explanation));
  EXPECT_EQ(explanation.value_bytes, 1u);
}

}  // namespace
}  // namespace ashlar
