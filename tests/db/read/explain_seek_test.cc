// SPDX-License-Identifier: Apache-2.0
//
// Explained seeks in both directions: which runs they search, the results of filters, the entries
// that they skip, and which run has the entry that they find.
#include <string>

#include "ashlar/slice_transform.h"
#include "tests/db/read/explain_fixture.h"

namespace ashlar {
namespace {

using Place = ExplainedPlace;

TEST_F(ExplainTest, ASeekLooksIntoEachRun) {
  for (const char* key : {"a", "m", "z"}) Put(key, std::string(2000, 'v'));
  Flush();
  Compact();
  Put("c", "1"), Put("x", "1");
  Flush();
  Put("b", "1");
  const ReadExplanation explanation = Seek("b1");
  EXPECT_EQ(explanation.found_key, "c");
  EXPECT_EQ(explanation.run_count, 3u);
  EXPECT_EQ(explanation.runs_hidden, 0u);
  EXPECT_EQ(explanation.table_count, 2u);
  ASSERT_EQ(explanation.places.size(), 3u) << explanation.ToString();
  EXPECT_EQ(explanation.places[0].kind, Place::Kind::kMemTable);
  EXPECT_EQ(explanation.places[0].found, Place::Found::kNothing);
  EXPECT_EQ(explanation.places[1].level, 0);
  EXPECT_EQ(explanation.places[1].found, Place::Found::kValue);
  EXPECT_EQ(explanation.places[1].seqno, 4u);
  EXPECT_EQ(explanation.places[1].blocks.size(), 1u);
  EXPECT_EQ(explanation.places[2].level, 6);
  EXPECT_EQ(explanation.places[2].found, Place::Found::kNothing);
  EXPECT_EQ(explanation.places[2].smallest_key, "a");
  EXPECT_NE(explanation.ToString().find("Seek to 'b1'"), std::string::npos);
  EXPECT_FALSE(Seek("zz").is_valid);
}

// Deleted keys and hidden versions that a seek skips are counted for the run that has them.
TEST_F(ExplainTest, EntriesThatASeekSkipsAreCounted) {
  for (int i = 10; i < 30; i++) Put(std::to_string(i), "1");
  Flush();
  for (int i = 10; i < 20; i++) Delete(std::to_string(i));
  const ReadExplanation explanation = Seek("1");
  EXPECT_EQ(explanation.found_key, "20");
  ASSERT_EQ(explanation.places.size(), 2u);
  EXPECT_EQ(explanation.places[0].entries_skipped, 10u);
  EXPECT_EQ(explanation.places[1].entries_skipped, 10u);
  EXPECT_EQ(explanation.places[1].found, Place::Found::kValue);
  EXPECT_NE(explanation.ToString().find("10 entries skipped"), std::string::npos);
}

TEST_F(ExplainTest, EntriesAboveTheSnapshotAreSkipped) {
  Put("b", "1");
  const Snapshot* snapshot = db_->GetSnapshot();
  for (const char* key : {"a1", "a2", "b"}) Put(key, "2");
  ReadOptions then;
  then.snapshot = snapshot;
  const ReadExplanation explanation = Seek("a", then);
  EXPECT_EQ(explanation.found_key, "b");
  EXPECT_EQ(explanation.places.at(0).entries_skipped, 3u);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(ExplainTest, RunsThatATombstoneHidesAreNotLookedAt) {
  for (int i = 10; i < 30; i++) Put(std::to_string(i), "1");
  Flush();
  Compact();
  DeleteRange("0", "9");
  const ReadExplanation explanation = Seek("1");
  EXPECT_FALSE(explanation.is_valid);
  EXPECT_EQ(explanation.places.at(0).found, Place::Found::kRangeTombstone);
  ASSERT_EQ(explanation.places.at(0).tombstones.size(), 1u);
  EXPECT_EQ(explanation.places.at(0).tombstones[0].end, "9");
  uint64_t skipped = 0;
  for (const Place& place : explanation.places) skipped += place.entries_skipped;
  EXPECT_LE(skipped, 1u) << explanation.ToString();

  const Slice bound("8");
  ReadOptions bounded;
  bounded.iterate_upper_bound = &bound;
  const ReadExplanation inside = Seek("1", bounded);
  EXPECT_EQ(inside.run_count, 2u);
  EXPECT_EQ(inside.runs_hidden, 1u);
  EXPECT_EQ(inside.places.size(), 1u) << inside.ToString();
  EXPECT_NE(inside.ToString().find("1 run hidden"), std::string::npos);
}

// All versions are read before the newest one is known, whichever run has it.
TEST_F(ExplainTest, ASeekBackwardsNamesTheRunOfTheNewestVersion) {
  for (const char* key : {"a", "c", "d", "m"}) Put(key, "1");
  Flush();
  Compact();
  Put("c", "22"), Put("m", "22");
  Flush();
  Put("c", "333"), Put("c", "4444");
  Delete("d");
  ReadExplanation explanation = SeekForPrev("e");
  EXPECT_EQ(explanation.read, ExplainedRead::kSeekForPrev);
  EXPECT_EQ(explanation.found_key, "c");
  EXPECT_EQ(explanation.run_count, 3u);
  ASSERT_EQ(explanation.places.size(), 3u) << explanation.ToString();
  EXPECT_EQ(explanation.places[0].found, Place::Found::kValue) << explanation.ToString();
  EXPECT_EQ(explanation.places[0].seqno, 8u);
  EXPECT_EQ(explanation.places[0].entries_skipped, 2u) << "an older version, and the tombstone";
  EXPECT_EQ(explanation.places[1].level, 0);
  EXPECT_EQ(explanation.places[1].found, Place::Found::kNothing);
  EXPECT_EQ(explanation.places[1].entries_skipped, 1u);
  EXPECT_EQ(explanation.places[2].entries_skipped, 2u) << "c and d";
  EXPECT_NE(explanation.ToString().find("Seek backwards to 'e'"), std::string::npos);
  explanation = SeekForPrev("z");
  EXPECT_EQ(explanation.places.at(1).found, Place::Found::kValue) << explanation.ToString();
  EXPECT_EQ(explanation.places.at(1).seqno, 6u);
  EXPECT_FALSE(SeekForPrev("A").is_valid);
}

TEST_F(ExplainTest, ASeekBackwardsCountsOperandsWhereTheyLie) {
  Put("k", "base");
  Flush();
  Merge("k", "1"), Merge("k", "2");
  ReadExplanation explanation = SeekForPrev("l");
  EXPECT_EQ(explanation.value_bytes, std::string("base,1,2").size());
  ASSERT_EQ(explanation.places.size(), 2u) << explanation.ToString();
  EXPECT_EQ(explanation.places[0].found, Place::Found::kMergeOperands);
  EXPECT_EQ(explanation.places[0].merge_operands, 2u);
  EXPECT_EQ(explanation.places[1].found, Place::Found::kValue);
  EXPECT_EQ(explanation.places[1].merge_operands, 0u);
  Put("k", "new base");
  Merge("k", "3");
  explanation = SeekForPrev("l");
  EXPECT_EQ(explanation.value_bytes, std::string("new base,3").size());
  EXPECT_EQ(explanation.places[0].found, Place::Found::kValue) << explanation.ToString();
  EXPECT_EQ(explanation.places[0].merge_operands, 1u);
  EXPECT_EQ(explanation.places[0].entries_skipped, 2u) << "operands below the new value";
  EXPECT_EQ(explanation.places[1].found, Place::Found::kNothing);
  EXPECT_EQ(explanation.places[1].entries_skipped, 1u);
}

// All tables that a seek for one prefix searches.
TEST_F(ExplainTest, FiltersThatAreAskedForThePrefixAreNamed) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  table_.filter_policy.reset(NewBloomFilterPolicy(20));
  Open();
  Put("a1", "1"), Put("c1", "1");
  Flush();
  Put("b1", "1"), Put("d1", "1");
  Flush();
  ReadOptions options;
  options.prefix_same_as_start = true;
  for (const bool is_forward : {true, false}) {
    const ReadExplanation explanation =
        is_forward ? Seek("b0", options) : SeekForPrev("b2", options);
    EXPECT_EQ(explanation.found_key, "b1");
    ASSERT_EQ(explanation.places.size(), 3u) << explanation.ToString();
    EXPECT_EQ(explanation.places[1].filter, Place::Filter::kLetThrough);
    EXPECT_EQ(explanation.places[2].filter, Place::Filter::kRejected);
    EXPECT_TRUE(explanation.places[2].blocks.empty());
    EXPECT_NE(explanation.ToString().find("filter rejected the prefix"), std::string::npos)
        << explanation.ToString();
  }
  EXPECT_EQ(Seek("b0").places.at(2).filter, Place::Filter::kNotAsked);
}

}  // namespace
}  // namespace ashlar
