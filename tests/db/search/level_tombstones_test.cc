// SPDX-License-Identifier: Apache-2.0
//
// The tombstones of a level's files, as far as its iterator has come: how long they are kept.
#include "db/search/level_tombstones.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class LevelTombstonesTest : public testing::Test {
 protected:
  void Note(size_t file, std::vector<RangeTombstone> tombstones) {
    level_.NoteFile(file, std::make_shared<FragmentedTombstones>(order_, std::move(tombstones)));
  }
  // "7 to m": number 7 up to m; "0": nothing more.
  static std::string Text(const RunTombstones::Stretch& stretch) {
    if (!stretch.has_end) return StrCat(stretch.seqno);
    return StrCat(stretch.seqno, " to ", stretch.end.user_key.ToString());
  }
  std::string From(const Slice& key) { return Text(level_.StretchFrom({key, false})); }
  std::string Before(const Slice& key) { return Text(level_.StretchBefore({key, false})); }

  const InternalKeyComparator order_{BytewiseComparator()};
  LevelTombstones level_{kMaxSequenceNumber};
};

// The iterator is one entry ahead of the merge, and that entry may be files away.
TEST_F(LevelTombstonesTest, ThoseOfAFileOutliveItsLastEntry) {
  Note(0, {{"b", "d", 7}, {"f", "h", 8}});
  EXPECT_EQ(From("a"), "0 to b");
  Note(1, {{"p", "q", 9}});
  Note(2, {{"x", "y", 5}});
  EXPECT_EQ(From("b"), "7 to d");
  EXPECT_EQ(From("d"), "0 to f");
  EXPECT_EQ(From("g"), "8 to h");
  EXPECT_EQ(From("h"), "0 to p");
  EXPECT_EQ(From("p"), "9 to q");
  EXPECT_EQ(From("q"), "0 to x");
  EXPECT_EQ(From("x"), "5 to y");
  EXPECT_EQ(From("y"), "0");
}

TEST_F(LevelTombstonesTest, ThoseOfAFileOutliveItsFirstEntryBackwards) {
  Note(2, {{"x", "y", 5}, {"s", "u", 6}});
  EXPECT_EQ(Before("z"), "0 to y");
  Note(1, {{"p", "q", 9}});
  Note(0, {{"b", "d", 7}});
  EXPECT_EQ(Before("y"), "5 to x");
  EXPECT_EQ(Before("x"), "0 to u");
  EXPECT_EQ(Before("t"), "6 to s");
  EXPECT_EQ(Before("s"), "0 to q");
  EXPECT_EQ(Before("q"), "9 to p");
  EXPECT_EQ(Before("p"), "0 to d");
  EXPECT_EQ(Before("d"), "7 to b");
  EXPECT_EQ(Before("b"), "0");
}

// Going back to a file that was left behind brings its tombstones back, once.
TEST_F(LevelTombstonesTest, ATurnMeetsFilesAgain) {
  Note(0, {{"b", "d", 7}});
  Note(1, {{"p", "q", 9}});
  EXPECT_EQ(From("e"), "0 to p");  // the first file is left behind
  level_.Restart();
  Note(0, {{"b", "d", 7}});
  Note(0, {{"b", "d", 7}});
  EXPECT_EQ(Before("r"), "0 to q");
  EXPECT_EQ(Before("p"), "0 to d");
  EXPECT_EQ(Before("c"), "7 to b");
  level_.ForgetFiles();
  EXPECT_FALSE(level_.HasAny());
  EXPECT_EQ(Before("b"), "0");
}

}  // namespace
}  // namespace ashlar
