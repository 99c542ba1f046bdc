// SPDX-License-Identifier: Apache-2.0
//
// Known empty ranges: when a second scan is needed, which readers may use them, and what ends them.
#include "memtable/empty_ranges.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/comparator.h"

namespace ashlar {
namespace {

class EmptyRangesTest : public testing::Test {
 protected:
  EmptyRangesTest() : ranges_(std::make_unique<EmptyRanges>(comparator_)) {}

  void Learn(const std::string& begin, const std::string& end, SequenceNumber seqno) {
    ranges_->Learn({.begin = begin, .end = end, .seqno = seqno, .version = version_},
                   [this] { return given_out_; });
  }
  // "" if nothing is known.
  std::string EndOf(const std::string& key, SequenceNumber seqno) {
    std::string end;
    return ranges_->FindEnd(key, seqno, &end) ? end : "";
  }

  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::unique_ptr<EmptyRanges> ranges_;
  SequenceNumber given_out_ = 100;
  uint64_t version_ = 7;
};

TEST_F(EmptyRangesTest, TakesTwoScans) {
  EXPECT_TRUE(ranges_->none());
  Learn("b", "f", 100);
  EXPECT_FALSE(ranges_->none());
  EXPECT_EQ(EndOf("c", 200), "") << "what was on its way then is not known";
  Learn("b", "f", 99);
  EXPECT_EQ(EndOf("c", 200), "") << "nor does this scan see all of it";
  Learn("b", "f", 105);
  EXPECT_EQ(EndOf("b", 105), "f");
  EXPECT_EQ(EndOf("e", 200), "f");
  EXPECT_EQ(EndOf("f", 200), "") << "not part of it";
  EXPECT_EQ(EndOf("a", 200), "");
  EXPECT_EQ(EndOf("c", 104), "") << "there may have been something then";
}

TEST_F(EmptyRangesTest, ASecondScanOfAPartTellsNothing) {
  Learn("b", "f", 100);
  Learn("b", "e", 110);
  Learn("c", "f", 110);
  Learn("c", "z", 110);
  EXPECT_EQ(EndOf("c", 200), "");
}

TEST_F(EmptyRangesTest, GrowsAtItsEnd) {
  Learn("b", "f", 100);
  Learn("b", "g", 101);
  EXPECT_EQ(EndOf("c", 101), "f");
  given_out_ = 120;
  Learn("c", "k", 110);  // a scan that knows the part up to f
  EXPECT_EQ(EndOf("c", 110), "g");
  Learn("c", "k", 119);
  EXPECT_EQ(EndOf("c", 200), "g") << "the watch up to k is younger";
  Learn("c", "k", 120);
  EXPECT_EQ(EndOf("c", 120), "k");
  EXPECT_EQ(EndOf("c", 119), "");
}

TEST_F(EmptyRangesTest, AWriteEndsIt) {
  Learn("b", "f", 100);
  Learn("b", "f", 100);
  ranges_->Break("a");
  ranges_->Break("f");
  EXPECT_EQ(EndOf("c", 100), "f");
  ranges_->Break("b");
  EXPECT_EQ(EndOf("c", 200), "");
  Learn("b", "f", 200);
  EXPECT_EQ(EndOf("c", 200), "") << "it begins anew";
  Learn("b", "f", 200);
  EXPECT_EQ(EndOf("c", 200), "f");
}

TEST_F(EmptyRangesTest, AWriteToWhatIsUnderWatchEndsIt) {
  Learn("b", "f", 100);
  ranges_->Break("c");
  Learn("b", "f", 100);
  EXPECT_EQ(EndOf("c", 200), "");
  Learn("b", "f", 100);
  EXPECT_EQ(EndOf("c", 200), "f");
  Learn("b", "k", 100);
  ranges_->Break("h");
  EXPECT_EQ(EndOf("c", 200), "") << "all that grew from it";
}

TEST_F(EmptyRangesTest, ForgetsAllThatWasBefore) {
  Learn("b", "f", 100);
  Learn("b", "f", 100);
  Learn("p", "q", 100);
  ranges_->Suspend();
  EXPECT_TRUE(ranges_->none());
  EXPECT_EQ(EndOf("c", 200), "");
  Learn("b", "f", 100);
  EXPECT_TRUE(ranges_->none()) << "not now";
  ranges_->Resume(8);
  Learn("b", "f", 100);
  EXPECT_TRUE(ranges_->none()) << "a scan of what was before";
  version_ = 8;
  Learn("b", "f", 100);
  EXPECT_EQ(EndOf("c", 200), "");
  Learn("b", "f", 100);
  EXPECT_EQ(EndOf("c", 200), "f");
}

TEST_F(EmptyRangesTest, KeepsAFewAndTheNewest) {
  for (char c = 'a'; c <= 'z'; c++) {
    for (int i = 0; i < 2; i++) Learn(std::string(1, c), std::string(1, c) + "5", 100);
    EXPECT_EQ(EndOf(std::string(1, c) + "3", 100), std::string(1, c) + "5");
  }
  EXPECT_EQ(EndOf("a3", 100), "");
  EXPECT_EQ(EndOf("y3", 100), "y5");
}

TEST_F(EmptyRangesTest, AScanThatBeginsEarlierBeginsAnew) {
  Learn("f", "k", 100);
  Learn("f", "k", 100);
  Learn("b", "k", 100);
  EXPECT_EQ(EndOf("g", 100), "");
  Learn("b", "k", 100);
  EXPECT_EQ(EndOf("b", 100), "k");
  Learn("b", "b", 100);  // empty: nothing
  EXPECT_EQ(EndOf("b", 100), "k");
}

}  // namespace
}  // namespace ashlar
